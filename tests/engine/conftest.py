"""Builders of snapshots, and a perfect node, where grants take effect at once."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import SimpleNamespace

import pytest
from argocd_fluid.engine.decide import decide
from argocd_fluid.engine.model import (
    Amounts,
    ContainerKey,
    ContainerState,
    Grant,
    NodeSnapshot,
    PodState,
    QosClass,
    Rank,
    Resource,
    Sample,
    Size,
    Usage,
    WorkloadKey,
)
from argocd_fluid.engine.negotiate import negotiate
from argocd_fluid.engine.plan import plan
from argocd_fluid.engine.sizes import merged
from argocd_fluid.engine.usage import History, Reading
from argocd_fluid.policy.model import ContainerPolicy, ResourcePolicy

MI = 1 << 20
NOW = 100_000.0


def amounts(request, limit):
    return Amounts(request=request, limit=limit)


def size(cpu=(1000, 1000), memory=(1000, 1000)):
    """Millicores and Mi, each as (request, limit)."""
    in_bytes = [None if leaf is None else leaf * MI for leaf in memory]
    return Size(cpu=amounts(*cpu), memory=amounts(*in_bytes))


def policy(cpu=None, memory=None, **changes):
    """Bounds 250 to 4000 (millicores, Mi), defaults otherwise."""
    return ContainerPolicy(
        cpu=ResourcePolicy(**{"min": 250, "max": 4000, **(cpu or {})}),
        memory=ResourcePolicy(
            **{"min": 250 * MI, "max": 4000 * MI, "target": 0.7, **(memory or {})}
        ),
        **changes,
    )


def usage(cpu=600.0, memory=600, **changes):
    """Steady: latest and peaks the same, a full window, no trend, below nothing."""
    values = {
        "latest": Sample(
            time_s=changes.pop("time_s", NOW - 5),
            cpu_milli=cpu,
            memory_bytes=memory * MI,
            memory_usage_bytes=changes.pop("cached", memory) * MI,
        ),
        "peak_cpu_milli": changes.pop("peak_cpu", cpu) or 0.0,
        "peak_memory_bytes": changes.pop("peak_memory", memory) * MI,
        "peak_memory_usage_bytes": changes.pop("peak_cached", memory) * MI,
        "window_s": 600.0,
        "memory_trend_bytes_per_s": changes.pop("trend", 0.0) * MI,
        "below_since": {
            Resource.CPU: changes.pop("cpu_below_since", None),
            Resource.MEMORY: changes.pop("memory_below_since", None),
        },
    }
    return Usage(**{**values, **changes})


def container(name="main", pod="a", **changes):
    spec = changes.get("spec", size())
    values = {
        "key": ContainerKey(namespace="ns", pod=pod, uid=f"uid-{pod}", container=name),
        "workload": WorkloadKey(namespace="ns", kind="JobSet", name="train"),
        "rank": Rank(role="workers", job_index="0", completion_index="0"),
        "running": True,
        "started_s": NOW - 10_000,
        "spec": spec,
        "target": spec,
        "intent": spec,
        "policy": policy(),
        "usage": usage(),
    }
    return ContainerState(**{**values, **changes})


def pod(*containers, name="a", **changes):
    requests = {r: sum(c.spec.of(r).request or 0 for c in containers) for r in Resource}
    guaranteed = all(
        c.spec.of(r).request == c.spec.of(r).limit for c in containers for r in Resource
    )
    values = {
        "namespace": "ns",
        "name": name,
        "uid": f"uid-{name}",
        "footprint": requests,
        "resource_version": "7",
        "qos": QosClass.GUARANTEED if guaranteed else QosClass.BURSTABLE,
        "containers": containers,
    }
    return PodState(**{**values, **changes})


def node(*pods, cpu=100_000, memory=100_000, **changes):
    allocatable = {Resource.CPU: cpu, Resource.MEMORY: memory * MI}
    return NodeSnapshot(name="n", allocatable=allocatable, pods=pods, **changes)


@dataclass
class PerfectNode:
    """Runs the engine each 5 s; the kubelet's figures are fresh every 15 s only."""

    loads: Mapping[str, Callable[[float], tuple[float, float]]]
    """Pod name to seconds -> (millicores, Mi) that it would use if it could."""
    cpu: int = 100_000
    memory: int = 100_000
    policy: ContainerPolicy = field(default_factory=policy)
    spec: Size = field(default_factory=size)
    resizes: list[tuple[float, Grant]] = field(default_factory=list)
    snapshots: list[NodeSnapshot] = field(default_factory=list)

    def run(self, seconds: int) -> None:
        self.sizes = dict.fromkeys(self.loads, self.spec)
        self.last = dict.fromkeys(self.loads)
        histories = {name: History() for name in self.loads}
        spent = dict.fromkeys(self.loads, 0.0)
        seen = {}
        for second in range(seconds):
            now = NOW + second
            for name, load in self.loads.items():
                wanted_cpu, wanted_memory = load(second)
                limit = self.sizes[name].cpu.limit or self.cpu
                spent[name] += min(wanted_cpu, limit) * 1e6
                if second % 15 == 0:
                    used = int(min(wanted_memory * MI, self.sizes[name].memory.limit or 1e15))
                    seen[name] = Reading(
                        time_s=now,
                        cpu_nano=int(spent[name]),
                        memory_bytes=used,
                        memory_usage_bytes=used,
                    )
            if second % 5 == 0:
                for name, history in histories.items():
                    history.add(seen[name])
                self._step(now, histories)

    def _step(self, now, histories):
        pods = []
        for name in self.loads:
            found = histories[name].usage(now, policy=self.policy, size=self.sizes[name])
            state = container(
                pod=name,
                spec=self.sizes[name],
                intent=self.spec,
                usage=found,
                policy=self.policy,
                last_resize_s=self.last[name],
            )
            pods.append(pod(state, name=name))
        snapshot = node(*pods, cpu=self.cpu, memory=self.memory)
        self.snapshots.append(snapshot)
        grants = negotiate(snapshot, decide(snapshot, now))
        for resize in plan(snapshot, grants):
            self.sizes[resize.name] = merged(self.sizes[resize.name], resize.sizes["main"])
            self.last[resize.name] = now
        self.resizes += [(now - NOW, grant) for grant in grants if grant.changes]


@pytest.fixture(scope="session")
def make():
    return SimpleNamespace(
        MI=MI,
        NOW=NOW,
        size=size,
        policy=policy,
        usage=usage,
        container=container,
        pod=pod,
        node=node,
        perfect_node=PerfectNode,
        replace=replace,
    )
