"""Changes of a FluidWorkload's status that a node loop makes. Pure.

First the new sizes (write-ahead), then, when the API server has answered, history and reports;
what it refused is put back. Every change keeps what other nodes wrote.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

import msgspec

from argocd_fluid.controller.intent import as_resources, size_of
from argocd_fluid.controller.sizes import Targets, target_of, with_targets
from argocd_fluid.engine.model import ContainerState, Grant, Rank, Size
from argocd_fluid.kube.fluid import FluidWorkload, FluidWorkloadStatus, PodReport, Resized
from argocd_fluid.kube.types import ResourceRequirements

HISTORY = 50
REPORTS = 50
MESSAGE = 1024
MOST_SERIOUS_FIRST = ("Refused", "Infeasible", "Deferred", "Error", "Partial")


def rfc3339(seconds: float) -> str:
    """Write a time as the API does."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def targets_of(grants: Iterable[Grant]) -> dict[tuple[Rank, str], Size]:
    """Give the sizes to record, where they differ from those on record."""
    return {
        (grant.container.rank, grant.container.key.container): grant.recorded
        for grant in grants
        if grant.recorded != grant.container.target
    }


def containers_of(grants: Iterable[Grant]) -> dict[tuple[Rank, str], ContainerState]:
    """Give the containers of grants by rank and name."""
    return {(one.container.rank, one.container.key.container): one.container for one in grants}


def with_sizes(
    workload: FluidWorkload, targets: Targets, expected: Targets | None = None
) -> FluidWorkloadStatus:
    """Record sizes, but not over one that is no longer as `expected`: Git has changed it."""
    status = workload.status
    if expected is not None:
        targets = {
            (rank, name): size
            for (rank, name), size in targets.items()
            if target_of(workload, rank, name) == expected[rank, name]
        }
    return msgspec.structs.replace(status, roles=with_targets(status.roles or [], targets))


def history_of(grant: Grant, now: float) -> Resized:
    """Give the line of a resize that was sent."""
    return Resized(
        time=rfc3339(now),
        pod=grant.container.key.pod,
        container=grant.container.key.container,
        from_=as_resources(grant.container.spec),
        to=as_resources(grant.size),
        reason=grant.reason.value,
        message=grant.detail[:MESSAGE],
    )


def with_history(status: FluidWorkloadStatus, lines: Sequence[Resized]) -> FluidWorkloadStatus:
    """Add lines, newest first; the oldest fall off."""
    if not lines:
        return status
    return msgspec.structs.replace(status, history=[*lines, *(status.history or ())][:HISTORY])


def with_reports(
    status: FluidWorkloadStatus, reports: Sequence[PodReport], *, mine: set[str], alive: set[str]
) -> FluidWorkloadStatus:
    """Replace the reports of one node's pods, and drop those of pods that are gone.

    A report whose state is the same keeps its time, and its text while it says nearly the same:
    numbers that wander with every sample are no reason to write.
    """
    old = {(one.name, one.container): one for one in status.pods or ()}
    kept = [one for one in old.values() if one.name not in mine and one.name in alive]
    fresh = [_settled(old.get((one.name, one.container)), one) for one in reports]
    pods = sorted([*kept, *fresh], key=_seriousness)[:REPORTS]
    return msgspec.structs.replace(status, pods=pods or None)


def _settled(old: PodReport | None, new: PodReport) -> PodReport:
    if old is None or (old.state, old.reason) != (new.state, new.reason):
        return new
    if old.target == new.target and _alike(old.wished, new.wished):
        return old
    return msgspec.structs.replace(new, since=old.since)


def _alike(old: ResourceRequirements | None, new: ResourceRequirements | None) -> bool:
    """Whether two wishes are within a tenth of each other, leaf by leaf."""
    before, after = size_of(old), size_of(new)
    pairs = [
        (getattr(a, leaf), getattr(b, leaf))
        for a, b in ((before.cpu, after.cpu), (before.memory, after.memory))
        for leaf in ("request", "limit")
    ]
    return all(a == b or (a and b and abs(a - b) <= a / 10) for a, b in pairs)


def _seriousness(report: PodReport) -> tuple[int, str, str]:
    states = MOST_SERIOUS_FIRST
    rank = states.index(report.state) if report.state in states else len(states)
    return (rank, report.name, report.container)
