"""What a changed size or policy of one container means for its running pods. Pure."""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from itertools import groupby
from typing import Any, Final

from argocd_fluid.manifests.quantity import Quantity, parse_quantity
from argocd_fluid.records import dataclass
from argocd_fluid.render.difference import differences
from argocd_fluid.render.pod_level import RESOURCES, Amounts


class Effect(StrEnum):
    """What happens, in the order of how much it hurts."""

    REFUSED = "sync fails"
    REMOVED = "pruned"
    RESTART = "pods replaced"
    RESIZE = "live resize"
    NEXT_RUN = "next run"
    HELD = "held"
    POLICY = "policy"
    ENROLLED = "enrolled"
    LEFT = "left"
    CHANGED = "changed"
    METADATA = "metadata"
    NEW = "new"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One container on one side."""

    pods: int
    amounts: Amounts
    policy: Mapping[str, Any] | None
    lasts: bool
    paused_kind: str = ""
    """The kind of the workload, where it is paused."""
    qos_change: str = ""
    """`Guaranteed pod a Burstable`, where its live resize would be one that the API refuses."""


Line = tuple[Effect, tuple[str, ...], str]
"""Effect, details, advice."""


def effects(before: Part, after: Part) -> Iterator[Line]:
    """Give what happens to a container that both sides have."""
    yield from _size_changes(before, after)
    yield from _policy_change(before, after)


def _size_changes(before: Part, after: Part) -> Iterator[Line]:
    leaves = list(_leaves(before.amounts, after.amounts))
    live = [leaf for leaf in leaves if after.lasts and None not in (leaf.before, leaf.after)]
    if live and after.qos_change:
        yield Effect.NEXT_RUN, tuple(_described(live)), QOS % after.qos_change
    elif live and (reason := _holds(after)):
        yield Effect.HELD, tuple(_described(live)), reason
    elif live:
        yield Effect.RESIZE, tuple(_described(live)), remarks(after)
    later = [leaf for leaf in leaves if leaf not in live]
    if later:
        advice = "a live resize neither adds nor removes a request or limit"
        yield (
            Effect.NEXT_RUN,
            tuple(_described(later)),
            f"{advice}: lands with a new run" if after.lasts else INIT,
        )


QOS: Final = "the API refuses a resize that makes a %s one: lands with a new run"
INIT: Final = "no resize reaches an init container: lands with a new run"


def with_live_leaves(before: Part, after: Part) -> Amounts:
    """Give the amounts of a running container once what can be resized live is resized."""
    if not after.lasts:
        return before.amounts
    return {
        kind: {
            name: after.amounts.get(kind, {}).get(name, quantity)
            for name, quantity in amounts.items()
        }
        for kind, amounts in before.amounts.items()
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class _Leaf:
    """One request or limit that differs; None is absent."""

    resource: str
    kind: str
    before: Quantity | None
    after: Quantity | None

    def __str__(self) -> str:
        old, new = (each if each is not None else "absent" for each in (self.before, self.after))
        return f"{old} -> {new}"


def _leaves(before: Amounts, after: Amounts) -> Iterator[_Leaf]:
    for resource in RESOURCES:
        for kind in ("requests", "limits"):
            old, new = (side.get(kind, {}).get(resource) for side in (before, after))
            if old != new:
                yield _Leaf(resource=resource, kind=kind[:-1], before=old, after=new)


def _described(leaves: list[_Leaf]) -> Iterator[str]:
    """Say once what holds for request and limit alike."""
    for resource, group in groupby(leaves, key=lambda leaf: leaf.resource):
        found = list(group)
        texts = {str(leaf) for leaf in found}
        if len(found) > len(texts):
            yield f"{resource} {found[0]}"
        else:
            yield from (f"{resource} {leaf.kind} {leaf}" for leaf in found)


def _holds(after: Part) -> str:
    """Say why the controller does not resize it; "" where it does."""
    if after.paused_kind:
        return f"the {after.paused_kind} is paused"
    mode = (after.policy or {}).get("mode")
    return "" if mode == "auto" else f"mode is {mode}: the controller does not do it"


def remarks(part: Part) -> str:
    """Say where the policy does not let a container have the size that Git asks for."""
    requests = part.amounts.get("requests", {})
    return "; ".join(_outside_bounds(requests, part.policy or {}))


def _outside_bounds(requests: Mapping[str, Quantity], policy: Mapping[str, Any]) -> Iterator[str]:
    for resource, request in requests.items():
        bounds = policy.get(resource, {})
        for name, is_outside in (("min", Quantity.__lt__), ("max", Quantity.__gt__)):
            if name in bounds and is_outside(request, parse_quantity(bounds[name])):
                yield f"the {resource} request is held at the policy's {name}, {bounds[name]}"


def _policy_change(before: Part, after: Part) -> Iterator[Line]:
    if before.policy is None or after.policy is None:
        return
    found = tuple(str(each) for each in differences(before.policy, after.policy))
    if found:
        mode = after.policy.get("mode")
        switched = _AFTER_MODE.get(str(mode), "") if mode != before.policy.get("mode") else ""
        is_sized = before.amounts != after.amounts
        held = "" if mode != "auto" or is_sized else remarks(after)
        yield Effect.POLICY, found, "; ".join(filter(None, (switched, held)))


_AFTER_MODE: Final[Mapping[str, str]] = {
    "auto": "resized live from now on",
    "recommend": "no more resizes: running pods keep their sizes, recommendations go on",
    "off": "no more resizes: running pods keep their sizes",
}
