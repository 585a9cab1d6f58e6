"""A JobSet in Git goes through Argo CD and is resized live: every part is the real one.

One run serves all tests of this module. Each test starts from what it finds, so that they hold in
any order; together they are the story of a training run.
"""

import json
import time

import pytest

from tests.bench.images import LOAD, LOAD_OTHER
from tests.e2e.observer import CrossingWatch
from tests.e2e.training import MIB

pytestmark = [pytest.mark.bench, pytest.mark.timeout(300)]

WORKER = "workers-1"
QUIET_S = 60


@pytest.fixture(autouse=True)
def at_rest(training):
    training.rest()


def test_the_application_is_synced_and_healthy_and_its_pods_run(training, node, measured) -> None:
    status = training.sync()
    pods = training.wait_until_running()

    assert [one["kind"] for one in status["resources"]] == ["JobSet"]
    assert {pod["spec"]["nodeName"] for pod in pods.values()} == {node.name}
    assert sorted(pods) == ["driver-0", "workers-0", "workers-1", "workers-2"]
    training.commit("Nothing but a commit", idle="11m")
    training.sync()
    measured("commit to Synced", time.monotonic() - training.committed_s)
    training.change("Back", idle="10m")


@pytest.mark.parametrize("rank", ["workers-0", "workers-1", "workers-2"])
def test_a_hot_worker_is_resized_alone_and_in_place(training, node, rank, measured) -> None:
    training.change("Nothing shrinks in this test", idle="10m")
    before = training.see_all()
    with CrossingWatch(node, before[rank].uid) as watch:
        started = time.time()
        limit = training.burn(rank)
        watch.threshold_milli = limit * 0.8
        now = training.wait_for_quota_above(rank, limit)
        changed = time.time()
        sample = watch.first_hot_sample_s

    after = training.see_all()
    assert now > limit
    assert {r: one.incarnation for r, one in after.items()} == {
        r: one.incarnation for r, one in before.items()
    }
    assert {r for r in after if after[r] != before[r]} == {rank}
    assert sample is not None, "the kubelet showed it before the controller acted"
    measured(f"{rank}: crossing to cgroup", changed - started)
    measured(f"{rank}: first kubelet sample to cgroup", changed - sample)


