"""What a check gets: one object of the sources, with what it needs to know about its enrolment."""

from collections.abc import Callable, Iterator
from functools import reduce

from argocd_fluid.constants import INTENT
from argocd_fluid.errors import UserError
from argocd_fluid.manifests.document import Document, Manifest, Path, get
from argocd_fluid.manifests.kinds import Container, Kind, Role, kind_of, roles
from argocd_fluid.policy.settings import ResourceSettings, Settings, laid_over
from argocd_fluid.records import dataclass
from argocd_fluid.render.intent import Amounts, amounts_of
from argocd_fluid.render.policies import Policies

Problem = tuple[Path, str]
"""The field and what is wrong there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """One object; `rendered` is None where `generate` refuses it."""

    document: Document
    rendered: Manifest | None
    policies: Policies

    @property
    def value(self) -> Manifest:
        """Give the manifest as Git has it."""
        return self.document.value

    @property
    def kind(self) -> str:
        """Give the kind."""
        return str(self.value.get("kind"))

    @property
    def row(self) -> Kind | None:
        """Give the row of the table of kinds, None for what has no pods."""
        return kind_of(self.value)

    @property
    def is_enrolled(self) -> bool:
        """Whether the rendering gives it an intent."""
        return get(self.rendered, ("metadata", "annotations", INTENT)) is not None

    def roles(self) -> tuple[Role, ...]:
        """Give its roles; none where they are of a shape that `generate` refuses or passes on."""
        try:
            return roles(self.document)
        except UserError:
            return ()

    def containers(self) -> Iterator[tuple[Role, Container]]:
        """Give the containers that run as long as their pod."""
        for role in self.roles():
            for container in role.containers:
                yield role, container

    def amounts(self, container: Container) -> Amounts:
        """Give requests and limits; empty where there are none that can be read."""
        try:
            return amounts_of(self.document, container)
        except UserError:
            return {}

    def said(self, role: Role, container: Container, resource: str) -> ResourceSettings:
        """Give what people wrote about a resource of a container, without the defaults."""
        layers = self.policies.layers(self.document, role.name, container.name)
        settings = reduce(laid_over, layers, Settings())
        return settings.cpu if resource == "cpu" else settings.memory


Check = Callable[[Workload], Iterator[Problem]]
