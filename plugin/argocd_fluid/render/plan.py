"""`argocd-fluid plan OLD NEW`: tells what a change will do to live runs, without a cluster."""

import argparse
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, replace
from itertools import groupby
from typing import Final

from argocd_fluid.errors import UserError, leaves
from argocd_fluid.render.compare import Change, Rendered, compare
from argocd_fluid.render.effects import Effect
from argocd_fluid.render.generate import render
from argocd_fluid.render.parameters import Parameters
from argocd_fluid.render.revisions import checked_out


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the flags."""
    parser.add_argument("old", metavar="OLD", help="a directory or a Git revision: what is live")
    parser.add_argument("new", metavar="NEW", help="a directory or a Git revision: what is meant")
    parser.add_argument("--path", default="", metavar="DIR", help="the application's directory")
    parser.add_argument("--format", choices=FORMATS, default="text")


def run(arguments: argparse.Namespace) -> str:
    """Compare both sides as `generate` renders them."""
    before, after = (_rendered(side, arguments.path) for side in (arguments.old, arguments.new))
    return FORMATS[arguments.format](compare(before, after))


def _rendered(side: str, path: str) -> list[Rendered]:
    try:
        with checked_out(side, path) as folder:
            # What an empty directory means is the plan's to say.
            return render(folder, Parameters(allow_empty=True))
    except* UserError as group:
        raise ExceptionGroup(side, [_in_side(side, error) for error in leaves(group)]) from None


def _in_side(side: str, error: UserError) -> UserError:
    if error.where.file:
        error.where = replace(error.where, file=f"{side}/{error.where.file}")
    return error


def as_text(changes: list[Change]) -> str:
    """Write for a terminal: a block per object, its containers in columns."""
    lines: list[str] = []
    for name, group in groupby(changes, key=lambda change: change.object):
        found = list(group)
        whole = [change for change in found if not change.container]
        lines.extend(_line(name, change) for change in whole)
        if not whole:
            lines.append(name)
        lines.extend(_line(f"  {_subject(each)}", each) for each in found if each.container)
    return "".join(f"{line}\n" for line in (*lines, "", summary(changes)))


def _line(head: str, change: Change) -> str:
    return f"{head:<{WIDTH}} {change.effect:<14} {'; '.join(_remarks(change))}".rstrip()


def as_json(changes: list[Change]) -> str:
    """Write for programs."""
    return json.dumps({"changes": [asdict(change) for change in changes]}, indent=2) + "\n"


def as_markdown(changes: list[Change]) -> str:
    """Write for the comment of a pull request."""
    rows = [
        f"| {change.object} | {_subject(change)} | {change.effect} "
        f"| {_cell('; '.join(_remarks(change)))} |"
        for change in changes
        if change.effect is not Effect.UNCHANGED
    ]
    head = ["| object | container | effect | details |", "|---|---|---|---|"]
    return "".join(f"{line}\n" for line in (summary(changes), "", *(head + rows if rows else ())))


def summary(changes: list[Change]) -> str:
    """Count the effects, the worst first."""
    counts = [(effect, sum(change.effect is effect for change in changes)) for effect in Effect]
    listed = ", ".join(f"{number} {effect}" for effect, number in counts if number)
    return f"Plan: {listed or 'nothing'}."


def _subject(change: Change) -> str:
    name = "/".join(part for part in (change.role, change.container) if part)
    return f"{name} x{change.pods}" if change.pods is not None else name


def _remarks(change: Change) -> Iterator[str]:
    shown = change.details[:MAX_DETAILS]
    if shown:
        more = len(change.details) - len(shown)
        yield ", ".join(shown) + (f" and {more} more" if more else "")
    if change.advice:
        yield change.advice


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


MAX_DETAILS: Final = 8
WIDTH: Final = 32
FORMATS: Final[Mapping[str, Callable[[list[Change]], str]]] = {
    "text": as_text,
    "json": as_json,
    "markdown": as_markdown,
}
