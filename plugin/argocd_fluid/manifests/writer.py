"""Write manifests: JSON for Argo CD, YAML for people. Both come back as the same values.

Argo CD reads `---`-separated documents with a YAML decoder even where they are JSON, and loses
the second of two documents without a separator, so each one gets its own `---`.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, Final

from argocd_fluid.manifests.scalars import resolve

# YAML decoders fold or refuse these where JSON allows them raw; lone surrogates are no text at all.
_SPECIAL: Final = "[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]"
# A colon inside is plain after a letter: behind digits other readers see a time (12:30).
_PLAIN: Final = re.compile(
    r"[A-Za-z0-9_./][-A-Za-z0-9_./=@+]*|[A-Za-z](?:[-A-Za-z0-9_./=@+:]*[-A-Za-z0-9_./=@+])?"
)
# JSON in an annotation stays readable in single quotes.
_SINGLE: Final = r"""[\x20-\x26\x28-\x7e\xa0-\ud7ff]*"""
# Text to Kubernetes, a date to most other readers.
_DATE: Final = re.compile(r"[0-9]{4}-")
_NOT_LITERAL: Final = "[^\t\n\x20-\x7e\xa0-\U0010ffff]|[ \t](?:\n|\\Z)"


@cache
def _pattern(text: str) -> re.Pattern[str]:
    """Compile large sets of characters when they are needed: it takes longer than a rendering."""
    return re.compile(text)


def to_json(manifests: Iterable[Mapping[str, Any]]) -> str:
    """Write one line of JSON per manifest, keys in the order that they have."""
    return "".join(f"---\n{compact(manifest)}\n" for manifest in manifests)


def to_yaml(manifests: Iterable[Mapping[str, Any]]) -> str:
    """Write YAML as people do, without aliases and without folded lines."""
    lines = (line for manifest in manifests for line in ("---", *_block(manifest, "")))
    return "".join(f"{line}\n" for line in lines)


def compact(value: Any, *, sort_keys: bool = False) -> str:
    """Write JSON without spaces; with sorted keys it is canonical."""
    text = (_SORTED if sort_keys else _IN_ORDER).encode(value)
    if text.isascii() and "\x7f" not in text:
        return text
    return _pattern(_SPECIAL).sub(_escaped, text)


def _encoder(*, sort_keys: bool) -> json.JSONEncoder:
    # No manifest has cycles: the readers refuse them.
    return json.JSONEncoder(
        ensure_ascii=False,
        allow_nan=False,
        check_circular=False,
        separators=(",", ":"),
        sort_keys=sort_keys,
    )


_IN_ORDER: Final = _encoder(sort_keys=False)
_SORTED: Final = _encoder(sort_keys=True)


def _escaped(match: re.Match[str]) -> str:
    code = ord(match[0])
    # Go reads a lone surrogate as the replacement character.
    return "\ufffd" if _SURROGATES[0] <= code <= _SURROGATES[1] else f"\\u{code:04x}"


_SURROGATES: Final = (0xD800, 0xDFFF)


def _block(value: Any, indent: str) -> Iterator[str]:
    """Give the lines of a mapping or a list that is not empty, or of a scalar."""
    if isinstance(value, Mapping) and value:
        for key, part in value.items():
            yield from _entry(f"{indent}{_scalar(key)}:", part, indent)
    elif isinstance(value, list) and value:
        for part in value:
            yield from _item(part, indent)
    else:
        yield f"{indent}{_inline(value)}"


def _entry(head: str, value: Any, indent: str) -> Iterator[str]:
    if isinstance(value, Mapping) and value:
        yield head
        yield from _block(value, f"{indent}  ")
    elif isinstance(value, list) and value:
        yield head
        yield from _block(value, indent)
    elif isinstance(value, str) and _is_literal(value):
        yield from _literal(f"{head} ", value, f"{indent}  ")
    else:
        yield f"{head} {_inline(value)}"


def _item(value: Any, indent: str) -> Iterator[str]:
    if isinstance(value, str) and _is_literal(value):
        yield from _literal(f"{indent}- ", value, f"{indent}  ")
        return
    lines = _block(value, f"{indent}  ")
    yield f"{indent}- {next(lines)[len(indent) + 2 :]}"
    yield from lines


def _inline(value: Any) -> str:
    if isinstance(value, str):
        return _scalar(value)
    return compact(value)


def _scalar(text: str) -> str:
    """Leave text plain only where it is sure to come back as itself."""
    if _PLAIN.fullmatch(text) and resolve(text) == text and not _DATE.match(text):
        return text
    if '"' in text and _pattern(_SINGLE).fullmatch(text) and not _pattern(_SPECIAL).search(text):
        return f"'{text}'"
    return compact(text)


def _is_literal(text: str) -> bool:
    return (
        "\n" in text
        and text[0] not in " \t\n"
        and not _pattern(_NOT_LITERAL).search(text)
        and not _pattern(_SPECIAL).search(text)
    )


def _literal(head: str, text: str, indent: str) -> Iterator[str]:
    body = text.rstrip("\n")
    ending = len(text) - len(body)
    yield head + ("|-" if ending == 0 else "|" if ending == 1 else "|+")
    for line in body.split("\n"):
        yield f"{indent}{line}" if line else ""
    yield from [""] * (ending - 1)
