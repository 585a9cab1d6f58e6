import pytest
from argocd_fluid.controller.status import Overview, stalled, with_overview
from argocd_fluid.kube.fluid import FluidWorkload

from tests.controller.jobsets import intent
from tests.controller.objects import NOW, js, pod, workload

DEFERRED = {"type": "PodResizePending", "status": "True", "reason": "Deferred"}
MOVING = {"type": "PodResizeInProgress", "status": "True"}


def conditions(known: FluidWorkload, *pods, now: float = NOW) -> dict[str, str]:
    status = with_overview(known, known.status, Overview(pods=pods, now=now))
    return {one.type: one.status for one in status.conditions}


def test_totals_are_those_of_the_pods_that_run() -> None:
    known = workload()
    pods = [pod(), pod("b", "1", size={"requests": {"cpu": "1500m", "memory": "1Gi"}})]
    summary = with_overview(known, known.status, Overview(pods=pods, now=NOW)).summary
    assert (summary.pods, summary.cpu, summary.memory) == (2, "1600m", "1088Mi")


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, {"Ready": "True"}),
        ({"conditions": [MOVING]}, {"Ready": "True", "Resizing": "True"}),
        ({"generation": 2}, {"Ready": "True", "Resizing": "True"}),
        ({"generation": 2, "phase": "Pending"}, {"Ready": "True"}),
        ({"conditions": [DEFERRED], "generation": 2}, {"Ready": "True", "Deferred": "True"}),
    ],
    ids=["quiet", "in progress", "not acknowledged", "not started", "deferred"],
)
def test_conditions_are_there_while_they_are_true(changes, expected) -> None:
    assert conditions(workload(), pod(**changes)) == expected


def test_nothing_changes_when_nothing_happened() -> None:
    known = workload()
    first = with_overview(known, known.status, Overview(pods=[pod()], now=NOW))
    again = with_overview(known, first, Overview(pods=[pod()], now=NOW + 3600))
    assert again == first


@pytest.mark.parametrize(
    ("jobset", "reason"),
    [
        (js(), "Managed"),
        (js(intent(mode="recommend")), "Recommending"),
        (js(paused="true"), "Paused"),
    ],
)
def test_ready_says_what_is_done_to_the_workload(jobset, reason: str) -> None:
    known = workload(jobset)
    status = with_overview(known, known.status, Overview(pods=[], now=NOW))
    assert status.conditions[0].reason == reason


def test_an_unreadable_intent_stalls_and_a_readable_one_ends_that() -> None:
    known = workload()
    status = stalled(known, "v: must be 1", NOW)
    assert {one.type: one.status for one in status.conditions} == {
        "Ready": "False",
        "Stalled": "True",
    }
    assert status.roles == known.status.roles
    assert conditions(workload(conditions=status.conditions)) == {"Ready": "True"}
