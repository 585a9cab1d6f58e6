"""In which patches, and in which order, grants reach the pods (the resize plan). Pure.

Shrinks go first because they make room; a memory shrink goes alone because the kubelet may refuse
it and then drops the rest of its patch; limits grow before requests where the request may have to
wait for that room, because the node never refuses a limit.
"""

from collections.abc import Sequence

from argocd_fluid.engine.model import (
    Amounts,
    Grant,
    NodeSnapshot,
    PodResize,
    PodState,
    Resource,
    Size,
)
from argocd_fluid.engine.sizes import changed_leaves, resources_from_size

_Sizes = dict[str, Size]


def plan(snapshot: NodeSnapshot, grants: Sequence[Grant]) -> tuple[PodResize, ...]:
    """Order the patches: cpu shrinks, memory shrinks, growth of limits, growth.

    Only the first patch of a pod carries its resourceVersion; the following ones have "": the
    caller fills in the one that the patch before returned.
    """
    by_pod: dict[str, list[Grant]] = {}
    for grant in grants:
        if grant.changes:
            by_pod.setdefault(grant.container.key.uid, []).append(grant)
    pods = {pod.uid: pod for pod in snapshot.pods}
    waits = any(_frees(grant) for grant in grants)
    phases: list[list[tuple[PodState, _Sizes]]] = [[], [], [], []]
    for uid, of_pod in by_pod.items():
        if uid in pods:
            for phase, sizes in zip(phases, _split(of_pod, waits=waits), strict=True):
                phase.append((pods[uid], sizes))
    return _resizes([step for phase in phases for step in phase if step[1]])


def patch_body(resize: PodResize) -> dict[str, object]:
    """Write the strategic merge body of one patch of pods/resize.

    metadata.uid guards against a recreated pod (422), metadata.resourceVersion, where known,
    against a change in between (409).
    """
    metadata = {"uid": resize.uid}
    if resize.resource_version:
        metadata["resourceVersion"] = resize.resource_version
    spec: dict[str, list[dict[str, object]]] = {}
    for name, size in sorted(resize.sizes.items()):
        field = "initContainers" if name in resize.sidecars else "containers"
        spec.setdefault(field, []).append({"name": name, "resources": resources_from_size(size)})
    return {"metadata": metadata, "spec": spec}


def _split(grants: list[Grant], *, waits: bool) -> tuple[_Sizes, _Sizes, _Sizes, _Sizes]:
    """Split one pod's changes into the four phases: container name to leaves."""
    cpu: _Sizes = {}
    memory: _Sizes = {}
    limits: _Sizes = {}
    growth: _Sizes = {}
    for grant in grants:
        name, spec = grant.container.key.container, grant.container.spec
        leaves = changed_leaves(spec, grant.size)
        shrunk, grown = _only(spec, leaves, shrinks=True), _only(spec, leaves, shrinks=False)
        cpu[name] = Size(cpu=shrunk.cpu)
        memory[name] = Size(memory=shrunk.memory)
        limits[name] = _limits(spec, grown) if waits else Size()
        growth[name] = _without(grown, limits[name])
    return _present(cpu), _present(memory), _present(limits), _present(growth)


def _only(spec: Size, leaves: Size, *, shrinks: bool) -> Size:
    return Size(
        cpu=_one_way(spec.cpu, leaves.cpu, shrinks=shrinks),
        memory=_one_way(spec.memory, leaves.memory, shrinks=shrinks),
    )


def _one_way(spec: Amounts, leaves: Amounts, *, shrinks: bool) -> Amounts:
    return Amounts(
        request=_if_so(spec.request, leaves.request, shrinks=shrinks),
        limit=_if_so(spec.limit, leaves.limit, shrinks=shrinks),
    )


def _if_so(spec: int | None, leaf: int | None, *, shrinks: bool) -> int | None:
    if spec is None or leaf is None:
        return None
    return leaf if (leaf < spec) is shrinks else None


def _limits(spec: Size, grown: Size) -> Size:
    """Pick the limits that can go ahead: equal ones move with their request, for the QoS class."""
    return Size(
        cpu=_limit(spec.cpu, grown.cpu),
        memory=_limit(spec.memory, grown.memory),
    )


def _limit(spec: Amounts, grown: Amounts) -> Amounts:
    return Amounts() if spec.request == spec.limit else Amounts(limit=grown.limit)


def _without(grown: Size, sent: Size) -> Size:
    return Size(
        cpu=Amounts(request=grown.cpu.request, limit=None if sent.cpu.limit else grown.cpu.limit),
        memory=Amounts(
            request=grown.memory.request, limit=None if sent.memory.limit else grown.memory.limit
        ),
    )


def _present(sizes: _Sizes) -> _Sizes:
    return {name: size for name, size in sizes.items() if size != Size()}


def _frees(grant: Grant) -> bool:
    pairs = (
        (grant.container.spec.of(resource).request, grant.size.of(resource).request)
        for resource in Resource
    )
    return any(before is not None and (after or 0) < before for before, after in pairs)


def _resizes(steps: list[tuple[PodState, _Sizes]]) -> tuple[PodResize, ...]:
    resizes: list[PodResize] = []
    seen: set[str] = set()
    for pod, sizes in steps:
        sidecars = {c.key.container for c in pod.containers if c.sidecar}
        resizes.append(
            PodResize(
                namespace=pod.namespace,
                name=pod.name,
                uid=pod.uid,
                resource_version="" if pod.uid in seen else pod.resource_version,
                sizes=sizes,
                sidecars=frozenset(sidecars & sizes.keys()),
            )
        )
        seen.add(pod.uid)
    return tuple(resizes)
