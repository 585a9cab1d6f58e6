"""Writes manifests: JSON for Argo CD, YAML for people. Both are read back as the same values.

`---` stands before every document: after `---` Argo CD's splitter loses the second of two JSON
documents that follow without one (gitops-engine, kube.SplitYAMLToString; measured).
"""

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from argocd_fluid.manifests.scalars import NotJson, resolve

SAFE = re.compile(r"[A-Za-z0-9_./][-A-Za-z0-9_./=@+]*", re.ASCII)
# What a literal block shows as it is: no control characters, no space at the end of a line.
LITERAL = re.compile(r"(?:[\x20-\x7e\xa0-\ud7ff\ue000-\ufefe]*[\x21-\x7e\xa1-\ud7ff]\n|\n)+")
STEP = 2


def to_json(manifests: Iterable[dict[str, Any]]) -> str:
    """Write one line per document. Keys keep their order."""
    return "".join(
        f"---\n{json.dumps(one, ensure_ascii=False, separators=(',', ':'))}\n" for one in manifests
    )


def to_yaml(manifests: Iterable[dict[str, Any]]) -> str:
    """Write block style, keys in order, no aliases, no folded lines."""
    return "".join(f"---\n{''.join(_block(one, 0))}" for one in manifests)


def _block(value: Any, indent: int) -> Iterator[str]:
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield " " * indent + _scalar(key) + ":"
            yield from _item(item, indent + STEP, list_indent=indent)
    elif isinstance(value, list) and value:
        for item in value:
            yield " " * indent + "-"
            yield from _list_item(item, indent + STEP)
    else:
        yield " " * indent + _scalar(value) + "\n"


def _item(value: Any, indent: int, *, list_indent: int) -> Iterator[str]:
    if isinstance(value, dict) and value:
        yield "\n"
        yield from _block(value, indent)
    elif isinstance(value, list) and value:
        yield "\n"
        yield from _block(value, list_indent)
    elif isinstance(value, str) and "\n" in value and _is_literal(value):
        yield _literal(value, indent)
    else:
        yield f" {_scalar(value)}\n"


def _list_item(value: Any, indent: int) -> Iterator[str]:
    if isinstance(value, dict | list) and value:
        # The first line goes on behind the dash.
        first, *rest = "".join(_block(value, indent)).splitlines(keepends=True)
        yield " " + first.removeprefix(" " * indent)
        yield from rest
    elif isinstance(value, str) and "\n" in value and _is_literal(value):
        yield _literal(value, indent)
    else:
        yield f" {_scalar(value)}\n"


def _is_literal(text: str) -> bool:
    ended = text if text.endswith("\n") else text + "\n"
    # A first line that starts with a space or is empty would need an indentation indicator.
    return text[0] not in " \n" and not ended.endswith("\n\n") and bool(LITERAL.fullmatch(ended))


def _literal(text: str, indent: int) -> str:
    header = " |" if text.endswith("\n") else " |-"
    lines = text.removesuffix("\n").split("\n")
    return f"{header}\n" + "".join(f"{' ' * indent}{line}\n" if line else "\n" for line in lines)


def _scalar(value: Any) -> str:
    if isinstance(value, str):
        return value if _reads_as_itself(value) else json.dumps(value, ensure_ascii=True)
    if isinstance(value, dict):
        return "{}"
    if isinstance(value, list):
        return "[]"
    return json.dumps(value)


def _reads_as_itself(text: str) -> bool:
    if not SAFE.fullmatch(text):
        return False
    try:
        return resolve(text) == text
    except NotJson:
        return False
