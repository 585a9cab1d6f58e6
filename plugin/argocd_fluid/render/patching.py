"""Applies the JSON patches of `fluid.yaml` to the objects that they match. Pure.

The library is imported here only: a directory without patches must not wait for it, so this module
is imported where there is one.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

import jsonpatch

from argocd_fluid.errors import PolicyError, Where, leaves
from argocd_fluid.manifests.document import Document, identity
from argocd_fluid.policy.patches import Operation, Patch
from argocd_fluid.records import replace
from argocd_fluid.render.identities import check_identities

REFUSALS: Final = (
    jsonpatch.JsonPatchException,
    jsonpatch.JsonPointerException,
    # What the libraries let through for values of another type than a step of the path needs.
    AttributeError,
    LookupError,
    TypeError,
    ValueError,
)


def patched(documents: Iterable[Document], patches: tuple[Patch, ...]) -> list[Document]:
    """Give the objects as the patches leave them; raises an ExceptionGroup of PolicyError."""
    done: list[Document] = []
    problems: list[PolicyError] = []
    for document in documents:
        try:
            done.append(_patched(document, patches))
        except PolicyError as error:
            problems.append(error)
    if problems:
        raise ExceptionGroup("patches failed", problems)
    check_identities(done, "")
    return done


def _patched(document: Document, patches: tuple[Patch, ...]) -> Document:
    operations = list(_operations(document, patches))
    if not operations:
        return document
    value = _unshared(document.value)
    for operation in operations:
        value = _applied(value, operation, document)
    for key in ("apiVersion", "kind"):
        if not isinstance(value.get(key), str) or not value[key]:
            raise _failed(operations[-1], document, f"the object has no {key} any more")
    if not isinstance(value.get("metadata"), dict | None):
        raise _failed(operations[-1], document, "the object's metadata is no mapping any more")
    result = replace(document, value=value)
    try:
        check_identities([result], "")
    except ExceptionGroup as group:
        first = next(leaves(group))
        what = first.where.field or "the object"
        raise _failed(operations[-1], document, f"then {what} {first.problem}") from group
    return result


def _unshared(value: Any) -> Any:  # noqa: ANN401 - whatever JSON can hold
    """Copy a value so that no part of it stands in two places, for a patch is for one place.

    Aliases, and equal flow collections, share values; `copy.deepcopy` would keep that.
    """
    if isinstance(value, dict):
        return {key: _unshared(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_unshared(item) for item in value]
    return value


def _operations(document: Document, patches: tuple[Patch, ...]) -> Iterator[Operation]:
    for patch in patches:
        if patch.is_for(document.value):
            yield from patch.operations


def _applied(value: dict[str, object], operation: Operation, document: Document) -> dict[str, Any]:
    try:
        # Added values would be shared by all objects that match.
        step = _unshared(dict(operation.value))
        result = jsonpatch.JsonPatch([step]).apply(value, in_place=True)
    except REFUSALS as error:
        raise _failed(operation, document, _reason(error)) from error
    if not isinstance(result, dict):
        raise _failed(operation, document, "the object is no mapping any more")
    return result


def _failed(operation: Operation, document: Document, reason: str) -> PolicyError:
    what = f"{operation.value['op']} {operation.value['path']}"
    source = str(Where(file=document.file, line=document.marks.line))
    problem = f"{what} fails on {identity(document.value)} ({source}): {reason}"
    return PolicyError(problem, where=operation.where)


def _reason(error: Exception) -> str:
    """Say what is wrong in words of our own: the library's show values, which may be secret."""
    named = _NAMED.search(str(error))
    if named:
        return f"there is no {named['what']} {named['step']} on that path"
    if isinstance(error, jsonpatch.JsonPatchTestFailed):
        return "the value there is another one"
    if isinstance(error, jsonpatch.JsonPatchPathNotFound):
        return "there is nothing at that path"
    return "the path does not fit the object"


_NAMED: Final = re.compile(r"(?P<what>member|index) (?P<step>'[^']*') (not found|is out of bounds)")
