"""All policy that is in force in one rendering, from weakest to strongest."""

from collections.abc import Iterable
from importlib import import_module

from argocd_fluid.manifests.document import Document
from argocd_fluid.policy.match import NO_POLICY, Policy, Subject
from argocd_fluid.policy.schema import read_annotation, read_parameter, read_policy
from argocd_fluid.policy.settings import Settings
from argocd_fluid.records import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Policies:
    """`fluid.yaml`, then the Application's parameters, then the workload's annotation."""

    file: Policy = NO_POLICY
    parameters: Settings = field(default_factory=Settings)
    parameter: str = ""
    """The text that `parameters` were read from."""

    @classmethod
    def of(cls, document: Document | None, parameter: str = "") -> "Policies":
        """Read `fluid.yaml`, if there is one, and the Application's parameter `policy`."""
        return cls(
            file=NO_POLICY if document is None else read_policy(document),
            parameters=read_parameter(parameter, "policy"),
            parameter=parameter,
        )

    def patched(self, documents: Iterable[Document]) -> Iterable[Document]:
        """Apply the JSON patches of `fluid.yaml`; raises PolicyError, or a group of them."""
        if not self.file.patches:
            return documents
        # The library takes as long to import as a rendering, and few directories need it.
        patching = import_module("argocd_fluid.render.patching")
        found: list[Document] = patching.patched(documents, self.file.patches)
        return found

    def layers(self, document: Document, role: str, container: str) -> tuple[Settings, ...]:
        """Give what is said about one container; raises PolicyError for a wrong annotation."""
        subject = subject_of(document, role, container)
        own: Policy | None = document.derived.get("policy")
        if own is None:
            own = document.derived["policy"] = read_annotation(document)
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
