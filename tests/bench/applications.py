"""One Application of the bench's Argo CD: refresh it, wait for what it says."""

import time
from collections.abc import Callable, Mapping
from typing import Any

from tests.bench.control_plane import ControlPlane

API_VERSION = "argoproj.io/v1alpha1"
NAMESPACE = "argocd"
REFRESH = "argocd.argoproj.io/refresh"
# A refresh annotation can be lost right after repo-server's start; only a new one is looked at.
REFRESH_LOST_S = 5.0
POLL_S = 0.1


class Application:
    """A thin handle: everything it says is read from the cluster when asked."""

    def __init__(self, control_plane: ControlPlane, name: str) -> None:
        self._api = control_plane.client()
        self._reference = {
            "apiVersion": API_VERSION,
            "kind": "Application",
            "metadata": {"name": name, "namespace": NAMESPACE},
        }
        self.name = name

    def create(self, spec: Mapping[str, Any]) -> None:
        """Create it with this spec."""
        self._api.create(self._reference | {"spec": dict(spec)})

    def status(self) -> dict[str, Any]:
        """Give the status, empty before Argo CD has looked."""
        return self._get().get("status", {})

    def refresh(self, *, hard: bool = False, timeout_s: float = 30) -> None:
        """Let Argo CD read Git again, and return when it has."""
        deadline = time.monotonic() + timeout_s
        while time.monotonic() < deadline:
            self._annotate(None)
            self._annotate("hard" if hard else "normal")
            if self._is_refreshed(min(deadline, time.monotonic() + REFRESH_LOST_S)):
                return
        raise TimeoutError(f"Application {self.name} was not refreshed: {self.describe()}")

    def wait(
        self,
        *,
        sync: str | None = None,
        health: str | None = None,
        revision: str | None = None,
        until: Callable[[dict[str, Any]], bool] = bool,
        timeout_s: float = 30,
    ) -> dict[str, Any]:
        """Return the status when all that is given holds; `revision` is the one compared last."""
        deadline = time.monotonic() + timeout_s
        while time.monotonic() < deadline:
            status = self.status()
            compared = status.get("sync", {})
            if (
                sync in (None, compared.get("status"))
                and health in (None, status.get("health", {}).get("status"))
                and revision in (None, compared.get("revision"))
                and until(status)
            ):
                return status
            time.sleep(POLL_S)
        raise TimeoutError(
            f"Application {self.name} is not sync={sync} health={health} revision={revision} "
            f"after {timeout_s} s: {self.describe()}"
        )

    def delete(self) -> None:
        """Forget the Application; what it deployed stays."""
        self._api.delete(self._reference)

    def describe(self) -> str:
        """Tell in one line what people would look at first."""
        status = self.status()
        operation = status.get("operationState", {})
        parts = {
            "sync": status.get("sync", {}).get("status"),
            "revision": status.get("sync", {}).get("revision"),
            "health": status.get("health", {}),
            "conditions": [c.get("message") for c in status.get("conditions", [])],
            "operation": (operation.get("phase"), operation.get("message")),
            "resources": status.get("resources", []),
        }
        return str(parts)

    def _get(self) -> dict[str, Any]:
        return self._api.get(API_VERSION, "Application", self.name, NAMESPACE)

    def _annotate(self, value: str | None) -> None:
        self._api.patch(self._reference, {"metadata": {"annotations": {REFRESH: value}}})

    def _is_refreshed(self, deadline: float) -> bool:
        while time.monotonic() < deadline:
            if REFRESH not in self._get()["metadata"].get("annotations", {}):
                return True
            time.sleep(POLL_S)
        return False
