"""FluidWorkload on the wire (argocd-fluid.io/v1alpha1). Written by the controller alone.

Unlike the objects of others it is complete here, because we write it: spec and status go out as
merge patches of what changed.
"""

from typing import Any

import msgspec

from argocd_fluid.kube.types import ObjectMeta, ResourceRequirements, Wire


class Target(Wire, frozen=True):
    """The workload in Git; `uid` tells a recreated one from its predecessor."""

    api_version: str
    kind: str
    name: str
    uid: str


class ContainerSpec(Wire, frozen=True):
    """What Git says of one container. `policy` has the form of the intent annotation."""

    name: str
    resources: ResourceRequirements = ResourceRequirements()
    policy: dict[str, Any] = msgspec.field(default_factory=dict)


class RoleSpec(Wire, frozen=True):
    """One replicated job; the name is empty for kinds with one template."""

    name: str
    containers: list[ContainerSpec] = msgspec.field(default_factory=list)


class FluidWorkloadSpec(Wire, frozen=True):
    """Intent: copied from the annotation, never learned."""

    target: Target
    roles: list[RoleSpec] = msgspec.field(default_factory=list)
    mode: str = ""


class ContainerSize(Wire, frozen=True):
    """The size that one container gets."""

    name: str
    resources: ResourceRequirements = ResourceRequirements()


class RankSize(Wire, frozen=True):
    """One rank that differs from its role; the indices are the pods' labels, as strings."""

    job: str
    index: str
    containers: list[ContainerSize] = msgspec.field(default_factory=list)


class RoleSize(Wire, frozen=True):
    """Sizes of a role: `containers` for every rank that `ranks` does not list."""

    name: str
    containers: list[ContainerSize] = msgspec.field(default_factory=list)
    ranks: list[RankSize] | None = None


class PodReport(Wire, frozen=True):
    """A container of a pod that has a reason to be listed."""

    name: str
    container: str
    state: str = ""
    reason: str = ""
    message: str = ""
    since: str = ""
    current: ResourceRequirements | None = None
    wished: ResourceRequirements | None = None
    target: ResourceRequirements | None = None


class Resized(Wire, frozen=True):
    """One line of the history."""

    time: str
    pod: str
    container: str
    reason: str = ""
    message: str = ""
    from_: ResourceRequirements = msgspec.field(name="from", default=ResourceRequirements())
    to: ResourceRequirements = ResourceRequirements()


class Condition(Wire, frozen=True):
    """metav1.Condition, whose fields are all required on the wire."""

    type: str
    status: str
    reason: str
    last_transition_time: str
    message: str
    observed_generation: int = 0


class Totals(Wire, frozen=True):
    """What the printer columns and Argo CD show."""

    pods: int = 0
    resizing: int = 0
    cpu: str = ""
    memory: str = ""
    last_resize_time: str = ""


class FluidWorkloadStatus(Wire, frozen=True):
    """What the controller found and decided. The sizes are written ahead of the resizes."""

    observed_generation: int = 0
    conditions: list[Condition] | None = None
    summary: Totals | None = None
    roles: list[RoleSize] | None = None
    pods: list[PodReport] | None = None
    history: list[Resized] | None = None


class FluidWorkload(Wire, frozen=True):
    """The object."""

    metadata: ObjectMeta
    spec: FluidWorkloadSpec
    status: FluidWorkloadStatus = FluidWorkloadStatus()
