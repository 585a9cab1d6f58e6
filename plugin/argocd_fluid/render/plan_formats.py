"""How a plan is written: for a terminal, for programs, for the comment of a pull request. Pure."""

import json
import textwrap
from collections.abc import Callable, Iterator, Mapping
from itertools import groupby
from typing import Any, Final

from argocd_fluid.render.compare import Change
from argocd_fluid.render.effects import Effect
from argocd_fluid.render.pod_level import Amounts

ACTIONS: Final[Mapping[Effect, str]] = {
    Effect.REFUSED: "new-run",
    Effect.REMOVED: "delete",
    Effect.RESTART: "rollout",
    Effect.RESIZE: "resize",
    Effect.NEXT_RUN: "new-run",
    Effect.HELD: "metadata",
    Effect.POLICY: "metadata",
    Effect.ENROLLED: "metadata",
    Effect.LEFT: "metadata",
    Effect.CHANGED: "metadata",
    Effect.METADATA: "metadata",
    Effect.NEW: "create",
    Effect.UNCHANGED: "unchanged",
}
"""What programs are told; a change that touches no pod is `metadata`."""
MAX_DETAILS: Final = 8
WIDTH: Final = 32
MAX_WIDTH: Final = 118


def as_text(changes: list[Change]) -> str:
    """Write for a terminal: a block per object, its containers in columns."""
    lines: list[str] = []
    for name, found in _by_object(changes):
        whole = [change for change in found if not change.container]
        lines.extend(_line(name, change) for change in whole)
        if not whole:
            lines.append(name)
        lines.extend(_line(f"  {_subject(each)}", each) for each in found if each.container)
    return "".join(f"{line}\n" for line in (*lines, "", summary(changes)))


def _line(head: str, change: Change) -> str:
    """Write a change; what is too long for a terminal goes on below."""
    start = f"{head:<{WIDTH}} {change.effect:<14} "
    for first, indent in ((start, " " * len(start)), ("      ", "      ")):
        wrapped = textwrap.wrap(
            _reason(change),
            MAX_WIDTH,
            initial_indent=first,
            subsequent_indent=indent,
            break_long_words=False,
            break_on_hyphens=False,
        )
        if all(len(line) <= MAX_WIDTH for line in wrapped):
            break
    if not wrapped or not wrapped[0].startswith(start):
        wrapped = [start, *wrapped]
    return "\n".join(line.rstrip() for line in wrapped)


def as_json(changes: list[Change]) -> str:
    """Write for programs: the workloads, each with what happens to it at worst."""
    workloads = [
        _workload(found) for _, found in _by_object(changes) if found[0].workload is not None
    ]
    return json.dumps({"workloads": workloads}, indent=2) + "\n"


def _workload(changes: list[Change]) -> dict[str, Any]:
    kind, namespace, name = changes[0].workload or ("", "", "")
    worst = min((change.effect for change in changes), key=list(Effect).index)
    return {
        "kind": kind,
        "namespace": namespace,
        "name": name,
        "action": ACTIONS[worst],
        "containers": [
            _container(each)
            for each in changes
            if each.container and each.effect is not Effect.UNCHANGED
        ],
        "reason": "; ".join(_reasons(changes, ACTIONS[worst])),
    }


def _container(change: Change) -> dict[str, Any]:
    written: dict[str, Any] = {
        "role": change.role,
        "name": change.container,
        "pods": change.pods,
        "action": ACTIONS[change.effect],
        "reason": _reason(change),
    }
    if change.sizes is not None:
        before, after = change.sizes
        written |= {"from": _size(before), "to": _size(after)}
    return written


def _size(amounts: Amounts) -> dict[str, Any]:
    return {
        kind: {resource: str(quantity) for resource, quantity in by_resource.items()}
        for kind, by_resource in amounts.items()
    }


def _reasons(changes: list[Change], action: str) -> Iterator[str]:
    """Give why it is this action: fields for an immutable one, containers for a resize."""
    for change in changes:
        if ACTIONS[change.effect] == action and change.effect is not Effect.UNCHANGED:
            subject = _subject(change) if change.container else str(change.effect)
            yield f"{subject}: {_reason(change)}".removesuffix(": ")


def as_markdown(changes: list[Change]) -> str:
    """Write for the comment of a pull request."""
    rows = [
        f"| {_cell(change.object)} | {_cell(_subject(change))} | {change.effect} "
        f"| {_cell(_reason(change))} |"
        for change in changes
        if change.effect is not Effect.UNCHANGED
    ]
    head = ["| object | container | effect | details |", "|---|---|---|---|"]
    listed = [change for change in changes if change.effect is not Effect.UNCHANGED]
    told = summary(listed)
    if len(changes) > len(listed):
        told += f" Not listed: {len(changes) - len(listed)} unchanged."
    return "".join(f"{line}\n" for line in (told, "", *(head + rows if rows else ())))


def summary(changes: list[Change]) -> str:
    """Count the effects, the worst first."""
    counts = [(effect, sum(change.effect is effect for change in changes)) for effect in Effect]
    listed = ", ".join(f"{number} {effect}" for effect, number in counts if number)
    return f"Plan: {listed or 'nothing'}."


def _by_object(changes: list[Change]) -> Iterator[tuple[str, list[Change]]]:
    for key, group in groupby(changes, key=lambda change: (change.object, change.workload)):
        yield key[0], list(group)


def _subject(change: Change) -> str:
    name = "/".join(part for part in (change.role, change.container) if part)
    return f"{name} x{change.pods}" if change.pods is not None else name


def _reason(change: Change) -> str:
    shown = ", ".join(change.details[:MAX_DETAILS])
    more = len(change.details) - MAX_DETAILS
    if more > 0:
        shown += f" and {more} more"
    return "; ".join(part for part in (shown, change.advice) if part)


def _cell(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")


FORMATS: Final[Mapping[str, Callable[[list[Change]], str]]] = {
    "text": as_text,
    "json": as_json,
    "markdown": as_markdown,
}
