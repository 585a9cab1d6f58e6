"""What a plain YAML scalar means to Kubernetes (sigs.k8s.io/yaml: YAML 1.1 with exceptions).

Measured against kubectl: no timestamps, no base 60, `y` is true, `0o17` and `017` are octal, `08`
is 8, `1e3` is 1000. Both the reader and the writer stand on `resolve`, so that what the writer
leaves plain comes back as the same string.
"""

import binascii
import math
import re
import struct
from collections.abc import Callable
from typing import Final

Scalar = str | int | float | bool | None
"""A value in JSON that has no parts."""


class ScalarError(ValueError):
    """A scalar that Kubernetes refuses; the reader adds the place."""


_WORDS: Final[dict[str, Scalar]] = {
    **dict.fromkeys(["y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE"], True),
    **dict.fromkeys(["on", "On", "ON"], True),
    **dict.fromkeys(["n", "N", "no", "No", "NO", "false", "False", "FALSE"], False),
    **dict.fromkeys(["off", "Off", "OFF"], False),
    **dict.fromkeys(["", "~", "null", "Null", "NULL"]),
    **dict.fromkeys([".nan", ".NaN", ".NAN"], math.nan),
    **dict.fromkeys([".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"], math.inf),
    **dict.fromkeys(["-.inf", "-.Inf", "-.INF"], -math.inf),
}
# No other first character can start a word, a number or nothing.
_MEANS_MORE: Final = frozenset("yYnNtTfFoO~.+-0123456789")
_INT: Final = re.compile(
    r"(?P<sign>[-+]?)(?:0[xX](?P<hex>[0-9a-fA-F]+)|0[oO]?(?P<octal>[0-7]+)"
    r"|0[bB](?P<binary>[01]+)|(?P<decimal>0|[1-9][0-9]*))"
)
_BASES: Final = {"hex": 16, "octal": 8, "binary": 2, "decimal": 10}
_FLOAT: Final = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_MAX_UINT64: Final = 2**64 - 1
_MAX_INT64: Final = 2**63 - 1
_MIN_INT64: Final = -(2**63)
# From here on Go writes a float with an exponent; below, a whole one comes out as an integer.
_EXPONENT_FROM: Final = 1e21


def resolve(text: str) -> Scalar:
    """Give the value of a plain scalar; it may be a float that is not finite."""
    if text and text[0] not in _MEANS_MORE:
        return text
    if text in _WORDS:
        return _WORDS[text]
    first = text[0]
    if first == ".":
        return _as_float(text, text)
    if first in "+-0123456789":
        plain = text.replace("_", "")
        integer = _as_integer(plain)
        return _as_float(plain, text) if integer is None else integer
    return text


def is_word(text: str) -> bool:
    """Whether a plain scalar is one of the words that mean true, false, null or no number."""
    return text in _WORDS


def resolve_tagged(tag: str | None, text: str) -> Scalar:
    """Give the value of a scalar with an explicit tag; raises ScalarError where it does not fit."""
    name = (tag or "").removeprefix("tag:yaml.org,2002:")
    if name == "binary":
        return _decoded(text)
    expected = _TAGS.get(name)
    if expected is None:
        return text  # str, and every tag that nobody knows
    value = resolve(text)
    if not expected(value):
        raise ScalarError(f"cannot decode {text!r} as a !!{name}")
    return value


def as_json(value: Scalar) -> Scalar:
    """Give the value as it stands after Kubernetes has turned YAML into JSON.

    Raises ScalarError for what JSON cannot hold.
    """
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ScalarError(f"{value} cannot be written as JSON: Kubernetes refuses it")
        if value.is_integer() and abs(value) < _EXPONENT_FROM:
            value = int(value)
    if isinstance(value, int) and not _MIN_INT64 <= value <= _MAX_INT64:
        return float(value)
    return value


def as_key(value: Scalar) -> str:
    """Give a mapping key as Kubernetes spells it; raises ScalarError for null."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        raise ScalarError("a key is null; Kubernetes wants strings")
    if isinstance(value, int) and value > _MAX_INT64:
        raise ScalarError(f"a key is {value}; Kubernetes wants strings")
    return str(value) if isinstance(value, int) else _as_float32(value)


def _as_integer(plain: str) -> int | None:
    match = _INT.fullmatch(plain)
    if match is None or match.lastgroup is None:
        return None
    digits = match[match.lastgroup]
    if len(digits) > _MAX_DIGITS:
        return None
    value = int(digits, _BASES[match.lastgroup])
    if match["sign"] == "-":
        value = -value
    # An unsigned 64-bit integer has no sign in front.
    high = _MAX_INT64 if match["sign"] else _MAX_UINT64
    return value if _MIN_INT64 <= value <= high else None


# Longer ones are floats or text anyway, and Python refuses to convert them.
_MAX_DIGITS: Final = 1000


def _as_float(plain: str, text: str) -> float | str:
    if not _FLOAT.fullmatch(plain):
        return text
    value = float(plain)
    return value if math.isfinite(value) else text


def _decoded(text: str) -> str:
    try:
        return binascii.a2b_base64("".join(text.split()), strict_mode=True).decode(errors="replace")
    except binascii.Error:
        raise ScalarError("!!binary value contains invalid base64 data") from None


def _is_number(value: Scalar) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_TAGS: Final[dict[str, Callable[[Scalar], bool]]] = {
    "int": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "float": _is_number,
    "bool": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
}


def _as_float32(value: float) -> str:
    """Write like Go's FormatFloat(value, 'g', -1, 32), which sigs.k8s.io/yaml does with keys."""
    single = _single(value)
    if not math.isfinite(single):
        return {math.inf: ".inf", -math.inf: "-.inf"}.get(single, ".nan")
    shortest = next(
        (text for text in (f"{single:.{digits}e}" for digits in range(9)) if _same(text, single)),
        f"{single:.9e}",
    )
    mantissa, _, exponent = shortest.partition("e")
    digits = mantissa.replace(".", "").lstrip("-")
    if not _PLAIN_EXPONENTS[0] <= int(exponent) < _PLAIN_EXPONENTS[1]:
        return f"{mantissa}e{int(exponent):+03d}"
    places = max(len(digits) - 1 - int(exponent), 0)
    return f"{single:.{places}f}"


# What Go writes without an exponent where it is asked for the shortest form.
_PLAIN_EXPONENTS: Final = (-4, 6)


def _single(value: float) -> float:
    try:
        return float(struct.unpack("f", struct.pack("f", value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def _same(text: str, single: float) -> bool:
    return _single(float(text)) == single
