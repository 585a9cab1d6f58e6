"""What one round over a node leaves in a FluidWorkload: history, reports, refusals undone. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from argocd_fluid.controller import record
from argocd_fluid.controller.memory import Hold
from argocd_fluid.controller.reports import Facts, reports_of
from argocd_fluid.engine.model import (
    Amounts,
    ContainerKey,
    Grant,
    NodeSnapshot,
    Rank,
    Size,
    Wish,
    WorkloadKey,
)
from argocd_fluid.engine.sizes import merged
from argocd_fluid.kube.fluid import FluidWorkload, FluidWorkloadStatus, Resized


@dataclass(slots=True, kw_only=True)
class Sent:
    """What became of one round's grants: the leaves that pods took, and the pods that refused."""

    grants: Sequence[Grant] = ()
    taken: dict[ContainerKey, Size] = field(default_factory=dict)
    refused: set[str] = field(default_factory=set)
    """Pod uids."""

    def take(self, key: ContainerKey, leaves: Size) -> None:
        """Add the leaves of one accepted patch."""
        before = self.taken.get(key, Size())
        self.taken[key] = Size(
            cpu=_overlaid(before.cpu, leaves.cpu), memory=_overlaid(before.memory, leaves.memory)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """One round, whole: it is turned into the status of each workload that has pods there."""

    snapshot: NodeSnapshot
    wishes: Sequence[Wish]
    sent: Sent
    holds: Mapping[str, Hold]
    now: float

    def workloads(self) -> dict[WorkloadKey, list[ContainerKey]]:
        """Group the node's enrolled containers by workload."""
        found: dict[WorkloadKey, list[ContainerKey]] = {}
        for pod in self.snapshot.pods:
            for container in pod.containers:
                found.setdefault(container.workload, []).append(container.key)
        return found

    def status_of(
        self, workload: FluidWorkload, containers: Sequence[ContainerKey], alive: set[str]
    ) -> FluidWorkloadStatus:
        """Give the status of one workload after the round; `alive` are the names of its pods."""
        here = {(key.pod, key.container): key for key in containers}
        before = {
            here[report.name, report.container]: report
            for report in workload.status.pods or ()
            if (report.name, report.container) in here
        }
        this = Facts(
            wishes=self.wishes,
            grants=self.sent.grants,
            holds=self.holds,
            before=before,
            now=self.now,
        )
        reports = reports_of(self.snapshot, this)
        mine = [grant for grant in self.sent.grants if grant.container.key in here.values()]
        expected = {
            (grant.container.rank, grant.container.key.container): grant.recorded for grant in mine
        }
        status = record.with_sizes(workload, self._put_back(mine), expected)
        status = record.with_history(status, self._history(mine))
        return record.with_reports(
            status,
            [reports[key] for key in containers if key in reports],
            mine={key.pod for key in containers},
            alive=alive,
        )

    def _put_back(self, grants: Sequence[Grant]) -> dict[tuple[Rank, str], Size]:
        """Give the sizes before the write-ahead, with what was accepted before the refusal."""
        return {
            (grant.container.rank, grant.container.key.container): merged(
                grant.container.target, self.sent.taken.get(grant.container.key, Size())
            )
            for grant in grants
            if grant.container.key.uid in self.sent.refused
            and grant.recorded != grant.container.target
        }

    def _history(self, grants: Sequence[Grant]) -> list[Resized]:
        return [
            record.history_of(replace(grant, size=merged(grant.container.spec, taken)), self.now)
            for grant in grants
            if (taken := self.sent.taken.get(grant.container.key)) is not None
        ]


def _overlaid(below: Amounts, above: Amounts) -> Amounts:
    return Amounts(
        request=below.request if above.request is None else above.request,
        limit=below.limit if above.limit is None else above.limit,
    )
