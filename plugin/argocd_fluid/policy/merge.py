"""From settings to the resolved policy of one container: bounds from Git's sizes, then checks."""

from collections.abc import Iterable
from functools import lru_cache, reduce
from typing import Any, Final

from argocd_fluid.errors import PolicyError, Where
from argocd_fluid.manifests.quantity import Quantity
from argocd_fluid.policy.model import ContainerPolicy, ResourcePolicy
from argocd_fluid.policy.settings import DEFAULTS, ResourceSettings, Settings, laid_over
from argocd_fluid.records import asdict, dataclass, fields, replace

BOUND_FACTOR: Final = 4
"""Without bounds a request stays between a quarter of Git's value and four times it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """The requests that Git has: millicores and bytes; None where there is nothing to scale."""

    cpu: int | None = None
    memory: int | None = None


def resolve(layers: Iterable[Settings], baseline: Baseline) -> ContainerPolicy:
    """Lay the layers over the defaults, weakest first.

    Raises PolicyError where layers that are right by themselves contradict each other.
    """
    return _resolved(tuple(layers), baseline)


# Most containers of a directory have the same policy and one of a few sizes.
@lru_cache(maxsize=1024)
def _resolved(layers: tuple[Settings, ...], baseline: Baseline) -> ContainerPolicy:
    full = reduce(laid_over, layers, DEFAULTS)
    values: dict[str, Any] = {each.name: getattr(full, each.name) for each in fields(full)}
    values["cpu"] = _resource("cpu", full.cpu, baseline.cpu)
    values["memory"] = _resource("memory", full.memory, baseline.memory)
    return ContainerPolicy(**values)


def check(settings: ResourceSettings, resource: str) -> None:
    """Refuse values that contradict each other, as far as they are given; raises PolicyError."""
    low, high = settings.min, settings.max
    if low is not None and high is not None and low > high:
        count = Quantity.of_milli if resource == "cpu" else Quantity.of_bytes
        problem = f"{count(low)} is larger than max {count(high)}"
        raise PolicyError(problem, where=Where(field="min"))
    down, target, up = settings.scale_down_at, settings.target, settings.scale_up_at
    if target is not None and down is not None and target <= down:
        raise PolicyError(f"{target} is not above scaleDownAt {down}", where=Where(field="target"))
    if target is not None and up is not None and target >= up:
        raise PolicyError(f"{target} is not below scaleUpAt {up}", where=Where(field="target"))
    if down is not None and up is not None and down >= up:
        raise PolicyError(f"{down} is not below scaleUpAt {up}", where=Where(field="scaleDownAt"))


def _resource(name: str, settings: ResourceSettings, request: int | None) -> ResourcePolicy | None:
    if not request:
        return None
    try:
        check(settings, name)
    except PolicyError as error:
        where = Where(field=f"{name}.{error.where.field}")
        raise PolicyError(error.problem, where=where) from None
    # A bound that is given moves the other one out of its way.
    low = settings.min or max(min(request // BOUND_FACTOR, settings.max or request), 1)
    high = settings.max or max(request * BOUND_FACTOR, low)
    return ResourcePolicy(**asdict(replace(settings, min=low, max=high)))
