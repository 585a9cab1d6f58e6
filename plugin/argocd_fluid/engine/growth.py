"""When a container should get more: OOM kills, memory on its way to the limit, hot resources. Pure.

Growth is judged by the latest sample; shrinks, in `decide`, by the peaks of the whole window. That
asymmetry is the hysteresis: what a window has needed once is not taken away within it.
"""

from argocd_fluid.engine.change import LEAST_CHANGE, Change, is_worthwhile
from argocd_fluid.engine.model import Amounts, ContainerState, Reason, Resource, Usage
from argocd_fluid.engine.need import scaling, used
from argocd_fluid.engine.sizes import STEP, describe, follows, moved, reference
from argocd_fluid.policy.model import ResourcePolicy

OBSERVATION_LATENCY_S = 20.0
"""A kubelet's figures are up to 16 s old, and a resize takes its moment."""
_EXHAUSTED = 0.95
"""So close to a memory limit, no slope is waited for."""
OOM_MEMORY_S = 600.0
"""Without a resize on record, an older OOM kill is history and no call for help."""
_NEW_TERRITORY = 0.9
"""A trend counts only near the window's peak: below it, a sawtooth climbs where it was before."""


def growth(container: ContainerState, resource: Resource, now: float) -> Change | None:
    """Give the growth that one resource should have; reason AtBound where its maximum forbids."""
    policy, spec = scaling(container, resource), container.spec.of(resource)
    if policy is None or not reference(spec, policy):
        return None
    if resource is Resource.MEMORY and was_killed(container, now):
        return after_kill(container)
    usage = container.usage
    if usage is None or not container.running:
        return None
    return _by_usage(container, usage, resource=resource, policy=policy, now=now)


def was_killed(container: ContainerState, now: float) -> bool:
    """Whether an OOM kill has had no answer yet; a memory resize after it was the answer.

    The API's times are whole seconds; who fills in `last_memory_resize_s` knows which resize of the
    kill's own second was its answer.
    """
    killed_s = container.oom_killed_s
    if killed_s is None:
        return False
    if container.last_memory_resize_s is None:
        return now - killed_s <= OOM_MEMORY_S
    return int(killed_s) > int(container.last_memory_resize_s)


def after_kill(container: ContainerState) -> Change | None:
    """Give the memory that follows an OOM kill; reason AtBound where nothing more is allowed."""
    policy = scaling(container, Resource.MEMORY)
    if policy is None or not reference(container.spec.memory, policy):
        return None
    spec = container.spec.memory
    detail = f"OOM kill at {describe(Resource.MEMORY, spec.reference)}"
    if spec.limit is not None and not follows(spec, policy):
        # The limit killed it, and no request helps against that.
        detail += ", and its policy keeps the limit"
        return Change(resource=Resource.MEMORY, amounts=spec, reason=Reason.BOUND, detail=detail)
    to = (reference(spec, policy) or 0) * policy.oom_factor
    why = (Reason.OOM_KILLED, detail)
    return _grown(container, resource=Resource.MEMORY, to=to, why=why, urgent=True)


def _by_usage(
    container: ContainerState,
    usage: Usage,
    *,
    resource: Resource,
    policy: ResourcePolicy,
    now: float,
) -> Change | None:
    spec = container.spec.of(resource)
    base, amount = reference(spec, policy) or 0, used(usage, resource)
    if amount is None:
        return None
    share = amount / base
    wait_s = _cooldown_left_s(container, now)
    to_limit_s = _time_to_limit_s(usage, spec, policy) if resource is Resource.MEMORY else None
    urgent = resource is Resource.MEMORY and _is_urgent(
        amount, spec, to_limit_s=to_limit_s, wait_s=wait_s
    )
    if wait_s > 0 and not urgent:
        return None
    measured = f"{resource} {describe(resource, amount)} of {describe(resource, base)}"
    most = base * container.policy.scale_up_max_factor
    horizon_s = container.policy.scale_up_cooldown_s + OBSERVATION_LATENCY_S
    if share > policy.scale_up_at:
        to = amount / policy.target
        why = (Reason.HOT, f"{measured} ({share:.0%} > {policy.scale_up_at:.0%})")
    elif to_limit_s is not None and to_limit_s < horizon_s:
        to = (amount + usage.memory_trend_bytes_per_s * horizon_s) / policy.target
        why = (Reason.TREND, f"{measured}, at its limit in {to_limit_s:.0f} s")
    else:
        return None
    return _grown(container, resource=resource, to=min(to, most), why=why, urgent=urgent)


