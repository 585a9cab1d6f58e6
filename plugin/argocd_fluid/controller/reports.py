"""Which containers of a node have a reason to be listed in their FluidWorkload, and why. Pure.

In words that a person can act on: what was wished, what it got, what stands in the way.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from argocd_fluid.controller.intent import as_resources
from argocd_fluid.controller.memory import Hold
from argocd_fluid.controller.record import MESSAGE, rfc3339
from argocd_fluid.engine.model import (
    ContainerKey,
    ContainerState,
    Grant,
    NodeSnapshot,
    PodState,
    Reason,
    Wish,
)
from argocd_fluid.kube.fluid import FluidWorkloadStatus, PodReport
from argocd_fluid.policy.model import Mode

SHORT = (Reason.PARTIAL, Reason.NO_ROOM, Reason.MEMORY_PRESSURE)
"""Grants that give less than was wished."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What reports are made from. `before` are the present reports of the node's containers."""

    wishes: Sequence[Wish]
    grants: Sequence[Grant]
    holds: Mapping[str, Hold]
    before: Mapping[ContainerKey, PodReport]
    now: float


def reports_of(snapshot: NodeSnapshot, this: Facts) -> dict[ContainerKey, PodReport]:
    """Report the containers of one node after one round."""
    wished = {wish.container.key: wish for wish in this.wishes}
    granted = {grant.container.key: grant for grant in this.grants if grant.cause is not None}
    found = {}
    for pod in snapshot.pods:
        for container in pod.containers:
            key = container.key
            before = this.before.get(key)
            report = (
                _of_hold(container, this.holds.get(pod.uid), granted.get(key), before)
                or _of_grant(granted.get(key), this.now)
                or _of_recommendation(wished.get(key), this.now)
                or _still_short(container, before, this.now)
                or _of_pod(pod, container, this.now)
            )
            if report is not None:
                found[key] = report
    return found


def news_in(before: FluidWorkloadStatus, after: FluidWorkloadStatus) -> list[PodReport]:
    """Give the reports whose state or reason was another before, or that are new."""
    known = {(one.name, one.container, one.state, one.reason) for one in before.pods or ()}
    return [
        one
        for one in after.pods or ()
        if (one.name, one.container, one.state, one.reason) not in known
    ]


def _of_hold(
    container: ContainerState, hold: Hold | None, grant: Grant | None, before: PodReport | None
) -> PodReport | None:
    """Report a refusal by the API server, which stands until the next attempt."""
    if hold is None:
        return None
    if grant is None and before is not None and before.state == "Refused":
        return before
    if grant is None:
        return None
    return _report(
        container,
        state="Refused",
        reason=hold.reason,
        message=hold.message,
        now=hold.since_s,
        wished=grant,
    )


def _of_grant(grant: Grant | None, now: float) -> PodReport | None:
    if grant is None:
        return None
    if grant.reason in SHORT:
        state = "Partial"
    elif grant.reason is Reason.BOUND:
        state = "AtBound"
    elif grant.reason is Reason.RESTARTS:
        state = "Skipped"
    else:
        return None
    return _report(
        grant.container,
        state=state,
        reason=grant.reason.value,
        message=grant.detail,
        now=now,
        wished=grant,
    )


def _of_recommendation(wish: Wish | None, now: float) -> PodReport | None:
    if wish is None or wish.container.policy.mode is not Mode.RECOMMEND:
        return None
    return _report(
        wish.container,
        state="Recommended",
        reason=wish.reason.value,
        message=wish.detail,
        now=now,
        wished=wish,
    )


def _still_short(
    container: ContainerState, before: PodReport | None, now: float
) -> PodReport | None:
    """Keep a partial grant listed while its cooldown keeps the next wish back."""
    if before is None or before.state != "Partial" or container.last_resize_s is None:
        return None
    cooling = now - container.last_resize_s < container.policy.scale_up_cooldown_s
    return before if cooling else None


def _of_pod(pod: PodState, container: ContainerState, now: float) -> PodReport | None:
    since = now if pod.pending_since_s is None else pod.pending_since_s
    if pod.pending is not None:
        text = pod.pending_message or "the kubelet has not accepted the resize"
        reason = pod.pending.value
        return _report(container, state=reason, reason=reason, message=text, now=since, wished=None)
    if pod.resize_error:
        return _report(
            container,
            state="Error",
            reason="ResizeError",
            message=pod.resize_error,
            now=now,
            wished=None,
        )
    return None


def _report(  # noqa: PLR0913 - one keyword per field of the report
    container: ContainerState,
    *,
    state: str,
    reason: str,
    message: str,
    now: float,
    wished: Wish | Grant | None,
) -> PodReport:
    size = wished.wished if isinstance(wished, Grant) else wished.size if wished else None
    current, target = container.spec, container.target
    if isinstance(wished, Grant) and state != "Refused":  # what was refused is not on record
        current, target = wished.size, wished.recorded
    return PodReport(
        name=container.key.pod,
        container=container.key.container,
        state=state,
        reason=reason,
        message=message[:MESSAGE],
        since=rfc3339(now),
        current=as_resources(current),
        wished=as_resources(size) if size else None,
        target=as_resources(target),
    )
