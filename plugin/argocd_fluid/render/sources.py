"""Finds what the application's directory holds: manifests, and the policy in `fluid.yaml`.

What it cannot render is an error, never left out: Argo CD prunes an object that is missing from
the output without a word. What renders a kind of source is imported when there is one.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from argocd_fluid.constants import FLUID_POLICY
from argocd_fluid.errors import PolicyError, RenderError, Where
from argocd_fluid.manifests.document import Document
from argocd_fluid.manifests.kinds import flattened
from argocd_fluid.manifests.reader import read
from argocd_fluid.records import dataclass, replace
from argocd_fluid.render import files
from argocd_fluid.render.application import Application
from argocd_fluid.render.budget import Surroundings
from argocd_fluid.render.identities import check_identities
from argocd_fluid.render.parameters import Parameters

POLICY_FILE: Final = "fluid.yaml"
SUFFIXES: Final = (".yaml", ".yml", ".json")
TEMPLATE: Final = ".j2"
SKIP_MARK: Final = b"+argocd:skip-file-rendering"
"""In a comment: Argo CD's own mark for a file that holds no manifests."""
RENDERERS: Final = {
    "kustomization.yaml": "kustomize",
    "kustomization.yml": "kustomize",
    "Kustomization": "kustomize",
    "Chart.yaml": "helm",
}
"""A file that says what a directory is, and the module that renders it; the first one wins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """What was found: manifests in the order of their files, and `fluid.yaml` if there is one."""

    documents: tuple[Document, ...]
    policy: Document | None


def load(
    folder: Path,
    parameters: Parameters | None = None,
    surroundings: Surroundings | None = None,
) -> Sources:
    """Render and read a directory. Raises UserError, or a group of them."""
    policy = _policy(folder)
    application = Application(
        folder=folder,
        parameters=parameters or Parameters(),
        surroundings=surroundings or Surroundings(),
        values=_values(policy),
    )
    documents = tuple(flattened(_documents(application)))
    _check_no_policy_among(documents)
    check_identities(documents, application.environment.get("ARGOCD_APP_NAMESPACE", ""))
    return Sources(documents=documents, policy=policy)


def _documents(application: Application) -> Iterator[Document]:
    for name, module in RENDERERS.items():
        # A pipe or a broken link of that name is for the renderer to refuse, not to be overlooked.
        if os.path.lexists(application.folder / name):
            renderer = import_module(f"argocd_fluid.render.{module}")
            yield from read(renderer.render(application), renderer.LABEL)
            return
    yield from _plain(application)


def _plain(application: Application) -> Iterator[Document]:
    """Give the documents of manifests and templates, in the order of their files."""
    names = files.below(application.folder, application.parameters.recurse)
    _check_plain(names)
    names = [name for name in names if name != POLICY_FILE]
    data = _Files(application)
    templates = {name: data.read(name) for name in names if name.endswith(TEMPLATE)}
    rendered = _rendered(application, templates)
    for name in names:
        application.surroundings.budget.check()
        if name in templates:
            if SKIP_MARK not in templates[name]:
                # Its lines are not those of the template.
                yield from read(rendered[name], f"{name} (rendered)")
        elif name.endswith(SUFFIXES):
            content = data.read(name)
            if SKIP_MARK not in content:
                yield from read(content, name)


class _Files:
    """Reads files until they are too large together."""

    def __init__(self, application: Application) -> None:
        self.folder = application.folder
        self.left = files.MAX_BYTES

    def read(self, name: str) -> bytes:
        data = files.read(self.folder, name)
        self.left -= len(data)
        if self.left < 0:
            mebibytes = files.MAX_BYTES >> 20
            problem = f"the manifests are larger than {mebibytes} MiB together"
            raise RenderError(problem, hint="divide them among several Applications")
        return data


def _rendered(application: Application, templates: Mapping[str, bytes]) -> Mapping[str, bytes]:
    if not templates:
        return {}
    rendered: Mapping[str, bytes] = import_module("argocd_fluid.render.template").render(
        application, templates
    )
    return rendered


def _check_plain(names: Iterable[str]) -> None:
    for name in names:
        last = name.rsplit("/", 1)[-1]
        if last in RENDERERS:
            problem = f"{RENDERERS[last]} is rendered in the application's own directory only"
            hint = "give it an Application of its own, or leave its directory out of recurse"
            raise RenderError(problem, where=Where(file=name), hint=hint)


def _policy(folder: Path) -> Document | None:
    if not (folder / POLICY_FILE).exists() and not (folder / POLICY_FILE).is_symlink():
        return None
    documents = read(files.read(folder, POLICY_FILE), POLICY_FILE)
    if len(documents) > 1:
        hint = f"{POLICY_FILE} holds one {FLUID_POLICY}: make the second one rules of it"
        raise PolicyError("a second policy in one file", where=documents[1].where(), hint=hint)
    return documents[0] if documents else None


def _values(policy: Document | None) -> Mapping[str, Any]:
    """Give what `fluid.yaml` has for templates."""
    spec = policy.value.get("spec") if policy else None
    values = spec.get("values") if isinstance(spec, dict) else None
    if policy and not isinstance(values, dict | None):
        where = replace(policy.where(("spec", "values")), document="")
        raise PolicyError("is no mapping", where=where)
    return values or {}


def _check_no_policy_among(documents: Iterable[Document]) -> None:
    for document in documents:
        if document.value["kind"] == FLUID_POLICY:
            problem = f"a {FLUID_POLICY} is read from {POLICY_FILE} only"
            hint = f"move it to {POLICY_FILE} in the application's own directory"
            raise PolicyError(problem, where=document.where(), hint=hint)
