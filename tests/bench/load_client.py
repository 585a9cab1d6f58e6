"""The test's end of the `load` program (tests/bench/load): one method per command."""

from typing import Any

import requests

PORT = 8080

Answer = dict[str, Any]


class Load:
    """Commands to the load in one pod; each answers with the program's JSON.

    Timeouts are long: a throttled container answers late, and that is no failure of it.
    """

    def __init__(self, address: str, *, port: int = PORT) -> None:
        self._url = f"http://{address}:{port}"
        self._session = requests.Session()
        # A proxy of the machine knows nothing of the bench's networks.
        self._session.trust_env = False

    def cpu(self, milli: int) -> Answer:
        """Burn this many millicores (0: none) till the next call."""
        return self._command("cpu", milli=milli)

    def memory(self, *, mebibytes: int) -> Answer:
        """Hold this much; less than before is given back to the kernel at once."""
        return self._command("memory", mebibytes=mebibytes)

    def grow_memory(self, *, bytes_per_s: int, until: int | None = None) -> Answer:
        """Grow in the background; without `until` into the limit."""
        bound = {} if until is None else {"until": until}
        return self._command("memory/grow", bytes_per_s=bytes_per_s, **bound)

    def fork(self, count: int, *, milli: int = 0, mebibytes: int = 0) -> list[Answer]:
        """Replace the child processes by `count` new ones with this load each."""
        children: list[Answer] = self._ask("fork", n=count, milli=milli, mebibytes=mebibytes)
        return children

    def checkpoint(self, folder: str, step: int) -> Answer:
        """Write `folder`/`step`/complete atomically, inside the container."""
        return self._command("checkpoint", dir=folder, step=step)

    def exit(self, code: int) -> Answer:
        return self._command("exit", code=code)

    def cgroup(self) -> Answer:
        """The container's own cgroup files as it sees them itself."""
        return self._command("cgroup")

    def info(self) -> Answer:
        """Process: pid, start time, ATTEMPT, environment, present load, workers."""
        return self._command("info")

    def is_healthy(self) -> bool:
        try:
            return bool(self._ask("healthz") == "ok")
        except requests.RequestException:
            return False

    def _command(self, path: str, **arguments: str | int) -> Answer:
        answer: Answer = self._ask(path, **arguments)
        return answer

    def _ask(self, path: str, **arguments: str | int) -> Any:
        answer = self._session.put(f"{self._url}/{path}", params=arguments, timeout=20)
        answer.raise_for_status()
        return answer.json()
