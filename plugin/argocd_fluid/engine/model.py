"""The words that observe, decide, negotiate and apply share. Values only.

CPU amounts are millicores, memory amounts bytes, times seconds on one clock (the API server's and
the kubelets' wall clock; `now` is always an argument). `None` means that the leaf is absent in the
pod, and an absent leaf is never added, a present one never removed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from argocd_fluid.policy.model import ContainerPolicy


class Resource(StrEnum):
    """The two resources that Kubernetes resizes in place (KEP-1287)."""

    CPU = "cpu"
    MEMORY = "memory"


class QosClass(StrEnum):
    """A resize never changes it: the API server refuses that."""

    GUARANTEED = "Guaranteed"
    BURSTABLE = "Burstable"
    BEST_EFFORT = "BestEffort"


@dataclass(frozen=True, slots=True, kw_only=True)
class Amounts:
    """Request and limit of one resource of one container."""

    request: int | None = None
    limit: int | None = None

    @property
    def reference(self) -> int | None:
        """What utilisation is measured against: the limit, else the request."""
        return self.limit if self.limit is not None else self.request


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """The four leaves of a container's `resources` that can be resized."""

    cpu: Amounts = field(default_factory=Amounts)
    memory: Amounts = field(default_factory=Amounts)

    def of(self, resource: Resource) -> Amounts:
        """Give the amounts of one resource."""
        return self.cpu if resource is Resource.CPU else self.memory


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Rank:
    """Stable identity of a worker across pods: role, job index, completion index (as labelled)."""

    role: str
    job_index: str
    completion_index: str


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class WorkloadKey:
    """The object in Git that owns a pod."""

    namespace: str
    kind: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class ContainerKey:
    """One container of one pod incarnation. A recreated pod has another uid."""

    namespace: str
    pod: str
    uid: str
    container: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One reading of one container by its kubelet."""

    time_s: float
    cpu_milli: float | None
    """Rate since the reading before, or the kubelet's own where this is the first."""
    memory_bytes: int
    """Working set: what cannot be reclaimed, the base of growth decisions."""
    memory_usage_bytes: int
    """With page cache: what the kubelet compares a shrunk limit with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What the history of one container says at one moment (made by `engine.usage`)."""

    latest: Sample
    peak_cpu_milli: float
    peak_memory_bytes: int
    peak_memory_usage_bytes: int
    window_s: float
    """How much of the scale-down window the peaks cover."""
    memory_trend_bytes_per_s: float
    below_since: Mapping[Resource, float | None]
    """Since when utilisation has been under scaleDownAt without a break; None: it is not."""


