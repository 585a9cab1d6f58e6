import msgspec
import pytest
from argocd_fluid.errors import Unreachable
from argocd_fluid.kube.kubelet import url_of
from argocd_fluid.kube.summary import Summary
from argocd_fluid.kube.types import Node


def node(*addresses: tuple[str, str], port: int = 10250) -> Node:
    return msgspec.convert(
        {
            "metadata": {"name": "n1"},
            "status": {
                "addresses": [{"type": kind, "address": address} for kind, address in addresses],
                "daemonEndpoints": {"kubeletEndpoint": {"Port": port}},
            },
        },
        Node,
    )


@pytest.mark.parametrize(
    ("addresses", "host"),
    [
        ([("Hostname", "n1"), ("ExternalIP", "1.2.3.4"), ("InternalIP", "10.0.0.1")], "10.0.0.1"),
        ([("Hostname", "n1"), ("ExternalIP", "1.2.3.4")], "1.2.3.4"),
        ([("InternalIP", "fd00::1")], "[fd00::1]"),
    ],
)
def test_the_kubelet_is_asked_where_the_node_says(
    addresses: list[tuple[str, str]], host: str
) -> None:
    assert url_of(node(*addresses)).startswith(f"https://{host}:10250/stats/summary?")


@pytest.mark.parametrize(
    "silent", [node(port=10250), node(("InternalIP", "10.0.0.1"), port=0)], ids=["address", "port"]
)
def test_a_node_that_does_not_say_is_unreachable(silent: Node) -> None:
    with pytest.raises(Unreachable, match="n1"):
        url_of(silent)


def test_a_summary_is_read_though_a_starting_container_has_no_figures() -> None:
    text = b"""{"node": {"nodeName": "n1"}, "pods": [{"podRef": {"name": "p", "namespace": "ns",
      "uid": "u"}, "containers": [
        {"name": "c", "startTime": "2026-01-01T00:00:00Z",
         "cpu": {"time": "2026-01-01T00:01:00Z", "usageNanoCores": 5,
                 "usageCoreNanoSeconds": 1700000000000},
         "memory": {"time": "2026-01-01T00:01:00Z", "usageBytes": 4294967296000,
                    "workingSetBytes": 2}},
        {"name": "young", "startTime": "2026-01-01T00:00:59Z"}]}]}"""
    summary = msgspec.json.decode(text, type=Summary)
    known, young = summary.pods[0].containers
    assert known.memory.usage_bytes == 4294967296000
    assert young.cpu is None
