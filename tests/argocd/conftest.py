"""The policies in the bench's cluster, and JobSets to try them on."""

import copy
import json

import pytest

from tests.bench import fluid

API_VERSION = "jobset.x-k8s.io/v1alpha2"

TEMPLATE = {
    "replicas": 2,
    "template": {
        "spec": {
            "completions": 2,
            "parallelism": 2,
            "template": {
                "spec": {
                    "initContainers": [
                        {
                            "name": "cache",
                            "image": "none",
                            "restartPolicy": "Always",
                            "resources": {"requests": {"cpu": "10m", "memory": "16Mi"}},
                        }
                    ],
                    "containers": [
                        {
                            "name": "trainer",
                            "image": "none",
                            "resources": {
                                "requests": {
                                    "cpu": "500m",
                                    "memory": "1Gi",
                                    "ephemeral-storage": "1Gi",
                                },
                                "limits": {"cpu": "1", "memory": "1Gi"},
                            },
                        }
                    ],
                }
            },
        }
    },
}


class Run:
    """One JobSet: what Git says of it, applied as Argo CD does (client-side)."""

    def __init__(self, control_plane, namespace, name="train", *, enrolled=True):
        self._control_plane = control_plane
        self.api = control_plane.client()
        self.name = name
        self.namespace = namespace
        self.git = {
            "apiVersion": API_VERSION,
            "kind": "JobSet",
            "metadata": {"name": name, "namespace": namespace, "annotations": {}},
            "spec": {"replicatedJobs": [copy.deepcopy(TEMPLATE) | {"name": "workers"}]},
        }
        if enrolled:
            self.git["metadata"]["annotations"]["argocd-fluid.io/enabled"] = "true"

    def apply(self):
        """Apply what Git says."""
        self._control_plane.kubectl("apply", "-f", "-", input=json.dumps(self.git))

    def pod_spec(self):
        """Give the pod spec in Git, to change."""
        return self.git["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]

    def live(self):
        return self.api.get(API_VERSION, "JobSet", self.name, self.namespace)

    def live_job(self):
        return self.live()["spec"]["replicatedJobs"][0]["template"]["spec"]

    def pods(self):
        labels = f"jobset.sigs.k8s.io/jobset-name={self.name}"
        return self.api.list("v1", "Pod", self.namespace, labels=labels)

    def wait_for_pods(self, count=4):
        return self.api.wait_for(
            f"{count} pods of {self.name}",
            lambda: pods if len(pods := self.pods()) == count else None,
        )


@pytest.fixture(scope="session")
def governed(request, control_plane):
    """The cluster with JobSet, the CRD and the policies as `argocd-fluid config` prints them."""
    request.getfixturevalue("jobset")
    api = control_plane.client()
    fluid.install(control_plane, "crds", "policies")
    # The API server reads policies from a watch; it saw the others before this one's binding.
    api.wait_for("the policies in force", lambda: "argocd-fluid.io/shard" in str(_try_job(api)))
    return control_plane


def _try_job(api):
    labels = {"jobset.sigs.k8s.io/jobset-uid": "00000000-0000-0000-0000-000000000000"}
    pod = {"restartPolicy": "Never", "containers": [{"name": "main", "image": "none"}]}
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "probe", "labels": labels},
        "spec": {"template": {"metadata": {"labels": labels}, "spec": pod}},
    }
    path = "/apis/batch/v1/namespaces/default/jobs"
    return api.request("POST", path, body=job, dryRun="All")


@pytest.fixture
def run(governed, namespace):
    return Run(governed, namespace)


@pytest.fixture
def stranger(governed, namespace):
    """A JobSet that nobody enrolled."""
    return Run(governed, namespace, "stranger", enrolled=False)
