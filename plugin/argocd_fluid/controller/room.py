"""How much room a pod takes on its node: from the object to the engine's formula. Pure."""

from collections.abc import Mapping

from argocd_fluid.controller import conditions
from argocd_fluid.engine.footprint import (
    ContainerRequests,
    InitContainerRequests,
    PodRequests,
    footprint,
    held,
)
from argocd_fluid.engine.model import PendingReason, Resource
from argocd_fluid.engine.sizes import size_from_resources
from argocd_fluid.kube.types import Container, ContainerStatus, Pod, Quantities

ALWAYS = "Always"


def footprint_of(pod: Pod) -> dict[Resource, int]:
    """Sum the room that a pod takes."""
    return footprint(_requests_of_pod(pod))


def held_of(pod: Pod) -> dict[Resource, int]:
    """Say how much of that room stays taken while containers shrink."""
    return held(_requests_of_pod(pod))


def _requests_of_pod(pod: Pod) -> PodRequests:
    statuses = statuses_of(pod)
    return PodRequests(
        containers=[_container_requests(one, statuses) for one in pod.spec.containers],
        init_containers=[_init_requests(one, statuses) for one in pod.spec.init_containers or ()],
        overhead=requests_of(pod.spec.overhead),
        pod_level=requests_of(pod.spec.resources.requests if pod.spec.resources else None),
        infeasible=conditions.pending_reason(pod) is PendingReason.INFEASIBLE,
    )


def statuses_of(pod: Pod) -> Mapping[str, ContainerStatus]:
    """Give the status of each container and init container by name."""
    both = (pod.status.init_container_statuses, pod.status.container_statuses)
    return {status.name: status for statuses in both for status in statuses or ()}


def requests_of(quantities: Quantities | None) -> dict[Resource, int]:
    """Read quantities as millicores and bytes, without what cannot be resized."""
    size = size_from_resources({"requests": quantities or {}})
    amounts = {resource: size.of(resource).request for resource in Resource}
    return {resource: amount for resource, amount in amounts.items() if amount is not None}


def _container_requests(
    container: Container, statuses: Mapping[str, ContainerStatus]
) -> ContainerRequests:
    spec, allocated, actual = _three(container, statuses)
    return ContainerRequests(spec=spec, allocated=allocated, actual=actual)


def _init_requests(
    container: Container, statuses: Mapping[str, ContainerStatus]
) -> InitContainerRequests:
    spec, allocated, actual = _three(container, statuses)
    return InitContainerRequests(
        spec=spec,
        allocated=allocated,
        actual=actual,
        sidecar=container.restart_policy == ALWAYS,
    )


def _three(
    container: Container, statuses: Mapping[str, ContainerStatus]
) -> tuple[dict[Resource, int], dict[Resource, int], dict[Resource, int]]:
    status = statuses.get(container.name)
    actual = status.resources.requests if status and status.resources else None
    return (
        requests_of(container.resources.requests),
        requests_of(status.allocated_resources if status else None),
        requests_of(actual),
    )
