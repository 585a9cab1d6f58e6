"""Runs another program for a source, so that whatever it does has an end.

No shell, no secrets in its environment, a home of its own that is deleted, output and time that are
bounded, and a process group that is ended with it. A failure is one RenderError.
"""

import contextlib
import os
import resource
import selectors
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Final, cast

from argocd_fluid.errors import RenderError
from argocd_fluid.records import dataclass, field
from argocd_fluid.render.budget import Surroundings

MAX_OUTPUT: Final = 64 << 20
STDERR_TAIL: Final = 16 << 10
"""What a program said last is what went wrong; the rest is read and dropped."""
MAX_REASON: Final = 400
MAX_MEMORY: Final = 1 << 30
_CHUNK: Final = 1 << 16
_CHUNKS: Final = 64
_POLL_S: Final = 0.05


class End(StrEnum):
    """How a child ended."""

    BY_ITSELF = "by itself"
    TOO_LONG = "too long"
    TOO_MUCH = "too much"


@dataclass(frozen=True, slots=True, kw_only=True)
class Child:
    """One program to run. `name` is what people call it; `files` are put into its home."""

    name: str
    argv: tuple[str, ...]
    folder: Path
    hint: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, bytes] = field(default_factory=dict)
    stdin: bytes = b""
    max_output: int = MAX_OUTPUT


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a child left behind; `status` is negative for a signal."""

    end: End
    status: int
    stdout: bytes
    stderr: str


HOME: Final = "{home}"
"""In `argv`: the folder that `files` are in."""


def output(child: Child, surroundings: Surroundings) -> bytes:
    """Run a program and give what it printed; raises RenderError if it fails in any way."""
    outcome = run(child, surroundings)
    if outcome.end is End.TOO_LONG:
        raise surroundings.budget.spent(child.name)
    if outcome.end is End.TOO_MUCH:
        raise RenderError(f"{child.name} printed more than {child.max_output >> 20} MiB")
    if outcome.status < 0:
        raise RenderError(f"{child.name} was ended by {_signal(-outcome.status)}")
    if outcome.status:
        raise RenderError(f"{child.name} failed: {reason(outcome, child)}")
    return outcome.stdout


def run(child: Child, surroundings: Surroundings) -> Outcome:
    """Run a program and tell how it ended; raises RenderError if it cannot be started."""
    path = surroundings.environment.get("PATH") or os.defpath
    program = shutil.which(child.argv[0], path=path)
    if program is None:
        problem = f"there is no program {child.argv[0]} to run {child.name} with"
        raise RenderError(problem, hint=child.hint)
    surroundings.budget.check()
    with TemporaryDirectory(prefix="argocd-fluid-") as home:
        for name, data in child.files.items():
            Path(home, name).write_bytes(data)
        stdin = Path(home, ".stdin")
        stdin.write_bytes(child.stdin)
        argv = [program, *(word.replace(HOME, home) for word in child.argv[1:])]
        environment = {"PATH": path, "HOME": home, "TMPDIR": home, "LC_ALL": "C.UTF-8"}
        with stdin.open("rb") as file, _started(child, argv, file.fileno(), environment) as process:
            _bound(process.pid, int(surroundings.budget.left()) + 1)
            try:
                return _Reading(process, child.max_output).outcome(surroundings)
            finally:
                _end(process)


def reason(outcome: Outcome, child: Child) -> str:
    """Give the last line of stderr that says anything, short and without the machine's paths."""
    lines = [line.strip() for line in outcome.stderr.splitlines() if line.strip()]
    useful = [line for line in lines if not line.lower().startswith(_NOISE)]
    if not lines:
        return f"exit status {outcome.status}, and it said nothing"
    text = (useful or lines)[-1].replace(f"{child.folder}/", "").replace(f"{child.folder}", ".")
    for prefix in ("Error: ", "error: "):
        text = text.removeprefix(prefix)
    return text if len(text) <= MAX_REASON else f"{text[:MAX_REASON]}..."


_NOISE: Final = ("use --debug", "warning:", "# warning", "see ", "usage:", "level=warn")


def _started(
    child: Child, argv: list[str], stdin: int, environment: dict[str, str]
) -> "subprocess.Popen[bytes]":
    try:
        return subprocess.Popen(
            argv,
            cwd=child.folder,
            env={**environment, **child.environment},
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        problem = f"{child.name} cannot be started: {error.strerror}"
        raise RenderError(problem, hint=child.hint) from error


def _bound(pid: int, seconds: int) -> None:
    """Bound what it uses even where nobody is left to end it: Argo CD kills a late plugin."""
    if sys.platform == "linux":
        # A program that has ended already has no limits to set.
        with contextlib.suppress(ProcessLookupError):
            resource.prlimit(pid, resource.RLIMIT_CPU, (seconds, seconds))
            resource.prlimit(pid, resource.RLIMIT_DATA, (MAX_MEMORY, MAX_MEMORY))


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End whatever is left of the group; a group that is gone already is fine."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


class _Reading:
    """Reads both outputs of a process until it has ended, or may not go on."""

    def __init__(self, process: "subprocess.Popen[bytes]", max_output: int) -> None:
        self.process = process
        self.max_output = max_output
        self.stdout = cast("IO[bytes]", process.stdout).fileno()
        self.stderr = cast("IO[bytes]", process.stderr).fileno()
        self.printed = bytearray()
        self.said = bytearray()

    def outcome(self, surroundings: Surroundings) -> Outcome:
        """Read to the end, in the time that is left."""
        end = self._read(surroundings)
        if end is not End.BY_ITSELF:
            _end(self.process)
        return Outcome(
            end=end,
            status=self.process.wait(),
            stdout=bytes(self.printed),
            stderr=self.said.decode(errors="replace"),
        )

    def _read(self, surroundings: Surroundings) -> End:
        with selectors.DefaultSelector() as selector:
            for pipe in (self.stdout, self.stderr):
                os.set_blocking(pipe, False)
                selector.register(pipe, selectors.EVENT_READ)
            while True:
                if not surroundings.budget.left():
                    return End.TOO_LONG
                ended = self.process.poll() is not None
                self._take(selector)
                if len(self.printed) > self.max_output:
                    return End.TOO_MUCH
                # A grandchild that holds a pipe open is not waited for.
                if ended:
                    return End.BY_ITSELF

    def _take(self, selector: selectors.BaseSelector) -> None:
        """Take what is there; wait a little where nothing is."""
        for key, _ in selector.select(_POLL_S):
            data: bytes | None = None
            # More than a pipe holds, and not for ever: one that writes on must not stop the clock.
            for _ in range(_CHUNKS):
                data = self._available(key.fd)
                if not data:
                    break
                self._keep(key.fd, data)
            if data == b"":
                selector.unregister(key.fileobj)
        if not selector.get_map():
            # Both pipes are closed: the program is ending.
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(_POLL_S)

    def _keep(self, pipe: int, data: bytes) -> None:
        if pipe == self.stdout:
            self.printed += data
        else:
            self.said += data
            del self.said[:-STDERR_TAIL]

    @staticmethod
    def _available(pipe: int) -> bytes | None:
        """Give what can be read now: empty at the end, None where nothing is there yet."""
        try:
            return os.read(pipe, _CHUNK)
        except BlockingIOError:
            return None
