"""The test's end of the `load` program (tests/bench/load): one method per command."""

from typing import Any

import requests

PORT = 8080


class Load:
    """Commands to the load in one pod; each answers with the program's JSON.

    Timeouts are long: a throttled container answers late, and that is no failure of it.
    """

    def __init__(self, address: str, *, port: int = PORT) -> None:
        self._url = f"http://{address}:{port}"
        self._session = requests.Session()
        # A proxy of the machine knows nothing of the bench's networks.
        self._session.trust_env = False

    def cpu(self, milli: int) -> dict[str, Any]:
        """Burn this many millicores (0: none) till the next call."""
        return self._command("cpu", milli=milli)

    def memory(self, *, mebibytes: int) -> dict[str, Any]:
        """Hold this much; less than before is given back to the kernel at once."""
        return self._command("memory", mebibytes=mebibytes)

    def grow_memory(self, *, bytes_per_s: int, until: int | None = None) -> dict[str, Any]:
        """Grow in the background; without `until` into the limit."""
        bound = {} if until is None else {"until": until}
        return self._command("memory/grow", bytes_per_s=bytes_per_s, **bound)

    def fork(self, count: int, *, milli: int = 0, mebibytes: int = 0) -> list[dict[str, Any]]:
        """Replace the child processes by `count` new ones with this load each."""
        return self._command("fork", n=count, milli=milli, mebibytes=mebibytes)

    def checkpoint(self, folder: str, step: int) -> dict[str, Any]:
        """Write `folder`/`step`/complete atomically, inside the container."""
        return self._command("checkpoint", dir=folder, step=step)

    def exit(self, code: int) -> dict[str, Any]:
        return self._command("exit", code=code)

    def cgroup(self) -> dict[str, Any]:
        """The container's own cgroup files as it sees them itself."""
        return self._command("cgroup")

    def info(self) -> dict[str, Any]:
        """Process: pid, start time, ATTEMPT, environment, present load, workers."""
        return self._command("info")

    def is_healthy(self) -> bool:
        try:
            return self._command("healthz") == "ok"
        except requests.RequestException:
            return False

    def _command(self, path: str, **arguments: object) -> Any:
        answer = self._session.put(f"{self._url}/{path}", params=arguments, timeout=20)
        answer.raise_for_status()
        return answer.json()
