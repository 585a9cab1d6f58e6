"""What a container needs by its own usage: the floor of shrinks and donations. Pure."""

from argocd_fluid.engine.model import Amounts, ContainerState, Resource, Usage
from argocd_fluid.engine.sizes import STEP, at_request, follows, moved, reference
from argocd_fluid.policy.model import ResourcePolicy

MEMORY_MARGIN = 1.10
"""The kubelet compares a shrunk limit with usage that includes page cache, and a race between its
check and the write can still kill (k/k 135670)."""
_TREND_HORIZON_S = 60.0
"""What grows now is not given away: need counts the growth until a resize could give it back."""
START_GRACE_S = 15.0
"""A young container has no usage yet, and the kubelet refuses to shrink it."""


def scaling(container: ContainerState, resource: Resource) -> ResourcePolicy | None:
    """Give the policy of one resource; None where it is not to be sized."""
    return container.policy.cpu if resource is Resource.CPU else container.policy.memory


def used(usage: Usage, resource: Resource) -> float | None:
    """Give the latest usage that growth is judged by; None where the sample lacks it."""
    return usage.latest.cpu_milli if resource is Resource.CPU else usage.latest.memory_bytes


def peak(usage: Usage, resource: Resource) -> float:
    """Give the window's peak."""
    return usage.peak_cpu_milli if resource is Resource.CPU else usage.peak_memory_bytes


def memory_floor(usage: Usage) -> int:
    """Give the least memory limit that the kubelet will accept and the container survive."""
    most = max(usage.peak_memory_usage_bytes, usage.peak_memory_bytes)
    return int(max(most, usage.latest.memory_usage_bytes) * MEMORY_MARGIN) + 1


def needed(container: ContainerState, resource: Resource) -> Amounts | None:
    """Give the least amounts that the window's peak allows, within the bounds; None if unknown."""
    usage, policy = container.usage, scaling(container, resource)
    spec = container.spec.of(resource)
    if usage is None or policy is None or reference(spec, policy) is None:
        return None
    if used(usage, resource) is None:
        return None  # unknown is not nothing
    most = max(peak(usage, resource), used(usage, resource) or 0.0)
    if resource is Resource.MEMORY:
        most += max(usage.memory_trend_bytes_per_s, 0.0) * _TREND_HORIZON_S
    to = most / policy.target
    if resource is Resource.MEMORY:
        to = max(to, memory_floor(usage))
    least = moved(spec, to, intent=container.intent.of(resource), policy=policy, resource=resource)
    if resource is Resource.MEMORY:
        return _over_floor(container, least, memory_floor(usage))
    return least


def is_observed(container: ContainerState, now: float) -> bool:
    """Whether its usage is known and old enough to take something away."""
    if not container.running or container.has_claims or container.usage is None:
        return False
    return container.started_s is None or now - container.started_s >= START_GRACE_S


def may_shrink(container: ContainerState, resource: Resource, now: float) -> bool:
    """Whether it may get less of a resource by its usage."""
    if resource is Resource.MEMORY and not container.policy.scale_down_memory:
        return False
    return is_observed(container, now)


def _over_floor(container: ContainerState, least: Amounts, floor: int) -> Amounts:
    """Bounds may be lower than what is in use; then usage wins, for a shrink at least."""
    policy = scaling(container, Resource.MEMORY)
    base = least.limit if least.limit is not None else least.request
    if policy is None or base is None or base >= floor or least.request is None:
        return least
    spec = container.spec.memory
    if not follows(spec, policy) and spec.limit is not None:
        return least  # the limit stays where it is
    step = STEP[Resource.MEMORY]
    request = -(-floor * least.request // base // step) * step
    return at_request(
        spec, request, intent=container.intent.memory, policy=policy, resource=Resource.MEMORY
    )


def never_more(spec: Amounts, amounts: Amounts) -> Amounts:
    """Take the lesser leaves: a shrink grows nothing."""
    return Amounts(
        request=_least(spec.request, amounts.request), limit=_least(spec.limit, amounts.limit)
    )


def _least(spec: int | None, amount: int | None) -> int | None:
    return spec if spec is None or amount is None else min(spec, amount)
