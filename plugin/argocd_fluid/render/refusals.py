"""What cannot be resized live, refused before it is enrolled: each with its place and a way out.

The API would refuse every resize of it, or the resize would do harm. A container whose policy is
`mode: off` is not looked at. Pure; raises ManifestError.
"""

from collections.abc import Iterator

from argocd_fluid.errors import ManifestError
from argocd_fluid.manifests.document import Document, get
from argocd_fluid.manifests.kinds import Container, Role, roles
from argocd_fluid.manifests.layout import Kind
from argocd_fluid.policy.model import Mode
from argocd_fluid.records import replace
from argocd_fluid.render.intent import pod_amounts, policy_of, sized_containers
from argocd_fluid.render.pod_level import Amounts
from argocd_fluid.render.policies import Policies


def check(document: Document, row: Kind, policies: Policies) -> None:
    """Refuse a workload with anything that cannot be resized; raises ManifestError."""
    for role in roles(document):
        sized = sized_containers(document, role)
        # Policies are asked for only where there is something to refuse: few workloads have any.
        for container, amounts in sized:
            for problem in _problems(document, row, role, container):
                if _is_resized(document, policies, role, container, amounts):
                    raise problem
        for problem in _problems_of_pod(document, role, sized):
            if any(_is_resized(document, policies, role, *each) for each in sized):
                raise problem


def _is_resized(
    document: Document, policies: Policies, role: Role, container: Container, amounts: Amounts
) -> bool:
    policy = policy_of(document, policies, role.name, container.name, amounts)
    return policy.mode is not Mode.OFF


def _problems(
    document: Document, row: Kind, role: Role, container: Container
) -> Iterator[ManifestError]:
    never = get(role.template, ("spec", "restartPolicy")) == "Never"
    listed = container.value.get("resizePolicy") if row.is_batch or never else None
    for index, item in enumerate(listed if isinstance(listed, list) else ()):
        if get(item, ("restartPolicy",)) == "RestartContainer":
            where = document.where((*container.path, "resizePolicy", index, "restartPolicy"))
            hint = "leave it out: the default, NotRequired, resizes without a restart"
            yield ManifestError("a resize would restart the rank", where=where, hint=hint)
    if get(container.value, ("resources", "claims")):
        where = document.where((*container.resources, "claims"))
        problem = "a container with device claims cannot be resized"
        hint = "a rule with mode: off for this container lets the others be resized"
        yield ManifestError(problem, where=where, hint=hint)


def _problems_of_pod(
    document: Document, role: Role, sized: list[tuple[Container, Amounts]]
) -> Iterator[ManifestError]:
    path = ("spec", "os", "name")
    if get(role.template, path) == "windows":
        where = document.where((*role.path, *path))
        hint = "leave it out with the policy mode: off"
        yield ManifestError("Windows pods cannot be resized", where=where, hint=hint)
    whole = pod_amounts(document, role)
    if whole:
        yield from _more_than_the_pod(document, role, whole, sized)


def _more_than_the_pod(
    document: Document, role: Role, whole: Amounts, sized: list[tuple[Container, Amounts]]
) -> Iterator[ManifestError]:
    """Find requests above the pod's all together, and a limit above the pod's: both are refused."""
    for resource, request in whole.get("requests", {}).items():
        found = [each["requests"][resource] for _, each in sized if resource in each["requests"]]
        asked = replace(request, nano=sum(each.nano for each in found))
        if asked > request:
            where = document.where((*role.resources, "requests", resource))
            problem = f"the containers request {asked} together, their pod {request}"
            hint = "Kubernetes refuses it: raise the pod's request"
            yield ManifestError(problem, where=where, hint=hint)
    for resource, limit in whole.get("limits", {}).items():
        for container, amounts in sized:
            own = amounts.get("limits", {}).get(resource, limit)
            if own > limit:
                where = document.where((*container.resources, "limits", resource))
                problem = f"the limit, {own}, is above the pod's, {limit}"
                hint = "Kubernetes refuses it: raise the pod's limit"
                yield ManifestError(problem, where=where, hint=hint)
