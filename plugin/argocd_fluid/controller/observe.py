"""From API objects to the engine's snapshot of a node. Pure: no request, no clock.

Every unfinished pod counts with its room; containers appear only where a FluidWorkload knows them.
Conditions and allocations are read per container: the pod-level `status.resources` is wrong after
a resize on Kubernetes 1.36.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from argocd_fluid.controller.conditions import (
    IN_PROGRESS,
    PENDING,
    pending_reason,
    resize_error,
    true_condition,
)
from argocd_fluid.controller.intent import ContainerIntent, containers_of, rank_of, size_of
from argocd_fluid.controller.memory import KILL_ANSWERS, Memory
from argocd_fluid.controller.room import ALWAYS, footprint_of, held_of, requests_of, statuses_of
from argocd_fluid.controller.sizes import target_of
from argocd_fluid.engine.model import (
    ContainerKey,
    ContainerState,
    NodeSnapshot,
    PodState,
    QosClass,
    Resource,
    Size,
    WorkloadKey,
)
from argocd_fluid.engine.sizes import size_from_resources
from argocd_fluid.kube.fluid import FluidWorkload, Resized
from argocd_fluid.kube.types import Container, ContainerStatus, Node, Pod
from argocd_fluid.policy.model import Mode

OOM_KILLED = "OOMKilled"
_RANK = {Mode.OFF: 0, Mode.RECOMMEND: 1, Mode.AUTO: 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What observing needs beside the objects: one per round."""

    workload_of: Callable[[Pod], FluidWorkload | None]
    memory: Memory
    mode: Mode
    """The most that this controller may do to anything."""
    now: float


def observe(node: Node, pods: Sequence[Pod], view: View) -> NodeSnapshot:
    """Make the snapshot of one node."""
    return NodeSnapshot(
        name=node.metadata.name,
        allocatable=requests_of(node.status.allocatable),
        memory_pressure=true_condition(node.status.conditions, "MemoryPressure") is not None,
        pods=tuple(pod_state(pod, view) for pod in pods),
    )


def pod_state(pod: Pod, view: View) -> PodState:
    """Make the state of one pod."""
    pending = true_condition(pod.status.conditions, PENDING)
    workload = view.workload_of(pod)
    return PodState(
        namespace=pod.metadata.namespace,
        name=pod.metadata.name,
        uid=pod.metadata.uid,
        footprint=footprint_of(pod),
        held=held_of(pod),
        resource_version=pod.metadata.resource_version,
        qos=QosClass(pod.status.qos_class or QosClass.BURSTABLE),
        generation=pod.metadata.generation,
        observed_generation=pod.status.observed_generation,
        pending=pending_reason(pod),
        pending_since_s=_seconds(pending.last_transition_time) if pending else None,
        pending_message=pending.message if pending else "",
        in_progress=true_condition(pod.status.conditions, IN_PROGRESS) is not None,
        resize_error=resize_error(pod),
        # A pod on its way out needs no other size; what killed it is `kills`' to record.
        containers=() if workload is None or is_leaving(pod) else enrolled(pod, workload, view),
    )


def oom_killed_s(status: ContainerStatus | None) -> float | None:
    """Tell when the last OOM kill that the status shows finished."""
    if status is None:
        return None
    ends = (status.state.terminated, status.last_state.terminated)
    kills = [_seconds(end.finished_at) for end in ends if end and end.reason == OOM_KILLED]
    return max((kill for kill in kills if kill is not None), default=None)


def is_leaving(pod: Pod) -> bool:
    """Tell a pod that is being deleted."""
    return pod.metadata.deletion_timestamp is not None


def enrolled(pod: Pod, workload: FluidWorkload, view: View) -> tuple[ContainerState, ...]:
    """Give the state of the containers that a FluidWorkload knows."""
    intents = containers_of(workload.spec)
    rank = rank_of(pod.metadata)
    if not rank.completion_index:
        return ()  # completionMode NonIndexed: pods without an identity would share one size
    sidecars = [one for one in pod.spec.init_containers or () if one.restart_policy == ALWAYS]
    states = []
    for container in (*pod.spec.containers, *sidecars):
        intent = intents.get((rank.role, container.name))
        target = target_of(workload, rank, container.name)
        if intent is None or target is None:
            continue
        one = _Enrolled(
            pod=pod, container=container, workload=workload, intent=intent, target=target
        )
        states.append(_container_state(one, view))
    return tuple(states)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Enrolled:
    """One container of a pod, with what its FluidWorkload says of it."""

    pod: Pod
    container: Container
    workload: FluidWorkload
    intent: ContainerIntent
    target: Size


