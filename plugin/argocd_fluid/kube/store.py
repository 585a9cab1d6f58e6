"""What a watch has seen: the newest version of each object, and who wants to hear of changes."""

import threading
from collections.abc import Callable, Iterable
from typing import Generic, Protocol, TypeVar

from argocd_fluid.kube.types import ObjectMeta

Key = tuple[str, str]
"""Namespace (empty for cluster resources) and name."""


class HasMetadata(Protocol):
    """Any object of the API."""

    @property
    def metadata(self) -> ObjectMeta:
        """Give its metadata."""


T = TypeVar("T", bound=HasMetadata)
Listener = Callable[[T | None, T | None], None]
"""Called with (old, new) after a change; None where there was or is no object."""


def key_of(item: HasMetadata) -> Key:
    """Give the name under which an object is kept."""
    return (item.metadata.namespace, item.metadata.name)


class Store(Generic[T]):
    """Objects of one resource. Written by one reflector, and by whoever got a newer answer."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._items: dict[Key, T] = {}
        self._listeners: list[Listener[T]] = []
        self.synced = threading.Event()

    def listen(self, listener: Listener[T]) -> None:
        """Register before the reflector starts."""
        self._listeners.append(listener)

    def get(self, namespace: str, name: str) -> T | None:
        """Give the newest version seen."""
        with self._lock:
            return self._items.get((namespace, name))

    def values(self) -> list[T]:
        """Give all objects as of one moment."""
        with self._lock:
            return list(self._items.values())

    def replace(self, items: Iterable[T]) -> None:
        """Take a complete list: what it lacks was deleted while nobody watched."""
        fresh = {key_of(item): item for item in items}
        with self._lock:
            old = self._items
            self._items = fresh
        for key in old.keys() | fresh.keys():
            before, after = old.get(key), fresh.get(key)
            if before is None or after is None or _version(before) != _version(after):
                self._notify(before, after)
        self.synced.set()

    def put(self, item: T) -> None:
        """Take one object, unless a newer version is here already (resource versions compare)."""
        with self._lock:
            old = self._items.get(key_of(item))
            if old is not None and _version(old) >= _version(item):
                return
            self._items[key_of(item)] = item
        self._notify(old, item)

    def refresh(self, item: T) -> None:
        """Take the answer of a write before the watch brings it; a deleted object stays deleted."""
        with self._lock:
            old = self._items.get(key_of(item))
            if old is None or old.metadata.uid != item.metadata.uid:
                return
            if _version(old) >= _version(item):
                return
            self._items[key_of(item)] = item
        self._notify(old, item)

    def remove(self, item: T) -> None:
        """Drop a deleted object, unless its name belongs to a newer one by now."""
        with self._lock:
            old = self._items.get(key_of(item))
            if old is None or _version(old) > _version(item):
                return
            del self._items[key_of(item)]
        self._notify(old, None)

    def _notify(self, old: T | None, new: T | None) -> None:
        for listener in self._listeners:
            listener(old, new)


def _version(item: HasMetadata) -> int:
    """Resource versions are comparable integers (KEP-5504, GA in Kubernetes 1.35)."""
    version = item.metadata.resource_version
    return int(version) if version.isdecimal() else 0
