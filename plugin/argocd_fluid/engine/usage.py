"""What one container used lately, from readings that come late, twice, or after a restart.

The kubelet refreshes its figures every 10 to 16 s and is asked more often, so a reading counts
once, by its own time. A history is plain data without a clock and stays under 1 KB: peaks per
bucket of the scale-down window, and the last few working sets for the trend.
"""

import math
from array import array
from dataclasses import dataclass
from statistics import median

from argocd_fluid.engine.model import Resource, Sample, Size, Usage
from argocd_fluid.engine.sizes import reference
from argocd_fluid.policy.model import ContainerPolicy

_BUCKETS = 15
_FIELDS = 3  # peaks of cpu, working set, usage with cache
_SPARE_BUCKETS = 2  # the newest is not full, the oldest is partly out of the window
_MIN_BUCKET_S = 5.0
_RECENT = 5
_TREND_WINDOW_S = 120.0
_TREND_MIN_SAMPLES = 3
_GAP_S = 60.0
"""A longer silence breaks `below_since`: nobody saw whether the container was idle."""
_STALE_S = 120.0
_CLOCK_STEP_S = 60.0
"""A sample so much older than the newest tells of a clock set back."""
_NONE = -1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One container in one answer of a usage source."""

    time_s: float
    """The sample's own time, not when it was asked for."""
    memory_bytes: int
    """Working set."""
    memory_usage_bytes: int
    """With page cache; the working set where the source does not tell."""
    cpu_nano: int | None
    """Cumulative cpu time in nanoseconds (usageCoreNanoSeconds); None: no such counter."""
    cpu_rate_nano: int | None = None
    """The source's own rate (usageNanoCores), used where no difference can be taken."""
    started_s: float | None = None
    """Start of the container: tells a restart even when the counter has overtaken its old value."""