def _container_state(it: _Enrolled, view: View) -> ContainerState:
    metadata, container = it.pod.metadata, it.container
    key = ContainerKey(
        namespace=metadata.namespace,
        pod=metadata.name,
        uid=metadata.uid,
        container=container.name,
    )
    status = statuses_of(it.pod).get(container.name)
    running = status.state.running if status else None
    hold = view.memory.holds.get(metadata.uid)
    history = view.memory.histories.get(key)
    spec = size_of(container.resources)
    policy = replace(it.intent.policy, mode=_least(it.workload, it.intent, view))
    return ContainerState(
        key=key,
        workload=WorkloadKey(
            namespace=metadata.namespace,
            kind=it.workload.spec.target.kind,
            name=it.workload.spec.target.name,
        ),
        rank=rank_of(metadata),
        running=running is not None,
        started_s=_seconds(running.started_at) if running else None,
        spec=spec,
        target=it.target,
        intent=it.intent.size,
        policy=policy,
        usage=history.usage(view.now, policy=policy, size=spec) if history else None,
        oom_killed_s=oom_killed_s(status),
        last_resize_s=_last_resize_s(key, it.workload, view.memory.resized_s),
        last_memory_resize_s=_last_memory_resize_s(key, it.workload, view.memory),
        has_claims=bool(container.resources.claims),
        actual=_actual(status),
        hold_until_s=hold.until_s if hold else None,
        scale_down_factor=view.memory.patience.get(key, 1.0),
        restarts=_restarts(container),
        # A container may have a restartPolicy of its own (KEP-5307): the list counts.
        sidecar=container in (it.pod.spec.init_containers or ()),
    )


def _restarts(container: Container) -> frozenset[Resource]:
    policies = container.resize_policy or ()
    names = {one.resource_name for one in policies if one.restart_policy == "RestartContainer"}
    return frozenset(resource for resource in Resource if resource.value in names)


def _last_resize_s(
    key: ContainerKey, workload: FluidWorkload, resized_s: Mapping[ContainerKey, float]
) -> float | None:
    """From memory, else from the history that an earlier controller wrote."""
    if key in resized_s:
        return resized_s[key]
    return next((_time_of(line) for line in _lines(key.pod, key.container, workload)), None)


def _last_memory_resize_s(
    key: ContainerKey, workload: FluidWorkload, memory: Memory
) -> float | None:
    if key in memory.memory_resized_s:
        return memory.memory_resized_s[key]
    lines = _memory_lines(key.pod, key.container, workload)
    return max((_time_of(line) - (line.reason not in KILL_ANSWERS) for line in lines), default=None)


def _memory_lines(pod: str, container: str, workload: FluidWorkload) -> Iterator[Resized]:
    """Give the resizes of a container's memory in the history, newest first."""
    for line in _lines(pod, container, workload):
        if size_of(line.from_).memory != size_of(line.to).memory:
            yield line


def _lines(pod: str, container: str, workload: FluidWorkload) -> Iterator[Resized]:
    for line in workload.status.history or ():
        if (line.pod, line.container) == (pod, container):
            yield line


def _time_of(line: Resized) -> float:
    """Give the time of a line, which is whole seconds."""
    return datetime.fromisoformat(line.time).timestamp()


def _actual(status: ContainerStatus | None) -> Size | None:
    """Give requests as admitted, limits as the runtime has them."""
    if status is None or status.allocated_resources is None:
        return None
    limits = status.resources.limits if status.resources else None
    return size_from_resources({"requests": status.allocated_resources, "limits": limits or {}})


def _least(workload: FluidWorkload, intent: ContainerIntent, view: View) -> Mode:
    modes = (Mode(workload.spec.mode or Mode.OFF), intent.policy.mode, view.mode)
    return min(modes, key=_RANK.__getitem__)


def _seconds(time: datetime | None) -> float | None:
    return None if time is None else time.timestamp()
