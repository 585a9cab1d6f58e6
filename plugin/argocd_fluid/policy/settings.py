"""What somebody said about the policy of a container: every value may be missing.

Amounts are millicores and bytes, times seconds, as in `policy.model`, which is the resolved form.
"""

from typing import Final, TypeVar

from argocd_fluid.policy.model import Limits, Mode
from argocd_fluid.records import dataclass, field, fields, is_dataclass, replace


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceSettings:
    """Of one resource; None where nothing is said."""

    min: int | None = None
    max: int | None = None
    scale_up_at: float | None = None
    target: float | None = None
    scale_down_at: float | None = None
    limits: Limits | None = None
    oom_factor: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Of one container; None where nothing is said."""

    mode: Mode | None = None
    cpu: ResourceSettings = field(default_factory=ResourceSettings)
    memory: ResourceSettings = field(default_factory=ResourceSettings)
    scale_up_cooldown_s: float | None = None
    scale_up_max_factor: float | None = None
    scale_down_after_s: float | None = None
    scale_down_memory: bool | None = None
    priority: int | None = None


DEFAULTS: Final = Settings(
    mode=Mode.AUTO,
    cpu=ResourceSettings(
        scale_up_at=0.80,
        target=0.65,
        scale_down_at=0.40,
        limits=Limits.PROPORTIONAL,
        oom_factor=1.5,
    ),
    memory=ResourceSettings(
        scale_up_at=0.80,
        target=0.70,
        scale_down_at=0.40,
        limits=Limits.PROPORTIONAL,
        oom_factor=1.5,
    ),
    scale_up_cooldown_s=15.0,
    scale_up_max_factor=2.0,
    scale_down_after_s=600.0,
    scale_down_memory=True,
    priority=0,
)
"""The weakest layer: everything but the bounds, which follow from Git's own sizes."""

T = TypeVar("T", Settings, ResourceSettings)


def laid_over(weak: T, strong: T) -> T:
    """Give what both say; where both do, the stronger one wins, value by value."""
    said = {}
    for each in fields(strong):
        value = getattr(strong, each.name)
        if is_dataclass(value):
            said[each.name] = laid_over(getattr(weak, each.name), value)
        elif value is not None:
            said[each.name] = value
    return replace(weak, **said)
