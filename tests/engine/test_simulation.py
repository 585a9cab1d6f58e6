"""A night of load in a moment: what a user would notice of the engine as a whole."""

import math
from collections import Counter

import pytest
from argocd_fluid.engine.model import Reason, Resource
from hypothesis import given, settings
from hypothesis import strategies as st

CPU, MEMORY = Resource.CPU, Resource.MEMORY
HOUR = 3600


def constant(cpu, memory):
    return lambda _: (cpu, memory)


def sawtooth(low, high, period):
    def load(second):
        share = second % period / period
        return low + (high - low) * share, low + (high - low) * share

    return load


def bursts(low, high, every, length):
    return lambda second: (high if second % every < length else low, low)


def run(make, load, seconds=HOUR, **changes):
    node = make.perfect_node(loads={"a": load}, **changes)
    node.run(seconds)
    return node


def after(node, second):
    return [grant for at_s, grant in node.resizes if at_s > second]


rate = st.integers(20, 2400)


@settings(max_examples=10, deadline=None)
@given(cpu=rate, memory=rate)
def test_constant_load_settles_for_good_and_is_not_hot(make, cpu, memory):
    node = run(make, constant(cpu, memory))
    assert len(node.resizes) <= 8
    # One shrink window, then silence.
    assert not after(node, 800)
    assert cpu <= 0.8 * node.sizes["a"].cpu.limit
    assert memory <= 0.8 * node.sizes["a"].memory.limit


@settings(max_examples=10, deadline=None)
@given(low=st.integers(50, 600), factor=st.floats(1.1, 3.5), period=st.integers(30, 600))
def test_a_sawtooth_shorter_than_the_window_settles(make, low, factor, period):
    node = run(make, sawtooth(low, low * factor, period), seconds=2 * HOUR)
    assert len(node.resizes) <= 12
    assert not after(node, 2 * HOUR - 2400)


@settings(max_examples=10, deadline=None)
@given(
    low=st.integers(50, 300),
    high=st.integers(400, 2400),
    every=st.integers(60, 550),
    length=st.integers(30, 60),
)
def test_bursts_are_remembered(make, low, high, every, length):
    node = run(make, bursts(low, high, every, length), seconds=2 * HOUR)
    assert len(node.resizes) <= 12
    assert not after(node, 2 * HOUR - 2400)


def test_a_phase_change_is_followed_in_a_minute_and_given_back_after_the_window(make):
    def load(second):
        return (3000, 600) if 600 <= second < 1800 else (500, 600)

    node = run(make, load, seconds=HOUR)
    up = [at_s for at_s, g in node.resizes if g.cause is Reason.HOT]
    down = [at_s for at_s, g in node.resizes if g.reason is Reason.IDLE]
    assert max(up) <= 600 + 90
    assert [1800 + 600 <= at_s <= 1800 + 720 for at_s in down] == [True]
    assert node.sizes["a"].cpu.limit == pytest.approx(500 / 0.65, rel=0.05)


def test_memory_that_climbs_is_never_at_its_limit(make):
    def load(second):
        return 500, min(300 + second * 4, 2500)

    node = make.perfect_node(loads={"a": load})
    node.run(1200)
    for snapshot in node.snapshots:
        (state,) = snapshot.pods[0].containers
        if state.usage is not None:
            assert state.usage.latest.memory_bytes < state.spec.memory.limit


def test_two_neighbours_on_a_full_node_do_not_take_turns(make):
    loads = {"a": constant(1500, 500), "b": constant(200, 500)}
    node = make.perfect_node(loads=loads, cpu=2000)
    node.run(HOUR)
    moves = Counter(grant.container.key.pod for _, grant in node.resizes)
    assert sum(moves.values()) <= 6
    assert not after(node, 900)
    assert sum(size.cpu.request for size in node.sizes.values()) <= 2000
    assert node.sizes["a"].cpu.limit > 1500


@settings(max_examples=5, deadline=None)
@given(
    loads=st.lists(
        st.tuples(rate, st.integers(50, 2400), st.integers(40, 900)), min_size=4, max_size=4
    ),
    room=st.integers(4000, 9000),
)
def test_a_crowded_node_is_never_overcommitted_and_calms_down(make, loads, room):
    waves = {
        name: lambda s, base=base, swing=swing, period=period: (
            base + swing / 2 * (1 + math.sin(s / period)),
            base,
        )
        for name, (base, swing, period) in zip("abcd", loads, strict=True)
    }
    node = make.perfect_node(loads=waves, cpu=room, memory=room)
    node.run(HOUR)
    for snapshot in node.snapshots:
        for resource in Resource:
            used = sum(pod.footprint[resource] for pod in snapshot.pods)
            assert used <= snapshot.allocatable[resource]
    per_minute = len(node.resizes) / 60
    assert per_minute <= 4 * 0.4
