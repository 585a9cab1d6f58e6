"""How single values of a policy are read. Each raises PolicyError; the caller adds the place."""

from difflib import get_close_matches
from fnmatch import fnmatchcase

from argocd_fluid.errors import PolicyError, QuantityError
from argocd_fluid.manifests.kinds import NAMES
from argocd_fluid.manifests.quantity import Quantity, parse_quantity
from argocd_fluid.policy.model import Limits, Mode


def cpu(value: object) -> int:
    """Read a CPU amount above zero: millicores."""
    return _positive(_quantity(value, "500m, 2").milli(), value)


def memory(value: object) -> int:
    """Read a memory amount above zero: bytes."""
    return _positive(_quantity(value, "512Mi, 4Gi").value(), value)


def share(value: object) -> float:
    """Read a share of a limit or request, above 0 and at most 1."""
    number = _number(value)
    if not 0 < number <= 1:
        raise PolicyError(f"{value!r} is not above 0 and at most 1")
    return number


def factor(value: object) -> float:
    """Read a factor that makes larger."""
    number = _number(value)
    if not 1 < number <= _MAX_FACTOR:
        raise PolicyError(f"{value!r} is not above 1 and at most {_MAX_FACTOR}")
    return number


_MAX_FACTOR = 100


def priority(value: object) -> int:
    """Read a whole number."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise PolicyError(f"{value!r} is no whole number")
    if abs(value) > _MAX_INT32:
        raise PolicyError(f"{value!r} is not within {_MAX_INT32}")
    return value


_MAX_INT32 = 2**31 - 1


def flag(value: object) -> bool:
    """Read true or false."""
    if not isinstance(value, bool):
        raise PolicyError(f"{value!r} is neither true nor false")
    return value


def glob(value: object) -> str:
    """Read a text that is not empty."""
    if not isinstance(value, str) or not value:
        raise PolicyError(f"{value!r} is no text", hint="quote it, or leave the key out")
    return value


def workload_kind(value: object) -> str:
    """Read a glob that at least one kind with pods matches."""
    pattern = glob(value)
    if not any(fnmatchcase(kind, pattern) for kind in NAMES):
        near = get_close_matches(pattern.lower(), [kind.lower() for kind in NAMES], n=1)
        named = [kind for kind in NAMES if kind.lower() in near]
        hint = f"did you mean {named[0]}?" if named else f"known: {', '.join(NAMES)}"
        raise PolicyError(f"{pattern!r} is no kind that is known here", hint=hint)
    return pattern


def text(value: object) -> str:
    """Read any text."""
    if not isinstance(value, str):
        raise PolicyError(f"{value!r} is no text")
    return value


def anything(value: object) -> object:
    """Read what is not looked at here."""
    return value


def mapping(value: object) -> dict[str, object]:
    """Read a mapping of anything; nothing is an empty one."""
    if not isinstance(value, dict | None):
        raise PolicyError(f"{value!r} is no mapping")
    return value or {}


def operation(value: object) -> str:
    """Read the name of an operation of RFC 6902."""
    known = ("add", "remove", "replace", "move", "copy", "test")
    if value not in known:
        raise PolicyError(f"{value!r} is none of {', '.join(known)}")
    return str(value)


def pointer(value: object) -> str:
    """Read a JSON pointer to a part of an object."""
    if not isinstance(value, str) or not value.startswith("/"):
        raise PolicyError(f"{value!r} is no JSON pointer", hint="write it like /metadata/labels/a")
    return value


def mode(value: object) -> Mode:
    """Read a mode; YAML reads an unquoted `off` as false."""
    if value is False:
        return Mode.OFF
    if not isinstance(value, str) or value not in list(Mode):
        raise PolicyError(f"{value!r} is none of {', '.join(Mode)}")
    return Mode(value)


def limits(value: object) -> Limits:
    """Read what happens to limits."""
    if not isinstance(value, str) or value not in list(Limits):
        raise PolicyError(f"{value!r} is none of {', '.join(Limits)}")
    return Limits(value)


def _quantity(value: object, example: str) -> Quantity:
    hint = f"write it like {example}"
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise PolicyError(f"{value!r} is no quantity", hint=hint)
    try:
        return parse_quantity(value)
    except QuantityError as error:
        raise PolicyError(error.problem, hint=hint) from None


def _positive(amount: int, value: object) -> int:
    if amount <= 0:
        raise PolicyError(f"{value!r} is not above zero")
    return amount


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise PolicyError(f"{value!r} is no number")
    return float(value)
