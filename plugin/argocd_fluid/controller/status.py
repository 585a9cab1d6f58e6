"""Totals and conditions of a FluidWorkload: (what is seen) -> status, as one pure function.

kstatus reads Ready, and Reconciling and Stalled while they are true; Resizing and Deferred are
ours. A resize under way does not make a workload unready: it runs all the while.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import msgspec

from argocd_fluid.constants import Condition as ConditionType
from argocd_fluid.controller.conditions import IN_PROGRESS, pending_reason, true_condition
from argocd_fluid.controller.intent import containers_of, rank_of, size_of
from argocd_fluid.controller.record import rfc3339
from argocd_fluid.engine.model import Amounts, Reason, Size
from argocd_fluid.engine.sizes import resources_from_size
from argocd_fluid.kube.fluid import Condition, FluidWorkload, FluidWorkloadStatus, Totals
from argocd_fluid.kube.types import Pod
from argocd_fluid.policy.model import Mode

READY_MESSAGES = {
    Mode.AUTO: ("Managed", "sizes are adjusted to usage, within the policy's bounds"),
    Mode.RECOMMEND: ("Recommending", "sizes are recommended, not changed"),
    Mode.OFF: ("Paused", "sizes are left as they are"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """What is seen of a workload at one moment: its unfinished pods."""

    pods: Sequence[Pod]
    now: float


def with_overview(
    workload: FluidWorkload, status: FluidWorkloadStatus, overview: Overview
) -> FluidWorkloadStatus:
    """Give the status with totals and conditions as they are now."""
    resizing = [pod for pod in overview.pods if is_resizing(pod)]
    deferred = [pod for pod in overview.pods if pending_reason(pod) is not None]
    reason, message = READY_MESSAGES[Mode(workload.spec.mode or Mode.OFF)]
    true = {ConditionType.READY: (reason, message)}
    if resizing:
        true[ConditionType.RESIZING] = (
            "InProgress",
            _named("being resized", {pod.metadata.name for pod in resizing}),
        )
    waiting = {pod.metadata.name for pod in deferred} | _without_room(status, overview.pods)
    if waiting:
        true[ConditionType.DEFERRED] = ("NoRoom", _named("waiting for room to resize", waiting))
    generation = workload.metadata.generation
    return msgspec.structs.replace(
        status,
        observed_generation=generation,
        summary=_totals(workload, status, overview.pods, len(resizing)),
        conditions=_conditions(status, true, generation=generation, now=overview.now),
    )


def stalled(workload: FluidWorkload, message: str, now: float) -> FluidWorkloadStatus:
    """Give the status of a workload whose intent cannot be read; sizes stay as they are."""
    generation = workload.metadata.generation
    true = {ConditionType.STALLED: ("InvalidIntent", message)}
    conditions = _conditions(workload.status, true, generation=generation, now=now)
    ready = _condition(
        workload.status,
        Condition(
            type=ConditionType.READY.value,
            status="False",
            reason="InvalidIntent",
            message=message,
            observed_generation=generation,
            last_transition_time=rfc3339(now),
        ),
    )
    return msgspec.structs.replace(workload.status, conditions=[ready, *conditions])


def is_resizing(pod: Pod) -> bool:
    """Tell a pod whose accepted resize the kubelet is still carrying out."""
    if true_condition(pod.status.conditions, IN_PROGRESS) is not None:
        return True
    # Before it runs, the kubelet has not acknowledged anything yet.
    behind = pod.status.observed_generation < pod.metadata.generation
    return behind and pod.status.phase == "Running" and pending_reason(pod) is None


def _totals(
    workload: FluidWorkload, status: FluidWorkloadStatus, pods: Sequence[Pod], resizing: int
) -> Totals:
    enrolled = containers_of(workload.spec).keys()
    sizes = [
        size_of(container.resources)
        for pod in pods
        for container in (*pod.spec.containers, *(pod.spec.init_containers or ()))
        if (rank_of(pod.metadata).role, container.name) in enrolled
    ]
    cpu = sum(size.cpu.request or 0 for size in sizes)
    memory = sum(size.memory.request or 0 for size in sizes)
    total = Size(cpu=Amounts(request=cpu), memory=Amounts(request=memory))
    requests = resources_from_size(total)["requests"]
    return Totals(
        pods=len(pods),
        resizing=resizing,
        cpu=requests["cpu"],
        memory=requests["memory"],
        last_resize_time=status.history[0].time if status.history else "",
    )


def _conditions(
    status: FluidWorkloadStatus,
    true: dict[ConditionType, tuple[str, str]],
    *,
    generation: int,
    now: float,
) -> list[Condition]:
    return [
        _condition(
            status,
            Condition(
                type=kind.value,
                status="True",
                reason=reason,
                message=message,
                observed_generation=generation,
                last_transition_time=rfc3339(now),
            ),
        )
        for kind, (reason, message) in true.items()
    ]


def _condition(status: FluidWorkloadStatus, new: Condition) -> Condition:
    """Keep the time of the last transition while the status stays."""
    old = next((one for one in status.conditions or () if one.type == new.type), None)
    if old is None or old.status != new.status:
        return new
    return msgspec.structs.replace(new, last_transition_time=old.last_transition_time)


def _without_room(status: FluidWorkloadStatus, pods: Sequence[Pod]) -> set[str]:
    """Name the pods whose wish the node could give nothing of, so that nothing was sent."""
    alive = {pod.metadata.name for pod in pods}
    reports = status.pods or ()
    return {one.name for one in reports if one.reason == Reason.NO_ROOM and one.name in alive}


def _named(what: str, pods: Collection[str]) -> str:
    names = sorted(pods)
    shown = ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")  # noqa: PLR2004 - for people
    return f"{len(names)} pod{'s' if len(names) > 1 else ''} {what}: {shown}"
