import json

import pytest
from argocd_fluid.controller.intent import containers_of, is_enrolled, rank_of, spec_of
from argocd_fluid.engine.model import Rank
from argocd_fluid.errors import PolicyError
from argocd_fluid.kube.types import ObjectMeta

from tests.controller.jobsets import intent, policy
from tests.controller.objects import js, pod


@pytest.mark.parametrize(
    ("annotations", "enrolled"),
    [({}, True), ({"enabled": "true"}, True), ({"enabled": "false"}, False)],
)
def test_an_intent_enrols_unless_somebody_opted_out(
    annotations: dict[str, str], *, enrolled: bool
) -> None:
    assert is_enrolled(js(**annotations).metadata) is enrolled
    assert not is_enrolled(ObjectMeta(name="plain"))


@pytest.mark.parametrize(
    ("annotation", "annotations", "mode"),
    [
        (intent(), {}, "auto"),
        (intent(mode="recommend"), {}, "recommend"),
        (intent(mode="off"), {}, "off"),
        (intent(), {"paused": "true"}, "off"),
    ],
)
def test_a_workload_s_mode_is_the_most_that_its_containers_get(
    annotation: str, annotations: dict[str, str], mode: str
) -> None:
    assert spec_of(js(annotation, **annotations).metadata).mode == mode


def test_the_spec_names_the_jobset_by_uid_and_holds_the_policy_as_it_was_written() -> None:
    spec = spec_of(js().metadata)
    assert (spec.target.name, spec.target.uid) == ("train", "js-uid-7")
    assert spec.roles[0].containers[0].policy == policy()
    intended = containers_of(spec)["workers", "load"]
    assert (intended.size.cpu.request, intended.size.memory.limit) == (100, 128 << 20)


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        json.dumps({"v": 2, "roles": {}}),
        json.dumps({"v": 1, "roles": {"w": {"c": {}}}}),
        intent(mode="sometimes"),
        intent(size={"requests": {"cpu": "much"}}),
    ],
    ids=["no JSON", "list", "newer version", "no policy", "unknown mode", "no quantity"],
)
def test_an_intent_that_cannot_be_read_names_the_jobset(text: str) -> None:
    with pytest.raises(PolicyError, match=r"JobSet ns/train: argocd-fluid.io/intent"):
        spec_of(js(text).metadata)


def test_a_rank_is_known_by_its_labels() -> None:
    assert rank_of(pod(index="3").metadata) == Rank(
        role="workers", job_index="0", completion_index="3"
    )
