"""Checks that look at single containers: images, quality of service, bounds."""

from collections.abc import Iterator, Mapping
from typing import Final

from argocd_fluid.manifests.document import Path, get
from argocd_fluid.manifests.kinds import Container, Role
from argocd_fluid.manifests.quantity import Quantity
from argocd_fluid.render.intent import RESOURCES
from argocd_fluid.render.rules.workload import Problem, Workload

MIN_HEADROOM: Final = 1.25
"""Of the upper bound over the request: below it the first growth already meets the bound."""


def restarted_by_resize(workload: Workload) -> Iterator[Problem]:
    """Find RestartContainer, an error already where a batch workload is enrolled."""
    for _, container in workload.containers():
        listed = container.value.get("resizePolicy")
        for index, item in enumerate(listed if isinstance(listed, list) else ()):
            if get(item, ("restartPolicy",)) == "RestartContainer":
                path = (*container.path, "resizePolicy", index, "restartPolicy")
                yield path, f"a resize restarts container {container.name}"


def best_effort(workload: Workload) -> Iterator[Problem]:
    """Find enrolled containers that nobody can resize."""
    if not workload.is_enrolled:
        return
    for _, container in workload.containers():
        if not workload.amounts(container):
            yield container.path, f"container {container.name} has no cpu and no memory"


def loose_container(workload: Workload) -> Iterator[Problem]:
    """Find the container that alone keeps a pod from the class Guaranteed."""
    if not workload.is_enrolled:
        return
    for role in workload.roles():
        every = (*role.containers, *role.init_containers)
        loose = [each for each in every if not _is_guaranteed(workload, each)]
        if len(loose) == 1 and len(every) > 1:
            problem = f"container {loose[0].name} alone makes the pod Burstable"
            yield loose[0].path, problem


def _is_guaranteed(workload: Workload, container: Container) -> bool:
    amounts = workload.amounts(container)
    limits = amounts.get("limits", {})
    return set(limits) == set(RESOURCES) and limits == amounts["requests"]


def moving_image(workload: Workload) -> Iterator[Problem]:
    """Find images whose content may differ from pod to pod."""
    for role in workload.roles():
        for container in (*role.containers, *role.init_containers):
            image = container.value.get("image")
            if not isinstance(image, str) or not image or "@" in image:
                continue
            tag = image.rpartition("/")[2].partition(":")[2]
            if tag in ("", "latest"):
                shown = "the tag latest" if tag else "no tag"
                yield (*container.path, "image"), f"the image {image} has {shown}"


def no_bounds(workload: Workload) -> Iterator[Problem]:
    """Find containers whose bounds nobody chose."""
    for role, container, requests in _enrolled(workload):
        sized = [name for name in RESOURCES if name in requests]
        missing = [name for name in sized if _has_no_bounds(workload, role, container, name)]
        if missing:
            problem = f"container {container.name} has no bounds for {' and '.join(missing)}"
            yield container.path, problem


def _has_no_bounds(workload: Workload, role: Role, container: Container, resource: str) -> bool:
    said = workload.said(role, container, resource)
    return said.min is None and said.max is None


def little_headroom(workload: Workload) -> Iterator[Problem]:
    """Find upper bounds just above what Git asks for."""
    for path, resource, request, said in _bounded(workload):
        low, high = said
        if high is not None and request <= high < request * MIN_HEADROOM and low != high:
            share = (high - request) * 100 // request
            yield path, f"{resource} may grow by {share} % only before it meets the bound"


def outside_bounds(workload: Workload) -> Iterator[Problem]:
    """Find requests of Git that the policy does not allow."""
    for path, resource, request, (low, high) in _bounded(workload):
        if low is not None and request < low:
            asked, bound = (_amount(resource, each) for each in (request, low))
            yield path, f"the {resource} request, {asked}, is below the policy's min, {bound}"
        if high is not None and request > high:
            asked, bound = (_amount(resource, each) for each in (request, high))
            yield path, f"the {resource} request, {asked}, is above the policy's max, {bound}"


def _amount(resource: str, amount: int) -> Quantity:
    return Quantity.of_milli(amount) if resource == "cpu" else Quantity.of_bytes(amount)


def _bounded(workload: Workload) -> Iterator[tuple[Path, str, int, tuple[int | None, int | None]]]:
    """Give each sized resource: place, name, Git's request and the bounds that people wrote."""
    for role, container, requests in _enrolled(workload):
        for resource, request in requests.items():
            said = workload.said(role, container, resource)
            amount = request.milli() if resource == "cpu" else request.value()
            if amount:
                path = _place(container, resource)
                yield path, resource, amount, (said.min, said.max)


def _place(container: Container, resource: str) -> Path:
    in_requests = get(container.value, ("resources", "requests", resource)) is not None
    return (*container.resources, "requests" if in_requests else "limits", resource)


def memory_without_limit(workload: Workload) -> Iterator[Problem]:
    """Find memory that only the node bounds."""
    for _, container, requests in _enrolled(workload):
        if "memory" in requests and "memory" not in workload.amounts(container).get("limits", {}):
            path = _place(container, "memory")
            yield path, f"container {container.name} has a memory request and no limit"


def sized_init_container(workload: Workload) -> Iterator[Problem]:
    """Find sizes that no live resize reaches."""
    if not workload.is_enrolled or workload.row is None or not workload.row.keeps_sizes:
        return
    for role in workload.roles():
        for container in role.init_containers:
            if workload.amounts(container):
                yield (
                    container.resources,
                    f"init container {container.name} keeps the size that it was made with",
                )


def _enrolled(
    workload: Workload,
) -> Iterator[tuple[Role, Container, Mapping[str, Quantity]]]:
    """Give the containers in the intent, with their requests."""
    if not workload.is_enrolled:
        return
    for role, container in workload.containers():
        requests = workload.amounts(container).get("requests")
        if requests:
            yield role, container, requests
