"""A reflector: keep a Store equal to a collection of the API server, through every kind of break.

List in chunks, watch with bookmarks from that version; a clean end or silence reconnects from the
last version, 410 lists again (the Store tells the deletions that were missed), failures back off.
The endless loop is thin on purpose: `step` is what the tests drive.
"""

import logging
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

import msgspec

from argocd_fluid.errors import ApiError, Gone
from argocd_fluid.kube.backoff import Backoff
from argocd_fluid.kube.client import JSON, METADATA_ONLY, METADATA_ONLY_LIST, Client
from argocd_fluid.kube.responses import error_of_status
from argocd_fluid.kube.store import HasMetadata, Store
from argocd_fluid.kube.types import Object, Status, Wire

T = TypeVar("T", bound=HasMetadata)

WATCH_S = 300
"""The server ends a watch by itself after this time."""
SILENCE_S = 90.0
"""Bookmarks come about once a minute, so this much silence is a dead connection."""
RECONNECT_S = 0.1
"""After a clean end; one without a single event backs off, or it is asked thousands of times."""
UNAUTHORIZED, FORBIDDEN = 401, 403
REFUSED = (UNAUTHORIZED, FORBIDDEN)
FIRST_REFUSAL_S = 2.0
"""Only a person ends a refusal, or a restarted API server's cache of roles."""

log = logging.getLogger(__name__)


class Event(Wire, frozen=True):
    """One line of a watch."""

    type: str
    object: msgspec.Raw


class Reflector(Generic[T]):
    """Fills one Store from one collection; `query` narrows it (field or label selectors)."""

    def __init__(
        self,
        client: Client,
        path: str,
        kind: type[T],
        *,
        store: Store[T],
        query: dict[str, str] | None = None,
    ) -> None:
        self._client = client
        self._path = path
        self._kind = kind
        self._store = store
        self._query = query or {}
        self._metadata_only = kind is Object
        self._version = ""
        self._backoff = Backoff(RECONNECT_S, 30.0)
        self._refusals = Backoff(FIRST_REFUSAL_S, 30.0)
        self._is_refused = False
        self.silence_s = SILENCE_S

    def run(self, stop: threading.Event, wait: Callable[[float], object] | None = None) -> None:
        """Reflect until `stop`."""
        while not stop.is_set():
            (wait or stop.wait)(self.step(stop))

    def step(self, stop: threading.Event) -> float:
        """List if needed and watch till the stream ends; give the seconds to wait after it."""
        try:
            if not self._version:
                self._list()
            return RECONNECT_S if self._watch(stop) else self._backoff.next_s()
        except Gone:
            self._version = ""
            return self._backoff.next_s()
        except (ApiError, msgspec.MsgspecError) as error:
            if isinstance(error, msgspec.MsgspecError):
                self._version = ""  # one event is lost, so only a list makes the store whole
            elif error.status in REFUSED:
                return self._refusal(error)
            delay_s = self._backoff.next_s()
            log.warning(
                "watch is broken, it will be resumed",
                extra={"path": self._path, "error": str(error), "delay_s": round(delay_s, 2)},
            )
            return delay_s

    def _refusal(self, error: ApiError) -> float:
        """Wait for somebody to grant access; one line says so, and the client's for a 401."""
        if error.status == FORBIDDEN and not self._is_refused:
            log.error(
                "not allowed to list and watch: apply argocd/rbac.yaml, or give a --kubeconfig"
                " that may; trying on",
                extra={"path": self._path, "error": str(error)},
            )
        self._is_refused = True
        return self._refusals.next_s()

    def _list(self) -> None:
        accept = METADATA_ONLY_LIST if self._metadata_only else JSON
        listing = self._client.list(self._path, self._kind, query=self._query, accept=accept)
        self._store.replace(listing.items or ())
        self._version = listing.metadata.resource_version
        self._is_refused = False
        self._refusals.reset()

    def _watch(self, stop: threading.Event) -> int:
        """Follow one stream to its clean end; give the number of its events."""
        events = 0
        query = {
            **self._query,
            "watch": "true",
            "allowWatchBookmarks": "true",
            "resourceVersion": self._version,
            "timeoutSeconds": str(WATCH_S),
        }
        accept = METADATA_ONLY if self._metadata_only else JSON
        with self._client.stream(
            self._path, query=query, silence_s=self.silence_s, accept=accept
        ) as lines:
            for line in lines:
                self._handle(msgspec.json.decode(line, type=Event))
                # Only an event proves that the server serves this version again.
                self._backoff.reset()
                events += 1
                if stop.is_set():
                    break
        return events

    def _handle(self, event: Event) -> None:
        if event.type == "ERROR":
            raise error_of_status(
                f"watch {self._path}", msgspec.json.decode(event.object, type=Status)
            )
        if event.type == "BOOKMARK":
            self._version = msgspec.json.decode(event.object, type=Object).metadata.resource_version
            return
        item = msgspec.json.decode(event.object, type=self._kind)
        if event.type == "DELETED":
            self._store.remove(item)
        else:
            self._store.put(item)
        self._version = item.metadata.resource_version
