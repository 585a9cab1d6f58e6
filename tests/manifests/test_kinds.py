"""Where each kind keeps its pods, and what is said about a manifest of the wrong shape."""

import pytest
from argocd_fluid.errors import ManifestError
from argocd_fluid.manifests.document import get
from argocd_fluid.manifests.kinds import flattened, kind_of, roles
from argocd_fluid.manifests.reader import read
from argocd_fluid.manifests.table import KINDS
from argocd_fluid.manifests.writer import to_json

POD = {
    "spec": {
        "initContainers": [{"name": "once"}, {"name": "sidecar", "restartPolicy": "Always"}],
        "containers": [{"name": "main"}],
    }
}
CLUSTER = {
    "headGroupSpec": {"template": POD},
    "workerGroupSpecs": [
        {"groupName": "small", "replicas": 3, "numOfHosts": 2, "template": POD},
    ],
}
REPLICAS = {"Launcher": {"template": POD}, "Worker": {"replicas": 6, "template": POD}}
MANIFESTS = {
    "JobSet": (
        "jobset.x-k8s.io/v1alpha2",
        {
            "replicatedJobs": [
                {
                    "name": "r",
                    "replicas": 2,
                    "template": {"spec": {"parallelism": 3, "template": POD}},
                }
            ]
        },
        {"r": 6},
    ),
    "Job": ("batch/v1", {"parallelism": 6, "template": POD}, {"": 6}),
    "CronJob": (
        "batch/v1",
        {"jobTemplate": {"spec": {"parallelism": 6, "template": POD}}},
        {"": 6},
    ),
    "Deployment": ("apps/v1", {"replicas": 6, "template": POD}, {"": 6}),
    "StatefulSet": ("apps/v1", {"replicas": 6, "template": POD}, {"": 6}),
    "ReplicaSet": ("apps/v1", {"replicas": 6, "template": POD}, {"": 6}),
    "DaemonSet": ("apps/v1", {"template": POD}, {"": 1}),
    "Pod": ("v1", POD["spec"], {"": 1}),
    "LeaderWorkerSet": (
        "leaderworkerset.x-k8s.io/v1",
        {
            "replicas": 2,
            "leaderWorkerTemplate": {"size": 4, "leaderTemplate": POD, "workerTemplate": POD},
        },
        {"leader": 2, "worker": 6},
    ),
    "LeaderWorkerSet with one template": (
        "leaderworkerset.x-k8s.io/v1",
        {"replicas": 2, "leaderWorkerTemplate": {"size": 4, "workerTemplate": POD}},
        {"worker": 8},
    ),
    "RayCluster": ("ray.io/v1", CLUSTER, {"headgroup": 1, "small": 6}),
    "RayJob": (
        "ray.io/v1",
        {"rayClusterSpec": CLUSTER, "submitterPodTemplate": POD},
        {"headgroup": 1, "small": 6, "submitter": 1},
    ),
    "PyTorchJob": (
        "kubeflow.org/v1",
        {"pytorchReplicaSpecs": {"Master": {"template": POD}, "Worker": REPLICAS["Worker"]}},
        {"Master": 1, "Worker": 6},
    ),
    "MPIJob": ("kubeflow.org/v2beta1", {"mpiReplicaSpecs": REPLICAS}, {"Launcher": 1, "Worker": 6}),
    "MPIJob of v1": (
        "kubeflow.org/v1",
        {"mpiReplicaSpecs": REPLICAS},
        {"Launcher": 1, "Worker": 6},
    ),
    "Job of Volcano": (
        "batch.volcano.sh/v1alpha1",
        {"tasks": [{"name": "ps", "template": POD}, {"replicas": 3, "template": POD}]},
        {"ps": 1, "default1": 3},
    ),
    "Rollout": ("argoproj.io/v1alpha1", {"replicas": 6, "template": POD}, {"": 6}),
}
TRAIN_JOB = {
    "apiVersion": "trainer.kubeflow.org/v1alpha1",
    "kind": "TrainJob",
    "metadata": {"name": "x"},
    "spec": {
        "runtimeRef": {"name": "torch-distributed"},
        "trainer": {"numNodes": 4, "resourcesPerNode": {"requests": {"cpu": "2"}}},
    },
}


def document(manifest):
    return read(to_json([manifest]).encode(), "f.yaml")[0]


def whole(case):
    api_version, spec, _ = MANIFESTS[case]
    metadata = {"name": "x"}
    return {
        "apiVersion": api_version,
        "kind": case.split()[0],
        "metadata": metadata,
        "spec": spec,
    }


def test_every_row_is_tested():
    tested = {id(kind_of(whole(case))) for case in MANIFESTS} | {id(kind_of(TRAIN_JOB))}
    assert tested == {id(row) for row in KINDS}


@pytest.mark.parametrize("case", MANIFESTS)
def test_finds_templates_and_containers(case):
    manifest = whole(case)
    for role in roles(document(manifest)):
        assert get(manifest, (*role.path, "spec")) == POD["spec"]
        assert [container.name for container in role.containers] == ["sidecar", "main"]
        assert [container.name for container in role.init_containers] == ["once"]
        assert all(get(manifest, each.path)["name"] == each.name for each in role.containers)
        assert all(each.resources == (*each.path, "resources") for each in role.containers)
        assert role.resources == (*role.path, "spec", "resources")


