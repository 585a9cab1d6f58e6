"""Sizes as values: to and from a container's `resources`, rounding, bounds, differences.

Every size that the engine computes goes through `moved`, so three rules hold wherever it comes
from: a leaf is never added or removed, equal request and limit stay equal and unequal ones stay
unequal (that keeps the QoS class), and a limit follows its request in the proportion Git gave it.
"""

from collections.abc import Mapping
from dataclasses import replace

from argocd_fluid.engine.model import Amounts, Resource, Size
from argocd_fluid.manifests.quantity import parse_quantity
from argocd_fluid.policy.model import Limits, ResourcePolicy

STEP: Mapping[Resource, int] = {Resource.CPU: 10, Resource.MEMORY: 1 << 20}
"""Granularity of computed sizes: 10 millicores, 1 Mi. Finer steps only make more resizes."""

_BINARY_SUFFIXES = (("Ei", 60), ("Pi", 50), ("Ti", 40), ("Gi", 30), ("Mi", 20), ("Ki", 10))


def size_from_resources(resources: Mapping[str, object]) -> Size:
    """Read a container's `resources` (API or intent): millicores and bytes, rounded up.

    Other resources are ignored. Raises what `parse_quantity` raises for text that is no quantity.
    """
    requests, limits = resources.get("requests"), resources.get("limits")
    return Size(
        cpu=Amounts(request=_leaf(requests, Resource.CPU), limit=_leaf(limits, Resource.CPU)),
        memory=Amounts(
            request=_leaf(requests, Resource.MEMORY), limit=_leaf(limits, Resource.MEMORY)
        ),
    )


def resources_from_size(size: Size) -> dict[str, dict[str, str]]:
    """Write a size as `resources` with canonical quantities; absent leaves and maps are left out.

    By value the exact inverse of `size_from_resources`.
    """
    leaves = {
        "limits": {resource: size.of(resource).limit for resource in Resource},
        "requests": {resource: size.of(resource).request for resource in Resource},
    }
    written = {
        kind: {str(r): _canonical(r, amount) for r, amount in amounts.items() if amount is not None}
        for kind, amounts in leaves.items()
    }
    return {kind: amounts for kind, amounts in written.items() if amounts}


def changed_leaves(spec: Size, target: Size) -> Size:
    """Keep of `target` the leaves that differ from `spec`; a leaf that either lacks is None."""
    return Size(
        cpu=_changed(spec.cpu, target.cpu),
        memory=_changed(spec.memory, target.memory),
    )


def merged(spec: Size, leaves: Size) -> Size:
    """Lay the leaves that are present over `spec`, as the API server does with a patch."""
    return Size(cpu=_merged(spec.cpu, leaves.cpu), memory=_merged(spec.memory, leaves.memory))


def with_amounts(size: Size, resource: Resource, amounts: Amounts) -> Size:
    """Replace the amounts of one resource."""
    if resource is Resource.CPU:
        return replace(size, cpu=amounts)
    return replace(size, memory=amounts)


def larger(one: Amounts, other: Amounts) -> Amounts:
    """Give the leaves of `other`, raised to those of `one` where both have them."""
    return Amounts(
        request=_larger_leaf(one.request, other.request), limit=_larger_leaf(one.limit, other.limit)
    )


def describe(resource: Resource, amount: float | None) -> str:
    """Write an amount for people: `812m`, `1536Mi`, `none`."""
    if amount is None:
        return "none"
    return f"{amount:.0f}m" if resource is Resource.CPU else f"{amount / (1 << 20):.0f}Mi"


def clamp(value: int, low: int, high: int) -> int:
    """Hold a value within bounds; the upper one wins where they cross."""
    return min(max(value, low), high)


