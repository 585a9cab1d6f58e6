"""What one round leaves in the status, from snapshot to reports."""

from dataclasses import replace

import msgspec
import pytest
from argocd_fluid.controller import record
from argocd_fluid.controller.memory import Memory
from argocd_fluid.controller.observe import View, observe
from argocd_fluid.controller.reports import news_in
from argocd_fluid.controller.rounds import Round, Sent
from argocd_fluid.controller.sizes import target_of
from argocd_fluid.controller.status import Overview, with_overview
from argocd_fluid.engine.decide import decide
from argocd_fluid.engine.model import Amounts, Grant, Reason, Resource, Sample, Size, Usage
from argocd_fluid.engine.negotiate import negotiate
from argocd_fluid.kube.fluid import FluidWorkload, PodReport
from argocd_fluid.kube.types import Node
from argocd_fluid.policy.model import Mode

from tests.controller.jobsets import intent
from tests.controller.objects import NOW, js, pod, workload

MIB = 1 << 20
NODE = msgspec.convert(
    {"metadata": {"name": "n1"}, "status": {"allocatable": {"cpu": "4", "memory": "8Gi"}}}, Node
)
LARGER = Size(
    cpu=Amounts(request=200, limit=400), memory=Amounts(request=64 * MIB, limit=128 * MIB)
)


class Place:
    """A node with one enrolled pod, and its workload."""

    def __init__(self, known: FluidWorkload | None = None, **changes) -> None:
        self.known = known or workload()
        self.memory = Memory()
        self.pod = pod(**changes)
        view = View(workload_of=lambda _: self.known, memory=self.memory, mode=Mode.AUTO, now=NOW)
        self.snapshot = observe(NODE, [self.pod], view)
        [self.container] = self.snapshot.pods[0].containers

    def grant(self, reason: Reason = Reason.HOT, size: Size = LARGER) -> Grant:
        return Grant(
            container=self.container,
            wished=LARGER,
            size=size,
            reason=reason,
            detail="cpu 200m of 200m (100% > 80%)",
            cause=Reason.HOT,
        )

    def round(self, sent: Sent, now: float = NOW) -> FluidWorkload:
        this = Round(snapshot=self.snapshot, wishes=[], sent=sent, holds=self.memory.holds, now=now)
        [(_, containers)] = this.workloads().items()
        alive = {self.pod.metadata.name}
        status = this.status_of(self.known, containers, alive)
        self.known = msgspec.structs.replace(self.known, status=status)
        return self.known

    def record(self, grant: Grant) -> None:
        status = record.with_sizes(self.known, record.targets_of([grant]))
        self.known = msgspec.structs.replace(self.known, status=status)

    def target(self) -> Size | None:
        return target_of(self.known, self.container.rank, "load")


def test_a_resize_that_was_taken_is_on_record_and_in_the_history() -> None:
    place = Place()
    grant = place.grant()
    place.record(grant)
    assert place.target() == LARGER

    leaves = Size(cpu=LARGER.cpu)
    known = place.round(Sent(grants=[grant], taken={place.container.key: leaves}))

    [line] = known.status.history
    assert (line.pod, line.container, line.reason) == ("train-workers-0-0", "load", "Hot")
    assert line.from_.requests == {"cpu": "100m", "memory": "64Mi"}
    assert line.to.requests == {"cpu": "200m", "memory": "64Mi"}
    assert line.to.limits == {"cpu": "400m", "memory": "128Mi"}
    assert known.status.pods is None


def test_a_refused_resize_is_taken_off_the_record_and_the_reason_stays_until_it_works() -> None:
    place = Place()
    grant, before = place.grant(), place.target()
    place.record(grant)
    uid = place.snapshot.pods[0].uid
    place.memory.hold(uid, now=NOW, reason="QuotaExceeded", message="exceeded quota: q")

    known = place.round(Sent(grants=[grant], refused={uid}))

    assert place.target() == before
    assert known.status.history is None
    [report] = known.status.pods
    assert (report.state, report.reason) == ("Refused", "QuotaExceeded")
    assert report.wished.requests["cpu"] == "200m"
    assert report.target.requests["cpu"] == "100m"

    assert place.round(Sent(), now=NOW + 5).status.pods == [report]
    place.memory.release(uid)
    assert place.round(Sent(), now=NOW + 10).status.pods is None


def test_what_was_taken_before_a_refusal_stays_on_record() -> None:
    place = Place()
    grant = place.grant(size=replace(LARGER, memory=Amounts(request=32 * MIB, limit=64 * MIB)))
    place.record(grant)
    uid = place.snapshot.pods[0].uid
    place.memory.hold(uid, now=NOW, reason="Invalid", message="no")

    sent = Sent(grants=[grant], refused={uid})
    sent.take(place.container.key, Size(cpu=LARGER.cpu))
    place.round(sent)

    assert place.target() == LARGER


