"""Wire types: only the fields that we use, of the objects that we read.

Unknown fields are ignored on decoding, so an object that came in is never written back whole;
changes go out as patches. Quantities stay the strings that the API server gave.
"""

from datetime import datetime
from typing import Generic, TypeVar

import msgspec

T = TypeVar("T")
Quantities = dict[str, str]


class Wire(msgspec.Struct, rename="camel", omit_defaults=True, frozen=True, kw_only=True):
    """Base: camelCase on the wire, absent rather than null."""


class OwnerReference(Wire, frozen=True):
    """metav1.OwnerReference; of several at most one is the controller."""

    api_version: str
    kind: str
    name: str
    uid: str
    controller: bool | None = None
    block_owner_deletion: bool | None = None


class ObjectMeta(Wire, frozen=True):
    """metav1.ObjectMeta."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    deletion_timestamp: datetime | None = None
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    owner_references: list[OwnerReference] | None = None

    def label(self, key: str) -> str:
        """Give a label's value, empty if it is absent."""
        return (self.labels or {}).get(key, "")

    def annotation(self, key: str) -> str:
        """Give an annotation's value, empty if it is absent."""
        return (self.annotations or {}).get(key, "")

    @property
    def controller(self) -> OwnerReference | None:
        """The owner that manages the object."""
        return next((owner for owner in self.owner_references or () if owner.controller), None)


class Object(Wire, frozen=True):
    """Any object, metadata only (PartialObjectMetadata)."""

    metadata: ObjectMeta


class ListMeta(Wire, frozen=True):
    """metav1.ListMeta."""

    resource_version: str = ""
    continue_: str = msgspec.field(name="continue", default="")


class ListOf(Wire, Generic[T], frozen=True):
    """A list; Go writes an empty one as null in places."""

    metadata: ListMeta = ListMeta()
    items: list[T] | None = None


class StatusCause(Wire, frozen=True):
    """metav1.StatusCause; the Go field of `reason` is called Type."""

    reason: str = ""
    message: str = ""


class StatusDetails(Wire, frozen=True):
    """metav1.StatusDetails."""

    causes: list[StatusCause] | None = None


class Status(Wire, frozen=True):
    """metav1.Status: why a request was refused."""

    code: int = 0
    reason: str = ""
    message: str = ""
    details: StatusDetails | None = None


class ResourceClaim(Wire, frozen=True):
    """A DRA claim of a container; it stops resizes up to Kubernetes 1.36."""

    name: str = ""


class ResourceRequirements(Wire, frozen=True):
    """Requests and limits of a container or a pod."""

    requests: Quantities | None = None
    limits: Quantities | None = None
    claims: list[ResourceClaim] | None = None


class ResizePolicy(Wire, frozen=True):
    """Whether a resize of a resource restarts the container."""

    resource_name: str = ""
    restart_policy: str = ""


class Container(Wire, frozen=True):
    """A container or init container; `restart_policy` Always makes the latter a sidecar."""

    name: str
    resources: ResourceRequirements = ResourceRequirements()
    restart_policy: str = ""
    resize_policy: list[ResizePolicy] | None = None


class PodSpec(Wire, frozen=True):
    """corev1.PodSpec."""

    node_name: str = ""
    containers: list[Container] = []
    init_containers: list[Container] | None = None
    overhead: Quantities | None = None
    resources: ResourceRequirements | None = None
    restart_policy: str = ""


class PodCondition(Wire, frozen=True):
    """corev1.PodCondition."""

    type: str
    status: str = ""
    reason: str = ""
    message: str = ""
    observed_generation: int = 0
    last_transition_time: datetime | None = None


class Running(Wire, frozen=True):
    """corev1.ContainerStateRunning."""

    started_at: datetime | None = None


class Terminated(Wire, frozen=True):
    """corev1.ContainerStateTerminated."""

    reason: str = ""
    exit_code: int = 0
    finished_at: datetime | None = None


class ContainerState(Wire, frozen=True):
    """corev1.ContainerState; waiting is neither."""

    running: Running | None = None
    terminated: Terminated | None = None


class ContainerStatus(Wire, frozen=True):
    """corev1.ContainerStatus; `resources` is what the runtime has, rounded."""

    name: str
    allocated_resources: Quantities | None = None
    resources: ResourceRequirements | None = None
    state: ContainerState = ContainerState()
    last_state: ContainerState = ContainerState()
    restart_count: int = 0


class PodStatus(Wire, frozen=True):
    """corev1.PodStatus; its pod-level `resources` is wrong after resizes and not read."""

    phase: str = ""
    qos_class: str = ""
    observed_generation: int = 0
    conditions: list[PodCondition] | None = None
    container_statuses: list[ContainerStatus] | None = None
    init_container_statuses: list[ContainerStatus] | None = None


class Pod(Wire, frozen=True):
    """corev1.Pod."""

    metadata: ObjectMeta
    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()


class NodeAddress(Wire, frozen=True):
    """corev1.NodeAddress."""

    type: str
    address: str


class DaemonEndpoint(Wire, frozen=True):
    """corev1.DaemonEndpoint, whose one field has a capital on the wire."""

    port: int = msgspec.field(name="Port", default=0)


class DaemonEndpoints(Wire, frozen=True):
    """corev1.NodeDaemonEndpoints."""

    kubelet_endpoint: DaemonEndpoint = DaemonEndpoint()


class NodeStatus(Wire, frozen=True):
    """corev1.NodeStatus."""

    allocatable: Quantities | None = None
    conditions: list[PodCondition] | None = None
    addresses: list[NodeAddress] | None = None
    daemon_endpoints: DaemonEndpoints = DaemonEndpoints()


class Node(Wire, frozen=True):
    """corev1.Node."""

    metadata: ObjectMeta
    status: NodeStatus = NodeStatus()
