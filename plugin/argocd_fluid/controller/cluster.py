"""What the watches have seen, indexed the ways the loops ask: by node, by workload. No requests."""

import threading
from collections import defaultdict
from collections.abc import Collection, Mapping
from typing import TypeVar

from argocd_fluid import constants
from argocd_fluid.controller.intent import fluid_name
from argocd_fluid.kube.fluid import FluidWorkload
from argocd_fluid.kube.store import Key, Store
from argocd_fluid.kube.types import Node, Object, Pod

Index = TypeVar("Index")
FINISHED = ("Succeeded", "Failed")


class Cluster:
    """The stores that the reflectors fill.

    Pods of all namespaces take room; only workloads in `namespaces` (if any are given) are ours.
    """

    def __init__(self, namespaces: Collection[str] = ()) -> None:
        self._namespaces = frozenset(namespaces)
        self.pods: Store[Pod] = Store()
        self.nodes: Store[Node] = Store()
        self.jobsets: Store[Object] = Store()
        self.workloads: Store[FluidWorkload] = Store()
        self._lock = threading.Lock()
        self._by_node: defaultdict[str, set[Key]] = defaultdict(set)
        self._by_jobset: defaultdict[Key, set[Key]] = defaultdict(set)
        self.pods.listen(self._index)

    @property
    def synced(self) -> bool:
        """Every collection was listed once: what is absent does not exist."""
        stores = (self.pods, self.nodes, self.jobsets, self.workloads)
        return all(store.synced.is_set() for store in stores)

    def is_watched(self, namespace: str) -> bool:
        """Tell whether workloads of a namespace are ours."""
        return not self._namespaces or namespace in self._namespaces

    def pods_on(self, node: str) -> list[Pod]:
        """Give the unfinished pods of a node, which are those that take room."""
        return self._unfinished(self._by_node, node)

    def pods_of(self, workload: FluidWorkload) -> list[Pod]:
        """Give the unfinished pods of the workload's present incarnation."""
        key = (workload.metadata.namespace, workload.spec.target.name)
        pods = self._unfinished(self._by_jobset, key)
        return [pod for pod in pods if belongs(pod, workload)]

    def workload_of(self, pod: Pod) -> FluidWorkload | None:
        """Give the FluidWorkload of a pod; None where it is not enrolled."""
        jobset = pod.metadata.label(constants.JOBSET_NAME)
        if not jobset or not self.is_watched(pod.metadata.namespace):
            return None
        workload = self.workloads.get(pod.metadata.namespace, fluid_name(jobset))
        return workload if workload and belongs(pod, workload) else None

    def _unfinished(self, index: Mapping[Index, set[Key]], key: Index) -> list[Pod]:
        with self._lock:
            keys = sorted(index.get(key, ()))
        pods = (self.pods.get(*key) for key in keys)
        return [pod for pod in pods if pod is not None and not is_finished(pod)]

    def _index(self, old: Pod | None, new: Pod | None) -> None:
        with self._lock:
            for pod, present in ((old, False), (new, True)):
                if pod is None:
                    continue
                key = (pod.metadata.namespace, pod.metadata.name)
                jobset = (pod.metadata.namespace, pod.metadata.label(constants.JOBSET_NAME))
                _mark(self._by_node[pod.spec.node_name], key, present=present)
                _mark(self._by_jobset[jobset], key, present=present)


def belongs(pod: Pod, workload: FluidWorkload) -> bool:
    """Tell a pod from one of an earlier JobSet of that name (no uid label before JobSet 0.9)."""
    uid = pod.metadata.label(constants.JOBSET_UID)
    return not uid or uid == workload.spec.target.uid


def is_finished(pod: Pod) -> bool:
    """Tell a pod that takes no room any more."""
    return pod.status.phase in FINISHED


def _mark(keys: set[Key], key: Key, *, present: bool) -> None:
    if present:
        keys.add(key)
    else:
        keys.discard(key)
