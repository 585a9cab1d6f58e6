"""The layers of policy that hold for one container, strongest first, each with its places. Pure.

`policy.merge` lays the same layers over each other; here they are kept apart, to name the one that
a value comes from.
"""

from collections.abc import Callable
from typing import Any, Final

from argocd_fluid.constants import POLICY
from argocd_fluid.manifests.document import Document, Path, get
from argocd_fluid.manifests.reader import read_value
from argocd_fluid.policy.match import Policy, Subject, first_match
from argocd_fluid.policy.schema import read_annotation
from argocd_fluid.records import dataclass
from argocd_fluid.render.policies import Policies, subject_of

SPEC: Final = "spec"


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """One body of settings, as people wrote it."""

    name: str
    value: Any
    where: Callable[[Path], str]
    can_enrol: bool = False
    """Whether it is a rule of `fluid.yaml`: one in an annotation tunes what is enrolled."""

    def says(self, path: Path) -> bool:
        """Whether it has a value at a path like ("cpu", "min")."""
        return get(self.value, path) is not None


def layers_of(
    document: Document, policies: Policies, file: Document | None, named: tuple[str, str]
) -> list[Layer]:
    """Give what people say about the container `named` (role, container), strongest first."""
    role, container = named
    subject = subject_of(document, role, container)
    layers = []
    if file is not None:
        layers += _layers(policies.file, subject, SPEC, _of_document(file, ("spec",)))
    if policies.parameter:
        value, marks = read_value(policies.parameter, "")
        layers.append(
            Layer(
                name="parameter policy",
                value=value,
                where=lambda path: f"parameter policy:{marks.at(path).line}",
            )
        )
    text = get(document.value, ("metadata", "annotations", POLICY))
    if isinstance(text, str):
        place = _of_annotation(document, text)
        layers += _layers(read_annotation(document), subject, "policy annotation", place)
    return layers[::-1]


_Body = tuple[Any, Callable[[Path], str]]
"""The mapping that holds settings and rules, and the place of what is in it."""


def _layers(policy: Policy, subject: Subject, name: str, body: _Body) -> list[Layer]:
    value, where = body
    layers = [Layer(name=name, value=value, where=where)]
    rule = first_match(policy.rules, subject)
    if rule is not None:
        index = next(number for number, each in enumerate(policy.rules) if each is rule)
        base: Path = ("rules", index)
        layers.append(
            Layer(
                name=f"rule {index + 1}" if name == SPEC else f"{name}, rule {index + 1}",
                value=get(value, base),
                where=lambda path: where((*base, *path)),
                can_enrol=name == SPEC,
            )
        )
    return layers


def _of_document(document: Document, base: Path) -> _Body:
    def where(path: Path) -> str:
        place = document.where((*base, *path))
        return f"{place.file}:{place.line}"

    return get(document.value, base), where


def _of_annotation(document: Document, text: str) -> _Body:
    line = document.where(("metadata", "annotations", POLICY)).line or 1
    value, marks = read_value(text, document.file, line)
    return value, lambda path: f"{document.file}:{marks.at(path).line}"
