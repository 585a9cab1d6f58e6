import copy
import json

import pytest
from argocd_fluid.constants import ENABLED, INTENT
from argocd_fluid.errors import UserError
from argocd_fluid.manifests.document import get
from argocd_fluid.manifests.kinds import flattened
from argocd_fluid.manifests.reader import read
from argocd_fluid.policy.wire import from_wire, to_wire
from argocd_fluid.render.enrol import enrolled
from argocd_fluid.render.policies import Policies
from hypothesis import given
from hypothesis import strategies as st

CPU = st.one_of(
    st.integers(1, 64).map(str),
    st.integers(1, 64_000).map(lambda milli: f"{milli}m"),
    st.integers(1, 64),
)
MEMORY = st.one_of(
    st.integers(1, 2**20).map(lambda mebi: f"{mebi}Mi"), st.integers(1, 2**40).map(str)
)
AMOUNTS = st.fixed_dictionaries({}, optional={"cpu": CPU, "memory": MEMORY})
RESOURCES = st.fixed_dictionaries({}, optional={"requests": AMOUNTS, "limits": AMOUNTS})


@st.composite
def jobsets(draw):
    roles = draw(st.lists(st.sampled_from(["driver", "workers", "eval"]), min_size=1, unique=True))
    names = ["trainer", "metrics"]
    containers = st.lists(st.sampled_from(names), min_size=1, unique=True)
    pod = st.fixed_dictionaries({}, optional={"restartPolicy": st.just("Never")})
    job = st.fixed_dictionaries({}, optional={"completionMode": st.just("Indexed")})
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "train", "annotations": {ENABLED: "true"}},
        "spec": {
            "replicatedJobs": [
                {
                    "name": role,
                    "template": {
                        "spec": {
                            **draw(job),
                            "template": {
                                "spec": {
                                    **draw(pod),
                                    "containers": [
                                        {"name": name, "resources": draw(RESOURCES)}
                                        for name in draw(containers)
                                    ],
                                }
                            },
                        }
                    },
                }
                for role in roles
            ]
        },
    }


def rendered(manifest):
    [document] = flattened(read(json.dumps(manifest).encode(), "train.yaml"))
    return enrolled(document, Policies())


@given(jobsets())
def test_an_enrolled_jobset_gets_its_intent_and_two_defaults_and_nothing_else(manifest) -> None:
    try:
        after = rendered(manifest)
    except UserError as error:
        assert "above the limit" in str(error) or "no container has" in str(error)  # noqa: PT017
        return
    assert rendered(after) == after
    expected = copy.deepcopy(manifest)
    expected["metadata"]["annotations"][INTENT] = after["metadata"]["annotations"][INTENT]
    for role in expected["spec"]["replicatedJobs"]:
        role["template"]["spec"].setdefault("completionMode", "Indexed")
        role["template"]["spec"]["template"]["spec"].setdefault("restartPolicy", "OnFailure")
    assert after == expected


@given(jobsets())
def test_the_intent_is_canonical_and_its_policies_can_be_read(manifest) -> None:
    try:
        text = rendered(manifest)["metadata"]["annotations"][INTENT]
    except UserError:
        return
    intent = json.loads(text)
    assert text == json.dumps(intent, sort_keys=True, separators=(",", ":"))
    for containers in intent["roles"].values():
        for container in containers.values():
            assert to_wire(from_wire(container["policy"])) == container["policy"]
            assert set(container.get("limits", {})) <= set(container["requests"])


@pytest.mark.parametrize(
    "path",
    [
        ("metadata",),
        ("metadata", "annotations"),
        ("spec",),
        ("spec", "replicatedJobs"),
        ("spec", "replicatedJobs", 0),
        ("spec", "replicatedJobs", 0, "template"),
        ("spec", "replicatedJobs", 0, "template", "spec", "template", "spec", "containers"),
        ("spec", "replicatedJobs", 0, "template", "spec", "template", "spec", "containers", 0),
    ],
    ids=lambda path: ".".join(str(step) for step in path),
)
@pytest.mark.parametrize("wrong", ["text", 1, True, [1]], ids=repr)
def test_a_wrong_shape_is_told(path, wrong) -> None:
    manifest = {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "train", "annotations": {ENABLED: "true"}},
        "spec": {
            "replicatedJobs": [
                {
                    "name": "workers",
                    "template": {
                        "spec": {"template": {"spec": {"containers": [{"name": "trainer"}]}}}
                    },
                }
            ]
        },
    }
    get(manifest, path[:-1])[path[-1]] = wrong

    with pytest.raises(UserError, match=r"train\.yaml:1"):
        rendered(manifest)


def test_sources_are_not_changed() -> None:
    text = json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "x", "annotations": {ENABLED: "true"}},
            "spec": {"containers": [{"name": "a", "resources": {"limits": {"cpu": 1}}}]},
        }
    ).encode()
    [document] = read(text, "pod.json")
    enrolled(document, Policies())
    assert document.value == json.loads(text)
