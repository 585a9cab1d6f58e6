"""Kills that end their pod: once on record, with numbers, and only where something may be done."""

import json
from datetime import UTC, datetime

import msgspec
import pytest
from argocd_fluid.controller.kills import Kills
from argocd_fluid.controller.sizes import target_of, with_targets
from argocd_fluid.engine.model import Amounts, Rank, Size
from argocd_fluid.kube.fluid import FluidWorkload, Resized
from argocd_fluid.kube.types import Pod
from argocd_fluid.policy.model import Mode

from tests.controller.jobsets import SIZE, intent
from tests.controller.objects import NOW, js, pod, workload

MIB = 1 << 20
RANK = Rank(role="workers", job_index="0", completion_index="0")


def at(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def killed(phase: str = "Failed", ago_s: float = 2, **changes) -> Pod:
    end = {"reason": "OOMKilled", "exitCode": 137, "finishedAt": at(NOW - ago_s)}
    statuses = [{"name": "load", "state": {"terminated": end}}]
    return pod(phase=phase, containerStatuses=statuses, **changes)


def leaving(item: Pod) -> Pod:
    metadata = msgspec.structs.replace(
        item.metadata, deletion_timestamp=datetime.fromtimestamp(NOW, UTC)
    )
    return msgspec.structs.replace(item, metadata=metadata)


def settled(kills: Kills, known: FluidWorkload) -> FluidWorkload:
    due = kills.due(known)
    known = msgspec.structs.replace(known, status=kills.on_record(known, due))
    kills.settle(due)
    return known


def fresh(mode: Mode = Mode.AUTO) -> Kills:
    return Kills(mode, lambda: NOW)


def memory_of(known: FluidWorkload) -> Amounts:
    return target_of(known, RANK, "load").memory


@pytest.mark.parametrize(
    "end",
    [
        pytest.param(lambda kills: kills.note(None, killed()), id="failed"),
        pytest.param(lambda kills: kills.note(None, leaving(killed("Running"))), id="deleting"),
        pytest.param(lambda kills: kills.note(killed("Running"), None), id="deleted at once"),
    ],
)
def test_a_pod_that_ends_by_an_oom_kill_is_followed_by_a_larger_one(end) -> None:
    kills = fresh()
    assert end(kills)

    known = settled(kills, workload())

    assert memory_of(known) == Amounts(request=96 * MIB, limit=192 * MIB)
    [line] = known.status.history
    assert (line.reason, line.to.limits["memory"]) == ("OOMKilled", "192Mi")
    assert line.message == "OOM kill at 128Mi, and its pod ended: the next one starts with 192Mi"


def test_one_kill_is_recorded_once_however_often_it_is_seen() -> None:
    kills = fresh()
    kills.note(None, killed())
    known = settled(kills, workload())

    assert not kills.note(killed(), leaving(killed()))
    assert not kills.note(leaving(killed()), None)
    restarted = fresh()
    assert restarted.note(None, killed())
    for one in (kills, restarted):
        assert settled(one, known) == known


def test_a_running_pod_s_kill_is_the_node_loop_s_and_does_not_count_again_when_it_ends() -> None:
    kills = fresh()
    assert not kills.note(None, killed("Running"))
    assert kills.due(workload()) == []

    # The node loop has grown it, on record and in the spec, and wrote no history yet.
    grown = Size(
        cpu=Amounts(request=100, limit=200), memory=Amounts(request=96 * MIB, limit=192 * MIB)
    )
    known = workload()
    roles = with_targets(known.status.roles, {(RANK, "load"): grown})
    known = workload(roles=roles)
    resized = json.loads(json.dumps(SIZE))
    resized["requests"]["memory"], resized["limits"]["memory"] = "96Mi", "192Mi"
    assert kills.note(killed("Running"), killed(size=resized))

    assert memory_of(settled(kills, known)) == grown.memory


@pytest.mark.parametrize(
    ("jobset", "mode"),
    [
        (js(), Mode.RECOMMEND),
        (js(paused="true"), Mode.AUTO),
        (js(intent(mode="off")), Mode.AUTO),
        (js(intent(mode="recommend")), Mode.AUTO),
    ],
)
def test_nothing_is_recorded_where_nothing_may_be_done(jobset, mode: Mode) -> None:
    kills, known = fresh(mode), workload(jobset)
    kills.note(None, killed())
    assert settled(kills, known) == known
    assert kills.due(known) == []


def test_a_kill_of_long_ago_is_history() -> None:
    kills = fresh()
    kills.note(None, killed(ago_s=3600))
    assert kills.due(workload()) == []


def test_another_exit_is_no_kill() -> None:
    assert not fresh().note(None, pod(phase="Failed"))


@pytest.mark.parametrize(
    ("reason", "later_s", "answered"),
    [("OOMKilled", 0, True), ("Hot", 0, False), ("Hot", 1, True), ("OOMKilled", -1, False)],
)
def test_in_its_own_second_only_a_line_that_names_a_kill_is_its_answer(
    reason: str, later_s: int, *, answered: bool
) -> None:
    line = {
        "time": at(NOW - 2 + later_s),
        "pod": "train-workers-0-0",
        "container": "load",
        "reason": reason,
        "from": SIZE,
        "to": {"requests": {"memory": "80Mi"}, "limits": {"memory": "160Mi"}},
    }
    known = workload(history=msgspec.convert([line], list[Resized]))
    kills = fresh()
    kills.note(None, killed())
    assert (settled(kills, known) == known) is answered
