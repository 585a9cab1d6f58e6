"""Durations are Go's."""

import pytest
from argocd_fluid.errors import PolicyError
from argocd_fluid.policy.duration import format_duration, parse_duration
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("15s", 15),
        ("10m", 600),
        ("1h30m", 5400),
        ("1.5s", 1.5),
        (".5m", 30),
        ("250ms", 0.25),
        ("100us", 1e-4),
        ("0", 0),
        (0, 0),
        ("0s", 0),
    ],
)
def test_reads(text, seconds):
    assert parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "5", 5, "s", "-5s", "5 s", "5S", "1d", "1h-5m", True, None])
def test_refuses(text):
    with pytest.raises(PolicyError, match=r"write it like 15s, 10m, 1h30m"):
        parse_duration(text)


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0s"), (15, "15s"), (600, "10m"), (5400, "1h30m"), (1.5, "1.5s")]
)
def test_writes(seconds, text):
    assert format_duration(seconds) == text


@given(st.integers(min_value=0, max_value=10**7).map(lambda milli: milli / 1000))
def test_comes_back(seconds):
    assert parse_duration(format_duration(seconds)) == pytest.approx(seconds)
