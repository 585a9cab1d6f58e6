"""`argocd-fluid plan OLD NEW`: tells what a change will do to live runs, without a cluster."""

import argparse
from typing import Final

from argocd_fluid.errors import RenderError, UserError, leaves
from argocd_fluid.records import replace
from argocd_fluid.render.compare import compare
from argocd_fluid.render.effects import Effect
from argocd_fluid.render.generate import render
from argocd_fluid.render.parameters import of_command, read_parameters
from argocd_fluid.render.parts import Rendered
from argocd_fluid.render.plan_formats import FORMATS
from argocd_fluid.render.revisions import checked_out

FAILED: Final = 3
"""The exit code of `--fail-on`: 1 and 2 say that there is no plan."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the flags."""
    parser.add_argument("old", metavar="OLD", help="a directory or a Git revision: what is live")
    parser.add_argument("new", metavar="NEW", help="a directory or a Git revision: what is meant")
    parser.add_argument("--path", default="", metavar="DIR", help="the application's directory")
    parser.add_argument("--format", choices=FORMATS, default="text")
    parser.add_argument(
        "--fail-on",
        choices=("immutable",),
        help=f"exit {FAILED} where the API would refuse a change of a live object",
    )


def run(arguments: argparse.Namespace) -> tuple[str, int]:
    """Compare both sides as `generate` renders them."""
    before, after = (_rendered(side, arguments) for side in (arguments.old, arguments.new))
    _check_not_empty(before, after, arguments)
    changes = compare(before, after)
    refused = any(change.effect is Effect.REFUSED for change in changes)
    text = FORMATS[arguments.format](changes)
    return text, FAILED if refused and arguments.fail_on == "immutable" else 0


def _check_not_empty(
    before: list[Rendered], after: list[Rendered], arguments: argparse.Namespace
) -> None:
    """Refuse what would look like a plan: of another directory, or one that nobody can sync."""
    if after:
        return
    hint = "--path DIR names the application's directory"
    if not before:
        problem = f"neither {arguments.old} nor {arguments.new} has manifests there"
        raise RenderError(problem, hint=hint)
    if not read_parameters(arguments.environment).allow_empty:
        problem = f"{arguments.new} has no manifests: generate fails, so nothing is pruned"
        raise RenderError(problem, hint=f"{hint}; the parameter allowEmpty allows it")


def _rendered(side: str, arguments: argparse.Namespace) -> list[Rendered]:
    # What an empty directory means is the plan's to say.
    parameters, surroundings = of_command(arguments)
    parameters = replace(parameters, allow_empty=True)
    try:
        with checked_out(side, arguments.path) as folder:
            return render(folder, parameters, surroundings)
    except* UserError as group:
        raise ExceptionGroup(side, [_in_side(side, error) for error in leaves(group)]) from None


def _in_side(side: str, error: UserError) -> UserError:
    if error.where.file:
        error.where = replace(error.where, file=f"{side}/{error.where.file}")
    return error
