"""How a pod comes to the size on record, after a change in Git or as a new incarnation. Pure."""

from argocd_fluid.engine.change import Change, is_worthwhile
from argocd_fluid.engine.model import (
    Amounts,
    ContainerState,
    PodState,
    QosClass,
    Reason,
    Resource,
)
from argocd_fluid.engine.need import is_observed, memory_floor, needed, never_more, scaling
from argocd_fluid.engine.sizes import describe, laid_over, within_bounds
from argocd_fluid.policy.model import Mode


def recorded(
    pod: PodState, container: ContainerState, resource: Resource, now: float
) -> Change | None:
    """Bring a pod to the size on record: Git has changed, or the pod is a new one."""
    if not container.running and container.oom_killed_s is None:
        return None  # its size is set when it is created, and nothing can be resized before it runs
    spec, policy = container.spec.of(resource), scaling(container, resource)
    record = container.target.of(resource)
    if policy is not None:
        intent = container.intent.of(resource)
        record = within_bounds(record, intent=intent, policy=policy, resource=resource)
    guaranteed = pod.qos is QosClass.GUARANTEED
    amounts = laid_over(spec, record, guaranteed=guaranteed, resource=resource)
    detail = f"{resource} {_both(resource, spec)} to the {_both(resource, amounts)} on record"
    if resource is Resource.MEMORY:
        safe = _never_below_use(container, amounts, now)
        if safe != amounts:
            return _floored(container, safe, now, detail=detail)
    if amounts == spec:
        return None
    return Change(resource=resource, amounts=amounts, reason=Reason.RECORDED, detail=detail)


def _floored(container: ContainerState, safe: Amounts, now: float, *, detail: str) -> Change | None:
    """Stop at what is in use, on record too: a pod of the recorded size would be killed at once."""
    if container.usage is None or not is_observed(container, now):
        return None  # nobody knows what is in use, and the size on record may do
    spec = container.spec.memory
    amounts = safe if is_worthwhile(spec, safe, at_bound=False) else spec
    if amounts == spec and container.policy.mode is not Mode.AUTO:
        return None
    detail += f", no lower than {_both(Resource.MEMORY, amounts)} because of what is in use"
    return Change(
        resource=Resource.MEMORY,
        amounts=amounts,
        reason=Reason.RECORDED,
        detail=detail,
        floored=True,
    )


def _both(resource: Resource, amounts: Amounts) -> str:
    return f"{describe(resource, amounts.request)}/{describe(resource, amounts.limit)}"


def _never_below_use(container: ContainerState, amounts: Amounts, now: float) -> Amounts:
    """Hold a memory shrink at what is in use, and back while nobody knows what is."""
    spec, usage = container.spec.memory, container.usage
    to, at = amounts.reference, spec.reference
    if to is None or at is None or to >= at:
        return amounts
    needs = needed(container, Resource.MEMORY)
    if usage is None or needs is None or not is_observed(container, now):
        return spec
    return amounts if to >= memory_floor(usage) else never_more(spec, needs)
