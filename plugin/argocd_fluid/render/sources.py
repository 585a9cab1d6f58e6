"""Finds what the application's directory holds: manifests, and the policy in `fluid.yaml`.

What it cannot render is an error, never left out: Argo CD prunes an object that is missing from
the output without a word.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from argocd_fluid.constants import FLUID_POLICY
from argocd_fluid.errors import PolicyError, RenderError, Where
from argocd_fluid.manifests.document import Document
from argocd_fluid.manifests.kinds import flattened
from argocd_fluid.manifests.reader import read

POLICY_FILE: Final = "fluid.yaml"
SUFFIXES: Final = (".yaml", ".yml", ".json")
SKIP_MARK: Final = b"+argocd:skip-file-rendering"
"""In a comment: Argo CD's own mark for a file that holds no manifests."""
UNSUPPORTED: Final = {
    "kustomization.yaml": "kustomize",
    "kustomization.yml": "kustomize",
    "Kustomization": "kustomize",
    "Chart.yaml": "Helm",
}
MAX_BYTES: Final = 64 << 20
"""Of all files together; one file is bounded by the reader."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """What was found: manifests in the order of their files, and `fluid.yaml` if there is one."""

    documents: tuple[Document, ...]
    policy: Document | None


def load(folder: Path) -> Sources:
    """Read the top level of a directory. Raises UserError."""
    documents: list[Document] = []
    policy = None
    left = MAX_BYTES
    for file in _files(folder):
        data = _read(folder, file)
        left -= len(data)
        if left < 0:
            raise RenderError(f"the manifests are larger than {MAX_BYTES >> 20} MiB together")
        if file.name == POLICY_FILE:
            policy = _policy(read(data, file.name))
        elif SKIP_MARK not in data:
            documents.extend(flattened(read(data, file.name)))
    _check_no_policy_among(documents)
    return Sources(documents=tuple(documents), policy=policy)


def _files(folder: Path) -> list[Path]:
    """Give the files to read, by name; hidden ones are settings of other programs."""
    files = sorted(folder.iterdir(), key=lambda file: file.name)
    for file in files:
        where = Where(file=file.name)
        if file.name in UNSUPPORTED:
            raise RenderError(f"{UNSUPPORTED[file.name]} is not rendered", where=where)
        if file.suffix == ".j2":
            raise RenderError("templates are not rendered", where=where)
    return [
        file
        for file in files
        if file.suffix in SUFFIXES and not file.name.startswith(".") and not file.is_dir()
    ]


def _read(folder: Path, file: Path) -> bytes:
    where = Where(file=file.name)
    # A pipe would keep the rendering waiting for ever, a circle of links has no end.
    if not file.is_file():
        raise RenderError("is no file", where=where)
    if not file.resolve().is_relative_to(folder.resolve()):
        raise RenderError("is a link out of the application's directory", where=where)
    if file.stat().st_size > MAX_BYTES:
        raise RenderError(f"is larger than {MAX_BYTES >> 20} MiB", where=where)
    try:
        return file.read_bytes()
    except OSError as error:
        raise RenderError(f"cannot be read: {error.strerror}", where=where) from error


def _policy(documents: list[Document]) -> Document | None:
    if len(documents) > 1:
        raise PolicyError("a second policy in one file", where=documents[1].where())
    return documents[0] if documents else None


def _check_no_policy_among(documents: list[Document]) -> None:
    for document in documents:
        if document.value["kind"] == FLUID_POLICY:
            problem = f"a {FLUID_POLICY} is read from {POLICY_FILE} only"
            raise PolicyError(problem, where=document.where())
