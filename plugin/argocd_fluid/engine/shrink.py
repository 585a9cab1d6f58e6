"""When a container gives back what a whole window has not needed. Pure."""

from argocd_fluid.engine.change import Change, is_worthwhile
from argocd_fluid.engine.model import ContainerState, Reason, Resource
from argocd_fluid.engine.need import may_shrink, needed, never_more, peak, scaling
from argocd_fluid.engine.sizes import describe, reference


def idle(container: ContainerState, resource: Resource, now: float) -> Change | None:
    """Give back what the whole window has not needed."""
    usage, policy, spec = container.usage, scaling(container, resource), container.spec.of(resource)
    if usage is None or policy is None or not may_shrink(container, resource, now):
        return None
    after_s = container.policy.scale_down_after_s
    since_s = usage.below_since.get(resource)
    if since_s is None or now - since_s < after_s:
        return None
    if _must_wait_longer(container, now):
        return None
    needs = needed(container, resource)
    if needs is None:
        return None
    amounts = never_more(spec, needs)
    at_bound = needs.request == policy.min
    if not is_worthwhile(spec, amounts, at_bound=at_bound):
        return None
    return Change(
        resource=resource,
        amounts=amounts,
        reason=Reason.IDLE,
        detail=f"{resource} peak {describe(resource, peak(usage, resource))} of"
        f" {describe(resource, reference(spec, policy))} under {policy.scale_down_at:.0%}"
        f" for {now - since_s:.0f} s",
    )


def _must_wait_longer(container: ContainerState, now: float) -> bool:
    """Whether a shrink that did harm is too short ago: the controller doubles the wait."""
    factor, last_s = container.scale_down_factor, container.last_resize_s
    if factor <= 1 or last_s is None:
        return False
    return now - last_s < container.policy.scale_down_after_s * factor
