"""A work queue of keys, as controller-runtime's: a key is worked on by one worker at a time.

Adding a key that waits changes nothing; adding one that is being worked on has it worked on again
afterwards. A step never gets the event that woke it, only the key, so it can be lost or repeated.
"""

import heapq
import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from argocd_fluid.errors import FluidError
from argocd_fluid.kube.backoff import Backoff

K = TypeVar("K")

FIRST_RETRY_S = 0.5
LAST_RETRY_S = 60.0

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Done:
    """Nothing to do until something changes."""


@dataclass(frozen=True, slots=True)
class RequeueAfter:
    """Everything is in order; look again after a while."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Retry:
    """It failed and may work later: with back-off."""

    error: Exception


@dataclass(frozen=True, slots=True)
class Stop:
    """It failed and will fail again until something changes."""

    error: Exception


Outcome = Done | RequeueAfter | Retry | Stop
Step = Callable[[K], Outcome]


class Queue(Generic[K]):
    """Keys to work on, some of them later. `clock` is monotonic seconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._changed = threading.Condition()
        self._due: dict[K, float] = {}
        self._heap: list[tuple[float, int, K]] = []
        self._order = 0
        self._working: set[K] = set()
        self._backoffs: dict[K, Backoff] = {}

    def add(self, key: K, after_s: float = 0.0) -> None:
        """Have a key worked on, at the earlier of this time and one that it waits for already."""
        with self._changed:
            due = self._clock() + after_s
            if key in self._due and self._due[key] <= due:
                return
            self._due[key] = due
            self._order += 1
            heapq.heappush(self._heap, (due, self._order, key))
            self._changed.notify()

    def take(self, timeout_s: float) -> K | None:
        """Take the next key that is due; None if there is none within the time."""
        deadline = self._clock() + timeout_s
        with self._changed:
            while True:
                key, wait_s = self._next(deadline)
                if key is not None or wait_s <= 0:
                    return key
                self._changed.wait(wait_s)

    def finish(self, key: K, outcome: Outcome) -> None:
        """Give a taken key back, with what became of it."""
        with self._changed:
            self._working.discard(key)
            self._changed.notify()
        match outcome:
            case Done():
                self._backoffs.pop(key, None)
            case RequeueAfter(seconds=seconds):
                self._backoffs.pop(key, None)
                self.add(key, seconds)
            case Retry():
                backoff = self._backoffs.setdefault(key, Backoff(FIRST_RETRY_S, LAST_RETRY_S))
                self.add(key, backoff.next_s())
            case Stop():
                self._backoffs.pop(key, None)

    def _next(self, deadline: float) -> tuple[K | None, float]:
        """Pop the first due key; else tell how long to wait."""
        now = self._clock()
        busy: list[tuple[float, int, K]] = []
        found: K | None = None
        while self._heap and self._heap[0][0] <= now:
            due, order, key = heapq.heappop(self._heap)
            if self._due.get(key) != due:
                continue  # superseded by an earlier time
            if key in self._working:
                busy.append((due, order, key))
                continue
            del self._due[key]
            self._working.add(key)
            found = key
            break
        wake = min(deadline, self._heap[0][0]) if self._heap else deadline
        for entry in busy:
            heapq.heappush(self._heap, entry)
        return found, wake - now


def work_one(queue: Queue[K], step: Step[K], *, timeout_s: float) -> K | None:
    """Take one key and do its step; failures are logged with the key, never raised."""
    key = queue.take(timeout_s)
    if key is None:
        return None
    outcome: Outcome
    try:
        outcome = step(key)
    except FluidError as error:
        # Also what the server calls final: a 403 passes when its RBAC cache is filled again.
        outcome = Retry(error)
    except Exception as error:  # a bug in one key's step must not end the loop for all others
        log.exception("step failed", extra={"key": str(key)})
        outcome = Retry(error)
    if isinstance(outcome, Retry | Stop):
        log.warning(
            "step failed",
            extra={
                "key": str(key),
                "error": str(outcome.error),
                "again": isinstance(outcome, Retry),
            },
        )
    queue.finish(key, outcome)
    return key


def work(queue: Queue[K], step: Step[K], stop: threading.Event) -> None:
    """Work until `stop`."""
    while not stop.is_set():
        work_one(queue, step, timeout_s=0.5)
