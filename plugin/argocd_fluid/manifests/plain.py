"""Read the YAML that most manifests are written in, several times faster than a full parser.

Block mappings and lists with simple keys, one-line scalars, and short flow collections. Whatever is
written in another way (anchors, tags, block scalars, escapes, an odd indentation, a key given
twice) is not read here: `values` gives None, and `manifests.events` reads it, or refuses it with
its line. So this module must never accept what that one refuses or reads differently.
"""

import re
from functools import cache
from typing import Any, Final

from argocd_fluid.manifests.scalars import ScalarError, as_json, is_word, resolve

MAX_DEPTH: Final = 100
_NOT_ASCII_TEXT: Final = re.compile("[^\n -~]")
# Indentation, dash, key, value; or whatever else a line holds.
_LINE: Final = re.compile(
    r"^( *)(- +)?(?:([A-Za-z_][A-Za-z0-9_./-]{0,200}):(?: +(.*))?|(.*))$", re.MULTILINE
)
_QUOTED: Final = re.compile(r"""'([^'\n]*)'|"([^"\\\n]*)\"""")
_FLOW_SCALAR: Final = r"""[A-Za-z0-9_./][A-Za-z0-9_./+-]*|'[^']*'|"[^"\\]*\""""
_FLOW_PAIR: Final = re.compile(
    rf" *([A-Za-z_][A-Za-z0-9_./-]*): +({_FLOW_SCALAR}) *(?:,(?= *[^ }}])|(?=}}))"
)
_FLOW_ITEM: Final = re.compile(rf" *({_FLOW_SCALAR}) *(?:,(?= *[^ \]])|(?=\]))")
_FIRST: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./")


class NotPlainError(ValueError):
    """The text is written in a way that only the full parser reads."""


def is_plain(text: str) -> bool:
    """Whether a text holds nothing that changes how its lines are told apart."""
    if text.isascii():
        return _NOT_ASCII_TEXT.search(text) is None
    return _not_text().search(text) is None


@cache
def _not_text() -> re.Pattern[str]:
    """Compile a set that takes as long as all other patterns together, when it is needed."""
    return re.compile("[^\n -~\xa0-\u2027\u202a-\ud7ff\ue000-\ufdff]")


def value(text: str, known: dict[str, Any]) -> Any:
    """Give the mapping that one document holds, None for an empty one.

    `known` remembers scalars and flow collections; equal ones are one value. Raises NotPlainError.
    """
    reader = _Reader(known)
    for spaces, dash, key, inline, other in _LINE.findall(text):
        if key:
            reader.entry(len(spaces), dash, key, inline)
        elif dash:
            reader.item(len(spaces), other)
        elif other and other[0] != "#":
            raise NotPlainError
    return reader.root


class _Reader:
    """Builds one document line by line. A frame is the column of a collection, and itself."""

    __slots__ = ("frames", "known", "pending", "root")

    def __init__(self, known: dict[str, Any]) -> None:
        self.root: dict[str, Any] | None = None
        self.frames: list[tuple[int, Any]] = []
        self.pending: str | None = None
        """The key of the innermost mapping whose value, if any, is in the lines that follow."""
        self.known = known

    def entry(self, column: int, dash: str, key: str, inline: str) -> None:
        """Read `key: value`, perhaps the first of a mapping in a list."""
        if is_word(key):
            raise NotPlainError
        if dash:
            mapping: dict[str, Any] = {}
            self._list(column).append(mapping)
            column += len(dash)
            self._push(column, mapping)
        else:
            mapping = self._mapping(column)
            if key in mapping:
                raise NotPlainError
        if not inline or inline[0] == "#":
            mapping[key] = None
            self.pending = key
        else:
            mapping[key] = self._scalar(inline)

    def item(self, column: int, text: str) -> None:
        """Read `- value`."""
        if not text:
            raise NotPlainError
        self._list(column).append(self._scalar(text))

    def _mapping(self, column: int) -> dict[str, Any]:
        """Give the mapping whose keys stand in this column."""
        frames = self.frames
        pending, self.pending = self.pending, None
        if not frames:
            if self.root is not None:
                raise NotPlainError
            self.root = {}
            self._push(column, self.root)
            return self.root
        at, top = frames[-1]
        if pending is not None and column > at:
            child: dict[str, Any] = {}
            top[pending] = child
            self._push(column, child)
            return child
        while at > column or (at == column and type(top) is list):
            frames.pop()
            if not frames:
                raise NotPlainError
            at, top = frames[-1]
        if at != column or type(top) is not dict:
            raise NotPlainError
        return top

    def _list(self, column: int) -> list[Any]:
        """Give the list whose dashes stand in this column."""
        frames = self.frames
        pending, self.pending = self.pending, None
        if not frames:
            raise NotPlainError
        at, top = frames[-1]
        if pending is not None and column >= at:
            child: list[Any] = []
            top[pending] = child
            self._push(column, child)
            return child
        while at > column:
            frames.pop()
            if not frames:
                raise NotPlainError
            at, top = frames[-1]
        if at != column or type(top) is not list:
            raise NotPlainError
        return top

    def _push(self, column: int, collection: Any) -> None:
        if len(self.frames) > MAX_DEPTH:
            raise NotPlainError
        self.frames.append((column, collection))

    def _scalar(self, text: str) -> Any:
        known = self.known
        if text in known:
            return known[text]
        result = known[text] = _inline(text)
        return result


def _inline(text: str) -> Any:
    """Read what follows a key or a dash on its line."""
    first = text[0]
    if first in _FIRST:
        return _plain_scalar(text)
    text = text.rstrip(" ")
    if first in "'\"":
        match = _QUOTED.fullmatch(text)
        if match is None:
            raise NotPlainError
        return match[1] if match[1] is not None else match[2]
    if first == "{":
        return _flow_mapping(text)
    if first == "[":
        return _flow_list(text)
    raise NotPlainError


def _plain_scalar(text: str) -> Any:
    comment = text.find(" #")
    text = (text if comment < 0 else text[:comment]).rstrip(" ")
    if ": " in text or text[-1] == ":":
        raise NotPlainError
    try:
        return as_json(resolve(text))
    except ScalarError:
        raise NotPlainError from None


def _flow_scalar(text: str) -> Any:
    return text[1:-1] if text[0] in "'\"" else _plain_scalar(text)


def _ends(text: str, bracket: str, position: int) -> bool:
    """Whether the bracket is all that is left; looked at in place, for a list may be long."""
    return position == len(text) - 1 and text[position] == bracket


def _flow_mapping(text: str) -> dict[str, Any]:
    result: dict[str, Any] = {}
    position = 1
    while not _ends(text, "}", position):
        match = _FLOW_PAIR.match(text, position)
        if match is None or match[1] in result or is_word(match[1]):
            raise NotPlainError
        result[match[1]] = _flow_scalar(match[2])
        position = match.end()
    return result


def _flow_list(text: str) -> list[Any]:
    result: list[Any] = []
    position = 1
    while not _ends(text, "]", position):
        match = _FLOW_ITEM.match(text, position)
        if match is None:
            raise NotPlainError
        result.append(_flow_scalar(match[1]))
        position = match.end()
    return result