def round_up(amount: float, resource: Resource) -> int:
    """Round up to the granularity of computed sizes."""
    step = STEP[resource]
    return -int(-amount // step) * step


def follows(amounts: Amounts, policy: ResourcePolicy) -> bool:
    """Whether the limit moves with the request: by policy, or because they are equal."""
    return amounts.limit is not None and (
        policy.limits is Limits.PROPORTIONAL or amounts.limit == amounts.request
    )


def reference(amounts: Amounts, policy: ResourcePolicy) -> int | None:
    """Say what utilisation is measured against: the limit, else the request.

    A limit that `limits: keep` holds where it is cannot be sized, so there the request counts.
    """
    if amounts.request is None or follows(amounts, policy):
        return amounts.limit
    return amounts.request


def moved(
    spec: Amounts, to: float, *, intent: Amounts, policy: ResourcePolicy, resource: Resource
) -> Amounts:
    """Move the amounts of one resource so that their reference becomes at least `to`.

    Rounded up to `STEP`; the request stays within the bounds and the limit follows it.
    """
    if spec.request is None:
        return spec
    apart = follows(spec, policy) and spec.limit != spec.request
    numerator, denominator = _proportion(spec, intent) if apart else (1, 1)
    request = clamp(round_up(to * denominator / numerator, resource), policy.min, policy.max)
    return at_request(spec, request, intent=intent, policy=policy, resource=resource)


def at_request(
    spec: Amounts, request: int, *, intent: Amounts, policy: ResourcePolicy, resource: Resource
) -> Amounts:
    """Give the amounts whose request is `request`: the limit follows in Git's proportion."""
    if spec.request is None:
        return spec
    if spec.limit is None:
        return Amounts(request=request)
    if spec.limit == spec.request:
        return Amounts(request=request, limit=request)
    if not follows(spec, policy):
        below = max(spec.limit - STEP[resource], min(spec.request, spec.limit))
        return Amounts(request=min(request, below), limit=spec.limit)
    numerator, denominator = _proportion(spec, intent)
    limit = round_up(request * numerator / denominator, resource)
    return Amounts(request=request, limit=max(limit, request + STEP[resource]))


def within_bounds(
    amounts: Amounts, *, intent: Amounts, policy: ResourcePolicy, resource: Resource
) -> Amounts:
    """Hold recorded amounts within the bounds; inside them they stay as they are."""
    if amounts.request is None:
        return amounts
    request = clamp(amounts.request, policy.min, policy.max)
    if request == amounts.request:
        return amounts
    return at_request(amounts, request, intent=intent, policy=policy, resource=resource)


def laid_over(spec: Amounts, record: Amounts, *, guaranteed: bool, resource: Resource) -> Amounts:
    """Bring recorded amounts to a pod: only leaves that it has, and its QoS class kept."""
    request, limit = _merged(spec, record).request, _merged(spec, record).limit
    if request is None or limit is None:
        return Amounts(request=request, limit=limit)
    if guaranteed:
        return Amounts(request=limit, limit=limit)
    if request >= limit and spec.request != spec.limit:
        # Equal leaves in every container would make the pod Guaranteed, which is refused.
        return Amounts(request=max(limit - STEP[resource], 1), limit=limit)
    return Amounts(request=min(request, limit), limit=limit)


def _larger_leaf(one: int | None, other: int | None) -> int | None:
    return other if one is None or other is None else max(one, other)


def _proportion(spec: Amounts, intent: Amounts) -> tuple[int, int]:
    """Limit to request as Git has it, so that a grant of the limit alone does not bend it."""
    for amounts in (intent, spec):
        if amounts.limit and amounts.request and amounts.limit > amounts.request:
            return amounts.limit, amounts.request
    return 1, 1


def _leaf(amounts: object, resource: Resource) -> int | None:
    if not isinstance(amounts, Mapping) or amounts.get(resource.value) is None:
        return None
    quantity = parse_quantity(amounts[resource.value])
    return quantity.milli() if resource is Resource.CPU else quantity.value()


def _canonical(resource: Resource, amount: int) -> str:
    if resource is Resource.CPU:
        return f"{amount}m" if amount % 1000 else str(amount // 1000)
    for suffix, bits in _BINARY_SUFFIXES:
        if amount and amount % (1 << bits) == 0:
            return f"{amount >> bits}{suffix}"
    return str(amount)


def _changed(spec: Amounts, target: Amounts) -> Amounts:
    return Amounts(
        request=_changed_leaf(spec.request, target.request),
        limit=_changed_leaf(spec.limit, target.limit),
    )


def _changed_leaf(spec: int | None, target: int | None) -> int | None:
    return None if spec is None or target == spec else target


def _merged(spec: Amounts, leaves: Amounts) -> Amounts:
    return Amounts(
        request=leaves.request if None not in (spec.request, leaves.request) else spec.request,
        limit=leaves.limit if None not in (spec.limit, leaves.limit) else spec.limit,
    )
