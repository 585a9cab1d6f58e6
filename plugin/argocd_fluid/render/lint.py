"""`argocd-fluid lint [PATH...]`: what `generate` refuses, and what will hurt a live run.

Errors are exactly the refusals of `generate`; everything else is a warning or a note with a stable
id. Reads only, and needs no cluster.
"""

import argparse
from collections.abc import Iterable, Iterator
from pathlib import Path

from argocd_fluid.errors import RenderError, UserError, leaves
from argocd_fluid.manifests.document import Document
from argocd_fluid.records import replace
from argocd_fluid.render.budget import Surroundings
from argocd_fluid.render.enrol import enrolled
from argocd_fluid.render.findings import FORMATS, Finding
from argocd_fluid.render.parameters import Parameters, of_command
from argocd_fluid.render.policies import Policies
from argocd_fluid.render.rules.policy import idle_patches, idle_rules
from argocd_fluid.render.rules.table import IDLE_PATCH, IDLE_RULE, RULES, Level, rule_of
from argocd_fluid.render.rules.workload import Workload
from argocd_fluid.render.sources import load


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the flags."""
    parser.add_argument(
        "paths",
        metavar="PATH",
        nargs="*",
        type=_existing,
        default=[Path()],
        help="directories of applications, or single files of them (default: this directory)",
    )
    parser.add_argument("--format", choices=FORMATS, default="text")
    parser.add_argument("--strict", action="store_true", help="warnings are errors")


def _existing(text: str) -> Path:
    path = Path(text)
    if not path.exists():
        raise argparse.ArgumentTypeError(f"there is no {text}")
    return path


def run(arguments: argparse.Namespace) -> tuple[str, int]:
    """Give the report, and 1 where it has an error."""
    parameters, surroundings = of_command(arguments)
    found = [
        finding for path in arguments.paths for finding in lint(path, parameters, surroundings)
    ]
    if arguments.strict:
        found = [_strict(finding) for finding in found]
    failed = any(finding.level is Level.ERROR for finding in found)
    return FORMATS[arguments.format](found), int(failed)


def lint(path: Path, parameters: Parameters, surroundings: Surroundings) -> list[Finding]:
    """Check an application's directory, or one file of it under the policy that lies beside it."""
    folder = path if path.is_dir() else path.parent
    try:
        found = list(_findings(folder, parameters, surroundings))
    except* UserError as group:
        found = [_refusal(error) for error in leaves(group)]
    if folder != path:
        found = [finding for finding in found if finding.where.file in ("", path.name)]
    found.sort(key=lambda finding: (finding.where.file, finding.where.line or 0))
    return [_below(folder, finding) for finding in found]


def _findings(
    folder: Path, parameters: Parameters, surroundings: Surroundings
) -> Iterator[Finding]:
    sources = load(folder, parameters, surroundings)
    if not sources.documents and not parameters.allow_empty:
        hint = "*.yaml, *.yml, *.json and *.j2 are read; is it the application's directory?"
        raise RenderError("the directory has no manifests", hint=hint)
    policies = Policies.of(sources.policy, parameters.policy)
    workloads = []
    for document in policies.patched(sources.documents):
        try:
            rendered = enrolled(document, policies)
        except UserError as error:
            yield _refusal(error)
            rendered = None
        workload = Workload(document=document, rendered=rendered, policies=policies)
        workloads.append(workload)
        yield from _warnings(document, workload)
    idle = (
        (IDLE_RULE, idle_rules(policies.file, workloads)),
        (IDLE_PATCH, idle_patches(policies.file, sources.documents)),
    )
    for rule, found in idle:
        for where, problem in found:
            yield Finding(rule=rule, level=rule.level, where=where, problem=problem)


def _warnings(document: Document, workload: Workload) -> Iterable[Finding]:
    for rule in RULES:
        if rule.check is not None:
            for path, problem in rule.check(workload):
                where = document.where(path)
                yield Finding(rule=rule, level=rule.level, where=where, problem=problem)


def _refusal(error: UserError) -> Finding:
    rule = rule_of(error)
    return Finding(
        rule=rule, level=rule.level, where=error.where, problem=error.problem, hint=error.hint
    )


def _strict(finding: Finding) -> Finding:
    return replace(finding, level=Level.ERROR) if finding.level is Level.WARNING else finding


def _below(folder: Path, finding: Finding) -> Finding:
    """Name the file as seen from where the command stands."""
    if not finding.where.file:
        return finding
    file = (folder / finding.where.file).as_posix()
    return replace(finding, where=replace(finding.where, file=file))
