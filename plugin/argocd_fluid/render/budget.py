"""The time that one rendering may take, shared by everything that it does.

Argo CD gives up after 60 s and then reports only "context deadline exceeded"; a rendering that ends
itself before that can say what took so long.
"""

from collections.abc import Callable, Mapping
from typing import Final

from argocd_fluid.errors import RenderError, Where
from argocd_fluid.policy.duration import parse_time_limit
from argocd_fluid.records import dataclass, field

VARIABLE: Final = "ARGOCD_FLUID_TIMEOUT"
"""Set by an administrator in the sidecar: a duration, as `45s`."""
DEFAULT_S: Final = 45.0


def _standing() -> float:
    return 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Seconds from `started` on, told by a monotonic clock."""

    seconds: float = DEFAULT_S
    clock: Callable[[], float] = _standing
    started: float = 0.0

    def left(self) -> float:
        """Give the seconds that are left, 0 when there are none."""
        return max(0.0, self.started + self.seconds - self.clock())

    def check(self) -> None:
        """Raise RenderError when no time is left."""
        if not self.left():
            raise self.spent("the rendering")

    def spent(self, what: str) -> RenderError:
        """Give the error of whatever did not end in time."""
        hint = f"raise the parameter timeout or {VARIABLE}, below Argo CD's own time limit"
        return RenderError(f"{what} took longer than the {self.seconds:g} s it has", hint=hint)


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What a rendering takes from the process it runs in."""

    environment: Mapping[str, str] = field(default_factory=dict)
    budget: Budget = field(default_factory=Budget)

    @classmethod
    def of(
        cls,
        environment: Mapping[str, str],
        *,
        clock: Callable[[], float],
        timeout_s: float | None = None,
    ) -> "Surroundings":
        """Start the budget: the Application's timeout, else the administrator's, else 45 s."""
        seconds = timeout_s or _from(environment) or DEFAULT_S
        return cls(
            environment=environment, budget=Budget(seconds=seconds, clock=clock, started=clock())
        )


def _from(environment: Mapping[str, str]) -> float | None:
    text = environment.get(VARIABLE, "").strip()
    return parse_time_limit(text, where=Where(field=VARIABLE)) if text else None
