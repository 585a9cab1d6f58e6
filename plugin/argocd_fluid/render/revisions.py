"""The two sides of a plan: a directory, or the files of a Git revision in a directory of their own.

Asks the git program for objects, so it reads SHA-256 repositories as well, and neither the work
tree nor attributes that leave files out of archives have a say.
"""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Final

from argocd_fluid.errors import RenderError
from argocd_fluid.records import dataclass

MAX_BYTES: Final = 256 << 20
MAX_FILES: Final = 50_000
"""Of one revision; more is no application's directory."""
TIMEOUT_S: Final = 60
LINK: Final = "120000"
REACHES_OUT: Final = frozenset(
    {"kustomization.yaml", "kustomization.yml", "Kustomization", "Chart.yaml"}
)
"""A directory with one of these may name others beside it."""


@contextmanager
def checked_out(side: str, path: str) -> Iterator[Path]:
    """Give the directory `path` of a side: of a directory, or of a revision around the cwd.

    For a revision `path` starts at the top of the repository; without one it is the cwd's place.
    """
    if Path(side).is_dir():
        yield _existing(Path(side, path), side)
        return
    tree = _git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{side}^{{tree}}")
    if tree is None:
        raise RenderError(f"{side!r} is neither a directory nor a revision of this repository")
    prefix = path or (_git("rev-parse", "--show-prefix") or b"").decode().strip()
    inside = PurePosixPath(prefix.strip("/"))
    if ".." in inside.parts:
        raise RenderError(f"--path {path!r} leads out of the repository")
    files = _files(side, tree.decode().strip(), inside)
    with TemporaryDirectory(prefix="argocd-fluid-") as folder:
        _write(side, files, Path(folder))
        place = Path(folder, inside)
        if not place.is_dir():
            raise RenderError(f"revision {side} has no directory {str(inside)!r}")
        yield place


def _existing(folder: Path, side: str) -> Path:
    if not folder.is_dir():
        raise RenderError(f"{side} has no directory {folder.relative_to(side)}")
    return folder


@dataclass(frozen=True, slots=True, kw_only=True)
class _File:
    path: PurePosixPath
    mode: str
    blob: str
    size: int


def _files(side: str, tree: str, inside: PurePosixPath) -> list[_File]:
    """List the files below a directory; all of the tree where the directory may name others."""
    whole = _listed(tree)
    found = [file for file in whole if file.path.is_relative_to(inside)]
    if any(file.path.name in REACHES_OUT for file in found):
        found = whole
    if len(found) > MAX_FILES or sum(file.size for file in found) > MAX_BYTES:
        limits = f"{MAX_FILES} files or {MAX_BYTES >> 20} MiB"
        raise RenderError(f"revision {side} has more than {limits} there", hint="give --path")
    return found


def _listed(tree: str) -> list[_File]:
    listing = _git("ls-tree", "-r", "-z", "-l", "--full-tree", tree) or b""
    files = []
    for entry in listing.split(b"\0"):
        head, tab, name = entry.partition(b"\t")
        words = head.decode().split()
        # The commit of a submodule is no file here, nor is it for whoever clones without them.
        if tab and words[1] == "blob":
            path = PurePosixPath(name.decode(errors="surrogateescape"))
            files.append(_File(path=path, mode=words[0], blob=words[2], size=int(words[3])))
    return files


def _write(side: str, files: list[_File], folder: Path) -> None:
    """Fill a directory. A tree cannot have `..` or a file inside a link: git checks neither."""
    wanted = "".join(f"{file.blob}\n" for file in files).encode()
    data = _git("cat-file", "--batch", given=wanted) or b""
    at = 0
    for file in files:
        start = data.find(b"\n", at) + 1
        at = start + file.size + 1
        target = folder / file.path
        if not start or ".." in file.path.parts or not _is_inside(target.parent, folder):
            raise RenderError(f"revision {side} cannot be read at {file.path}")
        target.parent.mkdir(parents=True, exist_ok=True)
        content = data[start : start + file.size]
        if file.mode == LINK:
            target.symlink_to(content.decode(errors="surrogateescape"))
        else:
            target.write_bytes(content)


def _is_inside(place: Path, folder: Path) -> bool:
    return place.resolve().is_relative_to(folder.resolve())


def _git(*arguments: str, given: bytes = b"") -> bytes | None:
    """Give what git prints, None where it fails."""
    try:
        done = subprocess.run(
            ["git", *arguments], input=given, capture_output=True, check=False, timeout=TIMEOUT_S
        )
    except FileNotFoundError as error:
        raise RenderError("there is no program git to read revisions with") from error
    except subprocess.TimeoutExpired as error:
        raise RenderError(f"git took longer than {TIMEOUT_S} s") from error
    return done.stdout if done.returncode == 0 else None
