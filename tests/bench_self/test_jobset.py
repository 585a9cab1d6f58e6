"""The real JobSet controller: its webhooks answer, its Jobs appear."""

import pytest

from tests.bench.api import ApiFailure

pytestmark = pytest.mark.usefixtures("jobset")

API_VERSION = "jobset.x-k8s.io/v1alpha2"


def job_set(namespace, **policy):
    container = {"name": "c", "image": "none", "resources": {"requests": {"cpu": "10m"}}}
    pod = {"restartPolicy": "Never", "containers": [container]}
    return {
        "apiVersion": API_VERSION,
        "kind": "JobSet",
        "metadata": {"name": "train", "namespace": namespace},
        "spec": {
            "failurePolicy": {"maxRestarts": 1, **policy},
            "replicatedJobs": [
                {
                    "name": name,
                    "replicas": replicas,
                    "template": {
                        "spec": {"parallelism": 2, "completions": 2, "template": {"spec": pod}}
                    },
                }
                for name, replicas in (("driver", 1), ("workers", 2))
            ],
        },
    }


def test_a_jobset_gets_defaults_and_jobs(control_plane, namespace):
    api = control_plane.client()
    created = api.create(job_set(namespace))
    jobs = [job["template"]["spec"] for job in created["spec"]["replicatedJobs"]]
    assert [job["completionMode"] for job in jobs] == ["Indexed", "Indexed"]
    api.wait_for(
        "three Jobs",
        lambda: (
            sorted(job["metadata"]["name"] for job in api.list("batch/v1", "Job", namespace))
            == ["train-driver-0", "train-workers-0", "train-workers-1"]
        ),
    )


def test_its_template_cannot_change(control_plane, namespace):
    api = control_plane.client()
    created = api.create(job_set(namespace))
    template = created["spec"]["replicatedJobs"]
    template[0]["template"]["spec"]["template"]["spec"]["containers"][0]["image"] = "another"
    with pytest.raises(ApiFailure, match="field is immutable") as refused:
        api.patch(created, {"spec": {"replicatedJobs": template}})
    assert "vjobset.kb.io" in refused.value.text


def test_restart_in_place_is_on(control_plane, namespace):
    item = job_set(namespace, restartStrategy="InPlaceRestart")
    for job in item["spec"]["replicatedJobs"]:
        job["template"]["spec"] |= {
            "backoffLimit": 2147483647,
            "podReplacementPolicy": "Failed",
        }
    created = control_plane.client().create(item)
    assert created["spec"]["failurePolicy"]["restartStrategy"] == "InPlaceRestart"
