"""Quantities by value, exactly as Kubernetes parses them (apimachinery `resource.Quantity`).

The value is an integer number of nano-units, so nothing is ever rounded but what Kubernetes rounds
(up, to a nano). Compare values, never texts: Kubernetes keeps the text that it was given.
"""

import re
from collections.abc import Mapping
from enum import StrEnum
from functools import lru_cache
from typing import Final

from argocd_fluid.errors import QuantityError
from argocd_fluid.records import dataclass, field

NANO: Final = 10**9
MAX_INT64: Final = 2**63 - 1


class Format(StrEnum):
    """How a quantity is written; it has no part in its value."""

    DECIMAL_SI = "DecimalSI"
    BINARY_SI = "BinarySI"
    DECIMAL_EXPONENT = "DecimalExponent"


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Quantity:
    """A value in nano-units; equal and ordered by value alone. `str()` is canonical."""

    nano: int
    format: Format = field(default=Format.DECIMAL_SI, compare=False)

    @classmethod
    def of_milli(cls, milli: int) -> "Quantity":
        """Give a CPU amount in millicores as a quantity."""
        return cls(nano=milli * (NANO // 1000))

    @classmethod
    def of_bytes(cls, amount: int) -> "Quantity":
        """Give a memory amount in bytes as a quantity that is written in Mi, Gi where it can be."""
        return cls(nano=amount * NANO, format=Format.BINARY_SI)

    def value(self) -> int:
        """Give whole units (bytes of memory), rounded away from zero."""
        return _divided_up(self.nano, NANO)

    def milli(self) -> int:
        """Give thousandths (millicores of CPU), rounded away from zero."""
        return _divided_up(self.nano, NANO // 1000)

    def __str__(self) -> str:
        if self.nano == 0:
            return "0"
        whole, rest = divmod(abs(self.nano), NANO)
        sign = "-" if self.nano < 0 else ""
        # Below 1024, or with a fraction, BinarySI would have to round.
        if self.format is Format.BINARY_SI and whole >= _KIBI and not rest:
            return sign + _binary(whole)
        return sign + _decimal(abs(self.nano), self.format)


_KIBI: Final = 1024
_BINARY: Final = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_DECIMAL: Final[Mapping[str, int]] = {
    "n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18,
}  # fmt: skip
_SUFFIX_OF: Final = {exponent: suffix for suffix, exponent in _DECIMAL.items()}

_QUANTITY: Final = re.compile(
    r"(?P<sign>[+-]?)0*(?P<num>[0-9]*)(?:\.(?P<denom>[0-9]*))?"
    r"(?P<suffix>[eEinumkKMGTP]*[+-]?[0-9]*)"
)
_EXPONENT: Final = re.compile(r"[eE](?P<exponent>[+-]?[0-9]+)")
# Go trims what Unicode calls a space, after JSON has escaped control characters and U+2028/2029.
_SPACES: Final = " \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"  # noqa: E501 - one literal
# Kubernetes takes any length and any exponent that fits 64 bits; more than this only costs time.
_MAX_EXPONENT: Final = 3000
_MAX_TEXT: Final = 1000
_INT64_DIGITS: Final = 18


def parse_quantity(text: str | float) -> Quantity:
    """Parse what a manifest may hold: a string, or a JSON number.

    Raises QuantityError for what Kubernetes refuses ("1K", "1_000", "inf", a boolean).
    """
    if isinstance(text, bool) or not isinstance(text, str | int | float):
        raise QuantityError(f"{text!r} is no quantity", hint=_HINT)
    return _parse(text if isinstance(text, str) else repr(text))


_HINT: Final = 'write it like 500m, 2, "1.5" for cpu and 512Mi, 4Gi for memory'


@lru_cache(maxsize=4096)
def _parse(text: str) -> Quantity:
    trimmed = text.strip(_SPACES)
    match = _QUANTITY.fullmatch(trimmed)
    if match is None or not trimmed or len(trimmed) > _MAX_TEXT:
        raise QuantityError(f"{text!r} is no quantity", hint=_HINT)
    base, exponent, form = _scale(match["suffix"], text)
    num, denom = match["num"] or "0", match["denom"] or ""
    if not _has_digits(trimmed, match.start("suffix")) and not _is_fast(num, denom, exponent, base):
        raise QuantityError(f"{text!r} is no quantity", hint=_HINT)
    nano = _nano(int(num + denom), len(denom), base=base, exponent=exponent)
    if form is Format.BINARY_SI:
        nano = min(nano, MAX_INT64 * NANO)
        if 0 < nano < NANO:
            form = Format.DECIMAL_SI
    return Quantity(nano=-nano if match["sign"] == "-" else nano, format=form)


def _scale(suffix: str, text: str) -> tuple[int, int, Format]:
    """Give base, exponent and format of a suffix."""
    if suffix in _DECIMAL:
        return 10, _DECIMAL[suffix], Format.DECIMAL_SI
    if suffix in _BINARY:
        return 2, 10 * _BINARY.index(suffix), Format.BINARY_SI
    match = _EXPONENT.fullmatch(suffix)
    if match is None or abs(int(match["exponent"])) > _MAX_EXPONENT:
        raise QuantityError(f"{text!r} has no suffix that Kubernetes knows", hint=_HINT)
    return 10, int(match["exponent"]), Format.DECIMAL_EXPONENT


def _has_digits(text: str, end: int) -> bool:
    return any(character.isdecimal() for character in text[:end])


def _is_fast(num: str, denom: str, exponent: int, base: int) -> bool:
    """Whether Go's fast path takes it: there a missing number means 0, elsewhere it is an error."""
    if base == 10:  # noqa: PLR2004 - the base of a suffix is 2 or 10
        return exponent >= _DECIMAL["n"] and len(num + denom) <= _INT64_DIGITS
    return 15 - len(num) - exponent * 3 // 10 - 1 >= 0


def _nano(digits: int, places: int, *, base: int, exponent: int) -> int:
    """Scale an unsigned decimal to nano-units, rounding up."""
    if base == 2:  # noqa: PLR2004 - the base of a suffix is 2 or 10
        return _divided_up((digits << exponent) * NANO, 10**places)
    scale = exponent - places + 9
    return digits * 10**scale if scale >= 0 else _divided_up(digits, 10**-scale)


def _divided_up(number: int, by: int) -> int:
    """Divide, rounding away from zero."""
    return -(-number // by) if number >= 0 else number // by


def _binary(whole: int) -> str:
    times = 0
    while whole % _KIBI == 0 and times < len(_BINARY) - 1:
        whole, times = whole // _KIBI, times + 1
    return f"{whole}{_BINARY[times]}"


def _decimal(nano: int, form: Format) -> str:
    """Write with the largest exponent, a multiple of 3, that loses nothing."""
    exponent = -9
    while nano % 1000 == 0 and (exponent < _DECIMAL["E"] or form is Format.DECIMAL_EXPONENT):
        nano, exponent = nano // 1000, exponent + 3
    if form is Format.DECIMAL_EXPONENT:
        return f"{nano}e{exponent}" if exponent else str(nano)
    return f"{nano}{_SUFFIX_OF[exponent]}"
