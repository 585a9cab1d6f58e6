"""Which containers should have another size, and why. Pure: one snapshot in, wishes out.

It looks at one container at a time and knows nothing of the room on the node; `negotiate` does.
It never changes a QoS class, never adds or removes a leaf, and never shrinks memory below what the
window's peak used plus a margin.
"""

from argocd_fluid.engine.change import Change
from argocd_fluid.engine.growth import growth, lagging
from argocd_fluid.engine.model import (
    ContainerState,
    NodeSnapshot,
    PodState,
    Reason,
    Resource,
    Size,
    Wish,
)
from argocd_fluid.engine.recorded import recorded
from argocd_fluid.engine.shrink import idle
from argocd_fluid.engine.sizes import with_amounts
from argocd_fluid.engine.stuck import refused_shrink, stuck
from argocd_fluid.policy.model import Mode

_RANK = (
    Reason.INFEASIBLE,
    Reason.DEFERRED,
    Reason.SHRINK_REFUSED,
    Reason.OOM_KILLED,
    Reason.TREND,
    Reason.HOT,
    Reason.RECORDED,
    Reason.IDLE,
    Reason.LAGGING,
    Reason.BOUND,
    Reason.RESTARTS,
)
"""Which reason names a wish that two resources make."""


def decide(snapshot: NodeSnapshot, now: float) -> tuple[Wish, ...]:
    """Make the wishes of one node, ordered by container key, at most one per container.

    A wish whose size equals the spec only explains (reason AtBound: hot, but at its maximum).
    Containers with mode `recommend` get wishes as well (the caller filters), `off` none.
    """
    pairs = [(pod, container) for pod in snapshot.pods for container in pod.containers]
    pairs.sort(key=lambda pair: pair[1].key)
    wishes = (_wish(pod, container, now) for pod, container in pairs)
    return tuple(wish for wish in wishes if wish is not None)


def _wish(pod: PodState, container: ContainerState, now: float) -> Wish | None:
    if container.policy.mode is Mode.OFF:
        return None
    if container.has_claims:
        # The API server rejects every resize of it, even one of nothing (until 1.36 at least).
        return None
    if container.hold_until_s is not None and now < container.hold_until_s:
        return None
    lowered = stuck(pod, container, now)
    if lowered is not None:
        return lowered
    changes = [_harmless(container, _change(pod, container, r, now)) for r in Resource]
    return _combined(container, [change for change in changes if change is not None])


def _change(
    pod: PodState, container: ContainerState, resource: Resource, now: float
) -> Change | None:
    first = recorded(pod, container, resource, now) or refused_shrink(pod, container, resource)
    grown = growth(container, resource, now)
    if grown is not None and grown.urgent and (first is None or not _grows(container, first)):
        return grown
    if first is not None:
        return first
    if not pod.settled:
        return None
    if grown is not None:
        return grown
    return idle(container, resource, now) or lagging(container, resource)


def _harmless(container: ContainerState, change: Change | None) -> Change | None:
    """Only explain a change that would restart the container: size-pods gives it to the next."""
    if change is None or change.resource not in container.restarts:
        return change
    spec = container.spec.of(change.resource)
    if change.amounts == spec:
        return change
    detail = f"{change.detail}; left as it is, because its resizePolicy would restart it"
    return Change(resource=change.resource, amounts=spec, reason=Reason.RESTARTS, detail=detail)


def _grows(container: ContainerState, change: Change) -> bool:
    before = container.spec.of(change.resource).reference or 0
    return (change.amounts.reference or 0) > before


def _combined(container: ContainerState, changes: list[Change]) -> Wish | None:
    if not changes:
        return None
    size: Size = container.spec
    for change in changes:
        size = with_amounts(size, change.resource, change.amounts)
    moving = [change for change in changes if change.amounts != container.spec.of(change.resource)]
    return Wish(
        container=container,
        size=size,
        reason=min((change.reason for change in moving or changes), key=_RANK.index),
        detail="; ".join(change.detail for change in changes),
        urgent=any(change.urgent for change in changes),
        recorded=frozenset(
            c.resource for c in changes if c.reason is Reason.RECORDED and not c.floored
        ),
        floored=frozenset(c.resource for c in changes if c.floored),
    )
