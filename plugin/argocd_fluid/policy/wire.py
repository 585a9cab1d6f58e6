"""A resolved policy as JSON: in the intent annotation and in FluidWorkload's `spec.roles[].policy`.

Canonical in values (quantities, durations, numbers), so that equal policies give equal bytes once
the keys are sorted. `from_wire` reads only what `to_wire` wrote and refuses anything else.
"""

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, TypeVar

from argocd_fluid.errors import PolicyError, QuantityError, Where
from argocd_fluid.manifests.quantity import Quantity, parse_quantity
from argocd_fluid.policy import values
from argocd_fluid.policy.duration import format_duration, parse_duration
from argocd_fluid.policy.model import ContainerPolicy, Limits, Mode, ResourcePolicy

Wire = dict[str, Any]
T = TypeVar("T")


def to_wire(policy: ContainerPolicy) -> Wire:
    """Give the JSON object; `cpu` or `memory` is left out where it is None."""
    wire: Wire = {
        "mode": policy.mode.value,
        "scaleUp": {
            "cooldown": format_duration(policy.scale_up_cooldown_s),
            "maxFactor": _number(policy.scale_up_max_factor),
        },
        "scaleDown": {
            "after": format_duration(policy.scale_down_after_s),
            "memory": policy.scale_down_memory,
        },
        "priority": policy.priority,
    }
    if policy.cpu is not None:
        wire["cpu"] = _resource_to_wire(policy.cpu, Quantity.of_milli)
    if policy.memory is not None:
        wire["memory"] = {
            **_resource_to_wire(policy.memory, Quantity.of_bytes),
            "oomFactor": _number(policy.memory.oom_factor),
        }
    return wire


def from_wire(wire: Mapping[str, Any]) -> ContainerPolicy:
    """Read what `to_wire` wrote; raises PolicyError that names the field."""
    return ContainerPolicy(
        cpu=_resource_from_wire(wire, "cpu", Quantity.milli),
        memory=_resource_from_wire(wire, "memory", Quantity.value),
        mode=_read(wire, "mode", _one_of(Mode)),
        scale_up_cooldown_s=_read(wire, "scaleUp.cooldown", parse_duration),
        scale_up_max_factor=_read(wire, "scaleUp.maxFactor", values.factor),
        scale_down_after_s=_read(wire, "scaleDown.after", parse_duration),
        scale_down_memory=_read(wire, "scaleDown.memory", _to_bool),
        priority=_read(wire, "priority", _to_int),
    )


def _resource_to_wire(policy: ResourcePolicy, quantity: Callable[[int], Quantity]) -> Wire:
    return {
        "min": str(quantity(policy.min)),
        "max": str(quantity(policy.max)),
        "scaleUpAt": _number(policy.scale_up_at),
        "target": _number(policy.target),
        "scaleDownAt": _number(policy.scale_down_at),
        "limits": policy.limits.value,
    }


def _resource_from_wire(
    wire: Mapping[str, Any], name: str, amount: Callable[[Quantity], int]
) -> ResourcePolicy | None:
    if name not in wire:
        return None
    oom_factor = (
        {"oom_factor": _read(wire, f"{name}.oomFactor", values.factor)} if name == "memory" else {}
    )
    return ResourcePolicy(
        min=amount(_read(wire, f"{name}.min", _to_quantity)),
        max=amount(_read(wire, f"{name}.max", _to_quantity)),
        scale_up_at=_read(wire, f"{name}.scaleUpAt", values.share),
        target=_read(wire, f"{name}.target", values.share),
        scale_down_at=_read(wire, f"{name}.scaleDownAt", values.share),
        limits=_read(wire, f"{name}.limits", _one_of(Limits)),
        **oom_factor,
    )


def _read(wire: Mapping[str, Any], path: str, convert: Callable[[Any], T]) -> T:
    value: Any = wire
    for key in path.split("."):
        if not isinstance(value, Mapping) or key not in value:
            raise PolicyError("is missing", where=Where(field=path))
        value = value[key]
    try:
        return convert(value)
    except (PolicyError, QuantityError) as error:
        raise PolicyError(error.problem, where=Where(field=path), hint=error.hint) from error


E = TypeVar("E", bound=StrEnum)


def _one_of(enum: type[E]) -> Callable[[Any], E]:
    def convert(value: Any) -> E:  # noqa: ANN401 - a JSON value
        if value not in list(enum):
            raise PolicyError(f"{value!r} is none of {', '.join(enum)}")
        return enum(value)

    return convert


def _to_quantity(value: object) -> Quantity:
    if not isinstance(value, str):
        raise PolicyError(f"{value!r} is no quantity")
    return parse_quantity(value)


def _to_int(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise PolicyError(f"{value!r} is no whole number")
    return value


def _to_bool(value: object) -> bool:
    if not isinstance(value, bool):
        raise PolicyError(f"{value!r} is neither true nor false")
    return value


def _number(value: float) -> float:
    """Write 2.0 as 2, as every other JSON writer does."""
    return int(value) if value == int(value) else value
