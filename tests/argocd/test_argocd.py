"""What people see in a real Argo CD that has our plugin, our settings and our policies."""

import pytest

pytestmark = [pytest.mark.bench, pytest.mark.usefixtures("governed")]

JOBSET = """\
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata:
  name: train
  annotations: {{argocd-fluid.io/enabled: "true"}}
spec:
  replicatedJobs:
  - name: workers
    template:
      spec:
        parallelism: 2
        completions: 2
        template:
          spec:
            containers:
            - name: trainer
              image: {image}
              resources:
                requests: {{cpu: {cpu}, memory: 1Gi}}
"""
INTENT = "argocd-fluid.io/intent"


@pytest.fixture
def repository(argocd, namespace):
    return argocd.repository(namespace)


@pytest.fixture
def application(argocd, namespace, repository):
    """One JobSet, synced."""
    revision = repository.commit({"train/jobset.yaml": JOBSET.format(cpu="500m", image="a")}, "run")
    application = argocd.application(namespace, repo=repository, path="train", namespace=namespace)
    application.wait(sync="Synced", revision=revision)
    yield application
    application.delete()


def _live(governed, namespace):
    return governed.client().get("jobset.x-k8s.io/v1alpha2", "JobSet", "train", namespace)


def _requests(jobset):
    pod = jobset["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    return pod["containers"][0]["resources"]["requests"]


def test_a_jobset_is_synced_and_its_health_is_ours(governed, application, namespace):
    # No node: the pods stay Pending, so the jobs are not ready.
    status = application.wait(sync="Synced", health="Progressing")
    assert f"JobSet:{namespace}/train" in status["health"]["message"]
    assert INTENT in _live(governed, namespace)["metadata"]["annotations"]


def test_new_sizes_sync_as_intent_and_touch_no_template(
    governed, application, repository, namespace
):
    before = _live(governed, namespace)
    files = {"train/jobset.yaml": JOBSET.format(cpu="700m", image="a")}
    revision = repository.commit(files, "more cpu")
    application.refresh()
    status = application.wait(
        sync="Synced", revision=revision, until=lambda status: _synced(status, revision)
    )
    after = _live(governed, namespace)
    assert "700m" in after["metadata"]["annotations"][INTENT]
    assert "700m" not in before["metadata"]["annotations"][INTENT]
    assert _requests(after) == _requests(before) == {"cpu": "500m", "memory": "1Gi"}
    assert after["metadata"]["uid"] == before["metadata"]["uid"]
    # One sync each for the first and the second commit: nothing is healed again and again.
    application.refresh()
    assert len(application.wait(sync="Synced")["history"]) == len(status["history"]) == 2


def _synced(status, revision):
    operation = status["operationState"]
    return operation["phase"] == "Succeeded" and operation["syncResult"]["revision"] == revision


def test_a_live_edit_is_healed(governed, application, namespace):
    live = _live(governed, namespace)
    governed.client().patch(live, {"metadata": {"annotations": {INTENT: "{}"}}})
    application.wait(sync="Synced")
    governed.client().wait_for(
        "Git's intent",
        lambda: "500m" in _live(governed, namespace)["metadata"]["annotations"][INTENT],
    )


def test_a_change_that_a_live_run_cannot_take_is_loud(application, repository):
    revision = repository.commit(
        {"train/jobset.yaml": JOBSET.format(cpu="500m", image="b")}, "another image"
    )
    application.refresh()
    status = application.wait(
        sync="OutOfSync",
        revision=revision,
        until=lambda status: "field is immutable" in status["operationState"].get("message", ""),
    )
    assert status["operationState"]["phase"] != "Succeeded"


def test_broken_yaml_shows_one_clear_line_and_touches_nothing(
    governed, application, repository, namespace
):
    before = _live(governed, namespace)
    files = {"train/jobset.yaml": JOBSET.format(cpu="500m", image="a").replace("spec:", "spec", 1)}
    repository.commit(files, "broken")
    application.refresh()
    status = application.wait(sync="Unknown", until=lambda status: status.get("conditions"))
    (condition,) = status["conditions"]
    _, _, said = condition["message"].partition("`argocd-fluid generate` failed exit status 1: ")
    assert said.startswith("argocd-fluid: jobset.yaml:")
    assert len(said.splitlines()) == 1
    after = _live(governed, namespace)
    assert after["metadata"]["uid"] == before["metadata"]["uid"]
    assert "deletionTimestamp" not in after["metadata"]
    revision = repository.commit(
        {"train/jobset.yaml": JOBSET.format(cpu="500m", image="a")}, "repaired"
    )
    application.refresh()
    application.wait(sync="Synced", revision=revision)
