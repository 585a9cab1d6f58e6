"""OOM kills of pods that end with them: what the next pod of the rank must have more of.

A node loop answers the kill of a container that restarts. A pod that fails, or is deleted seconds
after the kill, is gone before its next round, so these kills are taken from the pod's own events
and only go on record: the pod that replaces it starts larger.
"""

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import msgspec

from argocd_fluid.constants import JOBSET_NAME
from argocd_fluid.controller import record
from argocd_fluid.controller.cluster import belongs
from argocd_fluid.controller.intent import as_resources
from argocd_fluid.controller.memory import Memory
from argocd_fluid.controller.observe import (
    View,
    enrolled,
    is_leaving,
    oom_killed_s,
)
from argocd_fluid.controller.room import statuses_of
from argocd_fluid.engine.growth import OOM_MEMORY_S, after_kill, was_killed
from argocd_fluid.engine.model import ContainerState, Reason, Size
from argocd_fluid.engine.sizes import larger
from argocd_fluid.kube.fluid import FluidWorkload, FluidWorkloadStatus, Resized
from argocd_fluid.kube.types import Pod
from argocd_fluid.policy.model import Mode

FAILED = "Failed"

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kill:
    """One kill, with the pod as it was first seen after it: its spec is the size that was short."""

    pod: Pod
    container: str
    killed_s: float

    @property
    def key(self) -> tuple[str, str, float]:
        """What makes two sightings the same kill."""
        return (self.pod.metadata.uid, self.container, self.killed_s)


class Kills:
    """Kills that were seen, and those that are due to go on record. Events come on any thread."""

    def __init__(self, mode: Mode, clock: Callable[[], float]) -> None:
        """Take the most that this controller may do, and the wall clock."""
        self._mode = mode
        self._clock = clock
        self._lock = threading.Lock()
        self._seen: dict[str, dict[tuple[str, str, float], Kill]] = {}
        self._settled: dict[str, set[tuple[str, str, float]]] = {}
        self._due: dict[tuple[str, str, float], Kill] = {}

    def note(self, old: Pod | None, new: Pod | None) -> bool:
        """Take a pod's event; tell whether a kill became due by it."""
        pod = new or old
        if pod is None:
            return False
        with self._lock:
            uid = pod.metadata.uid
            for kill in _kills_of(pod):
                self._seen.setdefault(uid, {}).setdefault(kill.key, kill)
            became = self._ended(uid) if new is None or has_ended(new) else False
            if new is None:
                self._seen.pop(uid, None)
                self._settled.pop(uid, None)
        if old is not None and new is not None and old.metadata.uid != new.metadata.uid:
            return self.note(old, None) or became
        return became

    def _ended(self, uid: str) -> bool:
        settled = self._settled.setdefault(uid, set())
        fresh = {key: kill for key, kill in self._seen.get(uid, {}).items() if key not in settled}
        self._due |= fresh
        settled.update(fresh)
        return bool(fresh)

    def due(self, workload: FluidWorkload) -> list[Kill]:
        """Give the kills of a workload's pods that are not on record yet; the old ones lapse."""
        oldest_s = self._clock() - OOM_MEMORY_S
        with self._lock:
            self._due = {key: one for key, one in self._due.items() if one.killed_s >= oldest_s}
            return [one for one in self._due.values() if _is_of(one.pod, workload)]

    def settle(self, kills: Sequence[Kill]) -> None:
        """Forget kills that are on record."""
        with self._lock:
            for kill in kills:
                self._due.pop(kill.key, None)

    def on_record(self, workload: FluidWorkload, kills: Sequence[Kill]) -> FluidWorkloadStatus:
        """Give the status with every kill answered, each of them once."""
        now = self._clock()
        for kill in kills:
            status = with_kill(workload, kill, mode=self._mode, now=now)
            workload = msgspec.structs.replace(workload, status=status)
        return workload.status


def has_ended(pod: Pod) -> bool:
    """Tell a pod in which nothing starts again."""
    return pod.status.phase == FAILED or is_leaving(pod)


def with_kill(
    workload: FluidWorkload, kill: Kill, *, mode: Mode, now: float
) -> FluidWorkloadStatus:
    """Raise the size on record of a killed container's rank, unless its kill has had its answer."""
    view = View(workload_of=lambda _: workload, memory=Memory(), mode=mode, now=now)
    states = {one.key.container: one for one in enrolled(kill.pod, workload, view)}
    container = states.get(kill.container)
    if container is None or container.policy.mode is not Mode.AUTO:
        return workload.status
    if not was_killed(container, now):
        return workload.status
    change = after_kill(container)
    if change is None or change.reason is not Reason.OOM_KILLED:
        return workload.status
    grown = larger(change.amounts, container.target.memory)
    size = replace(container.target, memory=grown)
    status = record.with_sizes(workload, {(container.rank, kill.container): size})
    return record.with_history(status, [_line(container, size, detail=change.detail, now=now)])


def log_recorded(before: FluidWorkload, after: FluidWorkload, kills: Sequence[Kill]) -> None:
    """Say once per kill what the next pod of its rank will have."""
    known = before.status.history or ()
    mine = {(kill.pod.metadata.name, kill.container) for kill in kills}
    for line in after.status.history or ():
        if (line.pod, line.container) in mine and line not in known:
            log.warning(
                "pod ended by an OOM kill, the next one starts larger",
                extra={
                    "pod": f"{after.metadata.namespace}/{line.pod}",
                    "container": line.container,
                    "detail": line.message,
                },
            )


def _line(container: ContainerState, size: Size, *, detail: str, now: float) -> Resized:
    to = (size.memory.reference or 0) >> 20
    return Resized(
        time=record.rfc3339(now),
        pod=container.key.pod,
        container=container.key.container,
        from_=as_resources(container.spec),
        to=as_resources(replace(container.spec, memory=size.memory)),
        reason=Reason.OOM_KILLED.value,
        message=f"{detail}, and its pod ended: the next one starts with {to}Mi",
    )


def _kills_of(pod: Pod) -> list[Kill]:
    times = {name: oom_killed_s(status) for name, status in statuses_of(pod).items()}
    return [
        Kill(pod=pod, container=name, killed_s=time)
        for name, time in times.items()
        if time is not None
    ]


def _is_of(pod: Pod, workload: FluidWorkload) -> bool:
    if pod.metadata.namespace != workload.metadata.namespace:
        return False
    return pod.metadata.label(JOBSET_NAME) == workload.spec.target.name and belongs(pod, workload)
