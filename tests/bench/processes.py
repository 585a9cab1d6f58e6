"""Processes of the bench: each in a session of its own, with a log, a pid file and an end.

A pid file holds the pid and the kernel's start time, so that a leftover of a killed run is found
and a pid that was given to somebody else since is left alone.
"""

import contextlib
import http.client
import os
import secrets
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

_TAIL_LINES = 40
_POLL_S = 0.05
_STOP_S = 10
_PORTS = range(20000, 30000)
_given_ports: set[int] = set()


class DidNotStart(Exception):
    """A component died or was not ready in time; the text ends with its log's last lines."""


def free_port() -> int:
    """A port of 127.0.0.1 that nobody listens on now; never the same one twice.

    The kernel gives ports for outgoing connections from 32768 on: one of these may be taken before
    a component listens on it. At random, so that two runs at once seldom meet.
    """
    while True:
        port = secrets.choice(_PORTS)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            if port not in _given_ports:
                _given_ports.add(port)
                return port


@dataclass(frozen=True, slots=True)
class Process:
    """One running component."""

    name: str
    popen: subprocess.Popen[bytes]
    log: Path

    @property
    def pid(self) -> int:
        return self.popen.pid

    def is_alive(self) -> bool:
        return self.popen.poll() is None

    def tail(self, lines: int = _TAIL_LINES) -> str:
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])


class Supervisor:
    """Starts and ends the processes of one bench folder."""

    def __init__(self, folder: Path) -> None:
        self._logs = folder / "logs"
        self._pids = folder / "run"
        self._logs.mkdir(parents=True, exist_ok=True)
        self._pids.mkdir(parents=True, exist_ok=True)
        self._running: dict[str, Process] = {}
        end_leftovers(folder)

    @property
    def logs(self) -> Path:
        return self._logs

    def start(
        self,
        name: str,
        argv: list[str],
        *,
        ready: Callable[[], bool],
        env: Mapping[str, str] | None = None,
        timeout_s: float = 30,
        cwd: Path | None = None,
        netns: str | None = None,
    ) -> Process:
        """Start a component and return when `ready` says so; else end it and raise its log."""
        if netns:
            argv = ["nsenter", f"--net=/run/netns/{netns}", "--", *argv]
        process = self._spawn(name, argv, env=env, cwd=cwd)
        deadline = time.monotonic() + timeout_s
        while not self._is_ready(process, ready):
            problem = ""
            if not process.is_alive():
                problem = f"{name} exited with {process.popen.returncode}"
            elif time.monotonic() > deadline:
                problem = f"{name} was not ready within {timeout_s:.0f} s"
            if problem:
                self.stop(name)
                raise DidNotStart(f"{problem}:\n{process.tail()}")
            time.sleep(_POLL_S)
        return process

    def stop(self, name: str, sig: signal.Signals = signal.SIGTERM) -> None:
        """End one component and its children; nothing happens if it does not run."""
        process = self._running.pop(name, None)
        if process is None:
            return
        _end(process.popen, sig)
        (self._pids / f"{name}.pid").unlink(missing_ok=True)

    def kill(self, name: str) -> None:
        """End one component with SIGKILL, as a crash would."""
        self.stop(name, signal.SIGKILL)

    def stop_all(self) -> None:
        """End everything, the youngest first."""
        for name in reversed(list(self._running)):
            self.stop(name)

    def running(self) -> tuple[Process, ...]:
        return tuple(self._running.values())

    def _spawn(
        self, name: str, argv: list[str], *, env: Mapping[str, str] | None, cwd: Path | None
    ) -> Process:
        if name in self._running:
            raise RuntimeError(f"{name} runs already")
        log = self._logs / f"{name}.log"
        with log.open("ab") as output:
            popen = subprocess.Popen(
                argv,
                env={**os.environ, **env} if env else None,
                cwd=cwd,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        process = Process(name, popen, log)
        self._running[name] = process
        (self._pids / f"{name}.pid").write_text(f"{popen.pid} {_start_time(popen.pid)}")
        return process

    @staticmethod
    def _is_ready(process: Process, ready: Callable[[], bool]) -> bool:
        # A component that is not up yet refuses connections or ends them in the middle; what else
        # is wrong shows at the end.
        with contextlib.suppress(OSError, http.client.HTTPException):
            return process.is_alive() and ready()
        return False


def leftovers(folder: Path) -> dict[str, int]:
    """Name and pid of processes that a run left behind."""
    return {file.stem: pid for file in _pid_files(folder) if (pid := _recorded(file))}


def end_leftovers(folder: Path) -> None:
    """End the process groups that an earlier run left behind."""
    for file in _pid_files(folder):
        if pid := _recorded(file):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)
            deadline = time.monotonic() + _STOP_S
            while _recorded(file) == pid and time.monotonic() < deadline:
                time.sleep(_POLL_S)
        # The next run may have started its own component of that name meanwhile.
        if not _recorded(file):
            file.unlink(missing_ok=True)


def _pid_files(folder: Path) -> list[Path]:
    return sorted((folder / "run").glob("*.pid"))


def _recorded(file: Path) -> int | None:
    """The pid in a file if it is still the same process."""
    try:
        pid, _, started = file.read_text().partition(" ")
    except FileNotFoundError:
        return None
    is_same = pid.isdigit() and started and _start_time(int(pid)) == started
    return int(pid) if is_same else None


def _end(popen: subprocess.Popen[bytes], sig: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(popen.pid, sig)
    with contextlib.suppress(subprocess.TimeoutExpired):
        popen.wait(timeout=_STOP_S)
    # Children that outlived their leader are ended too.
    with contextlib.suppress(ProcessLookupError):
        os.killpg(popen.pid, signal.SIGKILL)
    popen.wait()


def _start_time(pid: int) -> str:
    """Clock ticks since boot at which a process started; empty if there is none (or a zombie)."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] == "Z" else fields[19]
