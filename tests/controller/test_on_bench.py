"""The controller against real components: API server, JobSet, kubelet, containerd, cgroups."""

import pytest

from tests.bench.images import LOAD_CONTAINER
from tests.bench.load_client import Load
from tests.controller.jobsets import intent, jobset
from tests.controller.running import Controller

FLUID = ("argocd-fluid.io/v1alpha1", "FluidWorkload")


@pytest.fixture
def api(control_plane):
    client = control_plane.client()
    yield client
    client.close()


class Run:
    """One JobSet on the real node."""

    def __init__(self, api, namespace, node, name="train"):
        self.api, self.namespace, self.name = api, namespace, name
        self.item = jobset(name, namespace, node.placement)

    def create(self):
        self.api.create(self.item)
        return self.api.wait_for("its pods run", self.running, timeout_s=60)

    def running(self):
        pods = self.pods()
        count = self.item["spec"]["replicatedJobs"][0]["template"]["spec"]["parallelism"]
        ready = [pod for pod in pods if pod["status"]["phase"] == "Running"]
        return ready if len(ready) == count else None

    def pods(self):
        mine = f"jobset.sigs.k8s.io/jobset-name={self.name}"
        pods = self.api.list("v1", "Pod", self.namespace, labels=mine)
        return [pod for pod in pods if "deletionTimestamp" not in pod["metadata"]]

    def fluid(self):
        return self.api.find(*FLUID, f"jobset-{self.name}", self.namespace)

    def status(self):
        return (self.fluid() or {}).get("status", {})

    def load(self, milli):
        """Start its pod's load, and give the pod."""
        [pod] = self.create()
        self.api.wait_for("it is managed", lambda: self.status().get("conditions"))
        load = Load(pod["status"]["podIP"])
        self.api.wait_for("its load answers", load.is_healthy)
        load.cpu(milli)
        return pod

    def report(self):
        return next(iter(self.status().get("pods", [])), None)

    def kill(self):
        """The history's line of an OOM kill; growth may have come before it."""
        lines = self.status().get("history", [])
        return next((line for line in lines if line["reason"] == "OOMKilled"), None)

    def conditions(self):
        return {one["type"] for one in self.status().get("conditions", [])}

    def annotate(self, **annotations):
        prefixed = {f"argocd-fluid.io/{key}": value for key, value in annotations.items()}
        self.api.patch(self.item, {"metadata": {"annotations": prefixed}})

    def cpu_request(self):
        return self.pods()[0]["spec"]["containers"][0]["resources"]["requests"]["cpu"]


def milli(text):
    return int(text[:-1]) if text.endswith("m") else int(text) * 1000


def mebibytes(text):
    return int(text.removesuffix("Mi"))


def is_quiet(api, node):
    pods = api.list("v1", "Pod")
    return not any(on(pod, node) and "deletionTimestamp" in pod["metadata"] for pod in pods)


def on(pod, node):
    return pod["spec"].get("nodeName") == node.name and pod["status"]["phase"] == "Running"


def requested(pod):
    containers = pod["spec"]["containers"]
    return sum(milli(one["resources"].get("requests", {}).get("cpu", "0")) for one in containers)


@pytest.fixture
def run(api, namespace, node):
    run = Run(api, namespace, node)
    yield run
    api.delete(run.item)


@pytest.mark.timeout(240)
def test_a_hot_rank_is_resized_in_place_and_the_record_says_so(
    controller: Controller, run: Run, node, api
) -> None:
    [pod] = run.create()
    api.wait_for("the record has the sizes in Git", lambda: run.status().get("roles"))
    load = Load(pod["status"]["podIP"])
    api.wait_for("its load answers", load.is_healthy)

    load.cpu(400)
    api.wait_for("the pod is larger", lambda: run.cpu_request() != "100m", timeout_s=60)

    [after] = run.pods()
    [status] = after["status"]["containerStatuses"]
    assert after["metadata"]["uid"] == pod["metadata"]["uid"]
    assert status["restartCount"] == 0
    quota = api.wait_for(
        "the kernel has it too",
        lambda: (
            node.cgroup(after["metadata"]["uid"], status["containerID"])["cpu_quota_us"] > 20_000
        ),
    )
    assert quota
    history = api.wait_for("the history has it", lambda: run.status().get("history"))
    assert history[0]["pod"] == pod["metadata"]["name"]
    assert history[0]["reason"] == "Hot"
    [rank] = run.status()["roles"][0]["ranks"]
    assert (rank["job"], rank["index"]) == ("0", "0")
    assert "argocd_fluid_resizes_total" in controller.metrics()


