"""From what several sources say to one policy: precedence, globs, bounds from Git's sizes."""

from dataclasses import replace

import pytest
from argocd_fluid.errors import PolicyError
from argocd_fluid.policy.match import Match, Policy, Rule, Subject, first_match, matches
from argocd_fluid.policy.merge import Baseline, resolve
from argocd_fluid.policy.model import ContainerPolicy, Limits, Mode, ResourcePolicy
from argocd_fluid.policy.settings import ResourceSettings, Settings
from hypothesis import given
from hypothesis import strategies as st

TRAINER = Subject(kind="JobSet", name="train-7b", role="workers", container="trainer")
GIT = Baseline(cpu=500, memory=1 << 30)


@pytest.mark.parametrize(
    ("match", "is_hit"),
    [
        (Match(), True),
        (Match(kind="JobSet", name="train-*", role="work*", container="trainer"), True),
        (Match(kind="Job"), False),
        (Match(kind="jobset"), False),
        (Match(name="train"), False),
        (Match(name="*-[0-9]b"), True),
        (Match(role="driver"), False),
        (Match(role=""), False),
        (Match(container="train?r"), True),
    ],
    ids=str,
)
def test_globs(match, is_hit):
    assert matches(match, TRAINER) is is_hit


def test_the_first_rule_that_matches_wins_alone():
    first = Rule(match=Match(role="workers"), settings=Settings(priority=1))
    second = Rule(settings=Settings(priority=2, mode=Mode.OFF))
    policy = Policy(settings=Settings(priority=9), rules=(first, second))
    assert first_match(policy.rules, TRAINER) is first
    resolved = resolve(policy.layers(TRAINER), GIT)
    assert (resolved.priority, resolved.mode) == (1, Mode.AUTO)
    other = policy.layers(replace(TRAINER, role="driver"))
    assert (resolve(other, GIT).priority, resolve(other, GIT).mode) == (2, Mode.OFF)


def test_defaults_and_bounds_of_a_quarter_and_four_times():
    assert resolve((), GIT) == ContainerPolicy(
        cpu=ResourcePolicy(min=125, max=2000),
        memory=ResourcePolicy(min=256 << 20, max=4 << 30, target=0.7),
    )


def test_stronger_layers_win_value_by_value():
    layers = (
        Settings(cpu=ResourceSettings(min=100, max=900, target=0.5), scale_down_memory=True),
        Settings(cpu=ResourceSettings(max=800, limits=Limits.KEEP), priority=5),
        Settings(scale_down_memory=False, priority=0),
    )
    resolved = resolve(layers, GIT)
    assert resolved.cpu == ResourcePolicy(min=100, max=800, target=0.5, limits=Limits.KEEP)
    assert (resolved.scale_down_memory, resolved.priority) == (False, 0)


@pytest.mark.parametrize(
    ("settings", "bounds"),
    [
        (ResourceSettings(min=4000), (4000, 4000)),
        (ResourceSettings(max=50), (50, 50)),
        (ResourceSettings(min=200), (200, 2000)),
        (ResourceSettings(max=800), (125, 800)),
        (ResourceSettings(min=10, max=20), (10, 20)),
    ],
    ids=["min above", "max below", "min", "max", "both"],
)
def test_a_given_bound_moves_the_other_out_of_its_way(settings, bounds):
    cpu = resolve((Settings(cpu=settings),), GIT).cpu
    assert (cpu.min, cpu.max) == bounds


def test_nothing_to_scale():
    assert resolve((), Baseline()) == ContainerPolicy(cpu=None, memory=None)
    assert resolve((), Baseline(cpu=0, memory=1)).cpu is None


@pytest.mark.parametrize(
    ("layers", "field", "problem"),
    [
        ((ResourceSettings(target=0.7), ResourceSettings(scale_up_at=0.6)), "target", "0.6"),
        ((ResourceSettings(scale_up_at=0.6),), "target", "0.65 is not below scaleUpAt 0.6"),
        ((ResourceSettings(scale_down_at=0.65),), "target", "not above scaleDownAt 0.65"),
        ((ResourceSettings(min=9), ResourceSettings(max=8)), "min", "9m is larger than max 8m"),
    ],
    ids=["two layers", "default target", "default target, down", "bounds"],
)
def test_layers_that_contradict_each_other(layers, field, problem):
    with pytest.raises(PolicyError, match=problem) as caught:
        resolve([Settings(cpu=layer) for layer in layers], GIT)
    assert caught.value.where.field == f"cpu.{field}"


bounds = st.none() | st.integers(min_value=1, max_value=2**40)


@given(low=bounds, high=bounds, request=st.integers(min_value=1, max_value=2**40))
def test_bounds_never_cross(low, high, request):
    settings = Settings(memory=ResourceSettings(min=low, max=high))
    if low is not None and high is not None and low > high:
        with pytest.raises(PolicyError):
            resolve((settings,), Baseline(memory=request))
        return
    memory = resolve((settings,), Baseline(memory=request)).memory
    assert 1 <= memory.min <= memory.max
    if low is high is None:
        assert memory.min <= request <= memory.max
