"""Read a stream of JSON documents that libyaml cannot read: tabs, surrogate pairs, no separators.

Same meaning as the YAML reader, but lines are known per document only.
"""

import json
from collections.abc import Iterator
from typing import Any, NoReturn

from argocd_fluid.errors import ManifestError, Where
from argocd_fluid.manifests.document import Marks
from argocd_fluid.manifests.scalars import ScalarError, as_json


class NotJsonError(ValueError):
    """The text is not a stream of JSON documents."""


def read(text: str, file: str) -> Iterator[tuple[Any, Marks]]:
    """Give each document with its line; raises NotJsonError, or ManifestError for duplicates."""
    position = _next(text, 0)
    while position < len(text):
        line = text.count("\n", 0, position) + 1
        where = Where(file=file, line=line)
        try:
            value, end = _decoder(where).raw_decode(text, position)
        except (ValueError, ScalarError) as error:
            raise NotJsonError(str(error)) from None
        except RecursionError:
            raise ManifestError("is nested too deep", where=where) from None
        yield value, Marks(line)
        position = _next(text, end)


def _next(text: str, position: int) -> int:
    while position < len(text) and text[position] in " \t\r\n":
        position += 1
    return position


def _decoder(where: Where) -> json.JSONDecoder:
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(pairs)
        if len(value) != len(pairs):
            names = [name for name, _ in pairs]
            twice = next(name for name in names if names.count(name) > 1)
            raise ManifestError(f"key {twice!r} is given twice", where=where)
        return value

    return json.JSONDecoder(
        object_pairs_hook=unique,
        parse_int=lambda digits: as_json(_number(digits)),
        parse_float=lambda digits: as_json(float(digits)),
        parse_constant=_refuse,
    )


def _number(digits: str) -> int | float:
    # Python refuses to convert very long integers; they are far beyond 64 bits anyway.
    return float(digits) if len(digits) > _INT_DIGITS else int(digits)


_INT_DIGITS = 30


def _refuse(constant: str) -> NoReturn:
    raise NotJsonError(f"{constant} is no JSON")