class History:
    """Bounded history of one container (key it by ContainerKey; drop it with the pod)."""

    __slots__ = ("_cpu_milli", "_first_s", "_last", "_newest", "_peaks", "_recent", "_width_s")

    def __init__(self, window_s: float = 600.0) -> None:
        """Cover `window_s`; `usage` widens or narrows it to what the policy asks for."""
        self._width_s = _width(window_s)
        self._clear()

    def _clear(self) -> None:
        self._peaks = array("d", [_NONE]) * (_BUCKETS * _FIELDS)
        self._newest = 0
        self._recent = array("d")
        self._first_s = 0.0
        self._cpu_milli: float | None = None
        self._last: Reading | None = None

    def add(self, reading: Reading) -> bool:
        """Take a reading; False if it was counted before or is older than the newest one."""
        last = self._last
        if last is not None and reading.time_s <= last.time_s:
            if reading.time_s > last.time_s - _CLOCK_STEP_S:
                return False
            self._clear()
            last = None
        if last is None:
            self._first_s = reading.time_s
            self._newest = self._bucket(reading.time_s)
        elif _restarted(last, reading):
            # The memory of the process before says nothing about the slope of this one.
            self._recent = array("d")
        self._cpu_milli = _cpu_milli(last, reading)
        self._last = reading
        self._raise_peaks(reading)
        self._recent.extend((reading.time_s, float(reading.memory_bytes)))
        del self._recent[: -2 * _RECENT]
        return True

    def usage(self, now: float, *, policy: ContainerPolicy, size: Size) -> Usage | None:
        """Say what the window shows against `size`, the spec.

        None before the first reading, and when the newest is over 2 minutes old.
        """
        last = self._last
        if last is None or now - last.time_s > _STALE_S:
            return None
        self._cover(policy.scale_down_after_s)
        since_s = now - policy.scale_down_after_s
        cpu, memory, cached = (self._peak(field, since_s) for field in range(_FIELDS))
        return Usage(
            latest=Sample(
                time_s=last.time_s,
                cpu_milli=self._cpu_milli,
                memory_bytes=last.memory_bytes,
                memory_usage_bytes=last.memory_usage_bytes,
            ),
            peak_cpu_milli=cpu,
            peak_memory_bytes=int(memory),
            peak_memory_usage_bytes=int(cached),
            window_s=min(max(now - self._first_s, 0.0), policy.scale_down_after_s),
            memory_trend_bytes_per_s=self._trend(now),
            below_since={
                Resource.CPU: self._below_since(0, _threshold(Resource.CPU, policy, size)),
                Resource.MEMORY: self._below_since(1, _threshold(Resource.MEMORY, policy, size)),
            },
        )

    def _bucket(self, time_s: float) -> int:
        return math.floor(time_s / self._width_s)

    def _raise_peaks(self, reading: Reading) -> None:
        bucket = self._bucket(reading.time_s)
        for passed in range(max(self._newest + 1, bucket - _BUCKETS + 1), bucket + 1):
            for offset in range(_FIELDS):
                self._peaks[passed % _BUCKETS * _FIELDS + offset] = _NONE
        self._newest = bucket
        values = (self._cpu_milli, reading.memory_bytes, reading.memory_usage_bytes)
        for offset, value in enumerate(values):
            index = bucket % _BUCKETS * _FIELDS + offset
            self._peaks[index] = max(self._peaks[index], _NONE if value is None else float(value))

    def _cover(self, window_s: float) -> None:
        width_s = _width(window_s)
        if width_s == self._width_s:
            return
        old = [
            (
                (bucket + 1) * self._width_s,
                [self._value(bucket, offset) for offset in range(_FIELDS)],
            )
            for bucket in range(self._newest - _BUCKETS + 1, self._newest + 1)
        ]
        self._peaks = array("d", [_NONE]) * (_BUCKETS * _FIELDS)
        self._width_s = width_s
        last_s = self._last.time_s if self._last else 0.0
        self._newest = self._bucket(last_s)
        for end_s, values in old:
            # A peak counts as late as it can have been: that never shrinks too early.
            bucket = self._bucket(min(end_s, last_s))
            if bucket > self._newest - _BUCKETS:
                for offset, value in enumerate(values):
                    index = bucket % _BUCKETS * _FIELDS + offset
                    self._peaks[index] = max(self._peaks[index], value)

    def _value(self, bucket: int, offset: int) -> float:
        return self._peaks[bucket % _BUCKETS * _FIELDS + offset]

    def _peak(self, offset: int, since_s: float) -> float:
        first = max(self._bucket(since_s), self._newest - _BUCKETS + 1)
        return max(0.0, *(self._value(b, offset) for b in range(first, self._newest + 1)), 0.0)

    def _below_since(self, offset: int, threshold: float | None) -> float | None:
        if threshold is None:
            return None
        since_s: float | None = None
        silent_s = 0.0
        for bucket in range(self._newest, self._newest - _BUCKETS, -1):
            value = self._value(bucket, offset)
            if value == _NONE:
                silent_s += self._width_s
            elif value >= threshold or silent_s > _GAP_S:
                break
            else:
                since_s, silent_s = bucket * self._width_s, 0.0
        return None if since_s is None else max(since_s, self._first_s)

    def _trend(self, now: float) -> float:
        """Median of the slopes of all pairs (Theil-Sen): one odd sample does not turn it."""
        points = [
            (self._recent[i], self._recent[i + 1])
            for i in range(0, len(self._recent), 2)
            if self._recent[i] >= now - _TREND_WINDOW_S
        ]
        if len(points) < _TREND_MIN_SAMPLES:
            return 0.0
        return median(
            (later - earlier) / (later_s - earlier_s)
            for i, (earlier_s, earlier) in enumerate(points)
            for later_s, later in points[i + 1 :]
        )


def _width(window_s: float) -> float:
    return max(window_s / (_BUCKETS - _SPARE_BUCKETS), _MIN_BUCKET_S)


def _restarted(last: Reading, reading: Reading) -> bool:
    if None not in (last.started_s, reading.started_s) and reading.started_s != last.started_s:
        return True
    if last.cpu_nano is None or reading.cpu_nano is None:
        return False
    return reading.cpu_nano < last.cpu_nano


def _cpu_milli(last: Reading | None, reading: Reading) -> float | None:
    if (
        last is None
        or last.cpu_nano is None
        or reading.cpu_nano is None
        or _restarted(last, reading)
    ):
        return None if reading.cpu_rate_nano is None else reading.cpu_rate_nano / 1e6
    return (reading.cpu_nano - last.cpu_nano) / (reading.time_s - last.time_s) / 1e6


def _threshold(resource: Resource, policy: ContainerPolicy, size: Size) -> float | None:
    scaling = policy.cpu if resource is Resource.CPU else policy.memory
    if scaling is None:
        return None
    base = reference(size.of(resource), scaling)
    return None if base is None else base * scaling.scale_down_at
