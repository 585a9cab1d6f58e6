"""Finds and reads the files of a directory that nobody has looked at yet.

A repository is untrusted: links out of it, pipes, devices, files without end and directories
without end are told apart before anything is opened.
"""

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from argocd_fluid.errors import RenderError, Where

MAX_BYTES: Final = 64 << 20
"""Of all files together; one file is bounded by the reader."""
MAX_FILES: Final = 20_000
"""Everything that lies in the directories that are looked into."""
OUTSIDE: Final = "the application's directory"


def below(folder: Path, recurse: str) -> list[str]:
    """Give the files by their path from `folder`, in order; hidden ones are other programs'.

    `recurse` is a pattern of further directories: `*` is a part of a name, `**` any directories.
    """
    pattern = _regex(recurse) if recurse else None
    names = [
        name
        for place in _directories(folder, recurse=pattern is not None)
        if not place or (pattern and pattern.fullmatch(place))
        for name in _names(folder, place)
    ]
    return sorted(names, key=lambda name: name.split("/"))


def read(folder: Path, name: str, *, root: Path | None = None, outside: str = OUTSIDE) -> bytes:
    """Read a file that must lie in `root` (default: `folder`), links followed; raises RenderError.

    `outside` says what people call the root.
    """
    if root is None and "/" not in name and _is_plain(folder, name):
        path = Path(folder, name)
    else:
        path = checked(folder, name, root=root, outside=outside)
    try:
        return path.read_bytes()
    except OSError as error:
        raise _wrong(name, f"cannot be read: {error.strerror}") from error


def _is_plain(folder: Path, name: str) -> bool:
    """Whether a name can only be a file of this very directory: asked once, for most are."""
    try:
        status = os.lstat(f"{folder}/{name}")
    except OSError:
        return False
    return stat.S_ISREG(status.st_mode) and status.st_size <= MAX_BYTES


def checked(folder: Path, name: str, *, root: Path | None = None, outside: str = OUTSIDE) -> Path:
    """Give the real path of a file that may be opened; raises RenderError."""
    try:
        path = Path(folder, name).resolve()
        # Asked before anything else: whether a file exists elsewhere is nobody's business.
        if not path.is_relative_to((root or folder).resolve()):
            raise _wrong(name, f"leads out of {outside}")
        # A pipe would keep the rendering waiting for ever, a circle of links has no end.
        if not path.is_file():
            raise _wrong(name, "is no file" if path.exists() else "does not exist")
        if path.stat().st_size > MAX_BYTES:
            raise _wrong(name, f"is larger than {MAX_BYTES >> 20} MiB")
    except (OSError, ValueError, RuntimeError) as error:
        # Python 3.11 raises RuntimeError for a link that leads to itself.
        raise _wrong(name, "is no path that can be opened") from error
    return path


def check_tree(folder: Path) -> None:
    """Check everything below a directory for a program that opens what it finds there."""
    total = 0
    for place in _directories(folder, recurse=True, hidden=True):
        for entry in _entries(folder, place):
            if entry.is_symlink() or not _is_directory(entry):
                total += checked(folder, f"{place}{entry.name}").stat().st_size
    if total > MAX_BYTES:
        raise RenderError(f"the files are larger than {MAX_BYTES >> 20} MiB together")


def _directories(folder: Path, *, recurse: bool, hidden: bool = False) -> Iterator[str]:
    """Give directories as prefixes of names: "" first, then "a/", "a/b/"."""
    left = MAX_FILES
    waiting = [""]
    while waiting:
        place = waiting.pop()
        entries = _entries(folder, place)
        left -= len(entries)
        if left < 0:
            raise RenderError(f"the directory has more than {MAX_FILES} files")
        yield place
        if recurse:
            waiting += [
                f"{place}{entry.name}/"
                for entry in entries
                if _is_further(entry, place, hidden=hidden)
            ]


def _is_further(entry: "os.DirEntry[str]", place: str, *, hidden: bool) -> bool:
    # What Git keeps for itself is no part of a repository, and may be large.
    if entry.name == ".git" or (entry.name.startswith(".") and not hidden):
        return False
    if not _is_directory(entry):
        return False
    # It could lead out, or to a directory that is read already.
    if entry.is_symlink():
        raise _wrong(f"{place}{entry.name}", "is a link to a directory, and those are not followed")
    return True


def _is_directory(entry: "os.DirEntry[str]") -> bool:
    try:
        return entry.is_dir()
    except OSError:
        # A link to itself; whoever reads it says so.
        return False


def _entries(folder: Path, place: str) -> "list[os.DirEntry[str]]":
    entries: list[os.DirEntry[str]] = []
    try:
        with os.scandir(folder / place) as found:
            for entry in found:
                entries.append(entry)
                # A directory with millions of files must not be listed to its end.
                if len(entries) > MAX_FILES:
                    break
    except OSError as error:
        raise _wrong(place or ".", f"cannot be read: {error.strerror}") from error
    return entries


def _names(folder: Path, place: str) -> Iterator[str]:
    for entry in _entries(folder, place):
        if not entry.name.startswith(".") and not _is_directory(entry):
            yield f"{place}{entry.name}"


def _regex(pattern: str) -> re.Pattern[str]:
    parts = []
    for part in pattern.strip("/").split("/"):
        if part == "**":
            parts.append("(?:[^/]+/)*")
        else:
            parts.append("[^/]*".join(re.escape(text) for text in part.split("*")) + "/")
    return re.compile("".join(parts))


def _wrong(name: str, problem: str) -> RenderError:
    return RenderError(problem, where=Where(file=name))
