"""What a plain YAML scalar means to Kubernetes.

sigs.k8s.io/yaml decodes with go-yaml's YAML 1.1 tables and its own numbers, then goes through JSON.
Measured against kubectl 1.37 (`y` is true, `0o644` is 420, `08` is 8, `12:30:45` is a string).
"""

import math
import re

Scalar = str | int | float | bool | None

NULLS = {"", "~", "null", "Null", "NULL"}
BOOLEANS = {
    spelling: value
    for value, words in ((True, ("y", "yes", "true", "on")), (False, ("n", "no", "false", "off")))
    for word in words
    for spelling in (word, word.capitalize(), word.upper())
}
NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)", re.ASCII)
PLAIN_INTEGER = re.compile(r"[-+]?[0-9]+", re.ASCII)
FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", re.ASCII)
# Go's ParseInt with base 0; Python's own prefixes differ (0644 is octal there).
PREFIXED = re.compile(
    r"[-+]?0(?:[bB](?P<b>[01]+)|[xX](?P<x>[0-9a-fA-F]+)|[oO](?P<o>[0-7]+)|(?P<old>[0-7]+))",
    re.ASCII,
)
BASES = {"b": 2, "x": 16, "o": 8, "old": 8}
FIRST = frozenset("0123456789+-.")

INT64_MIN, UINT64_MAX = -(2**63), 2**64 - 1


class NotJson(ValueError):
    """A number that JSON cannot hold: infinity or NaN."""


def resolve(text: str) -> Scalar:
    """Give the value of a plain (unquoted, untagged) scalar. Raises NotJson."""
    if text in NULLS:
        return None
    if text in BOOLEANS:
        return BOOLEANS[text]
    if text[0] not in FIRST:
        return text
    if NOT_FINITE.fullmatch(text):
        raise NotJson(text)
    number = _number(text.replace("_", ""))
    return text if number is None else number


def _number(text: str) -> int | float | None:
    integer = _integer(text)
    if integer is not None and INT64_MIN <= integer <= UINT64_MAX:
        return integer
    if not FLOAT.fullmatch(text):
        return None
    value = float(text)
    if math.isinf(value):
        # Go's parser reports a range error, and the scalar stays a string.
        return None
    whole = value.is_integer() and abs(value) < 2**63
    # JSON has one kind of number: 1e3 and 1000 are the same on the wire.
    return int(value) if whole else value


def _integer(text: str) -> int | None:
    prefixed = PREFIXED.fullmatch(text)
    if prefixed and prefixed.lastgroup:
        value = int(prefixed[prefixed.lastgroup], BASES[prefixed.lastgroup])
        return -value if text[0] == "-" else value
    return int(text) if PLAIN_INTEGER.fullmatch(text) and _is_decimal(text) else None


def _is_decimal(text: str) -> bool:
    """08 is no integer to Go, but a float with the value 8."""
    digits = text.lstrip("+-")
    return digits == "0" or digits[0] != "0"
