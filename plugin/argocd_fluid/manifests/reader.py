"""Reads YAML (and JSON, its subset) exactly as Kubernetes reads it, with errors that name a line.

Differs from Kubernetes on purpose in two ways: a duplicate key is an error, for Argo CD silently
takes the last one; and documents that grow out of proportion by their aliases are refused.
Never resolves tags to Python objects: a manifest holds only what JSON can hold.
"""

import base64
import binascii
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import yaml
from yaml.events import (
    AliasEvent,
    CollectionStartEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    NodeEvent,
    ScalarEvent,
    SequenceEndEvent,
)

from argocd_fluid.errors import ManifestError, Where
from argocd_fluid.manifests.scalars import NotJson, resolve

Manifest = dict[str, Any]
Path = tuple[str | int, ...]

LOADER: type = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
TAG = "tag:yaml.org,2002:"
MAX_DEPTH = 200
MAX_NODES = 1_000_000
MAX_BYTES = 64 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One document of a file. `line` is where it starts (1-based)."""

    value: Any
    file: str
    line: int | None
    index: int
    text: str = field(repr=False)

    @property
    def label(self) -> str:
        """`Kind/name`, as far as the document has them."""
        return label_of(self.value)

    def where(self, *path: str | int) -> Where:
        """Tell the place of a field: the line of its key, or of the nearest parent in the text."""
        line = locate(self.text, self.index, path) if path else self.line
        return Where(file=self.file, line=line, document=self.label, field=dotted(path))


def read(text: str, file: str = "") -> list[Document]:
    """Read all documents that are not empty. Raises ManifestError."""
    if len(text) > MAX_BYTES:
        raise ManifestError(f"larger than {MAX_BYTES >> 20} MiB", where=Where(file=file))
    try:
        return list(_Reader(text, file).documents())
    except yaml.MarkedYAMLError as error:
        raise _syntax_error(error, file) from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        problem = f"character U+{ord(text[error.position]):04X} is not allowed in YAML"
        raise ManifestError(problem, where=Where(file=file, line=line)) from None


def label_of(value: object) -> str:
    """`Kind/name` of anything that may be a manifest."""
    if not isinstance(value, Mapping):
        return ""
    metadata = value.get("metadata")
    name = metadata.get("name") if isinstance(metadata, Mapping) else None
    return "/".join(str(part) for part in (value.get("kind"), name) if part)


def dotted(path: Path) -> str:
    """`spec.replicatedJobs[0].name`."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else (f".{part}" if text else part)
    return text


def locate(text: str, index: int, path: Path) -> int:
    """Find the line of a field by composing the text again: only errors need it."""
    nodes = [node for node in yaml.compose_all(text, Loader=LOADER) if not _is_empty(node)]
    node = nodes[index]
    line = node.start_mark.line
    for part in path:
        found = _step(node, part)
        if found is None:
            break
        line, node = found
    return int(line) + 1


def _step(node: Any, part: str | int) -> tuple[int, Any] | None:
    if isinstance(node, yaml.MappingNode):
        pairs = ((key, value) for key, value in node.value if key.value == part)
        return next(((key.start_mark.line, value) for key, value in pairs), None)
    if isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
        item = node.value[part]
        return item.start_mark.line, item
    return None


def _is_empty(node: Any) -> bool:
    return isinstance(node, yaml.ScalarNode) and not node.style and node.value in ("", "~", "null")


