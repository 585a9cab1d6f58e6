from datetime import UTC, datetime

import msgspec
import pytest
from argocd_fluid.controller.memory import Memory, reading_of
from argocd_fluid.controller.observe import View, observe, pod_state
from argocd_fluid.engine.model import PendingReason, Resource, Size
from argocd_fluid.kube.fluid import Resized
from argocd_fluid.kube.summary import ContainerStats, CpuStats, MemoryStats
from argocd_fluid.kube.types import NodeStatus, PodCondition, ResizePolicy
from argocd_fluid.policy.model import Mode

from tests.controller.jobsets import SIZE, intent
from tests.controller.objects import NOW, js, pod, workload
from tests.controller.test_rounds import NODE

KILLED = {"reason": "OOMKilled", "exitCode": 137, "finishedAt": "2027-01-01T00:00:30Z"}
MIB = 1 << 20


def view(known=None, mode: Mode = Mode.AUTO) -> View:
    return View(workload_of=lambda _: known, memory=Memory(), mode=mode, now=NOW)


def only(item, seen: View):
    [container] = pod_state(item, seen).containers
    return container


def test_a_pod_that_nobody_enrolled_takes_room_and_has_no_containers() -> None:
    state = pod_state(pod(), view())
    assert state.containers == ()
    assert state.footprint == {Resource.CPU: 100, Resource.MEMORY: 64 * MIB}


def test_what_is_allocated_takes_room_though_the_spec_is_smaller_already() -> None:
    larger = {"cpu": "500m", "memory": "64Mi"}
    statuses = [{"name": "load", "allocatedResources": larger, "resources": {"requests": larger}}]
    state = pod_state(pod(containerStatuses=statuses), view())
    assert state.footprint[Resource.CPU] == 500


def test_a_deferred_resize_is_told_from_an_infeasible_one() -> None:
    since = "2027-01-01T00:00:00Z"
    conditions = [
        {
            "type": "PodResizePending",
            "status": "True",
            "reason": "Deferred",
            "lastTransitionTime": since,
        }
    ]
    state = pod_state(pod(conditions=conditions, generation=2), view())
    assert state.pending is PendingReason.DEFERRED
    assert state.pending_since_s == 1_798_761_600
    assert not state.settled


@pytest.mark.parametrize("where", ["state", "lastState"])
def test_an_oom_kill_is_seen_before_and_after_the_restart(where: str) -> None:
    statuses = [{"name": "load", where: {"terminated": KILLED}}]
    container = only(pod(containerStatuses=statuses), view(workload()))
    assert container.oom_killed_s == 1_798_761_630
    assert not container.running


def test_another_exit_is_no_oom_kill() -> None:
    statuses = [{"name": "load", "lastState": {"terminated": KILLED | {"reason": "Error"}}}]
    assert only(pod(containerStatuses=statuses), view(workload())).oom_killed_s is None


@pytest.mark.parametrize(
    ("jobset", "mode", "expected"),
    [
        (js(), Mode.AUTO, Mode.AUTO),
        (js(), Mode.RECOMMEND, Mode.RECOMMEND),
        (js(paused="true"), Mode.AUTO, Mode.OFF),
        (js(intent(mode="recommend")), Mode.AUTO, Mode.RECOMMEND),
    ],
    ids=["all auto", "this controller recommends", "paused", "the policy recommends"],
)
def test_the_least_of_all_modes_holds(jobset, mode: Mode, expected: Mode) -> None:
    assert only(pod(), view(workload(jobset), mode)).policy.mode is expected


def test_a_pod_on_its_way_out_is_not_resized() -> None:
    leaving = pod()
    metadata = msgspec.structs.replace(
        leaving.metadata, deletion_timestamp=datetime(2027, 1, 1, tzinfo=UTC)
    )
    assert only(leaving, view(workload())).running
    leaving = msgspec.structs.replace(leaving, metadata=metadata)
    assert pod_state(leaving, view(workload())).containers == ()


def test_the_last_resize_survives_a_restart_of_the_controller() -> None:
    history = [
        {
            "time": "2027-01-01T00:00:00Z",
            "pod": "train-workers-0-0",
            "container": "load",
            "reason": "x",
        }
    ]
    known = workload(history=msgspec.convert(history, list[Resized]))
    assert only(pod(), view(known)).last_resize_s == 1_798_761_600


def test_the_size_that_the_kubelet_has_is_told_from_the_one_in_the_spec() -> None:
    container = only(pod(size=SIZE), view(workload()))
    assert container.actual == container.spec != Size()


def test_memory_pressure_is_read_from_the_node() -> None:
    assert not observe(NODE, [], view()).memory_pressure
    pressed = msgspec.structs.replace(
        NODE, status=NodeStatus(conditions=[PodCondition(type="MemoryPressure", status="True")])
    )
    assert observe(pressed, [], view()).memory_pressure


def test_a_container_without_figures_gives_no_reading() -> None:
    assert reading_of(ContainerStats(name="young")) is None


def test_the_kubelet_s_own_rate_is_preferred_over_counters_with_times_in_seconds() -> None:
    time = datetime(2027, 1, 1, tzinfo=UTC)
    reading = reading_of(
        ContainerStats(
            name="c",
            cpu=CpuStats(time=time, usage_nano_cores=5, usage_core_nano_seconds=10**12),
            memory=MemoryStats(time=time, working_set_bytes=7),
        )
    )
    assert (reading.cpu_rate_nano, reading.cpu_nano) == (5, None)
    assert reading.memory_usage_bytes == 7


def test_a_resource_whose_resize_restarts_the_container_is_known() -> None:
    policies = [
        ResizePolicy(resource_name="memory", restart_policy="RestartContainer"),
        ResizePolicy(resource_name="cpu", restart_policy="NotRequired"),
    ]
    item = pod()
    containers = [msgspec.structs.replace(item.spec.containers[0], resize_policy=policies)]
    item = msgspec.structs.replace(
        item, spec=msgspec.structs.replace(item.spec, containers=containers)
    )
    assert only(item, view(workload())).restarts == {Resource.MEMORY}
