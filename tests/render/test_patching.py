"""JSON patches: for the objects that match, in their order, and errors that show no value."""

import json

import pytest
from argocd_fluid.errors import PolicyError, leaves
from argocd_fluid.manifests.reader import read
from argocd_fluid.policy.schema import read_policy
from argocd_fluid.render.policies import Policies
from hypothesis import given
from hypothesis import strategies as st

SECRET = "hunter2"  # noqa: S105 - a value that must not be shown
OBJECTS = f"""\
apiVersion: v1
kind: Secret
metadata: {{name: a, namespace: ns, labels: {{x: "1"}}}}
stringData: {{password: {SECRET}, list: [1, 2]}}
---
apiVersion: v1
kind: ConfigMap
metadata: {{name: a}}
"""


def policies(patches: list) -> Policies:
    value = {
        "apiVersion": "argocd-fluid.io/v1alpha1",
        "kind": "FluidPolicy",
        "spec": {"jsonPatches": patches},
    }
    [document] = read(json.dumps(value).encode(), "fluid.yaml")
    return Policies(file=read_policy(document))


def patched(patches: list) -> list[dict]:
    documents = read(OBJECTS.encode(), "all.yaml")
    return [each.value for each in policies(patches).patched(documents)]


def labels(match: dict) -> list[str]:
    patch = {"op": "add", "path": "/metadata/labels", "value": {"hit": "1"}}
    found = patched([{"match": match, "patch": [patch]}])
    return [each["kind"] for each in found if each["metadata"].get("labels") == {"hit": "1"}]


MATCHES = {
    "kind": ({"kind": "Secret"}, ["Secret"]),
    "glob": ({"kind": "*Map"}, ["ConfigMap"]),
    "name": ({"name": "a"}, ["Secret", "ConfigMap"]),
    "namespace": ({"namespace": "ns"}, ["Secret"]),
    "no namespace": ({"namespace": "?*"}, ["Secret"]),
    "all of them": ({"kind": "Secret", "name": "b"}, []),
}


@pytest.mark.parametrize(("match", "expected"), MATCHES.values(), ids=MATCHES.keys())
def test_patches_what_matches(match, expected) -> None:
    assert labels(match) == expected


def test_patches_come_one_after_the_other() -> None:
    match = {"kind": "ConfigMap"}
    first = {"match": match, "patch": [{"op": "add", "path": "/data", "value": {"a": "1"}}]}
    second = {"match": match, "patch": [{"op": "copy", "from": "/data/a", "path": "/data/b"}]}
    assert patched([first, second])[1]["data"] == {"a": "1", "b": "1"}


@pytest.mark.parametrize(
    "text", ["a: {x: 1}\nb: {x: 1}\n", "a: &one {x: 1}\nb: *one\n"], ids=["equal", "alias"]
)
def test_a_patch_is_for_one_place_also_where_values_are_equal(text) -> None:
    head = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
    operation = {"op": "replace", "path": "/a/x", "value": 2}
    rules = policies([{"match": {"kind": "ConfigMap"}, "patch": [operation]}])
    [document] = rules.patched(read((head + text).encode(), "all.yaml"))
    assert (document.value["a"], document.value["b"]) == ({"x": 2}, {"x": 1})


def test_a_value_is_not_shared_by_the_objects_that_get_it() -> None:
    operations = [
        {"op": "add", "path": "/metadata/labels", "value": {}},
        {"op": "copy", "from": "/kind", "path": "/metadata/labels/kind"},
    ]
    found = patched([{"match": {"name": "a"}, "patch": operations}])
    assert [each["metadata"]["labels"]["kind"] for each in found] == ["Secret", "ConfigMap"]


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "test", "path": "/stringData/password", "value": "other"},
        {"op": "add", "path": "/stringData/password/x", "value": 1},
        {"op": "remove", "path": "/stringData/nothing"},
        {"op": "replace", "path": "/stringData/list/7", "value": 1},
        {"op": "move", "from": "/stringData/nothing", "path": "/a"},
    ],
    ids=lambda operation: f"{operation['op']} {operation['path']}",
)
def test_an_error_names_patch_and_object_and_shows_no_value(operation) -> None:
    with pytest.raises(ExceptionGroup) as caught:
        patched([{"match": {"kind": "Secret"}, "patch": [operation]}])
    [error] = leaves(caught.value)
    assert str(error).startswith("fluid.yaml:1: FluidPolicy: spec.jsonPatches[0].patch[0]: ")
    assert f"{operation['op']} {operation['path']} fails on Secret ns/a (all.yaml:1): " in str(
        error
    )
    assert SECRET not in str(error)


STEPS = st.sampled_from(["metadata", "labels", "x", "stringData", "list", "0", "-", "9", "~1", "~"])
POINTERS = st.lists(STEPS, min_size=1, max_size=4).map(lambda steps: "/" + "/".join(steps))
VALUES = st.sampled_from([None, 1, "a", [], {}, {"x": {"y": []}}])
OPERATIONS = st.fixed_dictionaries(
    {
        "op": st.sampled_from(["add", "remove", "replace", "move", "copy", "test"]),
        "path": POINTERS,
        "from": POINTERS,
        "value": VALUES,
    }
)


@given(st.lists(OPERATIONS, min_size=1, max_size=4))
def test_no_patch_ends_in_anything_but_objects_or_an_error(operations) -> None:
    problems: list[Exception] = []
    found: list[dict] = []
    try:
        found = patched([{"match": {"kind": "Secret"}, "patch": operations}])
    except* PolicyError as group:
        problems.extend(leaves(group))
    assert bool(found) != bool(problems)
    assert all(each["kind"] for each in found)
