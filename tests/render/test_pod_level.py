"""QoS classes as Kubernetes computes them, and bounds that the pod's own resources hold."""

import pytest
from argocd_fluid.manifests.quantity import parse_quantity
from argocd_fluid.policy.merge import Baseline, resolve
from argocd_fluid.render.pod_level import Qos, held_by_pod, qos_of


def amounts(requests: str = "", limits: str = "") -> dict:
    """Read `cpu=1,memory=2Gi`."""
    given = {"requests": requests, "limits": limits}
    return {
        kind: {
            name: parse_quantity(value)
            for name, value in (each.split("=") for each in text.split(","))
        }
        for kind, text in given.items()
        if text
    }


BOTH = "cpu=1,memory=1Gi"
FIXED = amounts(BOTH, BOTH)
CLASSES = {
    "nothing": ([{}], {}, Qos.BEST_EFFORT),
    "zeros": ([amounts("cpu=0")], {}, Qos.BEST_EFFORT),
    "requests": ([amounts(BOTH)], {}, Qos.BURSTABLE),
    "limits alone are requests too": ([amounts("", BOTH)], {}, Qos.GUARANTEED),
    "equal": ([FIXED], {}, Qos.GUARANTEED),
    "equal in other words": ([amounts("cpu=1000m,memory=1024Mi", BOTH)], {}, Qos.GUARANTEED),
    "one resource": ([amounts("cpu=1", "cpu=1")], {}, Qos.BURSTABLE),
    "one container has nothing": ([FIXED, {}], {}, Qos.BURSTABLE),
    "one is loose": ([FIXED, amounts("cpu=1,memory=1Gi", "cpu=2,memory=1Gi")], {}, Qos.BURSTABLE),
    "the pod decides": ([amounts("cpu=1")], FIXED, Qos.GUARANTEED),
    "the pod is loose": ([FIXED], amounts(BOTH), Qos.BURSTABLE),
}


@pytest.mark.parametrize(("containers", "pod", "expected"), CLASSES.values(), ids=CLASSES.keys())
def test_class(containers, pod, expected) -> None:
    assert qos_of(containers, pod) is expected


def policy(request: str):
    return resolve([], Baseline(cpu=parse_quantity(request).milli()))


BOUNDS = {
    "no pod": ("cpu=1", "", {}, (250, 4000)),
    "the request of the pod": ("cpu=1", "", amounts("cpu=3"), (250, 3000)),
    "the limit of the pod alone leaves no room": ("cpu=1", "", amounts("", "cpu=3"), (250, 1000)),
    "the limit grows in proportion": (
        "cpu=1",
        "cpu=2",
        amounts("cpu=8", "cpu=3"),
        (250, 1500),
    ),
    "another resource": ("cpu=1", "", amounts("memory=1Gi"), (250, 4000)),
}


@pytest.mark.parametrize(("request_", "limit", "pod", "expected"), BOUNDS.values(), ids=BOUNDS)
def test_bounds_are_held_by_the_pod(request_, limit, pod, expected) -> None:
    own = amounts(request_, limit)
    held = held_by_pod(policy("1"), own, pod, [own])
    assert (held.cpu.min, held.cpu.max) == expected


def test_siblings_take_room() -> None:
    own = amounts("cpu=1")
    held = held_by_pod(policy("1"), own, amounts("cpu=3"), [own, amounts("cpu=1500m")])
    assert held.cpu.max == 1500
