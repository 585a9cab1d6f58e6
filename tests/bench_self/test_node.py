"""A real node runs pods, resizes them, and answers for them."""

import ssl
import subprocess
import sys
import time

import pytest
import requests

from tests.bench.api import ApiFailure
from tests.bench.images import LOAD_CONTAINER
from tests.bench.load_client import Load

MEBIBYTE = 1 << 20
SMALL = {
    "requests": {"cpu": "100m", "memory": "64Mi"},
    "limits": {"cpu": "200m", "memory": "128Mi"},
}
LARGE = {
    "requests": {"cpu": "200m", "memory": "96Mi"},
    "limits": {"cpu": "500m", "memory": "192Mi"},
}


def container(pod):
    return pod["status"]["containerStatuses"][0]


@pytest.fixture
def api(control_plane):
    client = control_plane.client()
    yield client
    client.close()


@pytest.fixture
def pod(node, api, namespace):
    """A running pod with one load, whose HTTP server answers."""
    item = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "load", "namespace": namespace},
        "spec": {
            **node.placement,
            "containers": [{**LOAD_CONTAINER, "resources": SMALL}],
        },
    }
    api.create(item)

    def running():
        found = api.get("v1", "Pod", "load", namespace)
        return found if found["status"]["phase"] == "Running" else None

    found = api.wait_for("the pod runs", running)
    load = Load(found["status"]["podIP"])
    api.wait_for("its load answers", load.is_healthy)
    yield found
    api.delete(item)


def test_a_resize_reaches_the_kernel_without_a_restart(node, api, pod):
    uid, before = pod["metadata"]["uid"], container(pod)
    assert node.cgroup(uid, before["containerID"])["memory_limit_bytes"] == 128 * MEBIBYTE

    change = {"spec": {"containers": [{"name": "load", "resources": LARGE}]}}
    sent = time.monotonic()
    api.patch(
        pod, change, subresource="resize", content_type="application/strategic-merge-patch+json"
    )
    api.wait_for(
        "the kernel has the new limits",
        lambda: (
            node.cgroup(uid, before["containerID"])
            == {
                "cpu_quota_us": 50_000,
                "cpu_period_us": 100_000,
                "cpu_shares": 204,
                "memory_limit_bytes": 192 * MEBIBYTE,
            }
        ),
        timeout_s=2,
        every_s=0.01,
    )
    print(f"resize to cgroup: {time.monotonic() - sent:.2f} s")

    def actual():
        after = container(api.get("v1", "Pod", "load", pod["metadata"]["namespace"]))
        return after if after["resources"] == LARGE else None

    after = api.wait_for("the status shows it", actual, timeout_s=5)
    assert (after["containerID"], after["restartCount"]) == (before["containerID"], 0)
    # The container sees the same file as the host.
    assert Load(pod["status"]["podIP"]).cgroup()["memory_limit_bytes"] == 192 * MEBIBYTE


def test_load_does_what_it_is_told(api, pod):
    load = Load(pod["status"]["podIP"])

    def cpu_milli():
        first, started = load.cgroup()["cpu_usage_ns"], time.monotonic()
        time.sleep(1)
        spent, passed = load.cgroup()["cpu_usage_ns"] - first, time.monotonic() - started
        return spent / passed / 1e6

    idle = load.cgroup()["memory_usage_bytes"]
    load.memory(mebibytes=48)
    held = load.cgroup()["memory_usage_bytes"]
    load.memory(mebibytes=0)
    assert held - idle > 47 * MEBIBYTE
    assert load.cgroup()["memory_usage_bytes"] < idle + 8 * MEBIBYTE

    load.cpu(100)
    assert cpu_milli() == pytest.approx(100, abs=30)
    load.cpu(0)

    load.grow_memory(bytes_per_s=64 * MEBIBYTE, until=32 * MEBIBYTE)
    api.wait_for("it has grown", lambda: load.info()["memoryBytes"] == 32 * MEBIBYTE, timeout_s=5)
    assert [child["alive"] for child in load.fork(2, mebibytes=1)] == [True, True]
    assert load.checkpoint("/checkpoints", 7) == {"marker": "/checkpoints/7/complete"}

    load.exit(3)

    def restarted():
        status = container(api.get("v1", "Pod", "load", pod["metadata"]["namespace"]))
        return status.get("lastState", {}).get("terminated")

    assert api.wait_for("it ended", restarted)["exitCode"] == 3


