"""The one writer of FluidWorkload status: changes are functions, applied under a lock per object.

Node loops and the workload loop all come through here. A change is computed on the newest version
that is known, sent as a merge patch of what differs, guarded by the resource version; when somebody
else was faster it is computed again on what the server has now. No difference: no request.
"""

import threading
from collections import defaultdict
from collections.abc import Callable

import msgspec

from argocd_fluid.controller.mergepatch import merge_patch
from argocd_fluid.errors import Conflict, NotFound
from argocd_fluid.kube.client import Client
from argocd_fluid.kube.endpoints import FLUID_WORKLOADS
from argocd_fluid.kube.fluid import FluidWorkload, FluidWorkloadStatus
from argocd_fluid.kube.store import Key, Store

Change = Callable[[FluidWorkload], FluidWorkloadStatus]
ATTEMPTS = 5


class Ledger:
    """Writes status of the FluidWorkloads in one store."""

    def __init__(self, client: Client, store: Store[FluidWorkload]) -> None:
        self._client = client
        self._store = store
        self._guard = threading.Lock()
        self._locks: defaultdict[Key, threading.Lock] = defaultdict(threading.Lock)

    def update(self, workload: FluidWorkload, change: Change) -> FluidWorkload:
        """Apply a pure change of the status; give the object as it is then.

        Raises NotFound when the object (or its uid) is gone, Conflict after too many attempts.
        """
        key = (workload.metadata.namespace, workload.metadata.name)
        with self._lock_of(key):
            current = self._newest(workload)
            for _ in range(ATTEMPTS):
                patch = _patch(current, change(current))
                if patch is None:
                    return current
                try:
                    current = self._client.patch(_path(key, "status"), patch, FluidWorkload)
                except Conflict:
                    current = self._client.get(_path(key), FluidWorkload)
                    self._store.refresh(current)
                    if current.metadata.uid != workload.metadata.uid:
                        raise NotFound(f"FluidWorkload {'/'.join(key)} was recreated") from None
                    continue
                self._store.refresh(current)
                return current
        raise Conflict(f"FluidWorkload {'/'.join(key)} is written by somebody else all the time")

    def _newest(self, workload: FluidWorkload) -> FluidWorkload:
        known = self._store.get(workload.metadata.namespace, workload.metadata.name)
        return known if known and known.metadata.uid == workload.metadata.uid else workload

    def _lock_of(self, key: Key) -> threading.Lock:
        with self._guard:
            return self._locks[key]


def _patch(current: FluidWorkload, status: FluidWorkloadStatus) -> dict[str, object] | None:
    difference = merge_patch(msgspec.to_builtins(current.status), msgspec.to_builtins(status))
    if not difference:
        return None
    guard = {
        "uid": current.metadata.uid,
        "resourceVersion": current.metadata.resource_version,
    }
    return {"metadata": guard, "status": difference}


def _path(key: Key, subresource: str = "") -> str:
    return FLUID_WORKLOADS.path(*key, subresource)
