"""The intent of a workload: what Git says its sizes are, with the resolved policy. Pure.

Only cpu and memory, only what Git has: a request that is absent where there is a limit is the
limit, as Kubernetes defaults it. Where a pod has `resources` of its own, they are listed under
`pods` and hold the bounds of its containers. Canonical: equal manifests give equal bytes.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from argocd_fluid.errors import ManifestError, PolicyError, QuantityError
from argocd_fluid.manifests.document import Document, Path, get
from argocd_fluid.manifests.kinds import Container, Role, roles
from argocd_fluid.manifests.quantity import Quantity, parse_quantity
from argocd_fluid.manifests.writer import compact
from argocd_fluid.policy.merge import Baseline, resolve
from argocd_fluid.policy.model import ContainerPolicy
from argocd_fluid.policy.settings import Settings
from argocd_fluid.policy.wire import to_wire
from argocd_fluid.records import replace
from argocd_fluid.render.pod_level import RESOURCES, Amounts, held_by_pod
from argocd_fluid.render.policies import Policies

__all__ = [
    "RESOURCES",
    "Amounts",
    "amounts_of",
    "canonical",
    "intent_of",
    "pod_amounts",
    "policy_of",
    "sized_containers",
]

VERSION: Final = 1
Given = tuple[Any, ...]
"""Limits and requests of cpu and memory as they stand in a manifest."""
_GIVEN: Final = frozenset((str, int, float, type(None)))
# Most containers of a directory have one of a few sizes, and the same policy.
_known_amounts: Final[dict[Given, Amounts]] = {}
_known_entries: Final[dict[tuple[tuple[Settings, ...], Given], dict[str, Any]]] = {}


def intent_of(document: Document, policies: Policies) -> dict[str, Any]:
    """Give the intent; `roles` lists only those with a container that can be resized."""
    listed: dict[str, Any] = {}
    pods: dict[str, Any] = {}
    for role in roles(document):
        sized = sized_containers(document, role)
        whole = pod_amounts(document, role)
        containers = {}
        for container, amounts in sized:
            if whole:
                policy = policy_of(document, policies, role.name, container.name, amounts)
                held = held_by_pod(policy, amounts, whole, [each for _, each in sized])
                entry = _entry(amounts, held)
            else:
                entry = _common_entry(document, policies, role, container, amounts=amounts)
            containers[container.name] = entry
        if containers:
            listed[role.name] = containers
            pods.update({role.name: _written(whole)} if whole else {})
    return {"roles": listed, "v": VERSION, **({"pods": pods} if pods else {})}


def canonical(intent: Mapping[str, Any]) -> str:
    """Write the annotation's value."""
    return compact(intent, sort_keys=True)


def sized_containers(document: Document, role: Role) -> list[tuple[Container, Amounts]]:
    """Give the containers that have a request or a limit of cpu or memory, with those."""
    key = ("sized", role.path)
    known: list[tuple[Container, Amounts]] | None = document.derived.get(key)
    if known is None:
        found = [(container, amounts_of(document, container)) for container in role.containers]
        known = [(container, amounts) for container, amounts in found if amounts]
        document.derived[key] = known
    return known


def amounts_of(document: Document, container: Container) -> Amounts:
    """Read a container's `resources`; raises ManifestError for what Kubernetes would refuse."""
    given = _given(container)
    known = _known_amounts.get(given) if given else None
    if known is not None:
        return known
    read = _amounts(document, container.value.get("resources"), container.resources)
    limits, requests = read["limits"], read["requests"]
    both: Amounts = {"limits": limits, "requests": {**limits, **requests}}
    amounts = {key: by_name for key, by_name in both.items() if by_name}
    if given:
        _known_amounts[given] = amounts
    return amounts


def _given(container: Container) -> Given | None:
    """Give what a container's amounts are read from; None where a shape is wrong or unusual."""
    resources = container.value.get("resources")
    if not isinstance(resources, dict):
        return None
    limits, requests = resources.get("limits", {}), resources.get("requests", {})
    if not isinstance(limits, dict) or not isinstance(requests, dict):
        return None
    given = (limits.get("cpu"), limits.get("memory"), requests.get("cpu"), requests.get("memory"))
    # Exact types: true is equal to 1, and no quantity.
    return given if _GIVEN.issuperset(map(type, given)) else None


def pod_amounts(document: Document, role: Role) -> Amounts:
    """Read what the containers of a pod share, as it is given; empty where nothing is."""
    resources = get(role.template, ("spec", "resources"))
    if resources is None:
        return {}
    given = _amounts(document, resources, role.resources)
    return {key: amounts for key, amounts in given.items() if amounts}


def _amounts(document: Document, value: object, base: Path) -> Amounts:
    resources = _mapping(document, value, base)
    limits, requests = (
        _quantities(document, resources.get(key), (*base, key)) for key in ("limits", "requests")
    )
    for name, request in requests.items():
        if name in limits and request > limits[name]:
            problem = f"the request, {request}, is above the limit, {limits[name]}"
            hint = "Kubernetes refuses it: raise the limit or lower the request"
            where = document.where((*base, "requests", name))
            raise ManifestError(problem, where=where, hint=hint)
    return {"limits": limits, "requests": requests}


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


def _common_entry(
    document: Document, policies: Policies, role: Role, container: Container, *, amounts: Amounts
) -> dict[str, Any]:
    """Give a container's part of the intent, where its pod has nothing to say about it."""
    given = _given(container)
    key = (policies.layers(document, role.name, container.name), given or ())
    known = _known_entries.get(key) if given else None
    if known is not None:
        return known
    policy = policy_of(document, policies, role.name, container.name, amounts)
    entry = _entry(amounts, policy)
    if given:
        _known_entries[key] = entry
    return entry


def _entry(amounts: Amounts, policy: ContainerPolicy) -> dict[str, Any]:
    return {**_written(amounts), "policy": to_wire(policy)}


def _written(amounts: Amounts) -> dict[str, Any]:
    return {
        key: {name: str(quantity) for name, quantity in by_name.items()}
        for key, by_name in amounts.items()
    }


def _quantities(document: Document, value: object, path: Path) -> dict[str, Quantity]:
    given = _mapping(document, value, path)
    return {
        name: _quantity(document, name, given[name], (*path, name))
        for name in RESOURCES
        if given.get(name) is not None
    }


def _quantity(document: Document, name: str, value: Any, path: Path) -> Quantity:  # noqa: ANN401 - a JSON value
    try:
        # Others than these are no quantities, and nothing to remember.
        is_scalar = isinstance(value, str | int | float)
        quantity = _counted(name, value) if is_scalar else parse_quantity(value)
    except QuantityError as error:
        raise ManifestError(error.problem, where=document.where(path), hint=error.hint) from error
    if quantity.nano < 0:
        raise ManifestError(f"{value} is negative", where=document.where(path))
    return quantity


# Typed, because true is no quantity and 1 is.
@lru_cache(maxsize=4096, typed=True)
def _counted(name: str, value: str | float) -> Quantity:
    """Count in millicores and bytes, as Kubernetes does: finer amounts are rounded up."""
    quantity = parse_quantity(value)
    if name == "cpu":
        return Quantity.of_milli(quantity.milli())
    return Quantity.of_bytes(quantity.value())


def _mapping(document: Document, value: object, path: Path) -> Mapping[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ManifestError("is no mapping", where=document.where(path))
    return value
