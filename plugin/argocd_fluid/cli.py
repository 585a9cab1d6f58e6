"""The command line: finds the command, runs it, and turns its outcome into output and exit code.

A command is a module with `add_arguments(parser)` and `run(arguments)`. It is imported only when it
is chosen, for `generate` runs once per Application and must start fast. What `run` returns is an
exit code, text for stdout, which is written only when it is whole, or both: (text, exit code).
"""

import argparse
import json
import os
import re
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Final

from argocd_fluid import __version__
from argocd_fluid.errors import UserError, leaves
from argocd_fluid.records import dataclass

PROGRAM: Final = "argocd-fluid"
MAX_STDERR_BYTES: Final = 2048
"""Argo CD shows all of a plugin's stderr in one message; more than this hides the problem."""
MAX_LINE: Final = 900
"""Characters of one problem: a name from a repository may be of any length."""
DEBUG: Final = "ARGOCD_FLUID_DEBUG"
"""Set to 1 by a developer: every error comes with its traceback."""
PACKAGE: Final = "argocd_fluid/"
SECRET: Final = re.compile(r"^ARGOCD_ENV_|TOKEN|SECRET|PASSW|CREDENTIAL|API_?KEY|PRIVATE|AUTH")
"""Names of environment variables whose values are never printed."""
MIN_SECRET: Final = 6
"""Shorter values are words that stand anywhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One command; `module` is imported when it runs."""

    name: str
    help: str
    module: str


COMMANDS: Final = (
    Command(
        name="generate",
        help="render the directory it stands in to stdout (run by Argo CD)",
        module="argocd_fluid.render.generate",
    ),
    Command(
        name="parameters",
        help="announce the plugin's parameters to Argo CD's UI",
        module="argocd_fluid.render.parameters",
    ),
    Command(
        name="plan",
        help="tell what a change of the manifests will do to live runs",
        module="argocd_fluid.render.plan",
    ),
    Command(
        name="lint",
        help="tell what `generate` refuses, and what will hurt a live run",
        module="argocd_fluid.render.lint",
    ),
    Command(
        name="explain",
        help="tell where each number of a container's size and policy comes from",
        module="argocd_fluid.render.explain",
    ),
    Command(
        name="config",
        help="print what a cluster and Argo CD need, for `kubectl apply -f -`",
        module="argocd_fluid.argocd.config",
    ),
    Command(
        name="controller",
        help="resize the enrolled workloads of a cluster",
        module="argocd_fluid.controller.command",
    ),
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and give the exit code: 0, 1 for wrong input, 2 for a wrong command line."""
    arguments = _parse(sys.argv[1:] if argv is None else argv)
    outcome: int | str | tuple[str, int] = 1
    try:
        outcome = arguments.run(arguments)
    except* UserError as group:
        _report(map(str, leaves(group)), arguments.environment)
        _trace(group, arguments.environment)
    except* Exception as group:
        _report([_bug(group)], arguments.environment)
        _trace(group, arguments.environment)
    if isinstance(outcome, int):
        return outcome
    text, code = (outcome, 0) if isinstance(outcome, str) else outcome
    return _write(text) or code


def _parse(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog=PROGRAM,
        description="Live, in-place resizing of JobSet ranks under Argo CD.",
        formatter_class=_formatter,
    )
    parser.add_argument("--version", action="version", version=f"{PROGRAM} {__version__}")
    commands = parser.add_subparsers(prog=PROGRAM, metavar="COMMAND", required=True)
    # No option before the command takes a value, so the first word is the command.
    chosen = next((word for word in argv if not word.startswith("-")), None)
    # Where it comes first nobody asks for the list of commands.
    listed = [command for command in COMMANDS if command.name == argv[0]] if argv else []
    for command in listed or COMMANDS:
        own = commands.add_parser(
            command.name,
            help=command.help,
            description=command.help,
            formatter_class=_formatter,
        )
        if command.name == chosen:
            module = import_module(command.module)
            module.add_arguments(own)
            own.set_defaults(run=module.run)
    return parser.parse_args(argv, _surroundings())


def _formatter(prog: str) -> argparse.HelpFormatter:
    """Give help a width: argparse would import half of the archive formats to find out one."""
    return argparse.HelpFormatter(prog, width=100)


def _surroundings() -> argparse.Namespace:
    return argparse.Namespace(environment=dict(os.environ), clock=time.monotonic)


def _report(problems: Iterable[str], environment: Mapping[str, str]) -> None:
    secrets = _secrets(environment)
    lines = [f"{PROGRAM}: {_hidden(problem, secrets)}\n" for problem in problems]
    text = "".join(lines).encode(errors="backslashreplace")
    if len(text) > MAX_STDERR_BYTES:
        more = f"\n{PROGRAM}: cut here, problems in all: {len(lines)}\n".encode()
        # Cutting may split a character; what is left of it is dropped.
        kept = text[: MAX_STDERR_BYTES - len(more)].decode(errors="ignore")
        text = kept.encode() + more
    sys.stderr.buffer.write(text)
    sys.stderr.buffer.flush()


def _hidden(problem: str, secrets: Iterable[tuple[str, str]]) -> str:
    """Give one line without secrets: a template or a chart may have put one into what failed."""
    line = " ".join(problem.split())
    for name, form in secrets:
        line = line.replace(form, f"[{name}]")
    if len(line) > MAX_LINE:
        # The place is at the beginning, what is wrong with it at the end.
        line = f"{line[: MAX_LINE // 2]} ... {line[-MAX_LINE // 2 :]}"
    # A terminal or a log must not obey what a repository says.
    return "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in line)


def _secrets(environment: Mapping[str, str]) -> list[tuple[str, str]]:
    """Give name and text of what must not be shown.

    The longest first: a secret that another one begins with must not show the rest.
    """
    found = [
        (name, form)
        for name in environment
        if SECRET.search(name)
        for form in _forms(environment[name])
    ]
    return sorted(found, key=lambda secret: -len(secret[1]))


def _forms(secret: str) -> Iterator[str]:
    """Give the ways in which a message may show a value: as it is, line by line, or quoted."""
    for text in (secret, *secret.splitlines()):
        quoted = json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]
        # repr chooses its quotes by what else is in the text: both ways.
        single, double = repr("\"'" + text)[4:-1], repr("'" + text)[2:-1]
        for form in {text, single, double, *quoted}:
            shown = " ".join(form.split())
            if len(shown) >= MIN_SECRET:
                yield shown


def _bug(error: BaseException) -> str:
    """Name the place of a mistake of ours; its text is left out, it may hold anything."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    place, frame = "?", error.__traceback__
    while frame is not None:
        file = frame.tb_frame.f_code.co_filename
        if PACKAGE in file:
            place = f"{file.rpartition(PACKAGE)[2]}:{frame.tb_lineno}"
        frame = frame.tb_next
    return (
        f"this is a bug in {PROGRAM} {__version__}, please report it: "
        f"{type(error).__name__} at {place} ({DEBUG}=1 shows the traceback)"
    )


def _trace(error: BaseException, environment: Mapping[str, str]) -> None:
    if environment.get(DEBUG) == "1":
        from traceback import print_exception

        print_exception(error)


def _write(text: str) -> int:
    try:
        # Bytes, because the locale of a sidecar says nothing about the encoding of manifests.
        # A file's name may hold bytes that are no UTF-8.
        sys.stdout.buffer.write(text.encode(errors="replace"))
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        # The reader went away (`| head`); Python would complain once more when it exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return 0
