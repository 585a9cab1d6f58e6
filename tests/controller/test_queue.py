import itertools
import threading

import pytest
from argocd_fluid.controller.queue import (
    Done,
    Outcome,
    Queue,
    RequeueAfter,
    Retry,
    Stop,
    work_one,
)
from argocd_fluid.errors import Forbidden, Unreachable, UserError


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def queue(clock: Clock) -> Queue[str]:
    return Queue(clock)


def take(queue: Queue[str]) -> str | None:
    return queue.take(0.0)


def test_a_key_that_waits_is_worked_on_once(queue: Queue[str]) -> None:
    queue.add("a")
    queue.add("a")
    assert [take(queue), take(queue)] == ["a", None]


def test_a_key_added_during_its_step_is_worked_on_again_but_not_at_once(
    queue: Queue[str],
) -> None:
    queue.add("a")
    take(queue)
    queue.add("a")
    assert take(queue) is None
    queue.finish("a", Done())
    assert take(queue) == "a"


def test_a_key_in_work_does_not_hold_up_the_others(queue: Queue[str]) -> None:
    for key in ("a", "b"):
        queue.add(key)
    take(queue)
    queue.add("a")
    assert take(queue) == "b"


def test_the_earlier_of_two_times_counts(queue: Queue[str], clock: Clock) -> None:
    queue.add("a", 60)
    queue.add("a", 5)
    queue.add("a", 30)
    clock.now += 5
    assert take(queue) == "a"
    queue.finish("a", Done())
    clock.now += 60
    assert take(queue) is None


def test_requeue_after_waits_as_long_as_it_says(queue: Queue[str], clock: Clock) -> None:
    queue.add("a")
    work_one(queue, lambda _: RequeueAfter(5), timeout_s=0)
    clock.now += 4.9
    assert take(queue) is None
    clock.now += 0.2
    assert take(queue) == "a"


@pytest.mark.parametrize(
    "failure",
    # A 403 can pass: the API server's RBAC cache is empty after its start.
    [Unreachable("x"), ValueError("a bug"), Forbidden("x")],
    ids=["retryable", "bug", "terminal"],
)
def test_a_step_that_fails_is_tried_again(
    queue: Queue[str], clock: Clock, failure: Exception
) -> None:
    def step(_: str) -> Outcome:
        raise failure

    queue.add("a")
    assert work_one(queue, step, timeout_s=0) == "a"
    clock.now += 3600
    assert take(queue) == "a"


def test_a_step_that_gives_up_waits_for_the_next_event(queue: Queue[str], clock: Clock) -> None:
    queue.add("a")
    work_one(queue, lambda _: Stop(UserError("cannot be read")), timeout_s=0)
    clock.now += 3600
    assert take(queue) is None


def test_retries_wait_longer_each_time(queue: Queue[str], clock: Clock) -> None:
    queue.add("a")
    times = []
    for _ in range(20_000):
        key = work_one(queue, lambda _: Retry(Unreachable("x")), timeout_s=0)
        times += [clock.now] if key else []
        clock.now += 0.01
    waits = [after - before for before, after in itertools.pairwise(times)]
    assert waits[0] < 1
    assert waits[-1] > 20


def test_a_worker_wakes_for_a_key_that_comes_while_it_waits(clock: Clock) -> None:
    queue: Queue[str] = Queue(clock)
    got: list[str | None] = []
    worker = threading.Thread(target=lambda: got.append(queue.take(5.0)))
    worker.start()
    queue.add("a")
    worker.join(2.0)
    assert got == ["a"]
