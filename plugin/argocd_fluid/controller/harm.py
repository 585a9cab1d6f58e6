"""Shrinks that did harm are taken back: an OOM kill, or a pod that is not ready any more. Pure.

Whether the shrink was the cause nobody can know; the old size is cheap, another kill is not. The
next shrink of that container waits twice as long.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from argocd_fluid.engine.model import (
    ContainerKey,
    ContainerState,
    NodeSnapshot,
    Reason,
    Size,
    Wish,
)
from argocd_fluid.engine.sizes import larger
from argocd_fluid.kube.types import Pod

WATCH_S = 600.0
"""How long after a shrink harm is blamed on it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shrunk:
    """A shrink that was sent, and the size before it."""

    at_s: float
    before: Size
    blamed: bool = False


def shrinks(before: Size, leaves: Size) -> bool:
    """Tell whether a patch takes anything away."""
    return any(
        new is not None and old is not None and new < old
        for old, new in zip(_flat(before), _flat(leaves), strict=True)
    )


def unready_since(pods: Iterable[Pod]) -> dict[str, float]:
    """Give the pods that run and are not ready, by uid, with the time since when."""
    found = {}
    for pod in pods:
        for condition in pod.status.conditions or ():
            is_unready = condition.type == "Ready" and condition.status == "False"
            if is_unready and condition.last_transition_time and pod.status.phase == "Running":
                found[pod.metadata.uid] = condition.last_transition_time.timestamp()
    return found


def harmed(
    snapshot: NodeSnapshot,
    shrunk: Mapping[ContainerKey, Shrunk],
    unready: Mapping[str, float],
    now: float,
) -> list[ContainerState]:
    """Name the containers whose last shrink was followed by harm."""
    found = []
    for pod in snapshot.pods:
        for container in pod.containers:
            shrink = shrunk.get(container.key)
            if shrink is None or now - shrink.at_s > WATCH_S:
                continue
            if container.hold_until_s is not None and now < container.hold_until_s:
                continue
            times = (container.oom_killed_s, unready.get(pod.uid))
            # Times of the API are whole seconds: one in the second of the shrink is after it.
            if any(time is not None and time >= int(shrink.at_s) for time in times):
                found.append(container)
    return found


def with_reverts(
    wishes: Sequence[Wish],
    containers: Sequence[ContainerState],
    shrunk: Mapping[ContainerKey, Shrunk],
) -> list[Wish]:
    """Wish the harmed containers their size before; larger wishes stay larger."""
    by_key = {wish.container.key: wish for wish in wishes}
    for container in containers:
        before = shrunk[container.key].before
        wish = by_key.get(container.key)
        size = _larger(before, wish.size if wish else container.spec)
        if wish is not None and size == wish.size:
            continue
        by_key[container.key] = Wish(
            container=container,
            size=size,
            reason=Reason.SHRINK_HARMED,
            detail="killed or not ready after its last shrink, which is taken back",
            urgent=True,
        )
    return [by_key[key] for key in sorted(by_key)]


def _larger(one: Size, other: Size) -> Size:
    return Size(cpu=larger(one.cpu, other.cpu), memory=larger(one.memory, other.memory))


def _flat(size: Size) -> tuple[int | None, ...]:
    return (size.cpu.request, size.cpu.limit, size.memory.request, size.memory.limit)
