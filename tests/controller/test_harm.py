from dataclasses import replace

import msgspec
import pytest
from argocd_fluid.controller.harm import Shrunk, harmed, shrinks, unready_since, with_reverts
from argocd_fluid.controller.memory import Memory
from argocd_fluid.engine.model import Amounts, Reason, Size, Wish
from argocd_fluid.kube.types import PodCondition

from tests.controller.objects import NOW, pod
from tests.controller.test_rounds import LARGER, Place

SMALLER = Size(cpu=Amounts(request=100, limit=200))


@pytest.fixture
def place() -> Place:
    return Place()


def blamed(place: Place, *, oom_s: float | None = None, unready_s: float | None = None, now=NOW):
    container = replace(place.container, oom_killed_s=oom_s)
    item = replace(place.snapshot.pods[0], containers=(container,))
    snapshot = replace(place.snapshot, pods=(item,))
    unready = {} if unready_s is None else {item.uid: unready_s}
    shrunk = {container.key: Shrunk(at_s=NOW - 60.5, before=LARGER)}
    return harmed(snapshot, shrunk, unready, now), shrunk


@pytest.mark.parametrize(
    ("harm", "count"),
    [
        ({}, 0),
        ({"oom_s": NOW - 30}, 1),
        ({"oom_s": NOW - 61}, 1),
        ({"oom_s": NOW - 90}, 0),
        ({"unready_s": NOW - 30}, 1),
        ({"unready_s": NOW - 90}, 0),
        ({"oom_s": NOW - 30, "now": NOW + 3600}, 0),
    ],
    ids=["none", "kill", "same second", "kill before", "unready", "unready before", "long ago"],
)
def test_harm_is_blamed_on_the_shrink_before_it(place: Place, harm, count: int) -> None:
    assert len(blamed(place, **harm)[0]) == count


def test_the_size_before_comes_back(place: Place) -> None:
    containers, shrunk = blamed(place, oom_s=NOW)
    [wish] = with_reverts([], containers, shrunk)
    assert (wish.size, wish.reason, wish.urgent) == (LARGER, Reason.SHRINK_HARMED, True)


def test_a_larger_wish_of_the_engine_stays(place: Place) -> None:
    containers, shrunk = blamed(place, oom_s=NOW)
    more = replace(LARGER, memory=Amounts(request=1 << 30, limit=2 << 30))
    wish = Wish(container=containers[0], size=more, reason=Reason.OOM_KILLED, detail="")
    assert with_reverts([wish], containers, shrunk) == [wish]


def test_patience_doubles_once_per_shrink_and_growth_ends_the_watch(place: Place) -> None:
    memory, key = Memory(), place.container.key
    memory.add_resize(key, before=LARGER, leaves=SMALLER, now=NOW)
    memory.blame([place.container])
    memory.blame([place.container])
    assert memory.patience[key] == 2
    memory.add_resize(key, before=SMALLER, leaves=LARGER, now=NOW + 5)
    assert memory.shrunk == {}


def test_a_patch_of_one_leaf_can_be_a_shrink() -> None:
    assert shrinks(LARGER, SMALLER)
    assert not shrinks(LARGER, Size(cpu=Amounts(request=200, limit=500)))


def test_only_running_pods_can_stop_being_ready() -> None:
    since = "2027-01-01T00:00:00Z"
    condition = msgspec.convert(
        {"type": "Ready", "status": "False", "lastTransitionTime": since}, PodCondition
    )
    raw = [msgspec.to_builtins(condition)]
    assert list(unready_since([pod(conditions=raw)]).values()) == [1_798_761_600]
    assert unready_since([pod(conditions=raw, phase="Pending")]) == {}