class PendingReason(StrEnum):
    """Why the kubelet has not accepted a resize (condition PodResizePending)."""

    DEFERRED = "Deferred"
    INFEASIBLE = "Infeasible"


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerState:
    """One container of an enrolled pod, as seen at one moment."""

    key: ContainerKey
    workload: WorkloadKey
    rank: Rank
    running: bool
    started_s: float | None
    spec: Size
    target: Size
    """The size on record for this rank: learned, else intent. FluidWorkload's status holds it."""
    intent: Size
    policy: ContainerPolicy
    usage: Usage | None
    oom_killed_s: float | None = None
    """When the last OOM kill finished, if the container status shows one."""
    last_resize_s: float | None = None
    last_memory_resize_s: float | None = None
    """What an OOM kill may have been answered by; more cpu is no answer to it."""
    has_claims: bool = False
    actual: Size | None = None
    """What the kubelet runs it with (status.allocatedResources, status.resources), to fall back on
    when a resize stays Deferred or Infeasible."""
    hold_until_s: float | None = None
    """No wish before that time: the back-off after a refusal, which the controller keeps."""
    scale_down_factor: float = 1.0
    """Multiplies scaleDown.after: doubled by the controller after a shrink that did harm."""
    restarts: frozenset[Resource] = frozenset()
    """Resources whose resize would restart it (resizePolicy RestartContainer): never resized."""
    sidecar: bool = False
    """A native sidecar: an init container with restartPolicy Always."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PodState:
    """One pod on the node, enrolled or not; the others only take room."""

    namespace: str
    name: str
    uid: str
    footprint: Mapping[Resource, int]
    """What it takes: max(spec, allocated, actual) requests, overhead and init containers too."""
    held: Mapping[Resource, int] = field(default_factory=dict)
    """So much of it stays taken while containers shrink: an init peak, or pod-level requests."""
    resource_version: str = ""
    qos: QosClass = QosClass.BURSTABLE
    generation: int = 0
    observed_generation: int = 0
    pending: PendingReason | None = None
    pending_since_s: float | None = None
    pending_message: str = ""
    """The kubelet's own words: requested, used, capacity."""
    in_progress: bool = False
    resize_error: str = ""
    containers: tuple[ContainerState, ...] = ()
    """Only those of an enrolled workload."""

    @property
    def settled(self) -> bool:
        """Nothing is under way (the criterion of upstream's e2e: WaitForPodResizeActuation)."""
        return (
            self.observed_generation >= self.generation
            and self.pending is None
            and not self.in_progress
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeSnapshot:
    """One node with all its pods that are not finished."""

    name: str
    allocatable: Mapping[Resource, int]
    memory_pressure: bool = False
    pods: tuple[PodState, ...] = ()


class Reason(StrEnum):
    """Why a container is wished another size, or why a grant differs from its wish."""

    # Wishes.
    HOT = "Hot"  # utilisation above scaleUpAt
    TREND = "Trend"  # memory would reach its limit before the next chance
    OOM_KILLED = "OOMKilled"
    IDLE = "Idle"  # below scaleDownAt for all of scaleDown.after
    RECORDED = "Recorded"  # the pod differs from the size on record: intent changed, or recreated
    LAGGING = "RequestLagging"  # only the limit could grow when the node was full
    DEFERRED = "Deferred"  # the kubelet has kept a resize waiting too long
    INFEASIBLE = "Infeasible"  # the kubelet will never accept it
    SHRINK_REFUSED = "ShrinkRefused"  # the kubelet found more memory in use than the new limit
    SHRINK_HARMED = "ShrinkHarmed"  # OOM kill or NotReady after a shrink: it is taken back
    # Grants.
    GRANTED = "Granted"
    PARTIAL = "PartiallyGranted"
    NO_ROOM = "NoRoom"
    MEMORY_PRESSURE = "MemoryPressure"  # nothing grows on such a node
    DONATED = "Donated"
    BOUND = "AtBound"
    RESTARTS = "RestartContainer"  # its resizePolicy asks for a restart, which is not ours to do
    UNSETTLED = "Unsettled"  # the resize before is still under way


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """A container should have another size."""

    container: ContainerState
    size: Size
    reason: Reason
    detail: str
    """The numbers behind it, for people: `cpu 912m of 1000m (91 % > 80 %)`."""
    urgent: bool = False
    """Memory that would be exhausted before the next chance, or was."""
    recorded: frozenset[Resource] = frozenset()
    """Resources whose wished amounts come from the record, which therefore keeps them."""
    floored: frozenset[Resource] = frozenset()
    """Resources whose record is below what is in use: a recreated pod needs the wished amounts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """What the node can give of a wish (or what a donor gives up for one)."""

    container: ContainerState
    wished: Size
    size: Size
    reason: Reason
    """The wish's reason where it is granted whole, else why not."""
    detail: str
    cause: Reason | None = None
    """The reason of the wish; None for a donor."""
    record: Size | None = None
    """What to write to the record before the patch; None: `size`. A size that is already on record
    and cannot be reached yet stays on record, so that it is tried again when room appears."""

    @property
    def changes(self) -> bool:
        """Whether the pod gets another size; if not, the grant only explains."""
        return self.size != self.container.spec

    @property
    def recorded(self) -> Size:
        """The size to write to the record, where it differs from `container.target`."""
        return self.size if self.record is None else self.record


@dataclass(frozen=True, slots=True, kw_only=True)
class PodResize:
    """One PATCH of pods/resize: only changed leaves, per container."""

    namespace: str
    name: str
    uid: str
    resource_version: str
    sizes: Mapping[str, Size]
    """Container name to the leaves that change; unchanged leaves are None."""
    sidecars: frozenset[str] = frozenset()
    """Which of them stand under `initContainers`."""
