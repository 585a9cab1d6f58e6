"""Where the bench keeps what it needs while it runs, and who may run it."""

import fcntl
import os
import shutil
import tempfile
from pathlib import Path
from typing import IO

from tests.bench.build import Unavailable


def folder() -> Path:
    """Short, because Unix sockets below it have paths of at most 107 bytes; on a disk, because
    container layers do not fit into memory.
    """
    return Path(tempfile.gettempdir()) / f"argocd-fluid-bench-{os.getuid()}"


def claim(place: Path) -> IO[str]:
    """Take the folder for this process; the claim ends with the returned file."""
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    if place.stat().st_uid != os.getuid() or place.is_symlink():
        raise Unavailable(f"{place} belongs to somebody else")
    lock = (place / "lock").open("w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.close()
        raise Unavailable(f"another bench runs in {place}: end it first") from None
    return lock


def clear(place: Path) -> None:
    """Remove what an earlier run wrote; its logs go too, so that a failure shows this run's."""
    for name in ("logs", "etcd", "pki", "jobset"):
        shutil.rmtree(place / name, ignore_errors=True)
