"""The admission policies, on a real API server with the real JobSet controller."""

import pytest

pytestmark = pytest.mark.bench

IMMUTABLE = "field is immutable"
SHARD = "argocd-fluid.io/shard"
BIG = {"requests": {"cpu": "750m", "memory": "2Gi"}, "limits": {"cpu": "1500m", "memory": "2Gi"}}
HUGE = {"requests": {"cpu": "2", "memory": "3Gi"}, "limits": {"cpu": "4", "memory": "3Gi"}}


def _containers(pod_spec):
    return pod_spec["initContainers"] + pod_spec["containers"]


def _sizes(pod_spec):
    return {c["name"]: c.get("resources") for c in _containers(pod_spec)}


def _change_sizes(pod_spec):
    trainer, cache = pod_spec["containers"][0], pod_spec["initContainers"][0]
    trainer["resources"]["requests"] |= {"cpu": "700m", "memory": "2Gi"}
    trainer["resources"]["limits"] |= {"cpu": "2", "memory": "2Gi"}
    cache["resources"]["requests"]["cpu"] = "20m"


def _lose_sizes(pod_spec):
    for container in _containers(pod_spec):
        for leaves in container["resources"].values():
            leaves.pop("cpu")
            leaves.pop("memory")


def _gain_limit(pod_spec):
    pod_spec["initContainers"][0]["resources"]["limits"] = {"cpu": "1", "memory": "1Gi"}


