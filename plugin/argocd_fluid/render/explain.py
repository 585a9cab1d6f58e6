"""`argocd-fluid explain FILE`: where each number of a container's size and policy comes from.

The numbers are those of the intent that `generate` writes; the places are looked up again in the
manifest, in `fluid.yaml` beside it, and in the policy annotation.
"""

import argparse
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from argocd_fluid.constants import ENABLED, FLUID_RESTART, INTENT
from argocd_fluid.errors import RenderError
from argocd_fluid.manifests.document import Document, dotted, get
from argocd_fluid.manifests.kinds import Container, Role, roles
from argocd_fluid.render.enrol import enrolled
from argocd_fluid.render.parameters import of_command
from argocd_fluid.render.policies import Policies
from argocd_fluid.render.provenance import Layer, layers_of
from argocd_fluid.render.sources import load

Row = tuple[str, str, str]
"""What it is, its value, where it comes from."""
HEAD: Final[Row] = ("VALUE", "IS", "FROM")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the flags."""
    parser.add_argument("file", metavar="FILE", type=Path, help="a manifest of an application")
    parser.add_argument("--container", metavar="C", help="only containers of this name")


def run(arguments: argparse.Namespace) -> str:
    """Explain what the file enrols; the policy is the one beside it."""
    file: Path = arguments.file
    if not file.is_file():
        raise RenderError(f"{file} is no file")
    parameters, surroundings = of_command(arguments)
    sources = load(file.parent, parameters, surroundings)
    policies = Policies.of(sources.policy, parameters.policy)
    blocks: list[str] = []
    for document in policies.patched(sources.documents):
        if document.file == file.name:
            blocks.extend(_blocks(document, policies, sources.policy, arguments.container))
    if not blocks:
        what = f"container {arguments.container}" if arguments.container else "container"
        hint = f"opt in with the annotation {ENABLED}, or with a rule in fluid.yaml"
        raise RenderError(f"{file} has no enrolled {what}", hint=hint)
    return "\n".join(blocks)


def _blocks(
    document: Document, policies: Policies, file: Document | None, only: str | None
) -> Iterator[str]:
    rendered = enrolled(document, policies)
    text = get(rendered, ("metadata", "annotations", INTENT))
    if text is None:
        return
    intent = json.loads(text)["roles"]
    for role in roles(document):
        for container in role.containers:
            entry = intent.get(role.name, {}).get(container.name)
            if entry is None or only not in (None, container.name):
                continue
            layers = layers_of(document, policies, file, (role.name, container.name))
            rows = [_enrolment(document, layers), *_sizes(document, container, entry)]
            rows.extend(_policy(entry, layers))
            yield f"{document.identity}, {_subject(role, container)}\n{_table(rows)}"


def _subject(role: Role, container: Container) -> str:
    place = f"role {role.name}, " if role.name else ""
    return f"{place}container {container.name}"


def _enrolment(document: Document, layers: list[Layer]) -> Row:
    for key in (ENABLED, FLUID_RESTART):
        path = ("metadata", "annotations", key)
        if get(document.value, path) == "true":
            return "enrolled", "true", f"{_place(document, path)} annotation {key}"
    rule = next((layer for layer in layers if layer.can_enrol), None)
    return "enrolled", "true", f"{rule.where(())} {rule.name}" if rule else "fluid.yaml"


def _sizes(document: Document, container: Container, entry: Mapping[str, Any]) -> Iterator[Row]:
    for kind in ("requests", "limits"):
        for resource, value in entry.get(kind, {}).items():
            yield f"{kind}.{resource}", value, _source_of_size(document, container, kind, resource)


def _source_of_size(document: Document, container: Container, kind: str, resource: str) -> str:
    own = (*container.resources, kind, resource)
    if get(document.value, own) is not None:
        return f"{_place(document, own)} {dotted(own[len(container.path) :])}"
    limit = (*container.resources, "limits", resource)
    return f"{_place(document, limit)} the limit, for there is no request"


def _policy(entry: Mapping[str, Any], layers: list[Layer]) -> Iterator[Row]:
    for path, value in _leaves(entry["policy"], ()):
        source = next((layer for layer in layers if layer.says(path)), None)
        name, shown = ".".join(path), value if isinstance(value, str) else json.dumps(value)
        if source is not None:
            yield name, shown, f"{source.where(path)} {source.name}"
        elif path[-1] in ("min", "max"):
            yield name, shown, _default_bound(path, entry, layers)
        else:
            yield name, shown, "default"


def _default_bound(path: tuple[str, ...], entry: Mapping[str, Any], layers: list[Layer]) -> str:
    request = entry["requests"][path[0]]
    share = "a quarter of" if path[-1] == "min" else "4 times"
    other = (path[0], "max" if path[-1] == "min" else "min")
    moved = any(layer.says(other) for layer in layers)
    return f"default: {share} Git's request {request}" + (f", within {other[1]}" if moved else "")


def _leaves(
    value: Mapping[str, Any], path: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], Any]]:
    for key, part in value.items():
        if isinstance(part, dict):
            yield from _leaves(part, (*path, key))
        else:
            yield (*path, key), part


def _place(document: Document, path: tuple[str | int, ...]) -> str:
    where = document.where(path)
    return f"{where.file}:{where.line}"


def _table(rows: list[Row]) -> str:
    widths = [max(len(row[column]) for row in (HEAD, *rows)) for column in (0, 1)]
    lines = (
        f"  {name:<{widths[0]}}  {value:<{widths[1]}}  {source}"
        for name, value, source in (HEAD, *rows)
    )
    return "".join(f"{line}\n" for line in lines)
