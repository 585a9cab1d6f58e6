"""A PATCH whose answer is lost is followed by a read, never by a second PATCH."""

import msgspec
import pytest
from argocd_fluid.controller.apply import Verdict
from argocd_fluid.controller.cluster import Cluster
from argocd_fluid.controller.ledger import Ledger
from argocd_fluid.controller.memory import Memory
from argocd_fluid.controller.metrics import Metrics
from argocd_fluid.controller.resizing import Resizer
from argocd_fluid.kube.client import Client
from argocd_fluid.kube.types import Pod

from tests.controller.objects import pod
from tests.controller.test_apply import RESIZE, WANTED
from tests.kube.scripted import Answer, Script

KEY = ("ns", "train-workers-0-0")
LOST = Answer(body={}, hang_s=5)


def sent(client: Client, memory: Memory) -> Verdict:
    cluster = Cluster()
    cluster.pods.put(pod())
    resizer = Resizer(cluster, client, Ledger(client, cluster.workloads), Metrics())
    return resizer._send(RESIZE, memory).verdict


def wire(item: Pod) -> object:
    return msgspec.to_builtins(item)


@pytest.mark.parametrize(
    ("found", "verdict"),
    [
        (Answer(body=wire(pod(size=WANTED))), Verdict.ACCEPTED),
        (Answer(body=wire(pod())), Verdict.STALE),
    ],
    ids=["it had arrived", "it had not"],
)
def test_the_pod_tells_whether_it_arrived(
    server: Script, client: Client, found: Answer, verdict: Verdict
) -> None:
    server.answers = [LOST, found]
    memory = Memory()

    assert sent(client, memory) is verdict
    assert [asked.method for asked in server.asked] == ["PATCH", "GET"]
    assert not memory.unsure


def test_while_nobody_can_tell_the_pod_is_read_before_anything_else(
    server: Script, client: Client
) -> None:
    server.answers = [LOST, Answer(status=503, body={"code": 503})]
    memory = Memory()

    assert sent(client, memory) is Verdict.UNKNOWN
    assert memory.unsure == {KEY}
