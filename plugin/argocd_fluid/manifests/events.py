"""Read all of YAML, exactly as Kubernetes does, with the line of every value.

Driven by parser events, because a tree of nodes costs three times as much. Beyond Kubernetes it
refuses duplicate keys (there the last one wins), and it bounds depth and alias expansion. Every
refusal is a ManifestError with file and line.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any, Final

import yaml

from argocd_fluid.errors import ManifestError, Where
from argocd_fluid.manifests.document import Marks
from argocd_fluid.manifests.scalars import ScalarError, as_json, as_key, resolve, resolve_tagged
from argocd_fluid.records import dataclass, field

# Only the events are used. Without libyaml they are the same, some twenty times slower.
_Parser: Final[type[yaml.SafeLoader]] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

MAX_DEPTH: Final = 200
MAX_NODES: Final = 1_000_000
"""Of one file, with every alias counted as often as it is used ("billion laughs")."""


class YamlSyntaxError(ManifestError):
    """The text is no YAML."""


def values(text: str, file: str, first_line: int = 1) -> Iterator[tuple[Any, Marks]]:
    """Give each document with its lines; empty ones are None. Raises ManifestError."""
    try:
        builder = _Builder(file=file, line_offset=first_line, next_event=_Parser(text).get_event)
        while not isinstance(event := builder.next_event(), yaml.StreamEndEvent):
            if isinstance(event, yaml.DocumentStartEvent):
                builder.anchors.clear()
                yield builder.node(builder.next_event(), 0)[:2]
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + first_line if mark else None
        problem = ": ".join(part for part in (error.context, error.problem) if part)
        at = text.split("\n")[mark.line :][:1] if mark else []
        hint = "a tab? YAML wants spaces" if re.match(r" *\t", "".join(at)) else ""
        where = Where(file=file, line=line)
        raise YamlSyntaxError(f"is no YAML: {problem}", where=where, hint=hint) from None
    except yaml.reader.ReaderError as error:
        position = error.position if isinstance(error.position, int) else 0
        line = text.count("\n", 0, position) + first_line
        raise YamlSyntaxError(
            f"is no YAML: {error.reason}", where=Where(file=file, line=line)
        ) from None


_Node = tuple[Any, Marks, int]
"""Value, marks, and how many nodes it stands for."""


@dataclass(slots=True, kw_only=True)
class _Builder:
    """Turns the events of one stream into values."""

    file: str
    line_offset: int
    next_event: Callable[[], Any]
    anchors: dict[str, _Node | None] = field(default_factory=dict)
    """None while the anchored value is being read: an alias to it would contain itself."""
    nodes: int = 0

    def node(self, event: Any, depth: int) -> _Node:
        """Build the value that starts with this event."""
        line = self._line(event)
        if depth > MAX_DEPTH:
            raise _wrong(f"is nested deeper than {MAX_DEPTH} levels", self.file, line)
        if isinstance(event, yaml.AliasEvent):
            return self._alias(event, line)
        if event.anchor is not None:
            self.anchors[event.anchor] = None
        if isinstance(event, yaml.ScalarEvent):
            node = self._scalar(event, line)
        elif isinstance(event, yaml.MappingStartEvent):
            node = self._mapping(line, depth)
        else:
            node = self._sequence(line, depth)
        if event.anchor is not None:
            self.anchors[event.anchor] = node
        return node

    def _line(self, event: Any) -> int:
        return int(event.start_mark.line) + self.line_offset

    def _count(self, nodes: int, line: int) -> None:
        self.nodes += nodes
        if self.nodes > MAX_NODES:
            raise _wrong(f"has more than {MAX_NODES} values, aliases expanded", self.file, line)

    def _alias(self, event: Any, line: int) -> _Node:
        if event.anchor not in self.anchors:
            raise _wrong(f"unknown anchor {event.anchor!r} referenced", self.file, line)
        node = self.anchors[event.anchor]
        if node is None:
            raise _wrong(f"anchor {event.anchor!r} value contains itself", self.file, line)
        self._count(node[2], line)
        return node

    def _scalar(self, event: Any, line: int) -> _Node:
        self._count(1, line)
        try:
            value = as_json(_meaning(event))
        except ScalarError as error:
            raise _wrong(str(error), self.file, line) from None
        # The text of a block scalar begins on the line after its indicator.
        return value, Marks(line + 1 if event.style in ("|", ">") else line), 1

    def _sequence(self, line: int, depth: int) -> _Node:
        self._count(1, line)
        values: list[Any] = []
        inside: list[Marks] = []
        total = 1
        while not isinstance(event := self.next_event(), yaml.SequenceEndEvent):
            value, marks, nodes = self.node(event, depth + 1)
            values.append(value)
            inside.append(marks)
            total += nodes
        return values, Marks(line, inside), total

    def _mapping(self, line: int, depth: int) -> _Node:
        self._count(1, line)
        values: dict[str, Any] = {}
        inside: dict[str, Marks] = {}
        own: set[str] = set()
        total = 1
        while not isinstance(event := self.next_event(), yaml.MappingEndEvent):
            key_line = self._line(event)
            key = None if _is_merge(event) else self._key(event, depth)
            if key in own:
                raise _wrong(f"key {key!r} is given twice", self.file, key_line)
            value, marks, nodes = self.node(self.next_event(), depth + 1)
            total += nodes
            if key is None:
                self._merge(value, marks, into=(values, inside))
                continue
            own.add(key)
            values[key] = value
            inside[key] = Marks(max(key_line, marks.line) if marks.inside is None else key_line,
                                marks.inside)  # fmt: skip
        return values, Marks(line, inside), total

    def _key(self, event: Any, depth: int) -> str:
        line = self._line(event)
        if isinstance(event, yaml.AliasEvent):
            value = self.node(event, depth + 1)[0]
        elif isinstance(event, yaml.ScalarEvent):
            self._count(1, line)
            value = self._remembered_key(event, line)
        else:
            raise _wrong("a key is a list or a mapping; Kubernetes wants strings", self.file, line)
        if isinstance(value, list | dict):
            raise _wrong("a key is a list or a mapping; Kubernetes wants strings", self.file, line)
        try:
            return as_key(value)
        except ScalarError as error:
            raise _wrong(str(error), self.file, line) from None

    def _remembered_key(self, event: Any, line: int) -> Any:
        try:
            value = _meaning(event)
        except ScalarError as error:
            raise _wrong(str(error), self.file, line) from None
        if event.anchor is not None:
            self.anchors[event.anchor] = (value, Marks(line), 1)
        return value

    def _merge(
        self,
        value: Any,
        marks: Marks,
        *,
        into: tuple[dict[str, Any], dict[str, Marks]],
    ) -> None:
        """Merge `<<`. As in Kubernetes it overrides what stands before it, and not what follows."""
        sources = value if isinstance(value, list) else [value]
        if not all(isinstance(source, dict) for source in sources):
            raise _wrong(
                "map merge requires map or sequence of maps as the value", self.file, marks.line
            )
        for index, source in reversed(list(enumerate(sources))):
            lines = marks.at((index,)) if isinstance(value, list) else marks
            into[0].update(source)
            if isinstance(lines.inside, dict):
                into[1].update(lines.inside)


def _meaning(event: Any) -> Any:
    if event.tag is not None:
        return resolve_tagged(event.tag, event.value)
    return event.value if event.style else resolve(event.value)


def _is_merge(event: Any) -> bool:
    if not isinstance(event, yaml.ScalarEvent) or event.value != "<<":
        return False
    return event.tag == "tag:yaml.org,2002:merge" or (event.tag is None and not event.style)


def _wrong(problem: str, file: str, line: int | None) -> ManifestError:
    return ManifestError(problem, where=Where(file=file, line=line))