def test_a_partial_grant_says_what_was_wished_and_stays_through_its_cooldown() -> None:
    place = Place()
    half = replace(LARGER, cpu=Amounts(request=150, limit=300))
    grant = place.grant(Reason.PARTIAL, half)

    [report] = place.round(Sent(grants=[grant])).status.pods
    assert (report.state, report.reason) == ("Partial", "PartiallyGranted")
    assert report.wished.requests["cpu"] == "200m"
    assert report.target.requests["cpu"] == "150m"

    cooling = Place(place.known)
    cooling.memory.resized_s[cooling.container.key] = NOW
    view = View(workload_of=lambda _: cooling.known, memory=cooling.memory, mode=Mode.AUTO, now=NOW)
    cooling.snapshot = observe(NODE, [cooling.pod], view)
    assert cooling.round(Sent(), now=NOW + 0.5).status.pods == [report]
    assert cooling.round(Sent(), now=NOW + 5).status.pods is None


def test_numbers_that_wander_are_no_reason_to_write() -> None:
    place = Place()
    half = replace(LARGER, cpu=Amounts(request=150, limit=300))
    grant = place.grant(Reason.PARTIAL, half)
    first = place.round(Sent(grants=[grant]))
    wandering = replace(
        grant, detail="cpu 201m", wished=replace(LARGER, cpu=Amounts(request=205, limit=410))
    )
    assert place.round(Sent(grants=[wandering]), now=NOW + 5) == first


@pytest.mark.parametrize(
    ("condition", "state"),
    [
        ({"type": "PodResizePending", "reason": "Deferred", "message": "cpu, used: 2"}, "Deferred"),
        ({"type": "PodResizePending", "reason": "Infeasible", "message": "swap"}, "Infeasible"),
        (
            {"type": "PodResizeInProgress", "reason": "Error", "message": "cannot decrease"},
            "Error",
        ),
    ],
)
def test_the_kubelet_s_words_reach_the_report(condition: dict[str, str], state: str) -> None:
    place = Place(conditions=[condition | {"status": "True"}])
    [report] = place.round(Sent()).status.pods
    assert (report.state, report.message) == (state, condition["message"])


def test_reports_of_other_nodes_stay_and_those_of_gone_pods_go() -> None:
    reports = [
        PodReport(name=name, container="load", state="Deferred") for name in ("elsewhere", "gone")
    ]
    status = record.with_reports(
        workload(pods=reports).status, [], mine={"train-workers-0-0"}, alive={"elsewhere"}
    )
    assert [one.name for one in status.pods] == ["elsewhere"]


def test_history_and_reports_are_bounded_and_the_serious_ones_stay() -> None:
    reports = [
        PodReport(
            name=f"p{number}", container="load", state="Refused" if number == 99 else "Partial"
        )
        for number in range(100)
    ]
    known = workload()
    status = record.with_reports(known.status, reports, mine=set(), alive=set())
    assert len(status.pods) == record.REPORTS
    assert status.pods[0].state == "Refused"

    line = record.history_of(Place().grant(), NOW)
    for _ in range(60):
        status = record.with_history(status, [line])
    assert len(status.history) == record.HISTORY


def full_node_place() -> tuple[Place, list[Grant]]:
    """A hot Guaranteed container on a node that is exactly full."""
    same = {"cpu": "100m", "memory": "64Mi"}
    size = {"requests": same, "limits": same}
    known = workload(js(intent(size)))
    place = Place(known, size=size, qosClass="Guaranteed")
    sample = Sample(
        time_s=NOW - 5, cpu_milli=99, memory_bytes=30 * MIB, memory_usage_bytes=30 * MIB
    )
    usage = Usage(
        latest=sample,
        peak_cpu_milli=99,
        peak_memory_bytes=30 * MIB,
        peak_memory_usage_bytes=30 * MIB,
        window_s=600,
        memory_trend_bytes_per_s=0,
        below_since={Resource.CPU: None, Resource.MEMORY: None},
    )
    place.container = replace(place.container, usage=usage)
    [state] = place.snapshot.pods
    place.snapshot = replace(
        place.snapshot,
        allocatable={Resource.CPU: 100, Resource.MEMORY: 8 << 30},
        pods=(replace(state, containers=(place.container,)),),
    )
    return place, list(negotiate(place.snapshot, decide(place.snapshot, NOW)))


def test_a_wish_of_which_nothing_is_granted_is_reported_and_defers_the_workload() -> None:
    place, grants = full_node_place()
    [grant] = grants
    assert not grant.changes

    before = place.known.status
    known = place.round(Sent(grants=grants))

    [report] = known.status.pods
    assert (report.state, report.reason) == ("Partial", "NoRoom")
    assert "asked 60m more, granted 0m, node has 0m free" in report.message
    overview = Overview(pods=[place.pod], now=NOW)
    conditions = {one.type: one for one in with_overview(known, known.status, overview).conditions}
    deferred = conditions["Deferred"]
    assert (deferred.status, deferred.reason) == ("True", "NoRoom")
    assert "train-workers-0-0" in deferred.message

    again = place.round(Sent(grants=grants), now=NOW + 5)
    assert news_in(before, known.status) == [report]
    assert news_in(known.status, again.status) == []
    over = place.round(Sent(), now=NOW + 600)
    conditions = with_overview(over, over.status, overview).conditions
    assert "Deferred" not in {one.type for one in conditions}