@pytest.mark.usefixtures("controller")
@pytest.mark.timeout(240)
def test_a_size_that_changes_in_git_reaches_the_running_pod(run: Run, api) -> None:
    [pod] = run.create()
    api.wait_for("the record has the sizes in Git", lambda: run.status().get("roles"))
    size = {
        "requests": {"cpu": "150m", "memory": "96Mi"},
        "limits": {"cpu": "300m", "memory": "192Mi"},
    }

    run.annotate(intent=intent(size))

    api.wait_for("the pod has it", lambda: run.cpu_request() == "150m", timeout_s=30)
    [after] = run.pods()
    assert after["metadata"]["uid"] == pod["metadata"]["uid"]
    assert after["spec"]["containers"][0]["resources"] == size


@pytest.mark.timeout(240)
def test_a_controller_that_was_killed_goes_on_where_it_was(
    controller: Controller, run: Run, api
) -> None:
    run.create()
    api.wait_for("the record has the sizes in Git", lambda: run.status().get("roles"))
    controller.kill()
    recorded = {
        "requests": {"cpu": "170m", "memory": "64Mi"},
        "limits": {"cpu": "340m", "memory": "128Mi"},
    }
    ranks = [{"job": "0", "index": "0", "containers": [{"name": "load", "resources": recorded}]}]
    roles = [run.status()["roles"][0] | {"ranks": ranks}]
    api.patch(run.fluid(), {"status": {"roles": roles}}, subresource="status")

    controller.start()

    api.wait_for("the size on record is sent", lambda: run.cpu_request() == "170m", timeout_s=30)
    [after] = run.pods()
    assert after["metadata"]["generation"] == 2, "sent once"


@pytest.mark.usefixtures("controller")
@pytest.mark.timeout(240)
def test_nothing_is_touched_while_paused_and_leaving_removes_the_record(
    run: Run, api, namespace, node
) -> None:
    run.item["metadata"]["annotations"]["argocd-fluid.io/paused"] = "true"
    run.load(400)
    other = Run(api, namespace, node, "other")
    other.load(400)

    api.wait_for("one like it is resized", lambda: other.cpu_request() != "100m", timeout_s=60)
    api.delete(other.item)

    assert run.cpu_request() == "100m"
    assert run.fluid()["spec"]["mode"] == "off"
    run.annotate(enabled="false")
    api.wait_for("the record is gone", lambda: run.fluid() is None)


@pytest.mark.timeout(240)
def test_what_a_quota_refuses_is_taken_off_the_record_and_explained(
    controller: Controller, run: Run, api, namespace
) -> None:
    quota = {"metadata": {"name": "q", "namespace": namespace}, "apiVersion": "v1"}
    api.create(quota | {"kind": "ResourceQuota", "spec": {"hard": {"requests.cpu": "110m"}}})
    run.load(400)

    report = api.wait_for("the refusal is told", run.report, timeout_s=60)

    assert (report["state"], report["reason"]) == ("Refused", "QuotaExceeded")
    assert "exceeded quota: q" in report["message"]
    assert report["wished"]["requests"]["cpu"] != "100m"
    assert report["target"]["requests"]["cpu"] == "100m"
    assert "ranks" not in run.status()["roles"][0]
    assert run.cpu_request() == "100m"
    sent = [line for line in controller.log() if line["msg"] == "resize refused"]
    assert len(sent) == 1, "a refusal is followed by a hold-off"


