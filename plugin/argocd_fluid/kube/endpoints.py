"""Where each resource of the Kubernetes API lives, as paths. Values only."""

from dataclasses import dataclass
from typing import Final

from argocd_fluid import constants


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """One resource: `group` is empty for the core API."""

    group: str = ""
    version: str
    plural: str
    namespaced: bool = True

    def path(self, namespace: str = "", name: str = "", subresource: str = "") -> str:
        """Give the path of a collection (no name), an object or a subresource of it."""
        root = f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"
        scope = ("namespaces", namespace) if namespace else ()
        return "/".join(part for part in (root, *scope, self.plural, name, subresource) if part)


PODS: Final = Endpoint(version="v1", plural="pods")
NODES: Final = Endpoint(version="v1", plural="nodes", namespaced=False)
JOBSETS: Final = Endpoint(group="jobset.x-k8s.io", version="v1alpha2", plural="jobsets")
FLUID_WORKLOADS: Final = Endpoint(
    group=constants.GROUP, version=constants.VERSION, plural=constants.FLUID_WORKLOADS
)
