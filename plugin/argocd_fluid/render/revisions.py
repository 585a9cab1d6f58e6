"""The two sides of a plan: a directory, or the files of a Git revision in a directory of their own.

Asks the git program, so it reads SHA-256 repositories as well.
"""

import io
import subprocess
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from argocd_fluid.errors import RenderError


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
    inside = path or _text(_git("rev-parse", "--show-prefix")).rstrip("/")
    # Below the top, git would look for the cwd's place once more inside the tree.
    top = _text(_git("rev-parse", "--show-toplevel")) or "."
    archive = _git("-C", top, "archive", "--format=tar", f"{_text(tree)}:{inside.strip('/')}")
    if archive is None:
        raise RenderError(f"revision {side} has no directory {inside!r}")
    with TemporaryDirectory(prefix="argocd-fluid-") as folder:
        try:
            with tarfile.open(fileobj=io.BytesIO(archive)) as files:
                files.extractall(folder, filter="data")
        except tarfile.FilterError as error:
            raise RenderError(f"revision {side}: {error}") from error
        yield Path(folder)


def _existing(folder: Path, side: str) -> Path:
    if not folder.is_dir():
        raise RenderError(f"{side} has no directory {folder.relative_to(side)}")
    return folder


def _git(*arguments: str) -> bytes | None:
    """Give what git prints, None where it fails."""
    try:
        done = subprocess.run(["git", *arguments], capture_output=True, check=False)
    except FileNotFoundError as error:
        raise RenderError("there is no program git to read revisions with") from error
    return done.stdout if done.returncode == 0 else None


def _text(output: bytes | None) -> str:
    return (output or b"").decode().strip()
