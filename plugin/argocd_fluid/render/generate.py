"""`argocd-fluid generate`: renders a directory. Runs once per Application in Argo CD's sidecar.

Everything or nothing: a problem anywhere means no output, for Argo CD prunes what is missing.
"""

import argparse
import gc
from pathlib import Path

from argocd_fluid.errors import RenderError, UserError
from argocd_fluid.manifests.document import Document, Manifest
from argocd_fluid.manifests.writer import to_json, to_yaml
from argocd_fluid.render.budget import Surroundings
from argocd_fluid.render.enrol import enrolled
from argocd_fluid.render.parameters import Parameters, of_command
from argocd_fluid.render.policies import Policies
from argocd_fluid.render.sources import load

WRITERS = {"json": to_json, "yaml": to_yaml}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the flags."""
    parser.add_argument(
        "-o",
        "--output",
        choices=WRITERS,
        default="json",
        help="json (default, what Argo CD gets) or yaml (for people)",
    )


def run(arguments: argparse.Namespace) -> str:
    """Render the directory that the command stands in."""
    # Manifests are trees without cycles: looking for some takes a quarter of the time.
    gc.disable()
    try:
        return _rendered(arguments)
    finally:
        gc.enable()


def _rendered(arguments: argparse.Namespace) -> str:
    parameters, surroundings = of_command(arguments)
    manifests = [manifest for _, manifest in render(Path.cwd(), parameters, surroundings)]
    return WRITERS[arguments.output](manifests)


def render(
    folder: Path, parameters: Parameters, surroundings: Surroundings | None = None
) -> list[tuple[Document, Manifest]]:
    """Render a directory: each source document with the manifest made of it.

    Raises UserError, or an ExceptionGroup of them where several objects are wrong.
    """
    sources = load(folder, parameters, surroundings)
    if not sources.documents and not parameters.allow_empty:
        hint = "*.yaml, *.yml, *.json and *.j2 are read; allow it with the parameter allowEmpty"
        raise RenderError("the directory has no manifests", hint=hint)
    policies = Policies.of(sources.policy, parameters.policy)
    rendered, problems = [], []
    for document in policies.patched(sources.documents):
        try:
            rendered.append((document, enrolled(document, policies)))
        except UserError as error:
            problems.append(error)
    if problems:
        raise ExceptionGroup("the manifests cannot be rendered", problems)
    return rendered
