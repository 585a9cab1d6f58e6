import sys

import pytest
from argocd_fluid.engine.model import Amounts, Resource, Size
from argocd_fluid.engine.usage import History, Reading
from argocd_fluid.policy.model import ContainerPolicy, ResourcePolicy

T = 50_000.0
SIZE = Size(cpu=Amounts(request=1000, limit=1000), memory=Amounts(request=1000, limit=1000))
POLICY = ContainerPolicy(
    cpu=ResourcePolicy(min=1, max=9999), memory=ResourcePolicy(min=1, max=9999)
)


def reading(at, cpu_s=None, memory=100, **changes):
    nano = None if cpu_s is None else int(cpu_s * 1e9)
    values = {"memory_bytes": memory, "memory_usage_bytes": memory, "cpu_nano": nano}
    return Reading(time_s=T + at, **{**values, **changes})


def filled(*readings):
    history = History()
    for each in readings:
        history.add(each)
    return history


def seen(history, at, policy=POLICY):
    return history.usage(T + at, policy=policy, size=SIZE)


@pytest.mark.parametrize(
    ("readings", "expected"),
    [
        pytest.param([reading(0, 1), reading(10, 6)], 500, id="rate"),
        pytest.param([reading(0, 1, cpu_rate_nano=7 * 10**8)], 700, id="first: kubelet's own rate"),
        pytest.param([reading(0, 1)], None, id="first without a rate"),
        pytest.param([reading(0, 1), reading(10, 6), reading(10, 6)], 500, id="repeated sample"),
        pytest.param([reading(0, 1), reading(10, 6), reading(5, 2)], 500, id="late answer"),
        pytest.param(
            [reading(0, 90), reading(10, 2, cpu_rate_nano=2 * 10**8)], 200, id="counter reset"
        ),
        pytest.param(
            [reading(0, 1, started_s=1.0), reading(10, 9, started_s=2.0, cpu_rate_nano=10**8)],
            100,
            id="restart whose counter overtook the old one",
        ),
        pytest.param([reading(5000, 1), reading(0, 9), reading(10, 10)], 100, id="clock set back"),
        pytest.param([reading(0), reading(10)], None, id="no counter"),
    ],
)
def test_cpu_rate(readings, expected):
    usage = seen(filled(*readings), 12)
    assert usage.latest.cpu_milli == (None if expected is None else pytest.approx(expected))


def test_says_whether_a_reading_counted():
    history = History()
    assert history.add(reading(0, 1))
    assert not history.add(reading(0, 1))
    assert history.add(reading(10, 1))


def test_no_usage_before_the_first_reading_or_from_a_stale_one():
    assert seen(History(), 0) is None
    history = filled(reading(0, 1))
    assert seen(history, 100) is not None
    assert seen(history, 121) is None


def test_peaks_last_for_the_window_and_then_fall():
    history = filled(reading(0, 0), reading(10, 9, memory=900), reading(20, 9))
    for second in range(30, 1000, 10):
        history.add(reading(second, 9 + (second - 20) * 0.1))
        usage = seen(history, second)
        if second <= 600:
            assert usage.peak_cpu_milli == pytest.approx(900)
            assert usage.peak_memory_bytes == 900
    assert usage.peak_cpu_milli == pytest.approx(100)
    assert usage.peak_memory_bytes == 100
    assert usage.window_s == 600


def test_below_since_starts_after_the_last_sample_over_the_threshold():
    history = filled(reading(0, 0), reading(10, 9))
    for second in range(20, 400, 10):
        history.add(reading(second, 9 + (second - 10) * 0.1))
    since_s = seen(history, 400).below_since[Resource.CPU]
    assert T + 10 < since_s <= T + 10 + 60


def test_below_since_is_none_while_hot_and_breaks_at_a_long_silence():
    busy = filled(reading(0, 0), reading(10, 9))
    assert seen(busy, 10).below_since[Resource.CPU] is None
    silent = filled(*(reading(s, s * 0.1) for s in range(0, 300, 10)))
    silent.add(reading(500, 50))
    assert seen(silent, 500).below_since[Resource.CPU] > T + 300


def test_below_since_is_measured_against_the_size_given():
    history = filled(*(reading(s, s * 0.5) for s in range(0, 300, 10)))
    big = Size(cpu=Amounts(request=2000, limit=2000))
    assert seen(history, 300).below_since[Resource.CPU] is None
    assert history.usage(T + 300, policy=POLICY, size=big).below_since[Resource.CPU] is not None


def test_a_policy_with_another_window_keeps_what_is_known():
    history = filled(*(reading(s, 0, memory=300 + s) for s in range(0, 600, 10)))
    wide = ContainerPolicy(cpu=None, memory=POLICY.memory, scale_down_after_s=1200)
    assert seen(history, 600, wide).peak_memory_bytes == 890
    narrow = ContainerPolicy(cpu=None, memory=POLICY.memory, scale_down_after_s=20)
    assert seen(history, 600, narrow).peak_memory_bytes == 890


@pytest.mark.parametrize(
    ("memory", "expected"),
    [
        pytest.param([100, 110], 0, id="too few"),
        pytest.param([100, 120, 140, 160], 2, id="straight"),
        pytest.param([100, 120, 900, 160, 180, 200], 2, id="one odd sample"),
        pytest.param([100, 100, 100], 0, id="flat"),
    ],
)
def test_trend(memory, expected):
    history = filled(*(reading(i * 10, 0, memory=m) for i, m in enumerate(memory)))
    trend = seen(history, len(memory) * 10).memory_trend_bytes_per_s
    assert trend == pytest.approx(expected, abs=0.3)


def test_a_restart_starts_the_trend_anew():
    history = filled(*(reading(i * 10, i, memory=100 + i * 100, started_s=1.0) for i in range(5)))
    history.add(reading(50, 0, memory=50, started_s=45.0))
    assert seen(history, 50).memory_trend_bytes_per_s == 0


def test_a_history_stays_under_one_kilobyte():
    history = filled(*(reading(s, s) for s in range(0, 5000, 5)))
    seen(history, 5000)
    own = [getattr(history, slot) for slot in History.__slots__]
    last = [getattr(history._last, slot) for slot in Reading.__slots__]
    held = {id(o): o for o in [history, *own, *last]}
    assert sum(sys.getsizeof(o) for o in held.values()) < 1024
