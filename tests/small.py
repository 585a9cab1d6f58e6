"""Runs a program from a small process, and tells what it took.

The kernel counts the memory of the process that a program was forked from as that program's own
peak: started straight from a long test run, everything would look as large as the test run.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_STARTER = """
import json, os, sys, time
report, argv = sys.argv[1], sys.argv[2:]
started = time.perf_counter()
pid = os.posix_spawnp(argv[0], argv, os.environ)
_, status, used = os.wait4(pid, 0)
with open(report, "w") as file:
    json.dump({"code": os.waitstatus_to_exitcode(status),
               "seconds": time.perf_counter() - started,
               "cpu_s": used.ru_utime + used.ru_stime,
               "rss_kib": used.ru_maxrss}, file)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a program ended; `cpu_s` and `rss_kib` count the children that it waited for."""

    code: int
    printed: bytes
    said: str
    seconds: float
    cpu_s: float
    rss_kib: int


def run(argv: Sequence[str], *, cwd: Path, env: Mapping[str, str]) -> Ended:
    """Run to the end; what it prints goes to files, so that no pipe fills."""
    with tempfile.TemporaryDirectory() as folder:
        report, printed, said = (Path(folder) / name for name in ("report", "printed", "said"))
        with printed.open("wb") as out, said.open("wb") as err:
            subprocess.run(
                [sys.executable, "-I", "-S", "-c", _STARTER, str(report), *argv],
                cwd=cwd,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                check=True,
            )
        return Ended(
            **json.loads(report.read_text()),
            printed=printed.read_bytes(),
            said=said.read_text(errors="replace"),
        )
