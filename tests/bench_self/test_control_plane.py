"""A cluster of real components: who may do what, and that its controllers run."""

import subprocess

import pytest
import requests

from tests.bench import build
from tests.bench.api import Api, ApiFailure


def config_map(namespace, **data):
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "one", "namespace": namespace},
        "data": data,
    }


def test_it_is_the_version_that_the_bench_names(control_plane):
    version = control_plane.client().request("GET", "/version")
    assert version["gitVersion"] == build.KUBERNETES_VERSION


def test_nobody_gets_in_without_a_name(control_plane):
    session = requests.Session()
    session.trust_env = False
    answer = session.get(
        f"{control_plane.url}/readyz", verify=control_plane.authority.ca_file, timeout=5
    )
    assert answer.status_code == 401


def test_a_service_account_may_only_what_rbac_gives_it(control_plane, namespace):
    stranger = Api(
        control_plane.url,
        control_plane.authority.ca_file,
        token=control_plane.token(namespace, "default"),
    )
    with pytest.raises(ApiFailure) as refused:
        stranger.list("v1", "Pod", namespace)
    assert refused.value.status == 403
    assert f"system:serviceaccount:{namespace}:default" in refused.value.text


def test_one_node_may_not_touch_another(control_plane):
    admin = control_plane.client()
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "theirs"}}
    admin.create(node)
    config = control_plane.kubeconfig("system:node:ours", "system:nodes")
    done = subprocess.run(
        [
            build.ensure("kubernetes") / "kubectl",
            f"--kubeconfig={config}",
            *("label", "node", "theirs", "a=b"),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    admin.delete(node)
    assert "node 'ours' cannot read 'theirs', only its own Node object" in done.stderr


def test_applied_fields_have_an_owner(control_plane, namespace):
    api = control_plane.client()
    api.apply(config_map(namespace, a="1"), manager="first")
    applied = api.apply(config_map(namespace, b="2"), manager="second")
    assert applied["data"] == {"a": "1", "b": "2"}
    assert {entry["manager"] for entry in applied["metadata"]["managedFields"]} == {
        "first",
        "second",
    }


def test_a_wait_that_ends_says_what_it_waited_for(control_plane, namespace):
    api = control_plane.client()
    with pytest.raises(AssertionError, match="a map that nobody makes"):
        api.wait_for(
            "a map that nobody makes",
            lambda: api.find("v1", "ConfigMap", "none", namespace),
            timeout_s=0.3,
        )


def test_controllers_and_scheduler_work(control_plane, namespace):
    api = control_plane.client()
    control_plane.kubectl(
        "create", "deployment", "web", "--image=none", "--replicas=2", f"--namespace={namespace}"
    )

    def unschedulable():
        pods = api.list("v1", "Pod", namespace, labels="app=web")
        reasons = [c["reason"] for pod in pods for c in pod["status"].get("conditions", [])]
        return reasons == ["Unschedulable"] * 2

    api.wait_for("two pods without a node", unschedulable)
