"""A resolved policy survives the trip through the intent annotation, and only such a one does."""

import json

import pytest
from argocd_fluid.errors import PolicyError
from argocd_fluid.policy.model import ContainerPolicy, Limits, Mode, ResourcePolicy
from argocd_fluid.policy.wire import from_wire, to_wire
from hypothesis import given
from hypothesis import strategies as st

WIRE = {
    "mode": "auto",
    "cpu": {
        "min": "125m",
        "max": "2",
        "scaleUpAt": 0.8,
        "target": 0.65,
        "scaleDownAt": 0.4,
        "limits": "proportional",
    },
    "memory": {
        "min": "256Mi",
        "max": "4Gi",
        "scaleUpAt": 0.8,
        "target": 0.7,
        "scaleDownAt": 0.4,
        "limits": "proportional",
        "oomFactor": 1.5,
    },
    "scaleUp": {"cooldown": "15s", "maxFactor": 2},
    "scaleDown": {"after": "10m", "memory": True},
    "priority": 0,
}
POLICY = ContainerPolicy(
    cpu=ResourcePolicy(min=125, max=2000),
    memory=ResourcePolicy(min=256 << 20, max=4 << 30, target=0.7),
)


def test_is_the_form_that_the_controller_reads():
    assert to_wire(POLICY) == WIRE
    assert from_wire(WIRE) == POLICY


def test_equal_policies_are_equal_bytes():
    text = json.dumps(to_wire(POLICY), sort_keys=True)
    assert text == json.dumps(WIRE, sort_keys=True)
    assert '"maxFactor": 2}' in text


def test_a_resource_that_cannot_be_resized_is_left_out():
    wire = to_wire(ContainerPolicy(cpu=None, memory=None))
    assert {"cpu", "memory"}.isdisjoint(wire)
    assert from_wire(wire) == ContainerPolicy(cpu=None, memory=None)


shares = st.integers(min_value=1, max_value=99).map(lambda percent: percent / 100)
resources = st.builds(
    ResourcePolicy,
    min=st.integers(min_value=1, max_value=2**40),
    max=st.integers(min_value=1, max_value=2**40),
    scale_up_at=shares,
    target=shares,
    scale_down_at=shares,
    limits=st.sampled_from(Limits),
)


@given(
    st.builds(
        ContainerPolicy,
        cpu=st.none() | resources,
        memory=st.none() | resources,
        mode=st.sampled_from(Mode),
        scale_up_cooldown_s=st.integers(min_value=0, max_value=10**6).map(lambda s: s / 4),
        scale_up_max_factor=st.integers(min_value=5, max_value=400).map(lambda f: f / 4),
        scale_down_after_s=st.integers(min_value=0, max_value=10**6).map(float),
        scale_down_memory=st.booleans(),
        priority=st.integers(min_value=-(2**31), max_value=2**31),
    )
)
def test_comes_back(policy):
    assert from_wire(json.loads(json.dumps(to_wire(policy)))) == policy


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"mode": "fast"}, "mode"),
        ({"priority": "high"}, "priority"),
        ({"scaleUp": {"cooldown": "15s"}}, "scaleUp.maxFactor"),
        ({"scaleUp": None}, "scaleUp.cooldown"),
        ({"scaleDown": {"after": "soon", "memory": True}}, "scaleDown.after"),
        ({"scaleDown": {"after": "1s", "memory": "yes"}}, "scaleDown.memory"),
        ({"cpu": {**WIRE["cpu"], "min": "1K"}}, "cpu.min"),
        ({"cpu": {**WIRE["cpu"], "max": 2}}, "cpu.max"),
        ({"memory": {**WIRE["memory"], "limits": "double"}}, "memory.limits"),
        ({"memory": {**WIRE["memory"], "target": True}}, "memory.target"),
        ({"cpu": "4"}, "cpu.min"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_names_the_field_that_is_wrong(change, field):
    with pytest.raises(PolicyError) as caught:
        from_wire({**WIRE, **change})
    assert caught.value.where.field == field
