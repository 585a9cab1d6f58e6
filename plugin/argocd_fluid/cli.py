"""The command line: finds the command, runs it, and turns its outcome into output and exit code.

A command is a module with `add_arguments(parser)` and `run(arguments)`. It is imported only when it
is chosen, for `generate` runs once per Application and must start fast. What `run` returns is an
exit code, or text for stdout, which is written only when it is whole.
"""

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Final

from argocd_fluid import __version__
from argocd_fluid.errors import UserError, leaves

PROGRAM: Final = "argocd-fluid"
MAX_STDERR_BYTES: Final = 2048
"""Argo CD shows all of a plugin's stderr in one message; more than this hides the problem."""


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
    outcome: int | str = 1
    try:
        outcome = arguments.run(arguments)
    except* UserError as group:
        _report(leaves(group))
    if isinstance(outcome, int):
        return outcome
    return _write(outcome)


def _parse(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog=PROGRAM, description="Live, in-place resizing of JobSet ranks under Argo CD."
    )
    parser.add_argument("--version", action="version", version=f"{PROGRAM} {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    # No option before the command takes a value, so the first word is the command.
    chosen = next((word for word in argv if not word.startswith("-")), None)
    for command in COMMANDS:
        own = commands.add_parser(command.name, help=command.help, description=command.help)
        if command.name == chosen:
            module = import_module(command.module)
            module.add_arguments(own)
            own.set_defaults(run=module.run)
    return parser.parse_args(argv, argparse.Namespace(environment=dict(os.environ)))


def _report(problems: Iterator[UserError]) -> None:
    lines = [f"{PROGRAM}: {' '.join(str(problem).split())}\n" for problem in problems]
    text = "".join(lines).encode(errors="backslashreplace")
    if len(text) > MAX_STDERR_BYTES:
        more = f"\n{PROGRAM}: cut here, problems in all: {len(lines)}\n".encode()
        # Cutting may split a character; what is left of it is dropped.
        kept = text[: MAX_STDERR_BYTES - len(more)].decode(errors="ignore")
        text = kept.encode() + more
    sys.stderr.buffer.write(text)


def _write(text: str) -> int:
    try:
        # Bytes, because the locale of a sidecar says nothing about the encoding of manifests.
        sys.stdout.buffer.write(text.encode())
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        # The reader went away (`| head`); Python would complain once more when it exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return 0
