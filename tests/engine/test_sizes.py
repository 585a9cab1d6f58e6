import pytest
from argocd_fluid.engine.model import Amounts, Resource, Size
from argocd_fluid.engine.sizes import (
    changed_leaves,
    laid_over,
    moved,
    reference,
    resources_from_size,
    size_from_resources,
    within_bounds,
)
from argocd_fluid.policy.model import Limits, ResourcePolicy
from hypothesis import given
from hypothesis import strategies as st

MI = 1 << 20


@pytest.mark.parametrize(
    ("resources", "expected"),
    [
        pytest.param({}, Size(), id="nothing"),
        pytest.param(
            {"requests": {"cpu": "0.5", "memory": "1Gi"}, "limits": {"cpu": 2}},
            Size(cpu=Amounts(request=500, limit=2000), memory=Amounts(request=1 << 30)),
            id="some leaves",
        ),
        pytest.param(
            {"limits": {"cpu": "0.0001", "memory": "1500m"}},
            Size(cpu=Amounts(limit=1), memory=Amounts(limit=2)),
            id="rounded up",
        ),
        pytest.param(
            {"limits": {"nvidia.com/gpu": "1"}, "requests": None}, Size(), id="others ignored"
        ),
    ],
)
def test_reads_resources(resources, expected):
    assert size_from_resources(resources) == expected


@pytest.mark.parametrize(
    ("cpu", "memory", "expected"),
    [
        pytest.param(500, 1 << 30, {"cpu": "500m", "memory": "1Gi"}, id="usual"),
        pytest.param(2000, 1536 * MI, {"cpu": "2", "memory": "1536Mi"}, id="whole"),
        pytest.param(1250, 1000, {"cpu": "1250m", "memory": "1000"}, id="odd"),
    ],
)
def test_writes_canonical_quantities(cpu, memory, expected):
    size = Size(cpu=Amounts(request=cpu), memory=Amounts(request=memory))
    assert resources_from_size(size) == {"requests": expected}


leaf = st.none() | st.integers(1, 1 << 45)
amounts = st.builds(Amounts, request=leaf, limit=leaf)
sizes = st.builds(Size, cpu=amounts, memory=amounts)


@given(sizes)
def test_resources_and_sizes_are_inverse(size):
    assert size_from_resources(resources_from_size(size)) == size


@given(sizes, sizes)
def test_a_patch_never_adds_a_leaf(spec, target):
    leaves = changed_leaves(spec, target)
    for resource in Resource:
        before, patched = spec.of(resource), leaves.of(resource)
        assert patched.request is None or before.request not in {None, patched.request}
        assert patched.limit is None or before.limit not in {None, patched.limit}


@pytest.mark.parametrize(
    ("spec", "limits", "to", "expected"),
    [
        pytest.param((500, 1000), "proportional", 2000, (1000, 2000), id="limit leads"),
        pytest.param((1000, 1000), "proportional", 1503, (1510, 1510), id="guaranteed, rounded up"),
        pytest.param((1000, 1000), "keep", 1500, (1500, 1500), id="equal ones move together"),
        pytest.param((500, 1000), "keep", 800, (800, 1000), id="limit kept"),
        pytest.param((500, 1000), "keep", 5000, (990, 1000), id="stays under a kept limit"),
        pytest.param((500, None), "proportional", 700, (700, None), id="no limit is added"),
        pytest.param((500, 1000), "proportional", 1e6, (4000, 8000), id="upper bound"),
        pytest.param((500, 1000), "proportional", 1, (255, 510), id="lower bound, as given"),
    ],
)
def test_moves_request_and_limit(spec, limits, to, expected):
    policy = ResourcePolicy(min=255, max=4000, limits=Limits(limits))
    before = Amounts(request=spec[0], limit=spec[1])
    after = moved(before, to, intent=before, policy=policy, resource=Resource.CPU)
    assert after == Amounts(request=expected[0], limit=expected[1])


def test_the_proportion_is_gits_even_when_the_limit_grew_alone():
    policy = ResourcePolicy(min=100, max=4000)
    after = moved(
        Amounts(request=500, limit=2000),
        2000,
        intent=Amounts(request=500, limit=1000),
        policy=policy,
        resource=Resource.CPU,
    )
    assert after == Amounts(request=1000, limit=2000)


@given(st.integers(1, 9000), st.integers(0, 9000), st.floats(0, 20000), st.sampled_from(Limits))
def test_moving_keeps_the_class_and_the_bounds(request_milli, over, to, limits):
    policy = ResourcePolicy(min=250, max=4000, limits=limits)
    spec = Amounts(request=request_milli, limit=request_milli + over)
    after = moved(spec, to, intent=spec, policy=policy, resource=Resource.CPU)
    assert (after.request == after.limit) is (over == 0)
    assert after.request <= after.limit
    assert after.request <= policy.max
    assert after.request >= policy.min or limits is Limits.KEEP


@pytest.mark.parametrize(
    ("spec", "record", "guaranteed", "expected"),
    [
        pytest.param((500, 1000), (600, 900), False, (600, 900), id="as recorded"),
        pytest.param((500, 1000), (900, 900), False, (890, 900), id="does not become guaranteed"),
        pytest.param((500, 500), (400, 800), True, (800, 800), id="stays guaranteed"),
        pytest.param((500, None), (600, 900), False, (600, None), id="no leaf added"),
        pytest.param((500, 1000), (600, None), False, (600, 1000), id="no leaf removed"),
    ],
)
def test_brings_a_record_to_a_pod(spec, record, guaranteed, expected):
    after = laid_over(
        Amounts(request=spec[0], limit=spec[1]),
        Amounts(request=record[0], limit=record[1]),
        guaranteed=guaranteed,
        resource=Resource.CPU,
    )
    assert after == Amounts(request=expected[0], limit=expected[1])


def test_a_record_outside_the_bounds_is_clamped_with_its_limit():
    policy = ResourcePolicy(min=100, max=1000)
    record = Amounts(request=2000, limit=4000)
    after = within_bounds(record, intent=record, policy=policy, resource=Resource.CPU)
    assert after == Amounts(request=1000, limit=2000)


def test_utilisation_is_measured_against_what_can_be_sized():
    keep = ResourcePolicy(min=1, max=9999, limits=Limits.KEEP)
    moves = ResourcePolicy(min=1, max=9999)
    assert reference(Amounts(request=500, limit=1000), moves) == 1000
    assert reference(Amounts(request=500, limit=1000), keep) == 500
    assert reference(Amounts(request=500), moves) == 500
    assert reference(Amounts(), moves) is None
