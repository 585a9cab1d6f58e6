import pytest
from argocd_fluid.engine.footprint import (
    ContainerRequests,
    InitContainerRequests,
    PodRequests,
    footprint,
    held,
)
from argocd_fluid.engine.model import Resource

CPU = Resource.CPU


def app(spec, allocated=None, actual=None):
    def held(value):
        return {} if value is None else {CPU: value}

    return ContainerRequests(spec=held(spec), allocated=held(allocated), actual=held(actual))


def init(spec, *, sidecar=False):
    return InitContainerRequests(spec={CPU: spec}, sidecar=sidecar)


@pytest.mark.parametrize(
    ("pod", "expected"),
    [
        pytest.param(PodRequests(containers=[app(100), app(200)]), 300, id="sum"),
        pytest.param(PodRequests(containers=[app(None)]), 0, id="no request"),
        pytest.param(PodRequests(containers=[app(100, 300, 200)]), 300, id="allocated is larger"),
        pytest.param(PodRequests(containers=[app(100, 100, 400)]), 400, id="actual is larger"),
        pytest.param(PodRequests(containers=[app(500, 100, 100)]), 500, id="resize is pending"),
        pytest.param(
            PodRequests(containers=[app(500, 100, 100)], infeasible=True), 100, id="infeasible"
        ),
        pytest.param(
            PodRequests(containers=[app(500)], infeasible=True), 500, id="infeasible, unknown"
        ),
        pytest.param(
            PodRequests(containers=[app(100)], init_containers=[init(700)]), 700, id="init larger"
        ),
        pytest.param(
            PodRequests(containers=[app(100)], init_containers=[init(50, sidecar=True), init(700)]),
            750,
            id="init beside the sidecar before it",
        ),
        pytest.param(
            PodRequests(containers=[app(100)], init_containers=[init(110), init(50, sidecar=True)]),
            150,
            id="sidecar beside the containers",
        ),
        pytest.param(PodRequests(containers=[app(100)], overhead={CPU: 20}), 120, id="overhead"),
        pytest.param(
            PodRequests(containers=[app(100)], pod_level={CPU: 900}, overhead={CPU: 20}),
            920,
            id="pod level overrides",
        ),
    ],
)
def test_footprint(pod, expected):
    assert footprint(pod) == {CPU: expected, Resource.MEMORY: 0}


@pytest.mark.parametrize(
    ("pod", "expected"),
    [
        pytest.param(PodRequests(containers=[app(100)]), 0, id="nothing but containers"),
        pytest.param(
            PodRequests(
                containers=[app(100)],
                init_containers=[init(50, sidecar=True), init(700)],
                overhead={CPU: 20},
            ),
            600,
            id="an init peak",
        ),
        pytest.param(PodRequests(containers=[app(100)], pod_level={CPU: 900}), 900, id="pod level"),
    ],
)
def test_so_much_stays_taken_while_containers_shrink(pod, expected):
    assert held(pod)[CPU] == expected