class _Reader:
    """Builds values from one stream of events."""

    def __init__(self, text: str, file: str) -> None:
        self._text = text
        self._file = file
        self._events: Iterator[Event] = yaml.parse(text, Loader=LOADER)
        self._anchors: dict[str, Any] = {}
        self._open: set[str] = set()
        self._nodes = 0

    def documents(self) -> Iterator[Document]:
        index = 0
        for event in self._events:
            if not isinstance(event, DocumentStartEvent):
                continue
            self._anchors, self._nodes = {}, 0
            first = self._next()
            value = self._value(first, 0)
            if value is None:
                continue
            yield Document(
                value=value, file=self._file, line=_line(first), index=index, text=self._text
            )
            index += 1

    def _next(self) -> NodeEvent:
        return cast("NodeEvent", next(self._events))

    def _value(self, event: NodeEvent, depth: int) -> Any:
        self._count(event, 1)
        if isinstance(event, AliasEvent):
            return self._aliased(event)
        if isinstance(event, ScalarEvent):
            value = self._scalar(event)
        else:
            value = self._collection(cast("CollectionStartEvent", event), depth + 1)
        if event.anchor:
            self._anchors[event.anchor] = value
        return value

    def _collection(self, event: CollectionStartEvent, depth: int) -> Any:
        if depth > MAX_DEPTH:
            raise self._error(event, f"nested deeper than {MAX_DEPTH} levels")
        if event.anchor:
            self._open.add(event.anchor)
            self._anchors.pop(event.anchor, None)
        is_mapping = isinstance(event, MappingStartEvent)
        value = self._mapping(depth) if is_mapping else self._sequence(depth)
        self._open.discard(event.anchor)
        return value

    def _sequence(self, depth: int) -> list[Any]:
        items = []
        while not isinstance(event := next(self._events), SequenceEndEvent):
            items.append(self._value(cast("NodeEvent", event), depth))
        return items

    def _mapping(self, depth: int) -> Manifest:
        mapping: Manifest = {}
        merged: Manifest = {}
        while not isinstance(event := next(self._events), MappingEndEvent):
            if isinstance(event, ScalarEvent) and event.value == "<<" and event.implicit[0]:
                merged = self._merge(event, self._value(self._next(), depth)) | merged
                continue
            key = self._key(event)
            if key in mapping:
                raise self._error(event, f"the key {key!r} stands here twice")
            mapping[key] = self._value(self._next(), depth)
        # What a mapping says itself wins over what it merges in.
        return merged | mapping if merged else mapping

    def _merge(self, event: Event, value: Any) -> Manifest:
        sources = value if isinstance(value, list) else [value]
        merged: Manifest = {}
        for source in sources:
            if not isinstance(source, dict):
                raise self._error(event, "`<<` merges mappings only")
            merged = source | merged
        return merged

    def _key(self, event: Event) -> str:
        self._count(event, 1)
        if isinstance(event, AliasEvent):
            key = self._aliased(event)
        elif isinstance(event, ScalarEvent):
            key = self._scalar(event)
            if event.anchor:
                self._anchors[event.anchor] = key
        else:
            raise self._error(event, "a key must be a string, not a list or a mapping")
        if isinstance(key, bool):
            return "true" if key else "false"
        if isinstance(key, str | int | float):
            return str(key)
        raise self._error(event, "a key must be a string, not null, a list or a mapping")

    def _aliased(self, event: AliasEvent) -> Any:
        if event.anchor in self._open:
            raise self._error(event, f"anchor {event.anchor!r} contains itself")
        if event.anchor not in self._anchors:
            raise self._error(event, f"unknown anchor {event.anchor!r}")
        # Each alias is a value of its own: changing one must not change the others.
        return self._copy(event, self._anchors[event.anchor])

    def _copy(self, event: Event, value: Any) -> Any:
        if isinstance(value, dict):
            self._count(event, len(value))
            return {key: self._copy(event, item) for key, item in value.items()}
        if isinstance(value, list):
            self._count(event, len(value))
            return [self._copy(event, item) for item in value]
        return value

    def _scalar(self, event: ScalarEvent) -> Any:
        tag = event.tag
        if event.implicit[0] and tag is None:
            return self._plain(event, event.value)
        if tag == f"{TAG}binary":
            return self._binary(event)
        if tag in (f"{TAG}int", f"{TAG}float", f"{TAG}bool", f"{TAG}null"):
            return self._plain(event, event.value)
        return event.value

    def _plain(self, event: Event, text: str) -> Any:
        try:
            return resolve(text)
        except NotJson:
            raise self._error(event, f"{text} is no value that JSON can hold") from None

    def _binary(self, event: ScalarEvent) -> str:
        try:
            return base64.b64decode(event.value, validate=False).decode()
        except (binascii.Error, UnicodeDecodeError):
            raise self._error(event, "!!binary is no base64 of UTF-8 text") from None

    def _count(self, event: Event, nodes: int) -> None:
        self._nodes += nodes
        if self._nodes > MAX_NODES:
            raise self._error(event, f"more than {MAX_NODES} values, aliases counted in full")

    def _error(self, event: Event, problem: str) -> ManifestError:
        return ManifestError(problem, where=Where(file=self._file, line=_line(event)))


def _line(event: Event) -> int | None:
    return event.start_mark.line + 1 if event.start_mark else None


def _syntax_error(error: yaml.MarkedYAMLError, file: str) -> ManifestError:
    mark = error.problem_mark or error.context_mark
    line = mark.line + 1 if mark else None
    problem = ", ".join(part for part in (error.context, error.problem) if part)
    return ManifestError(f"not YAML: {problem}", where=Where(file=file, line=line))
