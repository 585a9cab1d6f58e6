"""Which neighbours give room to a container that needs it. Pure.

A donor is over-provisioned by its own window: it keeps peak / target, its bounds, and a memory
limit above everything in use. Lowest priority gives first; equal ones by the larger surplus, so
that few containers are resized.
"""

from dataclasses import dataclass

from argocd_fluid.engine.change import LEAST_CHANGE
from argocd_fluid.engine.model import Amounts, ContainerKey, ContainerState, PodState, Resource
from argocd_fluid.engine.need import may_shrink, needed, never_more, scaling
from argocd_fluid.engine.sizes import STEP, at_request
from argocd_fluid.policy.model import Mode

_KNOWN_S = 60.0
"""A window shorter than this says too little to take room away; nor does one since a resize."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Donation:
    """What one donor gives of one resource."""

    donor: ContainerState
    resource: Resource
    amounts: Amounts
    """What the donor has afterwards."""
    freed: int
    """How much room that makes: by so much its pod's footprint falls."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Donor:
    """One container that may be asked, as it stands in the negotiation."""

    container: ContainerState
    have: Amounts
    held: int = 0
    """So much its pod gives up before any room is made."""


def is_donor(pod: PodState, container: ContainerState) -> bool:
    """Whether it may be asked at all."""
    usage = container.usage
    if not pod.settled or usage is None or container.policy.mode is not Mode.AUTO:
        return False
    now = usage.latest.time_s
    if container.hold_until_s is not None and now < container.hold_until_s:
        return False
    known_s = min(_KNOWN_S, container.policy.scale_down_after_s)
    if container.last_resize_s is not None and now - container.last_resize_s < known_s:
        return False
    return usage.window_s >= known_s


def donate(donor: Donor, resource: Resource, shortfall: int) -> Donation | None:
    """Give `shortfall`, or all that it can spare; None where that is too little for a resize."""
    container, have = donor.container, donor.have
    usage, policy = container.usage, scaling(container, resource)
    if usage is None or policy is None or have.request is None or resource in container.restarts:
        return None
    if not may_shrink(container, resource, usage.latest.time_s):
        return None
    needs = needed(container, resource)
    if needs is None or needs.request is None:
        return None
    least = max(int(have.request * LEAST_CHANGE), STEP[resource])
    wanted = have.request - donor.held - max(shortfall, least)
    request = max(needs.request, wanted // STEP[resource] * STEP[resource])
    if have.request - donor.held - request < least:
        return None
    intent = container.intent.of(resource)
    amounts = at_request(have, request, intent=intent, policy=policy, resource=resource)
    amounts = never_more(have, amounts)
    freed = have.request - donor.held - (amounts.request or 0)
    return Donation(donor=container, resource=resource, amounts=amounts, freed=freed)


def choose(donors: list[Donor], resource: Resource, shortfall: int) -> list[Donation]:
    """Pick donations in their order until the shortfall is covered, or no donor is left."""
    offers = [(donor, donate(donor, resource, shortfall)) for donor in donors]
    offers.sort(key=_order)
    chosen = []
    for donor, offer in offers:
        if shortfall <= 0:
            break
        if offer is None:
            continue
        given = donate(donor, resource, shortfall)
        if given is not None:
            chosen.append(given)
            shortfall -= given.freed
    return chosen


def _order(offer: tuple[Donor, Donation | None]) -> tuple[int, int, ContainerKey]:
    donor, donation = offer
    container = donor.container
    return container.policy.priority, -(donation.freed if donation else 0), container.key
