"""What a policy says once it is resolved: every value present, in base units.

CPU amounts are millicores, memory amounts bytes, times seconds. Bounds hold for the request; a
limit follows its request in proportion. `policy.schema` makes these from text, `render.intent`
writes them into the intent annotation, `engine.decide` obeys them.
"""

from enum import StrEnum

from argocd_fluid.records import dataclass


class Mode(StrEnum):
    """What the controller may do to a workload."""

    AUTO = "auto"
    RECOMMEND = "recommend"
    OFF = "off"


class Limits(StrEnum):
    """What happens to a limit when its request is resized."""

    PROPORTIONAL = "proportional"
    KEEP = "keep"


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourcePolicy:
    """Thresholds are shares of the limit (of the request where there is no limit)."""

    min: int
    max: int
    scale_up_at: float = 0.80
    target: float = 0.65
    scale_down_at: float = 0.40
    limits: Limits = Limits.PROPORTIONAL
    oom_factor: float = 1.5


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerPolicy:
    """`cpu` or `memory` is None where Git gives the container no such request to scale."""

    cpu: ResourcePolicy | None
    memory: ResourcePolicy | None
    mode: Mode = Mode.AUTO
    scale_up_cooldown_s: float = 15.0
    scale_up_max_factor: float = 2.0
    scale_down_after_s: float = 600.0
    scale_down_memory: bool = True
    priority: int = 0