def test_the_kubelet_answers_with_usage_of_the_pod(node, api, pod):
    kubelet = node.kubelet_api()

    def usage():
        summary = kubelet.request("GET", "/stats/summary", only_cpu_and_memory="true")
        for each in summary["pods"]:
            if each["podRef"]["uid"] == pod["metadata"]["uid"] and each.get("containers"):
                return each["containers"][0]
        return None

    found = api.wait_for("the pod is in the summary", usage, timeout_s=40)
    kubelet.close()
    assert found["name"] == "load"
    assert found["memory"]["workingSetBytes"] > 0


def test_the_kubelet_asks_rbac_about_a_service_account(node, api, control_plane, namespace):
    kubelet = node.kubelet_api(token=control_plane.token(namespace, "default"))
    with pytest.raises(ApiFailure) as refused:
        kubelet.request("GET", "/stats/summary", only_cpu_and_memory="true")
    assert refused.value.status == 403

    role = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": f"stats-{namespace}"},
        "rules": [{"apiGroups": [""], "resources": ["nodes/stats"], "verbs": ["get"]}],
    }
    binding = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": f"stats-{namespace}"},
        "roleRef": {
            "apiGroup": "rbac.authorization.k8s.io",
            "kind": "ClusterRole",
            "name": f"stats-{namespace}",
        },
        "subjects": [{"kind": "ServiceAccount", "name": "default", "namespace": namespace}],
    }
    api.create(role)
    api.create(binding)

    def allowed():
        try:
            return kubelet.request("GET", "/stats/summary", only_cpu_and_memory="true")
        except ApiFailure:
            return None

    assert api.wait_for("RBAC lets it in", allowed, timeout_s=10)["node"]["nodeName"] == node.name
    kubelet.close()
    api.delete(binding)
    api.delete(role)


def test_a_stranger_gets_nothing_from_the_kubelet(node, control_plane):
    with requests.Session() as session:
        session.trust_env = False
        answer = session.get(
            f"https://{node.address}:10250/pods",
            verify=str(control_plane.authority.ca_file),
            timeout=5,
        )
    assert answer.status_code == 401


def test_a_pod_reaches_the_api_server_by_its_service(node, control_plane, pod):
    environment = Load(pod["status"]["podIP"]).info()["environment"]
    host, port = (environment[f"KUBERNETES_SERVICE_{name}"] for name in ("HOST", "PORT"))
    inside = next(iter(node._traces.cgroups.pids()))
    program = f"import ssl; print(ssl.get_server_certificate(('{host}', {port}), timeout=5))"
    seen = subprocess.run(
        ["nsenter", f"--net=/proc/{inside}/ns/net", sys.executable, "-c", program],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    direct = ssl.get_server_certificate(("127.0.0.1", control_plane.port))
    assert seen.strip() == direct.strip()


def test_a_container_over_its_memory_limit_is_killed_and_started_again(api, pod):
    Load(pod["status"]["podIP"]).grow_memory(bytes_per_s=512 * MEBIBYTE)

    def killed():
        status = container(api.get("v1", "Pod", "load", pod["metadata"]["namespace"]))
        return status.get("lastState", {}).get("terminated")

    assert api.wait_for("the kernel ended it", killed)["reason"] == "OOMKilled"


def test_a_deleted_pod_is_gone_at_once_and_not_after_its_grace_period(api, pod):
    api.delete(pod)
    api.wait_for(
        "the pod is gone",
        lambda: not api.find("v1", "Pod", "load", pod["metadata"]["namespace"]),
        timeout_s=5,
    )


def test_the_nodes_size_can_be_changed_under_a_running_pod(node, api, pod):
    def allocatable():
        return api.get("v1", "Node", node.name)["status"]["allocatable"]["cpu"]

    whole = allocatable()
    node.reserve({"cpu": "500m"})
    assert allocatable() != whole
    node.reserve({})
    assert allocatable() == whole
    after = container(api.get("v1", "Pod", "load", pod["metadata"]["namespace"]))
    assert after["containerID"] == container(pod)["containerID"]


def test_containers_outlive_their_runtimes_daemon(node, api, pod):
    node.stop_containerd()
    assert Load(pod["status"]["podIP"]).is_healthy()
    node.start_containerd()
    # Only a runtime that found its containers again can end one.
    api.delete(pod)
    api.wait_for(
        "the pod is gone",
        lambda: not api.find("v1", "Pod", "load", pod["metadata"]["namespace"]),
        timeout_s=20,
    )
