"""All policy that is in force in one rendering, from weakest to strongest."""

from dataclasses import dataclass, field

from argocd_fluid.manifests.document import Document
from argocd_fluid.policy.match import NO_POLICY, Policy, Subject
from argocd_fluid.policy.schema import read_annotation, read_policy
from argocd_fluid.policy.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Policies:
    """`fluid.yaml`, then the Application's parameters, then the workload's annotation."""

    file: Policy = NO_POLICY
    parameters: Settings = field(default_factory=Settings)

    @classmethod
    def of(cls, document: Document | None) -> "Policies":
        """Read `fluid.yaml`, if there is one."""
        return cls() if document is None else cls(file=read_policy(document))

    def layers(self, document: Document, role: str, container: str) -> tuple[Settings, ...]:
        """Give what is said about one container; raises PolicyError for a wrong annotation."""
        subject = subject_of(document, role, container)
        own = read_annotation(document)
        return (*self.file.layers(subject), self.parameters, *own.layers(subject))


def subject_of(document: Document, role: str, container: str) -> Subject:
    """Name a container for rules to match."""
    metadata = document.value.get("metadata") or {}
    return Subject(
        kind=document.value["kind"],
        name=str(metadata.get("name") or metadata.get("generateName") or ""),
        role=role,
        container=container,
    )
