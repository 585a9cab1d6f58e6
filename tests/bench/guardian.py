"""Ends the components of a run whose process is gone, however it went.

A child of the run with nothing but a pipe from it: the kernel closes the pipe with the run. A real
node's containers, mounts and cgroups wait for the next run or `python -m tests.bench down`.
"""

import subprocess
import sys
from pathlib import Path

from tests.bench.processes import end_leftovers

_REPOSITORY = Path(__file__).parents[2]


def start(folder: Path) -> subprocess.Popen[bytes]:
    """Watch over what this process starts in `folder`."""
    return subprocess.Popen(
        [sys.executable, "-m", __name__, str(folder)],
        cwd=_REPOSITORY,
        stdin=subprocess.PIPE,
        # It must outlive a Ctrl-C that ends the run.
        start_new_session=True,
    )


def dismiss(guardian: subprocess.Popen[bytes]) -> None:
    """The run ended in order; there is nothing left to do for it."""
    guardian.communicate()


if __name__ == "__main__":
    sys.stdin.read()
    end_leftovers(Path(sys.argv[1]))
