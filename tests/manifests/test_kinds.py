"""Where each kind keeps its pods, and what is said about a manifest of the wrong shape."""

import pytest
from argocd_fluid.errors import ManifestError
from argocd_fluid.manifests.document import get
from argocd_fluid.manifests.kinds import KINDS, flattened, kind_of, roles
from argocd_fluid.manifests.reader import read
from argocd_fluid.manifests.writer import to_json

POD = {
    "spec": {
        "initContainers": [{"name": "once"}, {"name": "sidecar", "restartPolicy": "Always"}],
        "containers": [{"name": "main"}],
    }
}
MANIFESTS = {
    "JobSet": {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "spec": {
            "replicatedJobs": [
                {
                    "name": "r",
                    "replicas": 2,
                    "template": {"spec": {"parallelism": 3, "template": POD}},
                }
            ]
        },
    },
    "Job": {"apiVersion": "batch/v1", "spec": {"parallelism": 6, "template": POD}},
    "CronJob": {
        "apiVersion": "batch/v1",
        "spec": {"jobTemplate": {"spec": {"parallelism": 6, "template": POD}}},
    },
    "Deployment": {"apiVersion": "apps/v1", "spec": {"replicas": 6, "template": POD}},
    "StatefulSet": {"apiVersion": "apps/v1", "spec": {"replicas": 6, "template": POD}},
    "ReplicaSet": {"apiVersion": "apps/v1", "spec": {"replicas": 6, "template": POD}},
    "DaemonSet": {"apiVersion": "apps/v1", "spec": {"template": POD}},
    "Pod": {"apiVersion": "v1", **POD},
}


def document(manifest):
    return read(to_json([manifest]).encode(), "f.yaml")[0]


def whole(kind):
    return {"kind": kind, "metadata": {"name": "x"}, **MANIFESTS[kind]}


def test_every_row_is_tested():
    assert MANIFESTS.keys() == KINDS.keys()


@pytest.mark.parametrize("kind", MANIFESTS)
def test_finds_templates_and_containers(kind):
    manifest = whole(kind)
    [role] = roles(document(manifest))
    assert role.name == ("r" if kind == "JobSet" else "")
    assert get(manifest, (*role.path, "spec")) == POD["spec"]
    assert [container.name for container in role.containers] == ["sidecar", "main"]
    assert all(get(manifest, each.path)["name"] == each.name for each in role.containers)


@pytest.mark.parametrize("kind", MANIFESTS)
def test_counts_pods(kind):
    [role] = roles(document(whole(kind)))
    assert role.pods == (1 if kind in ("DaemonSet", "Pod") else 6)


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