@pytest.mark.parametrize("change", [_change_sizes, _lose_sizes, _gain_limit])
def test_new_sizes_in_git_leave_the_template_as_it_is(run, change):
    run.apply()
    before = run.live()
    change(run.pod_spec())
    run.git["metadata"]["annotations"]["argocd-fluid.io/intent"] = "new"
    run.apply()
    after = run.live()
    assert after["metadata"]["annotations"]["argocd-fluid.io/intent"] == "new"
    assert after["metadata"]["uid"] == before["metadata"]["uid"]
    assert _sizes(run.live_job()["template"]["spec"]) == _sizes(
        before["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    )


def test_defaults_that_a_client_side_apply_drops_are_put_back(run):
    run.apply()
    assert "completionMode" not in run.git["spec"]["replicatedJobs"][0]["template"]["spec"]
    run.git["metadata"]["labels"] = {"team": "research"}
    run.apply()
    assert run.live_job()["completionMode"] == "Indexed"
    assert run.live_job()["template"]["spec"]["restartPolicy"] == "OnFailure"


def _change_image(pod_spec):
    pod_spec["containers"][0]["image"] = "other"


def _change_other_resource(pod_spec):
    pod_spec["containers"][0]["resources"]["requests"]["ephemeral-storage"] = "2Gi"


def _add_other_resource(pod_spec):
    pod_spec["containers"][0]["resources"]["limits"]["example.com/gpu"] = "1"


@pytest.mark.parametrize("change", [_change_image, _change_other_resource, _add_other_resource])
def test_every_other_change_is_still_refused(run, change):
    run.apply()
    _change_sizes(run.pod_spec())
    change(run.pod_spec())
    with pytest.raises(Exception, match=IMMUTABLE):
        run.apply()


def test_a_jobset_that_is_not_enrolled_is_left_alone(stranger):
    stranger.apply()
    stranger.git["spec"]["replicatedJobs"][0]["template"]["spec"]["completionMode"] = "Indexed"
    stranger.pod_spec()["restartPolicy"] = "OnFailure"
    stranger.apply()
    _change_sizes(stranger.pod_spec())
    with pytest.raises(Exception, match=IMMUTABLE):
        stranger.apply()


def test_pods_have_the_shard_of_their_jobset(run):
    run.apply()
    pods = run.wait_for_pods()
    digit = run.live()["metadata"]["uid"][-1]
    assert {pod["metadata"]["labels"][SHARD] for pod in pods} == {digit}
    assert SHARD not in str(run.live()["spec"])


def _record(run, roles, *, uid=None):
    """Write a FluidWorkload as the controller does."""
    uid = uid or run.live()["metadata"]["uid"]
    target = {"apiVersion": run.git["apiVersion"], "kind": "JobSet", "name": run.name, "uid": uid}
    workload = {
        "apiVersion": "argocd-fluid.io/v1alpha1",
        "kind": "FluidWorkload",
        "metadata": {
            "name": f"jobset-{run.name}",
            "namespace": run.namespace,
            "labels": {SHARD: uid[-1]},
        },
        "spec": {"target": target, "mode": "auto"},
    }
    run.api.create(workload)
    run.api.patch(workload, {"status": {"roles": roles}}, subresource="status")


ROLES = [
    {
        "name": "workers",
        "containers": [
            {"name": "trainer", "resources": BIG},
            # The pod has no limits here: they are not added.
            {"name": "cache", "resources": {"requests": {"cpu": "33m"}, "limits": {"cpu": "1"}}},
        ],
        "ranks": [
            {"job": "1", "index": "0", "containers": [{"name": "trainer", "resources": HUGE}]}
        ],
    },
    {"name": "other", "containers": [{"name": "trainer", "resources": HUGE}]},
]


def _recreated(run, labels=None):
    """Send each pod of the run to the API server again, as its Job would: admission, no storing."""
    path = f"/api/v1/namespaces/{run.namespace}/pods"
    answers = {}
    for pod in run.wait_for_pods():
        template = run.live_job()["template"]["spec"]
        metadata = {
            "generateName": "again-",
            "labels": pod["metadata"]["labels"] | (labels or {}),
            "annotations": pod["metadata"]["annotations"],
        }
        fresh = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template}
        for key in [key for key, value in metadata["labels"].items() if value is None]:
            del metadata["labels"][key]
        answer = run.api.request("POST", path, body=fresh, dryRun="All")
        answers[_rank(pod)] = answer
    return answers


def _rank(pod):
    labels = pod["metadata"]["labels"]
    return (
        labels["jobset.sigs.k8s.io/job-index"],
        labels["batch.kubernetes.io/job-completion-index"],
    )


def _trainer(resources):
    """Give the sizes, with the resource of the template that is not ours."""
    return resources | {"requests": resources["requests"] | {"ephemeral-storage": "1Gi"}}


SIZES = {
    ("0", "0"): _trainer(BIG),
    ("0", "1"): _trainer(BIG),
    ("1", "0"): _trainer(HUGE),
    ("1", "1"): _trainer(BIG),
}


@pytest.mark.parametrize("labels", [{}, {SHARD: None}], ids=["sharded", "unsharded"])
def test_a_new_pod_gets_the_size_of_its_rank_else_of_its_role(run, labels):
    run.apply()
    run.wait_for_pods()
    _record(run, ROLES)
    sized = run.api.wait_for(
        "pods of the recorded size",
        lambda: found if _is_sized(found := _recreated(run, labels)) else None,
    )
    assert {rank: _sizes(pod["spec"])["trainer"] for rank, pod in sized.items()} == SIZES
    for pod in sized.values():
        assert _sizes(pod["spec"])["cache"] == {"requests": {"cpu": "33m", "memory": "16Mi"}}


def _is_sized(pods):
    """The API server reads FluidWorkloads from a watch, a moment after they were written."""
    return any(_sizes(pod["spec"])["trainer"] == _trainer(BIG) for pod in pods.values())


def test_a_run_that_is_suspended_and_resumed_keeps_its_sizes(run):
    run.apply()
    run.wait_for_pods()
    _record(run, ROLES)
    run.api.wait_for("the record in force", lambda: _is_sized(_recreated(run)))
    for suspend, count in ((True, 0), (False, 4)):
        run.git["spec"]["suspend"] = suspend
        run.apply()
        run.api.wait_for(f"{count} pods", lambda count=count: len(run.pods()) == count)
    sizes = {_rank(pod): _sizes(pod["spec"])["trainer"] for pod in run.pods()}
    assert sizes == SIZES


def test_the_record_of_an_earlier_run_of_the_same_name_is_not_used(run):
    run.apply()
    uid = run.live()["metadata"]["uid"]
    earlier = "00000000-0000-0000-0000-00000000000" + uid[-1]
    _record(run, ROLES, uid=earlier)
    # A second record, of a second run, shows when the API server has seen the first.
    other = type(run)(run._control_plane, run.namespace, "other")
    other.apply()
    _record(other, ROLES)
    run.api.wait_for("the records in force", lambda: _is_sized(_recreated(other)))
    for pod in _recreated(run).values():
        assert _sizes(pod["spec"]) == _sizes(run.pod_spec())