@pytest.mark.parametrize("case", MANIFESTS)
def test_names_roles_and_counts_their_pods(case):
    found = roles(document(whole(case)))
    assert {role.name: role.pods for role in found} == MANIFESTS[case][2]


def test_of_a_train_job_only_the_trainer_s_size_is_known():
    [role] = roles(document(TRAIN_JOB))
    assert (role.name, role.pods, role.template, role.is_whole) == ("node", 4, {}, False)
    [container] = role.containers
    assert container.name == "node"
    assert get(TRAIN_JOB, container.resources) == container.value["resources"]
    without = {**TRAIN_JOB, "spec": {"runtimeRef": {"name": "torch-distributed"}}}
    assert roles(document(without)) == ()


@pytest.mark.parametrize(
    ("api_version", "kind", "spec"),
    [
        ("argoproj.io/v1alpha1", "Rollout", {"workloadRef": {"kind": "Deployment", "name": "x"}}),
        ("ray.io/v1", "RayJob", {"clusterSelector": {"ray.io/cluster": "x"}}),
    ],
    ids=["Rollout of another object's template", "RayJob on another object's cluster"],
)
def test_pods_of_another_object_are_no_roles(api_version, kind, spec):
    manifest = {"apiVersion": api_version, "kind": kind, "metadata": {"name": "x"}, "spec": spec}
    assert roles(document(manifest)) == ()


def test_a_version_that_is_not_known_is_another_object():
    assert kind_of({"apiVersion": "jobset.x-k8s.io/v9", "kind": "JobSet"}) is None


@pytest.mark.parametrize(
    "manifest",
    [
        {"kind": "Job", "apiVersion": "example.com/v1"},
        {"kind": "Pod", "apiVersion": "batch/v1"},
        {"kind": "Job", "apiVersion": "v1"},
        {"kind": "ConfigMap", "apiVersion": "v1"},
    ],
    ids=["same kind, other group", "Pod of a group", "Job of no group", "other kind"],
)
def test_other_objects_have_no_roles(manifest):
    assert kind_of(manifest) is None
    assert roles(document(manifest)) == ()


def test_what_is_absent_or_null_is_empty():
    assert roles(document({"kind": "JobSet", "apiVersion": "jobset.x-k8s.io/v1alpha2"})) == ()
    null = {
        "kind": "Job",
        "apiVersion": "batch/v1",
        "spec": {"parallelism": None, "template": None},
    }
    [role] = roles(document(null))
    assert (role.pods, role.containers) == (1, ())


JOB = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: x}\nspec:\n"
WRONG = {
    "containers": ("  template: {spec: {containers: {}}}", "template.spec.containers: is no list"),
    "container": ("  template: {spec: {containers: [a]}}", "containers[0]: is no mapping"),
    "no name": ("  template: {spec: {containers: [{}]}}", "containers[0]: has no name"),
    "name": ("  template: {spec: {containers: [{name: 1}]}}", "containers[0]: has no name"),
    "twice": (
        "  template: {spec: {containers: [{name: a}, {name: a}]}}",
        "containers[1].name: the name 'a' is taken",
    ),
    "count": ("  parallelism: many", "spec.parallelism: is no whole number"),
    "template": ("  template: []", "spec.template: is no mapping"),
}


@pytest.mark.parametrize(("text", "problem"), WRONG.values(), ids=WRONG.keys())
def test_wrong_shape_is_told_with_its_place(text, problem):
    with pytest.raises(ManifestError) as caught:
        roles(read(f"{JOB}{text}\n".encode(), "f.yaml")[0])
    assert str(caught.value).startswith("f.yaml:5: Job x: spec.")
    assert problem in str(caught.value)


def test_lists_are_taken_apart_with_their_lines():
    text = """\
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}
- apiVersion: v1
  kind: ConfigMapList
  items:
  - apiVersion: v1
    kind: ConfigMap
    metadata: {name: b}
"""
    found = list(flattened(read(text.encode(), "f.yaml")))
    assert [(each.identity, each.where().line) for each in found] == [
        ("ConfigMap a", 4),
        ("ConfigMap b", 8),
    ]
    assert str(found[1].where(("metadata", "name"))) == "f.yaml:10: ConfigMap b: metadata.name"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("kind: A\n", "f:1: A: is no Kubernetes object: it has no apiVersion"),
        ("apiVersion: v1\n", "f:1: is no Kubernetes object: it has no kind"),
        ("apiVersion: v1\nkind: 1\n", "it has no kind"),
        ("apiVersion: v1\nkind: List\nitems:\n- a\n", "f:4: is no Kubernetes object"),
    ],
)
def test_what_is_no_object(text, problem):
    with pytest.raises(ManifestError) as caught:
        list(flattened(read(text.encode(), "f")))
    assert problem in str(caught.value)
