"""What the one writer of sizes leaves alone, and what it says once."""

import logging
from datetime import UTC, datetime

import msgspec
import pytest
from argocd_fluid.controller.apply import Verdict
from argocd_fluid.controller.cluster import Cluster
from argocd_fluid.controller.ledger import Ledger
from argocd_fluid.controller.memory import Memory
from argocd_fluid.controller.metrics import Metrics
from argocd_fluid.controller.queue import RequeueAfter
from argocd_fluid.controller.resizing import Resizer
from argocd_fluid.controller.rounds import Round, Sent
from argocd_fluid.controller.runtime import Controller, Options
from argocd_fluid.kube.client import Client
from argocd_fluid.kube.types import Pod
from argocd_fluid.policy.model import Mode

from tests.controller.jobsets import SIZE, intent
from tests.controller.objects import NOW, js, pod, workload
from tests.controller.test_apply import RESIZE
from tests.controller.test_rounds import NODE, full_node_place
from tests.kube.scripted import Answer, Script, loader


def leaving() -> Pod:
    item = pod()
    at = datetime(2027, 1, 1, tzinfo=UTC)
    metadata = msgspec.structs.replace(item.metadata, deletion_timestamp=at)
    return msgspec.structs.replace(item, metadata=metadata)


@pytest.mark.parametrize("ended", [pod(phase="Failed"), leaving()], ids=["failed", "deleting"])
def test_a_pod_that_has_ended_gets_no_patch(server: Script, client: Client, ended: Pod) -> None:
    server.answers = [Answer(status=500, body={"code": 500})]
    cluster = Cluster()
    cluster.pods.put(ended)
    resizer = Resizer(cluster, client, Ledger(client, cluster.workloads), Metrics())

    assert resizer._send(RESIZE, Memory()).verdict is Verdict.GONE
    assert server.asked == []


def test_a_wish_without_room_is_logged_and_counted_once_while_it_lasts(
    server: Script, client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    place, grants = full_node_place()
    cluster, metrics = Cluster(), Metrics()
    cluster.pods.put(place.pod)
    cluster.workloads.put(place.known)
    resizer = Resizer(cluster, client, Ledger(client, cluster.workloads), metrics)
    caplog.set_level(logging.INFO, "argocd_fluid")

    for number in range(3):
        now = NOW + 5 * number
        this = Round(
            snapshot=place.snapshot, wishes=[], sent=Sent(grants=grants), holds={}, now=now
        )
        reported = this.status_of(place.known, [place.container.key], {place.pod.metadata.name})
        written = msgspec.to_builtins(
            msgspec.structs.replace(
                place.known,
                metadata=msgspec.structs.replace(place.known.metadata, resource_version="2"),
                status=reported,
            )
        )
        server.answers = [Answer(body=written)]
        resizer.conclude(this)

    assert [asked.method for asked in server.asked] == ["PATCH"]
    [line] = caplog.records
    assert (line.getMessage(), line.reason) == ("container is Partial", "NoRoom")
    labels = {"state": "Partial", "reason": "NoRoom"}
    assert metrics.registry.get_sample_value("argocd_fluid_reports_total", labels) == 1


def test_a_changed_intent_wakes_the_nodes_of_its_pods_and_a_written_status_does_not(
    server: Script,
) -> None:
    options = Options(interval_s=60, mode=Mode.AUTO)
    controller = Controller(loader(server), options, Metrics())
    cluster = controller._cluster
    cluster.nodes.put(NODE)
    cluster.pods.put(pod())
    cluster.workloads.put(workload())
    assert controller._nodes.take(0) == "n1"
    controller._nodes.finish("n1", RequeueAfter(60))

    written = workload(history=[])
    version = msgspec.structs.replace(written.metadata, resource_version="2")
    cluster.workloads.put(msgspec.structs.replace(written, metadata=version))
    assert controller._nodes.take(0) is None

    changed = workload(js(intent(SIZE | {"requests": {"cpu": "150m", "memory": "64Mi"}})))
    version = msgspec.structs.replace(changed.metadata, resource_version="3")
    cluster.workloads.put(msgspec.structs.replace(changed, metadata=version))
    assert controller._nodes.take(0) == "n1"
