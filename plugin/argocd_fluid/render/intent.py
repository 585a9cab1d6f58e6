"""The intent of a workload: what Git says its sizes are, with the resolved policy. Pure.

Only cpu and memory, only what Git has: a request that is absent where there is a limit is the
limit, as Kubernetes defaults it. Canonical, so that equal manifests give equal bytes.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from argocd_fluid.errors import ManifestError, PolicyError, QuantityError
from argocd_fluid.manifests.document import Document, Path
from argocd_fluid.manifests.kinds import Container, Role, roles
from argocd_fluid.manifests.quantity import Quantity, parse_quantity
from argocd_fluid.manifests.writer import compact
from argocd_fluid.policy.merge import Baseline, resolve
from argocd_fluid.policy.model import ContainerPolicy
from argocd_fluid.policy.wire import to_wire
from argocd_fluid.render.policies import Policies

VERSION: Final = 1
RESOURCES: Final = ("cpu", "memory")

Amounts = dict[str, dict[str, Quantity]]
"""`requests` and `limits`, each by resource."""


def intent_of(document: Document, policies: Policies) -> dict[str, Any]:
    """Give the intent; `roles` lists only those with a container that can be resized."""
    listed: dict[str, Any] = {}
    for role in roles(document):
        containers = {
            container.name: _entry(
                amounts, policy_of(document, policies, role.name, container.name, amounts)
            )
            for container, amounts in sized_containers(document, role)
        }
        if containers:
            listed[role.name] = containers
    return {"roles": listed, "v": VERSION}


def canonical(intent: Mapping[str, Any]) -> str:
    """Write the annotation's value."""
    return compact(intent, sort_keys=True)


def sized_containers(document: Document, role: Role) -> list[tuple[Container, Amounts]]:
    """Give the containers that have a request or a limit of cpu or memory, with those."""
    found = [(container, amounts_of(document, container)) for container in role.containers]
    return [(container, amounts) for container, amounts in found if amounts]


def amounts_of(document: Document, container: Container) -> Amounts:
    """Read a container's `resources`; raises ManifestError for what Kubernetes would refuse."""
    base = (*container.path, "resources")
    resources = _mapping(document, container.value.get("resources"), base)
    limits, requests = (
        _quantities(document, resources.get(key), (*base, key)) for key in ("limits", "requests")
    )
    for name, request in requests.items():
        if name in limits and request > limits[name]:
            problem = f"the request, {request}, is above the limit, {limits[name]}"
            raise ManifestError(problem, where=document.where((*base, "requests", name)))
    both: Amounts = {"limits": limits, "requests": {**limits, **requests}}
    return {key: amounts for key, amounts in both.items() if amounts}


def policy_of(
    document: Document, policies: Policies, role: str, container: str, amounts: Amounts
) -> ContainerPolicy:
    """Resolve the policy of a container; a request of 0 leaves nothing to scale."""
    requests = amounts["requests"]
    baseline = Baseline(
        cpu=requests["cpu"].milli() if "cpu" in requests else None,
        memory=requests["memory"].value() if "memory" in requests else None,
    )
    try:
        return resolve(policies.layers(document, role, container), baseline)
    except PolicyError as error:
        if error.where.file:
            raise
        field = f"policy of container {container}: {error.where.field}"
        where = replace(document.where(), field=field)
        raise PolicyError(error.problem, where=where, hint=error.hint) from error


def _entry(amounts: Amounts, policy: ContainerPolicy) -> dict[str, Any]:
    written = {
        key: {name: str(quantity) for name, quantity in by_name.items()}
        for key, by_name in amounts.items()
    }
    return {**written, "policy": to_wire(policy)}


def _quantities(document: Document, value: object, path: Path) -> dict[str, Quantity]:
    given = _mapping(document, value, path)
    return {
        name: _quantity(document, name, given[name], (*path, name))
        for name in RESOURCES
        if given.get(name) is not None
    }


def _quantity(document: Document, name: str, value: Any, path: Path) -> Quantity:  # noqa: ANN401 - a JSON value
    try:
        quantity = parse_quantity(value)
    except QuantityError as error:
        raise ManifestError(error.problem, where=document.where(path), hint=error.hint) from error
    if quantity.nano < 0:
        raise ManifestError(f"{value} is negative", where=document.where(path))
    # The two resources count in millicores and bytes: finer amounts are rounded up, as there.
    if name == "cpu":
        return Quantity.of_milli(quantity.milli())
    return Quantity.of_bytes(quantity.value())


def _mapping(document: Document, value: object, path: Path) -> Mapping[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ManifestError("is no mapping", where=document.where(path))
    return value
