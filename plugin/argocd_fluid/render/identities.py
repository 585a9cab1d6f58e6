"""Checks that every object says who it is, and that no two say the same.

Of two objects with one identity Argo CD keeps the last one and warns; the first one would be lost.
"""

from collections.abc import Iterable

from argocd_fluid.errors import ManifestError, UserError, Where
from argocd_fluid.manifests.document import Document, get

Identity = tuple[str, str, str, str]
"""Group, kind, namespace, name. The version is no part of it: it is one object in all of them."""

_TEXTS = ("labels", "annotations")


def check_identities(documents: Iterable[Document], namespace: str) -> None:
    """Raise a group with every problem; `namespace` is the one of objects that name none."""
    problems: list[UserError] = []
    seen: dict[Identity, Document] = {}
    for document in documents:
        problems += _problems(document)
        key = _identity(document, namespace)
        if key is None:
            continue
        first = seen.setdefault(key, document)
        if first is not document:
            problems.append(_twice(document, first))
    if problems:
        raise ExceptionGroup("objects that cannot be told apart", problems)


def _identity(document: Document, namespace: str) -> Identity | None:
    metadata = document.value.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    if not isinstance(metadata, dict) or not isinstance(name, str):
        return None
    group = document.value["apiVersion"].rpartition("/")[0]
    return group, document.value["kind"], str(metadata.get("namespace") or namespace), name


def _twice(document: Document, first: Document) -> ManifestError:
    there = Where(file=first.file, line=first.marks.line)
    hint = "remove one of them, or give it another name"
    return ManifestError(f"is the same object as in {there}", where=document.where(), hint=hint)


def _problems(document: Document) -> Iterable[UserError]:
    metadata = document.value.get("metadata") or {}
    for key in ("name", "namespace", "generateName"):
        if not isinstance(metadata.get(key), str | None):
            yield ManifestError("is no text", where=document.where(("metadata", key)), hint=_QUOTE)
    if not metadata.get("name") and not metadata.get("generateName"):
        yield ManifestError("has no metadata.name", where=document.where(), hint="give it one")
    for key in _TEXTS:
        yield from _wrong_texts(document, key)


def _wrong_texts(document: Document, key: str) -> Iterable[UserError]:
    texts = get(document.value, ("metadata", key))
    if not isinstance(texts, dict | None):
        yield ManifestError("is no mapping", where=document.where(("metadata", key)))
        return
    for name, value in (texts or {}).items():
        if not isinstance(value, str):
            where = document.where(("metadata", key, name))
            yield ManifestError("is no text", where=where, hint=_quoted(value))


def _quoted(value: object) -> str:
    """Say how to write a scalar; YAML reads yes, no, on and off as true and false."""
    if value is None or isinstance(value, dict | list):
        return _QUOTE
    shown = str(value).lower() if isinstance(value, bool) else str(value)
    return f'{_QUOTE}: "{shown}"'


_QUOTE = "quote it"
