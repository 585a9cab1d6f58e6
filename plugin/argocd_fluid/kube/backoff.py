"""How long to wait after a failure: doubling, with jitter, up to a cap. Pure but for the jitter."""

import random
from collections.abc import Callable

EXPONENT_CAP = 30


class Backoff:
    """Delays of one thing that fails; `reset` when it worked."""

    def __init__(
        self, base_s: float, cap_s: float, *, jitter: Callable[[], float] = random.random
    ) -> None:
        """`jitter` gives numbers in [0, 1): many clients must not come back at one moment."""
        self._base_s = base_s
        self._cap_s = cap_s
        self._jitter = jitter
        self._failures = 0

    def next_s(self) -> float:
        """Count a failure and give the wait after it: between half and all of the step."""
        step = min(self._cap_s, self._base_s * 2.0 ** min(self._failures, EXPONENT_CAP))
        self._failures += 1
        return step * (0.5 + self._jitter() / 2)

    def reset(self) -> None:
        """Forget the failures."""
        self._failures = 0
