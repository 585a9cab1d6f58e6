"""Read YAML and JSON exactly as Kubernetes does, but refuse what it would silently lose.

Most documents are read by `plain`, which is fast and knows no lines; `events`, which parses all of
YAML, reads the others, and tells the lines of any document once somebody complains about it. It is
imported only then. Every refusal is a ManifestError with file and line.
"""

import re
from collections.abc import Iterator
from typing import Any, Final

from argocd_fluid.errors import ManifestError, Where
from argocd_fluid.manifests import plain
from argocd_fluid.manifests.document import Document, Marks, Path

MAX_BYTES: Final = 32 << 20
# A pattern that begins with its text, not with `^`, is searched for several times faster.
_SEPARATOR: Final = re.compile(r"---(?<=^---)(?: *| +#.*)$", re.MULTILINE)
# Directives, ends of documents, and documents that begin on the line of their separator.
_MARKERS: Final = tuple(
    re.compile(pattern, re.MULTILINE)
    for pattern in (r"%(?<=^%)", r"\.\.\.(?<=^\.\.\.)", r"---(?<=^---)(?!(?: *| +#.*)$)")
)
_CONTENT: Final = re.compile(r"^(?! *(?:#|$))", re.MULTILINE)


def read(data: bytes, file: str) -> list[Document]:
    """Read all documents of a file; empty ones are skipped. Raises ManifestError."""
    if len(data) > MAX_BYTES:
        raise _wrong(f"is larger than {MAX_BYTES >> 20} MiB", file, None)
    text = _decoded(data, file)
    return [
        _document(value, file, marks)
        for value, marks in _documents(text, file)
        if value is not None
    ]


def read_value(text: str, file: str, first_line: int = 1) -> tuple[Any, Marks]:
    """Read one value of any shape, as of an annotation that holds YAML; None for empty text."""
    if plain.is_plain(text) and not _has_marker(text) and not _SEPARATOR.search(text):
        try:
            return plain.value(text, {}), _LaterMarks(text, file, first_line)
        except plain.NotPlainError:
            pass
    return _read_value(text, file, first_line)


def _read_value(text: str, file: str, first_line: int) -> tuple[Any, Marks]:
    from argocd_fluid.manifests import events  # noqa: PLC0415 - slow to import, seldom needed

    documents = list(events.values(text, file, first_line))
    if len(documents) > 1:
        raise _wrong("holds more than one document", file, documents[1][1].line)
    return documents[0] if documents else (None, Marks(first_line))


def _decoded(data: bytes, file: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise _wrong("is not UTF-8", file, line) from None


def _documents(text: str, file: str) -> list[tuple[Any, Marks]]:
    if not plain.is_plain(text) or _has_marker(text):
        return _read_whole(text, file)
    known: dict[str, Any] = {}
    found: list[tuple[Any, Marks]] = []
    for body, line in _parts(text):
        try:
            found.append((plain.value(body, known), _LaterMarks(body, file, line)))
        except plain.NotPlainError:
            documents = _read_part(body, file, line)
            if documents is None:
                return _read_whole(text, file)
            found.extend(documents)
    return found


def _has_marker(text: str) -> bool:
    return any(marker.search(text) for marker in _MARKERS)


class _LaterMarks(Marks):
    """Lines of a document that nobody has asked for yet."""

    __slots__ = ("file", "first_line", "text")

    def __init__(self, text: str, file: str, first_line: int) -> None:
        begin = _CONTENT.search(text)
        super().__init__(first_line + (text.count("\n", 0, begin.start()) if begin else 0))
        self.text, self.file, self.first_line = text, file, first_line

    def at(self, path: Path) -> Marks:
        if path and self.inside is None:
            self.inside = _read_value(self.text, self.file, self.first_line)[1].inside
        return super().at(path)


def _read_part(body: str, file: str, line: int) -> list[tuple[Any, Marks]] | None:
    """Give what one part holds; None where it takes the whole file to tell.

    Anchors are counted over the whole file, and a quote may be closed in a later part.
    """
    from argocd_fluid.manifests import events  # noqa: PLC0415 - slow to import, seldom needed

    if "&" in body:
        return None
    try:
        return list(events.values(body, file, line))
    except events.YamlSyntaxError:
        return None


def _parts(text: str) -> Iterator[tuple[str, int]]:
    """Give each document without its separator, and the line that it begins on."""
    start, line = 0, 1
    for match in _SEPARATOR.finditer(text):
        if match.start() > start:
            yield text[start : match.start()], line
        line += text.count("\n", start, match.end())
        start = match.end()
    yield text[start:], line


def _read_whole(text: str, file: str) -> list[tuple[Any, Marks]]:
    from argocd_fluid.manifests import events  # noqa: PLC0415 - slow to import, seldom needed

    try:
        return list(events.values(text, file))
    except events.YamlSyntaxError:
        stream = _as_json_stream(text, file)
        if stream is None:
            raise
        return stream


def _as_json_stream(text: str, file: str) -> list[tuple[Any, Marks]] | None:
    from argocd_fluid.manifests import json_reader  # noqa: PLC0415 - same

    if text.lstrip()[:1] != "{":
        return None
    try:
        return list(json_reader.read(text, file))
    except json_reader.NotJsonError:
        return None


def _document(value: Any, file: str, marks: Marks) -> Document:
    if not isinstance(value, dict):
        raise _wrong("is no object with apiVersion and kind", file, marks.line)
    return Document(value=value, file=file, marks=marks)


def _wrong(problem: str, file: str, line: int | None) -> ManifestError:
    return ManifestError(problem, where=Where(file=file, line=line))
