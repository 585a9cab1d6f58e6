"""Durations as Go writes them: `15s`, `10m`, `1h30m`, `1.5s`, `0`. Seconds inside."""

import re
from typing import Final

from argocd_fluid.errors import PolicyError, Where

_UNITS: Final = {
    "ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0,
}  # fmt: skip
_PART: Final = r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h)"


def parse_duration(text: object) -> float:
    """Parse a duration that is not negative, in seconds; raises PolicyError."""
    if text in ("0", 0) and not isinstance(text, bool):
        return 0.0
    if not isinstance(text, str) or not re.fullmatch(f"(?:{_PART})+", text):
        raise PolicyError(f"{text!r} is no duration", hint="write it like 15s, 10m, 1h30m")
    return sum(float(number) * _UNITS[unit] for number, unit in re.findall(_PART, text))


def parse_time_limit(text: str, *, where: Where | None = None) -> float:
    """Parse a duration above zero.

    The error leaves the text out: what an environment holds is nobody's to print.
    """
    try:
        seconds = parse_duration(text)
    except PolicyError:
        seconds = 0
    if not seconds:
        raise PolicyError("is no duration above zero", where=where, hint="write it like 45s")
    return seconds


def format_duration(seconds: float) -> str:
    """Write seconds as `parse_duration` reads them: `10m`, `1h30m`, `1.5s`, at most nanoseconds."""
    whole = round(seconds)
    if whole != seconds:
        return f"{seconds:.9f}".rstrip("0").rstrip(".") + "s"
    hours, rest = divmod(whole, 3600)
    minutes, rest = divmod(rest, 60)
    parts = ((hours, "h"), (minutes, "m"), (rest, "s"))
    return "".join(f"{number}{unit}" for number, unit in parts if number) or "0s"
