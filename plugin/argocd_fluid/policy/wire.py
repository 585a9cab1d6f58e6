"""A resolved policy as JSON: how it stands in the intent annotation and in a FluidWorkload.

Quantities are canonical strings, times are durations. The plugin writes it, the controller reads
it; a key that a newer plugin adds is ignored, a missing one gets its default.
"""

from collections.abc import Mapping
from typing import Any

from argocd_fluid.errors import PolicyError
from argocd_fluid.manifests.quantity import cpu, memory, parse_quantity
from argocd_fluid.policy.duration import format_duration, parse_duration
from argocd_fluid.policy.model import ContainerPolicy, Limits, Mode, ResourcePolicy

Wire = dict[str, Any]

DEFAULT_CPU_TARGET = 0.65
DEFAULT_MEMORY_TARGET = 0.70


def to_wire(policy: ContainerPolicy) -> Wire:
    """Write a policy with every value spelled out."""
    wire: Wire = {
        "mode": policy.mode.value,
        "priority": policy.priority,
        "scaleUp": {
            "cooldown": format_duration(policy.scale_up_cooldown_s),
            "maxFactor": _number(policy.scale_up_max_factor),
        },
        "scaleDown": {
            "after": format_duration(policy.scale_down_after_s),
            "memory": policy.scale_down_memory,
        },
    }
    if policy.cpu:
        bounds = (str(cpu(policy.cpu.min)), str(cpu(policy.cpu.max)))
        wire["cpu"] = _resource(policy.cpu, bounds)
    if policy.memory:
        bounds = (str(memory(policy.memory.min)), str(memory(policy.memory.max)))
        factor = _number(policy.memory.oom_factor)
        wire["memory"] = _resource(policy.memory, bounds) | {"oomFactor": factor}
    return wire


def from_wire(wire: Mapping[str, Any]) -> ContainerPolicy:
    """Read a policy that `to_wire` wrote. Raises PolicyError, for somebody may have edited it."""
    try:
        return _read(wire)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise PolicyError(
            f"the resolved policy cannot be read: {error!r}",
            hint="the plugin writes it; put wishes into fluid.yaml or the policy annotation",
        ) from error


def _read(wire: Mapping[str, Any]) -> ContainerPolicy:
    up, down = wire.get("scaleUp", {}), wire.get("scaleDown", {})
    return ContainerPolicy(
        cpu=_read_resource(wire.get("cpu"), DEFAULT_CPU_TARGET, milli=True),
        memory=_read_resource(wire.get("memory"), DEFAULT_MEMORY_TARGET, milli=False),
        mode=Mode(wire.get("mode", Mode.AUTO)),
        scale_up_cooldown_s=parse_duration(up.get("cooldown", "15s")),
        scale_up_max_factor=float(up.get("maxFactor", 2)),
        scale_down_after_s=parse_duration(down.get("after", "10m")),
        scale_down_memory=bool(down.get("memory", True)),
        priority=int(wire.get("priority", 0)),
    )


def _resource(policy: ResourcePolicy, bounds: tuple[str, str]) -> Wire:
    return {
        "min": bounds[0],
        "max": bounds[1],
        "scaleUpAt": _number(policy.scale_up_at),
        "target": _number(policy.target),
        "scaleDownAt": _number(policy.scale_down_at),
        "limits": policy.limits.value,
    }


def _read_resource(
    wire: Mapping[str, Any] | None, default_target: float, *, milli: bool
) -> ResourcePolicy | None:
    if wire is None:
        return None
    low, high = parse_quantity(wire["min"]), parse_quantity(wire["max"])
    return ResourcePolicy(
        min=low.milli if milli else low.units,
        max=high.milli if milli else high.units,
        scale_up_at=float(wire.get("scaleUpAt", 0.80)),
        target=float(wire.get("target", default_target)),
        scale_down_at=float(wire.get("scaleDownAt", 0.40)),
        limits=Limits(wire.get("limits", Limits.PROPORTIONAL)),
        oom_factor=float(wire.get("oomFactor", 1.5)),
    )


def _number(value: float) -> float:
    """2 instead of 2.0: one spelling for one value."""
    return int(value) if value == int(value) else value
