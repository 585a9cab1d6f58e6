"""How much room a pod takes on its node, from plain numbers. Pure.

The scheduler's formula, per resource: overhead + max(containers + sidecars, the largest init
phase), each container at max(spec, allocated, actual) requests (KEP-1287; the helpers of
k8s.io/component-helpers/resource).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from argocd_fluid.engine.model import Resource


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerRequests:
    """Requests of one container, absent ones left out (millicores, bytes)."""

    spec: Mapping[Resource, int]
    allocated: Mapping[Resource, int] = field(default_factory=dict)
    """status.containerStatuses[].allocatedResources; {} before the kubelet has admitted it."""
    actual: Mapping[Resource, int] = field(default_factory=dict)
    """status.containerStatuses[].resources.requests; {} where absent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InitContainerRequests(ContainerRequests):
    """Requests of one init container, in the order of the pod's spec."""

    sidecar: bool = False
    """restartPolicy Always: it goes on beside the containers and all later init containers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PodRequests:
    """What a pod's room is computed from."""

    containers: Sequence[ContainerRequests]
    init_containers: Sequence[InitContainerRequests] = ()
    overhead: Mapping[Resource, int] = field(default_factory=dict)
    pod_level: Mapping[Resource, int] = field(default_factory=dict)
    """spec.resources.requests: overrides the containers' sum, per resource."""
    infeasible: bool = False
    """PodResizePending with reason Infeasible: the spec is dropped where the kubelet's is known."""


def footprint(pod: PodRequests) -> dict[Resource, int]:
    """Sum the room that a pod takes, both resources always present."""
    return {resource: _footprint(pod, resource) for resource in Resource}


def held(pod: PodRequests) -> dict[Resource, int]:
    """Say by how much its containers may shrink before the room that a pod takes shrinks too."""
    return {resource: _held(pod, resource) for resource in Resource}


def _footprint(pod: PodRequests, resource: Resource) -> int:
    overhead = pod.overhead.get(resource, 0)
    if resource in pod.pod_level:
        return overhead + pod.pod_level[resource]
    return overhead + max(_phases(pod, resource))


def _held(pod: PodRequests, resource: Resource) -> int:
    if resource in pod.pod_level:
        return _footprint(pod, resource)
    running, init_peak = _phases(pod, resource)
    return max(init_peak - running, 0)


def _phases(pod: PodRequests, resource: Resource) -> tuple[int, int]:
    """Sum what runs together once the pod is started, and the largest phase before."""
    sidecars, init_peak = 0, 0
    for container in pod.init_containers:
        request = _request(container, resource, infeasible=pod.infeasible)
        init_peak = max(init_peak, sidecars + request)
        if container.sidecar:
            sidecars += request
    running = sum(_request(c, resource, infeasible=pod.infeasible) for c in pod.containers)
    return running + sidecars, init_peak


def _request(container: ContainerRequests, resource: Resource, *, infeasible: bool) -> int:
    known = [
        amounts[resource]
        for amounts in (container.allocated, container.actual)
        if resource in amounts
    ]
    if infeasible and known:
        return max(known)
    return max([container.spec.get(resource, 0), *known])
