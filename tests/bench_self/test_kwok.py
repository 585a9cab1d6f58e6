"""KWOK's nodes answer a resize as a kubelet does, or as a test tells them."""

import pytest

from tests.bench.kwok import EXIT, RESIZE

BEFORE = {"requests": {"cpu": "100m", "memory": "64Mi"}, "limits": {"cpu": "200m"}}
AFTER = {"requests": {"cpu": "150m", "memory": "128Mi"}, "limits": {"cpu": "300m"}}


@pytest.fixture
def pod(control_plane, kwok, namespace):
    """A running pod with a container and a native sidecar."""
    node = kwok.node("kwok-pods", cpu="4", memory="8Gi")
    api = control_plane.client()
    sidecar = {"name": "side", "image": "none", "restartPolicy": "Always", "resources": BEFORE}
    created = api.create(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "one", "namespace": namespace},
            "spec": {
                **node.placement,
                "initContainers": [sidecar, {"name": "init", "image": "none"}],
                "containers": [{"name": "main", "image": "none", "resources": BEFORE}],
            },
        }
    )
    return Live(api, created)


class Live:
    """One pod as the API server has it now."""

    def __init__(self, api, item):
        self.api = api
        self.item = {key: item[key] for key in ("apiVersion", "kind", "metadata")}
        self.wait("running", lambda now: now["status"].get("phase") == "Running")

    def get(self):
        metadata = self.item["metadata"]
        return self.api.get("v1", "Pod", metadata["name"], metadata["namespace"])

    def wait(self, what, until):
        return self.api.wait_for(what, lambda: (now := self.get()) and until(now) and now)

    def annotate(self, key, value):
        self.api.patch(self.item, {"metadata": {"annotations": {key: value}}})

    def resize(self, resources, *, container="main", kind="containers"):
        change = {"spec": {kind: [{"name": container, "resources": resources}]}}
        return self.api.patch(
            self.item,
            change,
            subresource="resize",
            content_type="application/strategic-merge-patch+json",
        )


def pending(pod):
    """Reason of the condition PodResizePending."""
    return next(
        (c["reason"] for c in pod["status"]["conditions"] if c["type"] == "PodResizePending"), None
    )


def is_at(resources, *, status="containerStatuses"):
    """All of a resize is over: allocated, actual, and no condition left."""

    def check(pod):
        container = pod["status"][status][0]
        conditions = {c["type"] for c in pod["status"]["conditions"]}
        return (
            container["resources"] == resources
            and container["allocatedResources"] == resources["requests"]
            and not conditions & {"PodResizePending", "PodResizeInProgress"}
        )

    return check


def test_a_pod_starts_with_its_size_and_a_sidecar(pod):
    now = pod.get()
    assert is_at(BEFORE)(now)
    side, init = now["status"]["initContainerStatuses"]
    assert side["state"]["running"]
    assert init["state"]["terminated"]["reason"] == "Completed"
    assert now["status"]["podIP"].startswith("10.90.")


@pytest.mark.parametrize(
    ("container", "kind", "status"),
    [
        ("main", "containers", "containerStatuses"),
        ("side", "initContainers", "initContainerStatuses"),
    ],
    ids=["container", "sidecar"],
)
def test_a_resize_becomes_actual_without_a_restart(pod, container, kind, status):
    pod.resize(AFTER, container=container, kind=kind)
    now = pod.wait("the new size", is_at(AFTER, status=status))
    assert now["status"]["observedGeneration"] == now["metadata"]["generation"]
    assert now["status"][status][0]["restartCount"] == 0


def test_a_deferred_resize_goes_on_when_there_is_room(pod):
    pod.annotate(RESIZE, "deferred")
    pod.resize(AFTER)
    now = pod.wait("deferred", lambda now: pending(now) == "Deferred")
    assert now["status"]["containerStatuses"][0]["resources"] == BEFORE
    pod.annotate(RESIZE, None)
    pod.wait("the new size", is_at(AFTER))


def test_an_infeasible_resize_waits_for_another_wish(pod):
    pod.annotate(RESIZE, "infeasible")
    pod.resize(AFTER)
    pod.wait("infeasible", lambda now: pending(now) == "Infeasible")
    pod.annotate(RESIZE, None)
    pod.resize({"requests": {"cpu": "120m"}})
    smaller = {**AFTER, "requests": {**AFTER["requests"], "cpu": "120m"}}
    pod.wait("the smaller size", is_at(smaller))


def test_a_wish_that_is_taken_back_leaves_nothing_pending(pod):
    pod.annotate(RESIZE, "deferred")
    pod.resize(AFTER)
    pod.wait("deferred", lambda now: pending(now) == "Deferred")
    pod.resize(BEFORE)
    pod.wait("the old size", is_at(BEFORE))


@pytest.mark.parametrize(("code", "phase"), [("0", "Succeeded"), ("137", "Failed")])
def test_containers_end_with_the_code_that_a_test_gives(pod, code, phase):
    pod.annotate(EXIT, code)
    now = pod.wait(phase, lambda now: now["status"]["phase"] == phase)
    ended = now["status"]["containerStatuses"][0]["state"]["terminated"]
    assert ended["exitCode"] == int(code)


def test_a_deleted_pod_goes(pod):
    pod.api.delete(pod.item, grace_s=0)
    name, namespace = pod.item["metadata"]["name"], pod.item["metadata"]["namespace"]
    pod.api.wait_for("gone", lambda: pod.api.find("v1", "Pod", name, namespace) is None)


def test_other_pods_do_not_land_on_its_nodes(control_plane, kwok, namespace):
    kwok.node("kwok-pods", cpu="4", memory="8Gi")
    api = control_plane.client()
    api.create(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "other", "namespace": namespace},
            "spec": {"containers": [{"name": "c", "image": "none"}]},
        }
    )

    def unschedulable():
        conditions = api.get("v1", "Pod", "other", namespace)["status"].get("conditions", [])
        return any(c.get("reason") == "Unschedulable" for c in conditions)

    api.wait_for("no node for it", unschedulable)
