import pytest
from argocd_fluid.controller.apply import Verdict, altered, answer_of, has_sizes
from argocd_fluid.engine.model import Amounts, PodResize, Size
from argocd_fluid.errors import ApiError, Conflict, Forbidden, Invalid, NotFound, Unreachable

from tests.controller.objects import pod

RESIZE = PodResize(
    namespace="ns",
    name="train-workers-0-0",
    uid="uid-train-workers-0-0",
    resource_version="10",
    sizes={"load": Size(cpu=Amounts(request=150, limit=300))},
)
WANTED = {
    "requests": {"cpu": "150m", "memory": "64Mi"},
    "limits": {"cpu": "300m", "memory": "128Mi"},
}


@pytest.mark.parametrize(
    ("error", "verdict", "reason"),
    [
        (Unreachable("timed out"), Verdict.UNKNOWN, "NoAnswer"),
        (Conflict("the object has been modified"), Verdict.STALE, "Conflict"),
        (NotFound("pods not found"), Verdict.GONE, "NotFound"),
        (Invalid("metadata.uid: Invalid value: field is immutable"), Verdict.GONE, "Recreated"),
        (Invalid("Pod QOS Class may not change"), Verdict.REFUSED, "Invalid"),
        (Forbidden("no room", cause="NodeCapacity"), Verdict.REFUSED, "NodeCapacity"),
        (Forbidden("exceeded quota: q"), Verdict.REFUSED, "QuotaExceeded"),
        (
            Forbidden("maximum cpu usage per Container is 1, but limit is 2"),
            Verdict.REFUSED,
            "LimitRange",
        ),
        (
            Forbidden('User "a" cannot patch resource "pods/resize"'),
            Verdict.REFUSED,
            "NotPermitted",
        ),
        (Forbidden("webhook says no"), Verdict.REFUSED, "Forbidden"),
    ],
)
def test_each_refusal_has_a_reason_and_no_answer_is_none(
    error: ApiError, verdict: Verdict, reason: str
) -> None:
    answer = answer_of(error)
    assert (answer.verdict, answer.reason) == (verdict, reason)


def test_a_pod_that_became_what_was_asked_is_not_altered() -> None:
    assert altered(RESIZE, pod(), pod(size=WANTED)) == []
    assert has_sizes(pod(size=WANTED), RESIZE)


def test_leaves_that_admission_changed_are_named() -> None:
    changed = WANTED | {"requests": {"cpu": "150m", "memory": "100Mi"}}
    assert altered(RESIZE, pod(), pod(size=changed)) == ["load.request.memory"]


def test_a_resize_that_did_not_arrive_is_seen_in_the_pod() -> None:
    assert not has_sizes(pod(), RESIZE)