@pytest.mark.usefixtures("controller")
@pytest.mark.timeout(240)
def test_a_full_node_grants_in_part_and_says_what_is_missing(
    run: Run, api, namespace, node
) -> None:
    api.wait_for("the pods of earlier runs are gone", lambda: is_quiet(api, node), timeout_s=60)
    found = api.get("v1", "Node", node.name)
    taken = sum(requested(pod) for pod in api.list("v1", "Pod") if on(pod, node))
    room = milli(found["status"]["allocatable"]["cpu"]) - taken
    filler = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "filler", "namespace": namespace},
        "spec": {
            **node.placement,
            "terminationGracePeriodSeconds": 1,
            "containers": [
                {**LOAD_CONTAINER, "resources": {"requests": {"cpu": f"{room - 130}m"}}}
            ],
        },
    }
    api.create(filler)
    api.wait_for(
        "the filler runs",
        lambda: api.get("v1", "Pod", "filler", namespace)["status"]["phase"] == "Running",
    )
    run.load(400)

    report = api.wait_for("the shortage is told", run.report, timeout_s=60)

    assert report["state"] == "Partial"
    assert milli(report["wished"]["requests"]["cpu"]) > 130
    assert milli(run.cpu_request()) <= 130
    api.wait_for(
        "nothing at all is told too",
        lambda: (run.report() or {}).get("reason") == "NoRoom" and "Deferred" in run.conditions(),
        timeout_s=60,
    )
    api.delete(filler, grace_s=0)
    api.wait_for("it gets the rest", lambda: milli(run.cpu_request()) > 130, timeout_s=60)
    api.wait_for(
        "nothing is short any more",
        lambda: run.report() is None and "Deferred" not in run.conditions(),
        timeout_s=60,
    )


@pytest.mark.usefixtures("controller")
@pytest.mark.timeout(240)
def test_a_rank_that_was_killed_for_memory_gets_more_and_keeps_it(run: Run, api) -> None:
    [pod] = run.create()
    api.wait_for("it is managed", lambda: run.status().get("conditions"))
    load = Load(pod["status"]["podIP"])
    api.wait_for("its load answers", load.is_healthy)

    load.grow_memory(bytes_per_s=256 << 20)

    line = api.wait_for("it is resized", run.kill, timeout_s=60)
    assert mebibytes(line["to"]["limits"]["memory"]) >= 192
    [after] = run.pods()
    assert after["metadata"]["uid"] == pod["metadata"]["uid"]
    limit = after["spec"]["containers"][0]["resources"]["limits"]["memory"]
    assert mebibytes(limit) >= 192
    [rank] = run.status()["roles"][0]["ranks"]
    assert rank["containers"][0]["resources"]["limits"]["memory"] == limit


@pytest.mark.usefixtures("controller")
@pytest.mark.timeout(240)
def test_a_rank_whose_pod_ends_by_an_oom_kill_is_raised_on_record(run: Run, api) -> None:
    spec = run.item["spec"]
    spec["failurePolicy"] = {"maxRestarts": 3}
    job = spec["replicatedJobs"][0]["template"]["spec"]
    job["backoffLimit"] = 0
    job["template"]["spec"]["restartPolicy"] = "Never"
    [pod] = run.create()
    api.wait_for("it is managed", lambda: run.status().get("conditions"))
    load = Load(pod["status"]["podIP"])
    api.wait_for("its load answers", load.is_healthy)

    load.grow_memory(bytes_per_s=1 << 30)

    line = api.wait_for("it is on record", run.kill, timeout_s=60)
    assert line["pod"] == pod["metadata"]["name"]
    limit = line["to"]["limits"]["memory"]
    assert mebibytes(limit) >= 192
    # Without size-pods the next one starts with Git's size, and comes to the record in place.
    api.wait_for(
        "the next pod has it",
        lambda: any(
            one["metadata"]["uid"] != pod["metadata"]["uid"]
            and one["spec"]["containers"][0]["resources"]["limits"]["memory"] == limit
            for one in run.pods()
        ),
        timeout_s=60,
    )
    assert [line["reason"] for line in run.status()["history"]].count("OOMKilled") == 1


@pytest.mark.usefixtures("controller")
@pytest.mark.timeout(240)
def test_a_recreated_jobset_starts_anew(run: Run, api) -> None:
    run.create()
    first = api.wait_for("it is managed", lambda: run.status().get("roles") and run.fluid())
    api.delete(run.item)
    api.wait_for("the JobSet is gone", lambda: not run.pods(), timeout_s=60)

    run.create()

    def renewed():
        found = run.fluid()
        return found if found and found["metadata"]["uid"] != first["metadata"]["uid"] else None

    second = api.wait_for("it is managed anew", renewed)
    owner = second["metadata"]["ownerReferences"][0]
    assert owner["uid"] == second["spec"]["target"]["uid"] != first["spec"]["target"]["uid"]


def test_sigterm_ends_it_cleanly(control_plane, installed) -> None:
    controller = Controller(control_plane.supervisor, installed)
    controller.start()
    controller.stop()
    assert controller.log()[-1]["msg"] == "controller ends"
