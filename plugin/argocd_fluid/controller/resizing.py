"""From grants to pods: put the sizes on record, send each patch once, write down what became of it.

The order is the contract. A controller that dies between record and patch finds spec and record
apart when it is back, and sends the patch then; one that dies after the patch finds them equal.
"""

import logging
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial

from argocd_fluid.controller import record
from argocd_fluid.controller.apply import Answer, Verdict, has_sizes, send
from argocd_fluid.controller.cluster import Cluster
from argocd_fluid.controller.intent import fluid_name
from argocd_fluid.controller.kills import has_ended
from argocd_fluid.controller.ledger import Change, Ledger
from argocd_fluid.controller.memory import KILL_ANSWERS, Memory
from argocd_fluid.controller.metrics import Metrics
from argocd_fluid.controller.reports import news_in
from argocd_fluid.controller.rounds import Round, Sent
from argocd_fluid.engine.model import (
    ContainerKey,
    Grant,
    NodeSnapshot,
    PodResize,
    Reason,
    WorkloadKey,
)
from argocd_fluid.engine.plan import plan
from argocd_fluid.engine.sizes import resources_from_size
from argocd_fluid.errors import ApiError, Conflict, Terminal
from argocd_fluid.kube.client import Client
from argocd_fluid.kube.endpoints import PODS
from argocd_fluid.kube.fluid import FluidWorkload, FluidWorkloadStatus, PodReport
from argocd_fluid.kube.types import Pod

log = logging.getLogger(__name__)

TAKEN = (Verdict.ACCEPTED, Verdict.ALTERED)


class Resizer:
    """The one writer of sizes, for all node loops."""

    def __init__(self, cluster: Cluster, client: Client, ledger: Ledger, metrics: Metrics) -> None:
        self._cluster = cluster
        self._client = client
        self._ledger = ledger
        self._metrics = metrics

    def record(self, grants: Sequence[Grant]) -> list[Grant]:
        """Write the sizes ahead; give the grants that are on record and may be sent."""
        by_workload: defaultdict[WorkloadKey, list[Grant]] = defaultdict(list)
        for grant in grants:
            by_workload[grant.container.workload].append(grant)
        recorded = []
        for key, mine in by_workload.items():
            targets = record.targets_of(mine)
            expected = {of: mine_of.target for of, mine_of in record.containers_of(mine).items()}
            change = partial(record.with_sizes, targets=targets, expected=expected)
            if not targets or self._write(key, change):
                recorded.extend(mine)
        return recorded

    def apply(
        self, snapshot: NodeSnapshot, grants: Sequence[Grant], *, memory: Memory, now: float
    ) -> Sent:
        """Send the patches in the order of the plan; a pod's first failure ends its patches."""
        sent = Sent(grants=grants)
        versions: dict[str, str] = {}
        failed: set[str] = set()
        by_container = {(one.container.key.uid, one.container.key.container): one for one in grants}
        for resize in plan(snapshot, [grant for grant in grants if grant.changes]):
            if resize.uid in failed:
                continue
            version = resize.resource_version or versions.get(resize.uid, "")
            answer = self._send(replace(resize, resource_version=version), memory)
            self._log(resize, answer, grants)
            if answer.verdict in TAKEN and answer.pod is not None:
                versions[resize.uid] = answer.pod.metadata.resource_version
                for name, leaves in resize.sizes.items():
                    grant = by_container[resize.uid, name]
                    key, before = grant.container.key, grant.container.spec
                    sent.take(key, leaves)
                    memory.add_resize(
                        key,
                        before=before,
                        leaves=leaves,
                        now=now,
                        answers_kill=grant.cause in KILL_ANSWERS,
                    )
                    if grant.cause is Reason.INFEASIBLE:
                        memory.hold_infeasible(resize.uid, now=now, message=grant.detail)
                continue
            failed.add(resize.uid)
            if answer.verdict is Verdict.REFUSED:
                sent.refused.add(resize.uid)
                memory.hold(resize.uid, now=now, reason=answer.reason, message=answer.message)
        return sent

    def conclude(self, this: Round) -> None:
        """Write history and reports, and take off the record what was refused."""
        for key, containers in this.workloads().items():
            news: list[PodReport] = []

            def change(
                workload: FluidWorkload,
                containers: Sequence[ContainerKey] = containers,
                news: list[PodReport] = news,
            ) -> FluidWorkloadStatus:
                alive = {pod.metadata.name for pod in self._cluster.pods_of(workload)}
                status = this.status_of(workload, containers, alive)
                news[:] = news_in(workload.status, status)
                return status

            if self._write(key, change):
                self._log_reports(key, news)

    def _send(self, resize: PodResize, memory: Memory) -> Answer:
        pod = self._cluster.pods.get(resize.namespace, resize.name)
        if pod is None or pod.metadata.uid != resize.uid or has_ended(pod):
            return Answer(verdict=Verdict.GONE, reason="NotFound")
        answer = send(self._client, resize, pod)
        if answer.verdict is Verdict.UNKNOWN:
            answer = self._resolved(resize, answer, memory)
        if answer.pod is not None:
            self._cluster.pods.refresh(answer.pod)
        if answer.verdict in TAKEN:
            memory.release(resize.uid)
        return answer

    def _resolved(self, resize: PodResize, answer: Answer, memory: Memory) -> Answer:
        """After no answer, see in the pod whether the resize arrived; never send it again."""
        key = (resize.namespace, resize.name)
        memory.unsure.add(key)
        try:
            pod = self._client.get(PODS.path(*key), Pod)
        except ApiError:
            return answer
        memory.unsure.discard(key)
        arrived = pod.metadata.uid == resize.uid and has_sizes(pod, resize)
        verdict = Verdict.ACCEPTED if arrived else Verdict.STALE
        return replace(answer, verdict=verdict, pod=pod)

    def _write(self, key: WorkloadKey, change: Change) -> bool:
        """Change one workload's status; False if it is gone or contended, and the next round's."""
        workload = self._cluster.workloads.get(key.namespace, fluid_name(key.name))
        if workload is None:
            return False
        try:
            self._ledger.update(workload, change)
        except (Terminal, Conflict) as error:  # of this workload: the node has others
            extra = {"workload": f"{key.namespace}/{key.name}", "error": str(error)}
            log.info("status was not written", extra=extra)
            return False
        return True

    def _log_reports(self, key: WorkloadKey, news: Sequence[PodReport]) -> None:
        for one in news:
            self._metrics.reports.labels(state=one.state, reason=one.reason).inc()
            extra = {
                "pod": f"{key.namespace}/{one.name}",
                "container": one.container,
                "reason": one.reason,
                "detail": one.message,
            }
            log.info("container is %s", one.state, extra=extra)

    def _log(self, resize: PodResize, answer: Answer, grants: Iterable[Grant]) -> None:
        mine = [grant for grant in grants if grant.container.key.uid == resize.uid]
        reason = mine[0].reason.value if mine else ""
        self._metrics.resizes.labels(verdict=answer.verdict.value, reason=reason).inc()
        level = logging.INFO if answer.verdict in TAKEN else logging.WARNING
        log.log(
            level,
            "resize %s",
            answer.verdict.value,
            extra={
                "pod": f"{resize.namespace}/{resize.name}",
                "sizes": {name: resources_from_size(size) for name, size in resize.sizes.items()},
                "reason": reason,
                "detail": "; ".join(grant.detail for grant in mine),
                **({"error": f"{answer.reason}: {answer.message}"} if answer.message else {}),
            },
        )