def test_memory_grows_before_the_kernel_kills_and_shrinks_again(training, measured) -> None:
    training.start_over()
    before = training.see(WORKER)
    load = training.load(WORKER)
    goal = before.memory_limit + 90 * MIB
    load.memory(mebibytes=before.memory_limit * 6 // 10 // MIB)

    load.grow_memory(bytes_per_s=4_000_000, until=goal)
    training.api.wait_for(
        "all the memory is held",
        lambda: load.info()["memoryBytes"] >= goal,
        timeout_s=120,
        every_s=1,
    )

    grown = training.see(WORKER)
    assert grown.memory_limit > goal
    assert grown.incarnation == before.incarnation
    load.memory(mebibytes=20)
    training.change("Shrink what idles", idle="20s")
    shrunk = training.api.wait_for(
        "the memory is given back",
        lambda: now if (now := training.see(WORKER)).memory_limit < before.memory_limit else None,
        timeout_s=120,
        every_s=1,
    )
    assert shrunk.incarnation == before.incarnation
    measured("memory limit, MiB: before", before.memory_limit / MIB)
    measured("memory limit, MiB: grown", grown.memory_limit / MIB)
    measured("memory limit, MiB: shrunk", shrunk.memory_limit / MIB)


def test_argo_cd_sees_no_drift_and_starts_no_sync_while_sizes_move(training) -> None:
    status = training.sync()
    generation = training.jobset()["metadata"]["generation"]
    operation = status["operationState"]["startedAt"]
    limit = training.burn("workers-0")
    resized = False

    training.application.refresh(hard=True)
    deadline = time.monotonic() + QUIET_S
    while time.monotonic() < deadline:
        status = training.application.status()
        assert status["sync"]["status"] == "Synced"
        assert status["operationState"]["startedAt"] == operation
        resized = resized or training.cpu_milli("workers-0") > limit
        time.sleep(1)

    assert resized, "a resize happened in the meantime"
    assert training.jobset()["metadata"]["generation"] == generation


def test_a_size_committed_to_git_reaches_the_running_pods(training, measured) -> None:
    training.start_over()
    template = _pod_specs(training)
    before = training.see_all()
    wanted = {"cpu": "300m", "memory": "640Mi"}

    training.commit("Give every rank more", **wanted)
    status = training.sync()
    training.api.wait_for(
        "all ranks have the committed size",
        lambda: all(
            pod["spec"]["containers"][0]["resources"] == {"requests": wanted, "limits": wanted}
            for pod in training.pods().values()
        ),
        timeout_s=60,
    )
    training.api.wait_for(
        "the kernel has it too",
        lambda: all(
            (one.quota_us, one.memory_limit) == (30_000, 640 * MIB)
            for one in training.see_all().values()
        ),
    )

    measured("commit of sizes to cgroups of all ranks", time.monotonic() - training.committed_s)
    assert status["operationState"]["phase"] == "Succeeded"
    assert _pod_specs(training) == template, "the template in the cluster stays as it was created"
    after = training.see_all()
    assert {r: one.incarnation for r, one in after.items()} == {
        r: one.incarnation for r, one in before.items()
    }
    assert training.application.status()["sync"]["status"] == "Synced"


def test_an_image_committed_to_a_live_run_fails_loudly(training) -> None:
    training.sync()
    before = training.see_all()
    training.commit("Another image", image=LOAD_OTHER)
    training.application.refresh()

    status = training.application.wait(
        sync="OutOfSync",
        until=lambda status: "field is immutable" in _operation(status).get("message", ""),
        timeout_s=60,
    )

    assert _operation(status)["phase"] in ("Running", "Failed", "Error")
    assert 'admission webhook "vjobset.kb.io" denied the request' in _operation(status)["message"]
    assert training.see_all() == before
    training.commit("Back to the image that runs", image=LOAD)
    training.sync(timeout_s=180)


def test_a_deleted_worker_comes_back_at_its_learned_size(training) -> None:
    training.change("Nothing shrinks in this test", idle="10m")
    limit = training.burn("workers-2")
    training.wait_for_quota_above("workers-2", limit)
    training.load("workers-2").cpu(0)
    learned = training.api.wait_for(
        "the size on record is the pod's",
        lambda: size if (size := _resources(training, "workers-2")) == _recorded(training) else {},
    )
    old = training.pods()["workers-2"]
    assert learned != _resources(training, "workers-0")

    training.api.delete(old, grace_s=0)
    new = training.api.wait_for(
        "the replacement",
        lambda: (
            pod
            if (pod := training.pods().get("workers-2"))
            and pod["metadata"]["uid"] != old["metadata"]["uid"]
            else None
        ),
    )

    # Generation 1 is the object as it was created: nobody resized it afterwards.
    assert new["metadata"]["generation"] == 1
    assert new["spec"]["containers"][0]["resources"] == learned
    training.wait_until_running()


def test_a_killed_controller_goes_on_where_it_was(training, controller) -> None:
    training.change("Nothing shrinks in this test", idle="10m")
    before = training.see_all()
    generations = _generations(training)
    requests = training.resize_requests()
    limits = {rank: training.burn(rank) for rank in ("workers-0", "workers-1")}
    # The next rounds see the load, decide, record and send: the kill falls somewhere in between.
    training.wait_for_quota_above("workers-0", limits["workers-0"])
    controller.kill()
    controller.start()

    for rank, limit in limits.items():
        training.wait_for_quota_above(rank, limit)
    for rank in limits:
        training.load(rank).cpu(0)
    training.api.wait_for("nothing is under way", lambda: _is_settled(training), timeout_s=60)

    after = training.see_all()
    assert {r: one.incarnation for r, one in after.items()} == {
        r: one.incarnation for r, one in before.items()
    }
    changes = sum(_generations(training)[rank] - generations[rank] for rank in generations)
    # A second, equal patch would be a request that changes no generation.
    assert training.resize_requests() - requests == changes
    assert changes >= len(limits)


def test_self_heal_restores_the_intent_that_somebody_edited(training) -> None:
    training.sync_anew()
    intent = _intent(training)
    training.api.patch(
        training.jobset(),
        {"metadata": {"annotations": {"argocd-fluid.io/intent": '{"roles":{},"v":1}'}}},
    )

    training.api.wait_for(
        "self-heal", lambda: _intent(training) == intent, timeout_s=60, every_s=0.5
    )
    training.api.wait_for(
        "the FluidWorkload follows",
        lambda: (
            [role["name"] for role in training.fluid()["spec"]["roles"]] == ["driver", "workers"]
        ),
    )
    training.application.wait(sync="Synced", health="Healthy", timeout_s=60)


def test_a_deleted_jobset_comes_back_and_its_record_starts_anew(training) -> None:
    training.sync_anew()
    old = training.jobset()

    training.api.delete(old)
    training.api.wait_for(
        "self-heal creates it again",
        lambda: _uid(training) not in ("", old["metadata"]["uid"]),
        timeout_s=90,
        every_s=0.5,
    )
    training.application.wait(sync="Synced", health="Healthy", timeout_s=90)
    training.wait_until_running()

    fluid = training.api.wait_for(
        "the FluidWorkload follows",
        lambda: (
            fluid
            if (fluid := training.fluid()).get("spec", {}).get("target", {}).get("uid")
            == _uid(training)
            else None
        ),
    )
    assert fluid["metadata"]["ownerReferences"][0]["uid"] == _uid(training)


def test_a_node_without_room_grants_a_part_and_says_why(training, node, measured) -> None:
    milli = training.start_over()
    filler = _filler(training, node, left_milli=60)
    training.api.create(filler)
    try:
        training.api.wait_for("the filler runs", lambda: _runs(training, filler))
        training.load("workers-0").cpu(900)
        report = training.api.wait_for(
            "a report",
            lambda: next(
                (one for one in _reports(training) if one["name"].startswith("train-workers-0-0")),
                None,
            ),
            timeout_s=60,
        )
        granted = training.cpu_milli("workers-0")
    finally:
        training.api.delete(filler, grace_s=0)

    assert report["state"] == "Partial"
    assert report["reason"] in ("PartiallyGranted", "NoRoom")
    assert report["wished"]["requests"]["cpu"] != report["target"]["requests"]["cpu"]
    assert "asked" in report["message"]
    assert "free" in report["message"]
    assert milli <= granted <= milli + 60
    measured("granted on a node with 60m left: millicores", granted)
    # With the filler gone there is room, and the wish is granted.
    training.wait_for_quota_above("workers-0", milli + 60)


def test_broken_yaml_is_one_clear_line_and_live_objects_stay(training) -> None:
    training.sync()
    before = training.see_all()
    good = training.values.copy()
    training.commit_text("kind: JobSet\nmetadata: {name: train}\nkind: Job\n", "Break it")
    training.application.refresh()

    status = training.application.wait(
        sync="Unknown", until=lambda status: bool(status.get("conditions")), timeout_s=60
    )

    messages = [one["message"] for one in status["conditions"]]
    line = "argocd-fluid: jobset.yaml:3: key 'kind' is given twice"
    assert [one for one in messages if line in one], messages
    assert training.see_all() == before
    training.commit("Mend it", idle="12m")
    training.sync()
    training.change("Back", **good)


def _pod_specs(training):
    """Without metadata: a client-side apply leaves an empty one there, once."""
    jobs = training.jobset()["spec"]["replicatedJobs"]
    return [job["template"]["spec"]["template"]["spec"] for job in jobs]


def _operation(status):
    return status.get("operationState", {})


def _resources(training, rank):
    return training.pods()[rank]["spec"]["containers"][0]["resources"]


def _recorded(training, index="2"):
    workers = next(r for r in training.fluid()["status"]["roles"] if r["name"] == "workers")
    entry = next((one for one in workers.get("ranks", []) if one["index"] == index), workers)
    return entry["containers"][0]["resources"]


def _generations(training):
    return {rank: pod["metadata"]["generation"] for rank, pod in training.pods().items()}


def _is_settled(training):
    def settled(pod):
        conditions = {one["type"] for one in pod["status"].get("conditions", [])}
        return (
            pod["status"].get("observedGeneration", 0) >= pod["metadata"]["generation"]
            and not {"PodResizePending", "PodResizeInProgress"} & conditions
        )

    return all(map(settled, training.pods().values()))


def _intent(training):
    return json.loads(training.jobset()["metadata"]["annotations"]["argocd-fluid.io/intent"])


def _uid(training):
    found = training.api.find("jobset.x-k8s.io/v1alpha2", "JobSet", "train", training.namespace)
    return found["metadata"]["uid"] if found else ""


def _reports(training):
    return training.fluid().get("status", {}).get("pods", [])


def _runs(training, pod):
    found = training.api.find("v1", "Pod", pod["metadata"]["name"], training.namespace)
    return bool(found) and found["status"].get("phase") == "Running"


def _filler(training, node, *, left_milli):
    """A pod that takes the node's free CPU but for a little."""
    allocatable = _milli(training.api.get("v1", "Node", node.name)["status"]["allocatable"]["cpu"])
    used = sum(
        _milli(container.get("resources", {}).get("requests", {}).get("cpu", "0"))
        for pod in training.api.list("v1", "Pod")
        if pod["spec"].get("nodeName") == node.name
        and pod["status"].get("phase") not in ("Failed", "Succeeded")
        for container in pod["spec"]["containers"]
    )
    container = {
        "name": "filler",
        "image": LOAD,
        "imagePullPolicy": "Never",
        "resources": {"requests": {"cpu": f"{allocatable - used - left_milli}m"}},
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "filler", "namespace": training.namespace},
        "spec": {
            "terminationGracePeriodSeconds": 0,
            "containers": [container],
            **node.placement,
        },
    }


def _milli(text):
    return int(text[:-1]) if text.endswith("m") else int(float(text) * 1000)
