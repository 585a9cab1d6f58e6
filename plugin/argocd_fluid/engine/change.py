"""One resource of one container should move: what one rule adds to a wish. Values only."""

from dataclasses import dataclass

from argocd_fluid.engine.model import Amounts, Reason, Resource

LEAST_CHANGE = 0.05
"""Smaller changes cost a resize and gain nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Where one resource should go, by which rule."""

    resource: Resource
    amounts: Amounts
    reason: Reason
    detail: str
    urgent: bool = False
    floored: bool = False
    """The record asks for less than is in use: the amounts go on record in its place."""


def is_worthwhile(spec: Amounts, to: Amounts, *, at_bound: bool) -> bool:
    """Whether a change is worth a resize: 5 % of a leaf, or less where it reaches a bound."""
    pairs = ((spec.request, to.request), (spec.limit, to.limit))
    changes = [abs(b - a) / max(a, 1) for a, b in pairs if a is not None and b is not None]
    largest = max(changes, default=0.0)
    return largest > 0 if at_bound else largest >= LEAST_CHANGE
