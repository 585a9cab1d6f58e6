"""The controller as a whole: reflectors fill the stores, changes fill the queues, workers work.

Threads only: the work is waiting for answers. A thread that ends by itself makes /healthz fail.
"""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from argocd_fluid import constants
from argocd_fluid.controller.cluster import Cluster
from argocd_fluid.controller.intent import JOBSET_KIND
from argocd_fluid.controller.kills import Kills
from argocd_fluid.controller.ledger import Ledger
from argocd_fluid.controller.metrics import Metrics
from argocd_fluid.controller.nodes import NodeLoop, Settings
from argocd_fluid.controller.queue import Outcome, Queue, Retry, Stop, work
from argocd_fluid.controller.resizing import Resizer
from argocd_fluid.controller.workloads import WorkloadLoop
from argocd_fluid.kube.client import Client
from argocd_fluid.kube.connection import Loader
from argocd_fluid.kube.endpoints import FLUID_WORKLOADS, JOBSETS, NODES, PODS, Endpoint
from argocd_fluid.kube.fluid import FluidWorkload
from argocd_fluid.kube.kubelet import Kubelets, Trust
from argocd_fluid.kube.store import HasMetadata, Key, Store
from argocd_fluid.kube.types import Node, Object, Pod
from argocd_fluid.kube.watch import Reflector
from argocd_fluid.policy.model import Mode

T = TypeVar("T", bound=HasMetadata)
K = TypeVar("K")

NODE_WORKERS = 32
"""A kubelet that does not answer occupies one for its time-out."""
WORKLOAD_WORKERS = 4
POD_EVENTS_S = 1.0
"""Pods change in bursts; their workload's totals are counted once per burst."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What the command line says."""

    interval_s: float
    mode: Mode
    node_name: str = ""
    namespaces: tuple[str, ...] = ()
    trust: Trust = field(default_factory=Trust)


class Controller:
    """All loops of one process."""

    def __init__(self, load: Loader, options: Options, metrics: Metrics) -> None:
        self._options = options
        self._metrics = metrics
        self._client = Client(load)
        self._cluster = Cluster(options.namespaces)
        self._stop = threading.Event()
        self._threads: list[threading.Thread] = []
        self._nodes: Queue[str] = Queue(time.monotonic)
        self._workloads: Queue[Key] = Queue(time.monotonic)
        ledger = Ledger(self._client, self._cluster.workloads)
        self._node_loop = NodeLoop(
            self._cluster,
            self._client,
            kubelets=Kubelets(load, trust=options.trust),
            resizer=Resizer(self._cluster, self._client, ledger, metrics),
            settings=Settings(interval_s=options.interval_s, mode=options.mode, clock=time.time),
        )
        self._kills = Kills(options.mode, time.time)
        self._workload_loop = WorkloadLoop(
            self._cluster, self._client, ledger, kills=self._kills, clock=time.time
        )
        metrics.observed_nodes.set_function(lambda: self._node_loop.observed)
        self._listen()

    @property
    def is_alive(self) -> bool:
        """Every thread that was started still runs."""
        return all(thread.is_alive() for thread in self._threads)

    @property
    def is_ready(self) -> bool:
        """The stores are filled, so decisions are made on what there is."""
        return self._cluster.synced

    def start(self) -> None:
        """Start reflectors, and workers once the stores are filled."""
        cluster = self._cluster
        self._reflect(NODES, Node, cluster.nodes)
        self._reflect(PODS, Pod, cluster.pods)
        self._reflect(JOBSETS, Object, cluster.jobsets)
        self._reflect(FLUID_WORKLOADS, FluidWorkload, cluster.workloads)
        self._spawn("start", self._start_workers)

    def stop(self) -> None:
        """Let every step that has begun end, and begin no other."""
        self._stop.set()
        for thread in self._threads:
            if thread.name.startswith("worker"):
                thread.join(timeout=10.0)

    def _start_workers(self) -> None:
        while not self._cluster.synced and not self._stop.is_set():
            self._stop.wait(0.05)
        for number in range(NODE_WORKERS):
            self._work(f"node-{number}", self._nodes, self._step_node)
        for number in range(WORKLOAD_WORKERS):
            self._work(f"workload-{number}", self._workloads, self._step_workload)
        self._stop.wait()

    def _reflect(self, endpoint: Endpoint, kind: type[T], store: Store[T]) -> None:
        reflector = Reflector(self._client, endpoint.path(), kind, store=store)
        self._spawn(f"watch-{endpoint.plural}", lambda: reflector.run(self._stop))

    def _work(self, name: str, queue: Queue[K], step: Callable[[K], Outcome]) -> None:
        self._spawn(f"worker-{name}", lambda: work(queue, step, self._stop))

    def _spawn(self, name: str, run: Callable[[], None]) -> None:
        thread = threading.Thread(target=run, name=name, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _step_node(self, name: str) -> Outcome:
        return self._timed("node", lambda: self._node_loop.step(name))

    def _step_workload(self, key: Key) -> Outcome:
        return self._timed("workload", lambda: self._workload_loop.step(key))

    def _timed(self, loop: str, step: Callable[[], Outcome]) -> Outcome:
        with (
            self._metrics.loop_seconds.labels(loop=loop).time(),
            self._metrics.loop_errors.labels(loop=loop).count_exceptions(),
        ):
            outcome = step()
        if isinstance(outcome, Retry | Stop):
            self._metrics.loop_errors.labels(loop=loop).inc()
        return outcome

    def _listen(self) -> None:
        self._cluster.nodes.listen(self._on_node)
        self._cluster.jobsets.listen(self._on_jobset)
        self._cluster.workloads.listen(self._on_workload)
        self._cluster.pods.listen(self._on_pod)

    def _on_node(self, old: Node | None, new: Node | None) -> None:
        # A node's status changes every few seconds; only its coming and going wakes the loop.
        node = new or old
        if node and (old is None or new is None) and self._is_mine(node.metadata.name):
            self._nodes.add(node.metadata.name)

    def _on_jobset(self, old: Object | None, new: Object | None) -> None:
        jobset = new or old
        if jobset and self._cluster.is_watched(jobset.metadata.namespace):
            self._workloads.add((jobset.metadata.namespace, jobset.metadata.name))

    def _on_workload(self, old: FluidWorkload | None, new: FluidWorkload | None) -> None:
        workload = new or old
        if not workload or workload.spec.target.kind != JOBSET_KIND:
            return
        if not self._cluster.is_watched(workload.metadata.namespace):
            return
        self._workloads.add((workload.metadata.namespace, workload.spec.target.name))
        if new is not None and (old is None or old.spec != new.spec):
            self._wake_nodes(new)

    def _wake_nodes(self, workload: FluidWorkload) -> None:
        """Bring a changed intent to the pods now, not at their nodes' next round."""
        for node in {pod.spec.node_name for pod in self._cluster.pods_of(workload)}:
            if node and self._is_mine(node):
                self._nodes.add(node)

    def _on_pod(self, old: Pod | None, new: Pod | None) -> None:
        pod = new or old
        jobset = pod.metadata.label(constants.JOBSET_NAME) if pod else ""
        if pod and jobset and self._cluster.is_watched(pod.metadata.namespace):
            # The pod that replaces a killed one may be created within a second of its end.
            is_due = self._is_mine(pod.spec.node_name) and self._kills.note(old, new)
            after_s = 0.0 if is_due else POD_EVENTS_S
            self._workloads.add((pod.metadata.namespace, jobset), after_s)

    def _is_mine(self, node: str) -> bool:
        return self._options.node_name in ("", node)
