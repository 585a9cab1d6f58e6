"""The conditions in which a kubelet and a node report themselves. Pure readers."""

from collections.abc import Iterable

from argocd_fluid.engine.model import PendingReason
from argocd_fluid.kube.types import Pod, PodCondition

PENDING = "PodResizePending"
IN_PROGRESS = "PodResizeInProgress"
ERROR = "Error"


def true_condition(conditions: Iterable[PodCondition] | None, kind: str) -> PodCondition | None:
    """Give a condition while it is true."""
    found = (one for one in conditions or () if one.type == kind and one.status == "True")
    return next(found, None)


def pending_reason(pod: Pod) -> PendingReason | None:
    """Tell why the kubelet has not accepted a resize; None: it has, or there is none."""
    condition = true_condition(pod.status.conditions, PENDING)
    if condition is None:
        return None
    infeasible = condition.reason == PendingReason.INFEASIBLE
    return PendingReason.INFEASIBLE if infeasible else PendingReason.DEFERRED


def resize_error(pod: Pod) -> str:
    """Give what stops a resize that the kubelet has accepted; empty: nothing does."""
    condition = true_condition(pod.status.conditions, IN_PROGRESS)
    return condition.message if condition and condition.reason == ERROR else ""
