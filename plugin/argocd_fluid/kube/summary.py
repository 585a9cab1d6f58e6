"""The kubelet's /stats/summary, as far as it is read (k8s.io/kubelet stats/v1alpha1)."""

from datetime import datetime

from argocd_fluid.kube.types import Wire


class CpuStats(Wire, frozen=True):
    """CPU of one container; `usage_nano_cores` is the kubelet's rate between two readings."""

    time: datetime | None = None
    usage_nano_cores: int | None = None
    usage_core_nano_seconds: int | None = None


class MemoryStats(Wire, frozen=True):
    """Memory of one container; `usage_bytes` has the page cache, the working set only part."""

    time: datetime | None = None
    usage_bytes: int | None = None
    working_set_bytes: int | None = None


class ContainerStats(Wire, frozen=True):
    """Usage of one container; parts are absent just after a start."""

    name: str
    start_time: datetime | None = None
    cpu: CpuStats | None = None
    memory: MemoryStats | None = None


class PodReference(Wire, frozen=True):
    """Whose stats these are."""

    name: str
    namespace: str
    uid: str


class PodStats(Wire, frozen=True):
    """Usage of one pod."""

    pod_ref: PodReference
    containers: list[ContainerStats] | None = None


class Summary(Wire, frozen=True):
    """Everything on one node."""

    pods: list[PodStats] | None = None
