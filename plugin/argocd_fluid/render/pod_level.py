"""What a pod's own `resources` and its QoS class mean for the sizes of its containers. Pure.

Kubernetes refuses container requests above those of the pod all together, a container's limit
above the pod's, and every resize that would change the QoS class. Amounts are as in the intent:
a container's request that is absent where there is a limit is the limit.
"""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Final

from argocd_fluid.manifests.quantity import Quantity
from argocd_fluid.policy.model import ContainerPolicy, ResourcePolicy
from argocd_fluid.records import replace

RESOURCES: Final = ("cpu", "memory")
NANO_PER_UNIT: Final[Mapping[str, int]] = {"cpu": 10**6, "memory": 10**9}
"""A policy counts millicores and bytes."""

Amounts = dict[str, dict[str, Quantity]]
"""`requests` and `limits`, each by resource."""


class Qos(StrEnum):
    """Classes as the API writes them."""

    GUARANTEED = "Guaranteed"
    BURSTABLE = "Burstable"
    BEST_EFFORT = "BestEffort"


def qos_of(containers: Iterable[Amounts], pod: Amounts) -> Qos:
    """Give the QoS class of a pod: by its own `resources` where it has some, else by containers.

    Init containers count like others; amounts of zero count as absent.
    """
    counted = [pod] if pod else list(containers)
    given = [_amount(each, kind, name) for each in counted for kind, name in _LEAVES]
    if not any(given):
        return Qos.BEST_EFFORT
    if all(_is_fixed(each, name) for each in counted for name in RESOURCES):
        return Qos.GUARANTEED
    return Qos.BURSTABLE


_LEAVES: Final = [(kind, name) for kind in ("requests", "limits") for name in RESOURCES]


def _is_fixed(amounts: Amounts, name: str) -> bool:
    limit = _amount(amounts, "limits", name)
    return bool(limit) and _amount(amounts, "requests", name) in (0, limit)


def _amount(amounts: Amounts, kind: str, name: str) -> int:
    quantity = amounts.get(kind, {}).get(name)
    return quantity.nano if quantity is not None else 0


def held_by_pod(
    policy: ContainerPolicy, own: Amounts, pod: Amounts, siblings: list[Amounts]
) -> ContainerPolicy:
    """Hold the bounds of a container by its pod; `siblings` are all its sized containers."""
    if not pod:
        return policy
    return replace(
        policy,
        cpu=_held("cpu", policy.cpu, own, pod, siblings=siblings),
        memory=_held("memory", policy.memory, own, pod, siblings=siblings),
    )


def _held(
    name: str, policy: ResourcePolicy | None, own: Amounts, pod: Amounts, *, siblings: list[Amounts]
) -> ResourcePolicy | None:
    if policy is None:
        return None
    request, limit = _amount(own, "requests", name), _amount(own, "limits", name)
    total = sum(_amount(each, "requests", name) for each in siblings)
    pod_request, pod_limit = (_amount(pod, kind, name) for kind in ("requests", "limits"))
    caps = []
    if pod_request or pod_limit:
        # A pod with a limit only gets the sum of its containers' requests as its own.
        caps.append(request + max((pod_request or total) - total, 0))
    if pod_limit and limit:
        caps.append(request * pod_limit // limit)
    cap = min((each // NANO_PER_UNIT[name] for each in caps), default=policy.max)
    return replace(policy, max=max(min(policy.max, cap), 1), min=max(min(policy.min, cap), 1))
