"""The node loop: observe, decide, negotiate, record, apply, report; one round over one node.

Everything that must agree is on one node: its pods, one usage reading, one sum of room. The order
of the writes is the contract: a size is on record before it is sent, and what the API server
refuses is taken off the record again. A PATCH without an answer is followed by a read of the pod.
"""

import logging
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass

from argocd_fluid.controller import harm
from argocd_fluid.controller.cluster import Cluster
from argocd_fluid.controller.memory import Memory
from argocd_fluid.controller.observe import View, observe
from argocd_fluid.controller.queue import Done, Outcome, RequeueAfter
from argocd_fluid.controller.resizing import Resizer
from argocd_fluid.controller.rounds import Round
from argocd_fluid.engine.decide import decide
from argocd_fluid.engine.model import Wish
from argocd_fluid.engine.negotiate import negotiate
from argocd_fluid.errors import ApiError, NotFound
from argocd_fluid.kube.client import Client
from argocd_fluid.kube.endpoints import PODS
from argocd_fluid.kube.kubelet import Kubelets
from argocd_fluid.kube.types import Node, Pod
from argocd_fluid.policy.model import Mode

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Of all node loops. `clock` is the wall clock: it is compared with the API's times."""

    interval_s: float
    mode: Mode
    clock: Callable[[], float]


class NodeLoop:
    """Rounds over nodes, by name. The queue gives a node to one thread at a time."""

    def __init__(
        self,
        cluster: Cluster,
        client: Client,
        *,
        kubelets: Kubelets,
        resizer: Resizer,
        settings: Settings,
    ) -> None:
        self._cluster = cluster
        self._client = client
        self._kubelets = kubelets
        self._resizer = resizer
        self._settings = settings
        self._memories: defaultdict[str, Memory] = defaultdict(Memory)
        self._unreadable: set[str] = set()

    @property
    def observed(self) -> int:
        """How many nodes with enrolled pods gave their usage when they were last asked."""
        return len(self._memories) - len(self._unreadable)

    def step(self, name: str) -> Outcome:
        """Do one round over one node."""
        node = self._cluster.nodes.get("", name)
        if node is None:
            self._forget(name)
            return Done()
        pods = self._cluster.pods_on(name)
        if any(self._cluster.workload_of(pod) for pod in pods):
            self._round(node, pods)
        else:
            self._forget(name)
        return RequeueAfter(self._settings.interval_s)

    def _round(self, node: Node, pods: list[Pod]) -> None:
        memory = self._memories[node.metadata.name]
        memory.keep_only({pod.metadata.uid for pod in pods})
        pods = [self._certain(pod, memory) for pod in pods]
        self._read_usage(node, memory)
        now = self._settings.clock()
        view = View(
            workload_of=self._cluster.workload_of, memory=memory, mode=self._settings.mode, now=now
        )
        snapshot = observe(node, pods, view)
        harmed = harm.harmed(snapshot, memory.shrunk, harm.unready_since(pods), now)
        memory.blame(harmed)
        wishes = harm.with_reverts(decide(snapshot, now), harmed, memory.shrunk)
        grants = negotiate(snapshot, [wish for wish in wishes if _is_automatic(wish)])
        recorded = self._resizer.record(grants)
        sent = self._resizer.apply(snapshot, recorded, memory=memory, now=now)
        self._resizer.conclude(
            Round(snapshot=snapshot, wishes=wishes, sent=sent, holds=memory.holds, now=now)
        )

    def _certain(self, pod: Pod, memory: Memory) -> Pod:
        """Read a pod again whose resize got no answer: the watch may not have brought it yet."""
        key = (pod.metadata.namespace, pod.metadata.name)
        if key not in memory.unsure:
            return pod
        try:
            fresh = self._client.get(PODS.path(*key), Pod)
        except NotFound:
            fresh = pod
        self._cluster.pods.refresh(fresh)
        memory.unsure.discard(key)
        return fresh

    def _read_usage(self, node: Node, memory: Memory) -> None:
        """Ask the kubelet; without its answer, sizes on record and OOM kills are still handled."""
        name = node.metadata.name
        try:
            memory.add_readings(self._kubelets.summary(node))
        except ApiError as error:
            if name not in self._unreadable:
                log.warning("usage cannot be read", extra={"node": name, "error": str(error)})
            self._unreadable.add(name)
            return
        if name in self._unreadable:
            log.info("usage can be read again", extra={"node": name})
        self._unreadable.discard(name)

    def _forget(self, name: str) -> None:
        self._memories.pop(name, None)
        self._unreadable.discard(name)


def _is_automatic(wish: Wish) -> bool:
    return wish.container.policy.mode is Mode.AUTO
