"""Where the bench keeps what it needs while it runs, and who may run it.

One run at a time: its pid stands in the lock file. What a run that was killed left behind is
removed by its guardian at once (see guardian.py) and, should that be gone too, by the next run.
"""

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from tests.bench import guardian, node
from tests.bench.build import Unavailable
from tests.bench.processes import Supervisor, end_leftovers

_LOCK = "lock"


def folder() -> Path:
    """Short, because Unix sockets below it have paths of at most 107 bytes; on a disk, because
    container layers do not fit into memory.
    """
    return Path(tempfile.gettempdir()) / f"argocd-fluid-bench-{os.getuid()}"


@contextlib.contextmanager
def session() -> Iterator[Supervisor]:
    """Take the folder for this process, empty; at the end nothing runs any more, the logs stay."""
    place = folder()
    with _claimed(place):
        clean(place)
        supervisor = Supervisor(place)
        watch = guardian.start(place)
        try:
            yield supervisor
        finally:
            supervisor.stop_all()
            guardian.dismiss(watch)


def clean(place: Path) -> None:
    """Remove whatever an earlier run left, its logs too: a failure shows this run's."""
    end_leftovers(place)
    node.cleanup(place)
    for path in place.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        elif path.name != _LOCK:
            path.unlink()


def owner() -> int | None:
    """Pid of the run that has the folder now."""
    try:
        with _claimed(folder()):
            return None
    except Unavailable:
        return int((folder() / _LOCK).read_text() or 0)


def end(place: Path) -> None:
    """Remove everything that a run left, the folder too."""
    with _claimed(place):
        clean(place)
        shutil.rmtree(place)


@contextlib.contextmanager
def _claimed(place: Path) -> Iterator[IO[str]]:
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    if place.is_symlink() or place.stat().st_uid != os.getuid():
        raise Unavailable(f"{place} belongs to somebody else")
    # Not "w": that would wipe the pid of the run that holds the lock.
    with (place / _LOCK).open("a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Unavailable(
                f"another bench runs in {place}: end it first, or set TMPDIR to another folder"
            ) from None
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        yield lock
        lock.truncate(0)
