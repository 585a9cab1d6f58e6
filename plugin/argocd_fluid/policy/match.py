"""Which settings hold for a container: rules with globs, of which the first that matches wins."""

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Any, Final

from argocd_fluid.errors import Where
from argocd_fluid.policy.patches import Patch
from argocd_fluid.policy.settings import Settings
from argocd_fluid.records import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """One container of one workload; `role` is "" for kinds with one pod template."""

    kind: str
    name: str
    role: str
    container: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """Globs; one that is not given matches everything."""

    kind: str = "*"
    name: str = "*"
    role: str = "*"
    container: str = "*"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """Settings for the containers that match."""

    match: Match = field(default_factory=Match)
    settings: Settings = field(default_factory=Settings)
    names_kind: bool = False
    """Only such a rule enrols: one for every kind tunes what is enrolled otherwise."""
    where: Where = field(default_factory=Where, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """One source of policy: settings for everything, and rules for what they match."""

    settings: Settings = field(default_factory=Settings)
    rules: tuple[Rule, ...] = ()
    values: Mapping[str, Any] = field(default_factory=dict)
    """For templates; only `fluid.yaml` has these two."""
    patches: tuple[Patch, ...] = ()

    def layers(self, subject: Subject) -> tuple[Settings, ...]:
        """Give what is said about a container, weakest first."""
        if self is NO_POLICY:
            return ()
        rule = first_match(self.rules, subject)
        return (self.settings,) if rule is None else (self.settings, rule.settings)


NO_POLICY: Final = Policy()


def first_match(rules: Iterable[Rule], subject: Subject) -> Rule | None:
    """Give the rule that holds for a container."""
    return next((rule for rule in rules if matches(rule.match, subject)), None)


def matches(match: Match, subject: Subject) -> bool:
    """Whether all globs match."""
    return (
        fnmatchcase(subject.kind, match.kind)
        and fnmatchcase(subject.name, match.name)
        and fnmatchcase(subject.role, match.role)
        and fnmatchcase(subject.container, match.container)
    )