def _cooldown_left_s(container: ContainerState, now: float) -> float:
    if container.last_resize_s is None:
        return 0.0
    return container.last_resize_s + container.policy.scale_up_cooldown_s - now


def _time_to_limit_s(usage: Usage, spec: Amounts, policy: ResourcePolicy) -> float | None:
    slope, amount = usage.memory_trend_bytes_per_s, usage.latest.memory_bytes
    if spec.limit is None or slope <= 0 or not follows(spec, policy):
        return None
    if amount < usage.peak_memory_bytes * _NEW_TERRITORY:
        return None
    if amount < spec.limit * policy.scale_up_at / 2:
        return None
    return max(spec.limit - amount, 0) / slope


def _is_urgent(amount: float, spec: Amounts, *, to_limit_s: float | None, wait_s: float) -> bool:
    """Whether waiting for the cooldown, or for a pod to settle, would be waiting for a kill."""
    if spec.limit is None:
        return False
    if amount >= spec.limit * _EXHAUSTED:
        return True
    return to_limit_s is not None and to_limit_s < max(wait_s, 0.0) + OBSERVATION_LATENCY_S


def _grown(
    container: ContainerState,
    *,
    resource: Resource,
    to: float,
    why: tuple[Reason, str],
    urgent: bool,
) -> Change | None:
    policy, spec = scaling(container, resource), container.spec.of(resource)
    if policy is None:
        return None
    reason, detail = why
    intent = container.intent.of(resource)
    amounts = moved(spec, to, intent=intent, policy=policy, resource=resource)
    amounts = _never_less(spec, amounts)
    at_bound = spec.request is not None and (amounts.request or 0) >= policy.max
    if not is_worthwhile(spec, amounts, at_bound=at_bound):
        detail += f", at its maximum {describe(resource, policy.max)}"
        return Change(resource=resource, amounts=spec, reason=Reason.BOUND, detail=detail)
    return Change(resource=resource, amounts=amounts, reason=reason, detail=detail, urgent=urgent)


def _never_less(spec: Amounts, grown: Amounts) -> Amounts:
    """Growth shrinks nothing: not a request above its bound, not a limit above Git's proportion."""
    return Amounts(
        request=None if spec.request is None else max(spec.request, grown.request or 0),
        limit=None if spec.limit is None else max(spec.limit, grown.limit or 0),
    )


def lagging(container: ContainerState, resource: Resource) -> Change | None:
    """Let a request catch up with a limit that grew alone while the node was full."""
    policy, spec = scaling(container, resource), container.spec.of(resource)
    if policy is None or spec.request is None or spec.limit is None or not container.running:
        return None
    if spec.limit == spec.request or not follows(spec, policy) or container.usage is None:
        return None
    intent = container.intent.of(resource)
    line = moved(spec, spec.limit, intent=intent, policy=policy, resource=resource)
    amounts = Amounts(request=min(line.request or 0, spec.limit - STEP[resource]), limit=spec.limit)
    if (amounts.request or 0) - spec.request < max(spec.request * LEAST_CHANGE, 2 * STEP[resource]):
        return None
    return Change(
        resource=resource,
        amounts=amounts,
        reason=Reason.LAGGING,
        detail=f"{resource} request {describe(resource, spec.request)} behind its limit"
        f" {describe(resource, spec.limit)}",
    )
