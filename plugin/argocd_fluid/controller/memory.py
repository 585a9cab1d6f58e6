"""What one node's loop remembers between rounds. Losing it costs time, never correctness.

Usage histories begin anew after a restart of the controller; holds are tried once more; what was
sent is in the pods' specs, what was decided in the FluidWorkloads.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from typing import TypeVar

from argocd_fluid.controller.harm import Shrunk, shrinks
from argocd_fluid.engine.model import Amounts, ContainerKey, ContainerState, Reason, Size
from argocd_fluid.engine.usage import History, Reading
from argocd_fluid.kube.backoff import Backoff
from argocd_fluid.kube.store import Key
from argocd_fluid.kube.summary import ContainerStats, Summary

FIRST_HOLD_S = 10.0
LAST_HOLD_S = 300.0
MOST_PATIENCE = 16.0
KILL_ANSWERS = frozenset({Reason.OOM_KILLED, Reason.SHRINK_HARMED})
"""Why memory is given because of a kill; any other resize may have come before it."""

V = TypeVar("V")


@dataclass(frozen=True, slots=True, kw_only=True)
class Hold:
    """A pod whose resize was refused: nothing is tried before `until_s`."""

    until_s: float
    since_s: float
    reason: str
    message: str


@dataclass(slots=True)
class Memory:
    """Of one node. Only its loop touches it, and a node is worked on by one thread at a time."""

    histories: dict[ContainerKey, History] = field(default_factory=dict)
    resized_s: dict[ContainerKey, float] = field(default_factory=dict)
    memory_resized_s: dict[ContainerKey, float] = field(default_factory=dict)
    """Up to when OOM kills have had their answer."""
    shrunk: dict[ContainerKey, Shrunk] = field(default_factory=dict)
    patience: dict[ContainerKey, float] = field(default_factory=dict)
    """How many times longer than its policy says a container must be idle to be shrunk."""
    holds: dict[str, Hold] = field(default_factory=dict)
    """By pod uid."""
    unsure: set[Key] = field(default_factory=set)
    """Pods that a resize was sent to without an answer: read before anything else."""
    _backoffs: dict[str, Backoff] = field(default_factory=dict)
    _infeasible: dict[str, Backoff] = field(default_factory=dict)

    def add_readings(self, summary: Summary) -> None:
        """Take the kubelet's answer; readings that came before are counted once."""
        for pod in summary.pods or ():
            for container in pod.containers or ():
                reading = reading_of(container)
                key = ContainerKey(
                    namespace=pod.pod_ref.namespace,
                    pod=pod.pod_ref.name,
                    uid=pod.pod_ref.uid,
                    container=container.name,
                )
                if reading is not None:
                    self.histories.setdefault(key, History()).add(reading)

    def add_resize(
        self,
        key: ContainerKey,
        *,
        before: Size,
        leaves: Size,
        now: float,
        answers_kill: bool = False,
    ) -> None:
        """Remember a patch that was accepted.

        The API's times are whole seconds: a kill in the second of an ordinary resize may have come
        after it, and then it is not answered yet.
        """
        self.resized_s[key] = now
        if leaves.memory != Amounts():
            self.memory_resized_s[key] = now if answers_kill else now - 1
        if shrinks(before, leaves):
            self.shrunk[key] = Shrunk(at_s=now, before=before)
        elif key in self.shrunk and self.shrunk[key].at_s < now:
            self.shrunk.pop(key)  # not by the growth of another leaf in the same round

    def blame(self, containers: Iterable[ContainerState]) -> None:
        """Double the patience with containers whose shrink did harm, once per shrink."""
        for container in containers:
            shrink = self.shrunk[container.key]
            if not shrink.blamed:
                self.shrunk[container.key] = replace(shrink, blamed=True)
                patience = self.patience.get(container.key, 1.0)
                self.patience[container.key] = min(MOST_PATIENCE, 2 * patience)

    def hold(self, uid: str, *, now: float, reason: str, message: str) -> Hold:
        """Leave a pod alone after a refusal, longer each time."""
        backoff = self._backoffs.setdefault(uid, Backoff(FIRST_HOLD_S, LAST_HOLD_S))
        old = self.holds.get(uid)
        since = old.since_s if old and old.reason == reason else now
        hold = Hold(until_s=now + backoff.next_s(), since_s=since, reason=reason, message=message)
        self.holds[uid] = hold
        return hold

    def hold_infeasible(self, uid: str, *, now: float, message: str) -> None:
        """Leave a pod alone whose resize the kubelet will never accept; no success ends this."""
        backoff = self._infeasible.setdefault(uid, Backoff(60.0, 3600.0))
        until = now + backoff.next_s()
        self.holds[uid] = Hold(until_s=until, since_s=now, reason="Infeasible", message=message)

    def release(self, uid: str) -> None:
        """Forget a pod's refusals: a resize was accepted."""
        self.holds.pop(uid, None)
        self._backoffs.pop(uid, None)

    def keep_only(self, uids: Collection[str]) -> None:
        """Forget the pods that are gone."""
        _prune(self.histories, uids)
        _prune(self.resized_s, uids)
        _prune(self.memory_resized_s, uids)
        _prune(self.shrunk, uids)
        _prune(self.patience, uids)
        for by_uid in (self.holds, self._backoffs, self._infeasible):
            for uid in by_uid.keys() - set(uids):
                del by_uid[uid]


def reading_of(stats: ContainerStats) -> Reading | None:
    """Give the reading in a container's stats; None while the kubelet has no figures yet.

    Times in a summary are whole seconds, so a rate from two counters 10 s apart would be off by a
    tenth; the kubelet's own rate is not.
    """
    memory, cpu = stats.memory, stats.cpu
    if memory is None or memory.time is None or memory.working_set_bytes is None:
        return None
    rate = cpu.usage_nano_cores if cpu else None
    counter = cpu.usage_core_nano_seconds if cpu else None
    usage = memory.usage_bytes
    return Reading(
        time_s=memory.time.timestamp(),
        memory_bytes=memory.working_set_bytes,
        memory_usage_bytes=memory.working_set_bytes if usage is None else usage,
        cpu_nano=counter if rate is None else None,
        cpu_rate_nano=rate,
        started_s=stats.start_time.timestamp() if stats.start_time else None,
    )


def _prune(by_key: dict[ContainerKey, V], uids: Collection[str]) -> None:
    for key in [key for key in by_key if key.uid not in uids]:
        del by_key[key]
