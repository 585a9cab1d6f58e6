"""What to do with a resize that the kubelet does not accept, or cannot carry out. Pure."""

from argocd_fluid.engine.change import Change
from argocd_fluid.engine.model import (
    ContainerState,
    PendingReason,
    PodState,
    Reason,
    Resource,
    Size,
    Wish,
)
from argocd_fluid.engine.need import memory_floor, needed
from argocd_fluid.engine.recorded import recorded
from argocd_fluid.engine.sizes import describe, laid_over

DEFERRED_PATIENCE_S = 300.0
"""How long the kubelet may keep a resize waiting before it is lowered to what fits; the Vertical
Pod Autoscaler waits as long. A deferred request blocks the scheduler, never the kubelet."""
DEFERRED_LIMIT_S = 600.0
"""Then it is taken back whole: what should fit and is still refused is no question of room."""


def accepted(container: ContainerState) -> Size:
    """Give the size that the kubelet runs, as the pod could have it; the spec while unknown.

    The status rounds a cpu limit and may lack leaves (k/k 129357, 141814), so equal request and
    limit are made equal again and no leaf is taken from or added to the spec.
    """
    if container.actual is None:
        return container.spec
    cpu, memory = (
        laid_over(
            container.spec.of(resource),
            container.actual.of(resource),
            guaranteed=container.spec.of(resource).request == container.spec.of(resource).limit,
            resource=resource,
        )
        for resource in Resource
    )
    return Size(cpu=cpu, memory=memory)


def stuck(pod: PodState, container: ContainerState, now: float) -> Wish | None:
    """Lower a resize that the kubelet does not accept; `negotiate` knows to what."""
    actual = accepted(container)
    if pod.pending is None or actual == container.spec:
        return None
    changes = [recorded(pod, container, resource, now) for resource in Resource]
    if any(one.amounts != container.spec.of(one.resource) for one in changes if one):
        return None  # another size is on record already; it replaces the stuck one
    if pod.pending is PendingReason.INFEASIBLE:
        return Wish(
            container=container,
            size=actual,
            reason=Reason.INFEASIBLE,
            detail="the kubelet called the resize infeasible",
        )
    waited_s = 0.0 if pod.pending_since_s is None else now - pod.pending_since_s
    if waited_s < DEFERRED_PATIENCE_S:
        return None
    return Wish(
        container=container,
        size=container.spec if waited_s < DEFERRED_LIMIT_S else actual,
        reason=Reason.DEFERRED,
        detail=f"deferred by the kubelet for {waited_s:.0f} s",
    )


def refused_shrink(pod: PodState, container: ContainerState, resource: Resource) -> Change | None:
    """Take back a memory shrink that the kubelet refuses: more is in use by now."""
    if not pod.resize_error or resource is not Resource.MEMORY:
        return None
    needs, spec = needed(container, Resource.MEMORY), container.spec.memory
    usage = container.usage
    if needs is None or usage is None or spec.limit is None or needs.limit is None:
        return None
    if spec.limit >= memory_floor(usage):
        return None
    return Change(
        resource=Resource.MEMORY,
        amounts=needs,
        reason=Reason.SHRINK_REFUSED,
        detail=f"memory {describe(Resource.MEMORY, usage.peak_memory_usage_bytes)} in use,"
        f" limit {describe(Resource.MEMORY, spec.limit)} refused by the kubelet",
        urgent=True,
    )
