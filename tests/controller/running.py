"""One controller process, started and stopped as a test likes."""

import json
import signal
import sys
from pathlib import Path

import requests

from tests.bench.processes import Supervisor, free_port

NAME = "controller"


class Controller:
    """`python -m argocd_fluid controller` with an account's kubeconfig."""

    def __init__(self, supervisor: Supervisor, kubeconfig: Path, *flags: str) -> None:
        self._supervisor = supervisor
        self._kubeconfig = kubeconfig
        self._flags = flags
        self._port = free_port()
        self._session = requests.Session()
        self._session.trust_env = False

    def start(self, *flags: str) -> None:
        process = self._supervisor.start(
            NAME,
            [
                sys.executable,
                "-m",
                "argocd_fluid",
                "controller",
                f"--kubeconfig={self._kubeconfig}",
                "--interval=1s",
                f"--metrics-address=127.0.0.1:{self._port}",
                *self._flags,
                *flags,
            ],
            ready=lambda: self.answers("/readyz"),
        )
        self._log = process.log

    def stop(self) -> None:
        self._supervisor.stop(NAME)

    def kill(self) -> None:
        """As an out-of-memory kill of the controller: nothing is finished."""
        self._supervisor.stop(NAME, sig=signal.SIGKILL)

    def answers(self, path: str) -> bool:
        try:
            return self._session.get(f"http://127.0.0.1:{self._port}{path}", timeout=2).ok
        except requests.ConnectionError:
            return False

    def metrics(self) -> str:
        return self._session.get(f"http://127.0.0.1:{self._port}/metrics", timeout=2).text

    def log(self) -> list[dict[str, object]]:
        """Its log lines, which are all JSON."""
        text = (self._log).read_text()
        return [json.loads(line) for line in text.splitlines()]
