"""What a node can give of the wishes. Pure: snapshot and wishes in, grants out.

Only requests take room. Shrinks are granted first; then growth by priority and urgency, whole if
it fits, else in part, with room from over-provisioned neighbours, lowest priority first. A donor
never falls below its own need or its bounds.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from argocd_fluid.engine.change import LEAST_CHANGE
from argocd_fluid.engine.donors import Donation, Donor, choose, is_donor
from argocd_fluid.engine.model import (
    Amounts,
    ContainerKey,
    ContainerState,
    Grant,
    NodeSnapshot,
    Reason,
    Resource,
    Size,
    Wish,
)
from argocd_fluid.engine.sizes import STEP, describe, with_amounts
from argocd_fluid.engine.stuck import accepted

_URGENCY = (
    Reason.OOM_KILLED,
    Reason.SHRINK_HARMED,
    Reason.TREND,
    Reason.SHRINK_REFUSED,
    Reason.RECORDED,
    Reason.HOT,
)
_STUCK = frozenset({Reason.DEFERRED, Reason.INFEASIBLE})


def negotiate(
    snapshot: NodeSnapshot,
    wishes: Sequence[Wish],
    *,
    reserve: Mapping[Resource, int] | None = None,
) -> tuple[Grant, ...]:
    """Answer every wish with one grant; donors' grants stand before the grant they serve.

    `reserve` is room that growth leaves free for new pods. A grant with `changes` False only
    explains. The caller writes `grant.recorded` to the record, then applies `plan(...)`.
    """
    table = _Table(snapshot, wishes, reserve or {})
    for wish in sorted(wishes, key=_order):
        table.answer(wish)
    return tuple(table.grants.values())


def _order(wish: Wish) -> tuple[int, int, int, ContainerKey]:
    container = wish.container
    if wish.size == container.spec and wish.reason not in _STUCK:
        stage = 2  # nothing but an explanation, void if the container gives room meanwhile
    else:
        stage = 1 if _grows(_base(wish), wish.size) else 0
    urgency = _URGENCY.index(wish.reason) if wish.reason in _URGENCY else len(_URGENCY)
    return stage, -container.policy.priority, urgency, container.key


class _Table:
    """The state of one negotiation: room that is left, sizes planned so far, grants made."""

    def __init__(
        self, snapshot: NodeSnapshot, wishes: Sequence[Wish], reserve: Mapping[Resource, int]
    ) -> None:
        self.grants: dict[ContainerKey, Grant] = {}
        self._pressure = snapshot.memory_pressure
        self._planned: dict[ContainerKey, Size] = {}
        self._room = {
            resource: snapshot.allocatable.get(resource, 0)
            - reserve.get(resource, 0)
            - sum(pod.footprint.get(resource, 0) for pod in snapshot.pods)
            for resource in Resource
        }
        self._held = {
            (pod.uid, resource): amount
            for pod in snapshot.pods
            for resource, amount in pod.held.items()
        }
        busy = {wish.container.key for wish in wishes if _moves(wish)}
        self._donors = [
            container
            for pod in snapshot.pods
            for container in pod.containers
            if container.key not in busy and is_donor(pod, container)
        ]
        for wish in wishes:
            self._release(wish)

    def _release(self, wish: Wish) -> None:
        """Plan the leaves that shrink, before anything grows: their room is there for all."""
        base = _base(wish)
        size = Size(
            cpu=_lesser(base.cpu, wish.size.cpu), memory=_lesser(base.memory, wish.size.memory)
        )
        self._planned[wish.container.key] = size
        for resource in Resource:
            before = wish.container.spec.of(resource).request or 0
            freed = max(before - (size.of(resource).request or 0), 0)
            held = self._held.get((wish.container.key.uid, resource), 0)
            self._held[wish.container.key.uid, resource] = max(held - freed, 0)
            self._room[resource] += max(freed - held, 0)

    def answer(self, wish: Wish) -> None:
        """Make the grant of one wish, and those of the donors that it needs."""
        container = wish.container
        if not _moves(wish):
            if container.key not in self.grants:
                self.grants[container.key] = self._grant(wish, container.spec, [])
            return
        size, notes = self._planned[container.key], []
        for resource in Resource:
            wished = wish.size.of(resource)
            if size.of(resource) == wished or self._pressure:
                continue
            amounts, note = self._grow(wish, resource, have=size.of(resource))
            size = with_amounts(size, resource, amounts)
            notes += [note] if note else []
        self._planned[container.key] = size
        self.grants[container.key] = self._grant(wish, size, notes)

    def _grow(self, wish: Wish, resource: Resource, *, have: Amounts) -> tuple[Amounts, str]:
        wished = wish.size.of(resource)
        asked = (wished.request or 0) - (have.request or 0)
        if asked <= 0:
            return wished, ""
        free = self._room[resource]
        least = max(int((have.request or 0) * LEAST_CHANGE), STEP[resource])
        given = self._collect(wish, resource, asked=asked, least=min(least, asked))
        got = min(asked, max(self._room[resource], 0))
        if got < asked:
            got = got // STEP[resource] * STEP[resource]
            got = got if got >= least else 0
        self._room[resource] -= got
        note = "" if got == asked and not given else _note(resource, asked, got, (free, given))
        return _at(have, wished, got), note

    def _collect(self, wish: Wish, resource: Resource, *, asked: int, least: int) -> int:
        """Let donors cover what the room lacks, if that makes a useful step; say how much."""
        shortfall = asked - self._room[resource]
        if shortfall <= 0 or wish.reason is Reason.LAGGING:
            return 0
        donors = [
            Donor(
                container=container,
                have=self._planned.get(container.key, container.spec).of(resource),
                held=self._held.get((container.key.uid, resource), 0),
            )
            for container in self._donors
        ]
        donations = choose(donors, resource, shortfall)
        given = sum(donation.freed for donation in donations)
        if self._room[resource] + given < least:
            return 0
        for donation in donations:
            self._donate(donation, wish.container)
        self._room[resource] += given
        return given

    def _donate(self, donation: Donation, taker: ContainerState) -> None:
        donor, resource = donation.donor, donation.resource
        self._held[donor.key.uid, resource] = 0
        size = with_amounts(self._planned.get(donor.key, donor.spec), resource, donation.amounts)
        detail = (
            f"{resource} {describe(resource, donation.freed)} given to"
            f" {taker.key.namespace}/{taker.key.pod}/{taker.key.container}"
        )
        before = self.grants.get(donor.key)
        self._planned[donor.key] = size
        self.grants[donor.key] = Grant(
            container=donor,
            wished=donor.spec,
            size=size,
            reason=Reason.DONATED,
            detail=f"{before.detail}; {detail}" if before else detail,
            record=_record(donor, size, frozenset()),
        )

    def _grant(self, wish: Wish, size: Size, notes: list[str]) -> Grant:
        container = wish.container
        if size == wish.size:
            reason = wish.reason
        elif self._pressure:
            reason, notes = Reason.MEMORY_PRESSURE, ["the node is under memory pressure"]
        else:
            reason = Reason.NO_ROOM if size == container.spec else Reason.PARTIAL
        kept = wish.recorded
        if wish.reason in _STUCK and container.target == container.intent:
            kept = frozenset(Resource)  # what Git says stays on record, for when there is room
        return Grant(
            container=container,
            wished=wish.size,
            size=size,
            reason=reason,
            detail="; ".join([wish.detail, *notes]),
            cause=wish.reason,
            record=_record(container, size, kept, floored=wish.floored),
        )


def _base(wish: Wish) -> Size:
    """Give the size that growth starts from: what the kubelet runs, where it refuses the spec."""
    return accepted(wish.container) if wish.reason in _STUCK else wish.container.spec


def _moves(wish: Wish) -> bool:
    return wish.size != wish.container.spec or wish.reason in _STUCK


def _grows(base: Size, size: Size) -> bool:
    return any(_lesser(base.of(r), size.of(r)) != size.of(r) for r in Resource)


def _record(
    container: ContainerState,
    size: Size,
    kept: frozenset[Resource],
    *,
    floored: frozenset[Resource] = frozenset(),
) -> Size:
    """Write granted amounts to the record, but leave what is recorded and not yet reached."""
    record = container.target
    for resource in Resource:
        moves = size.of(resource) != container.spec.of(resource) or resource in floored
        if resource not in kept and moves:
            record = with_amounts(record, resource, size.of(resource))
    return record


def _at(have: Amounts, wished: Amounts, got: int) -> Amounts:
    """Grow a request by what it got. The limit needs no room, unless the two are one."""
    request = (have.request or 0) + got
    if have.limit is None:
        return Amounts(request=request)
    if have.limit == have.request and wished.limit == wished.request:
        return Amounts(request=request, limit=request)
    return replace(wished, request=request)


def _lesser(spec: Amounts, wished: Amounts) -> Amounts:
    return Amounts(
        request=_less(spec.request, wished.request), limit=_less(spec.limit, wished.limit)
    )


def _less(spec: int | None, wished: int | None) -> int | None:
    return spec if spec is None or wished is None else min(spec, wished)


def _note(resource: Resource, asked: int, got: int, room: tuple[int, int]) -> str:
    free, given = room
    note = (
        f"{resource} request: asked {describe(resource, asked)} more, granted"
        f" {describe(resource, got)}, node has {describe(resource, max(free, 0))} free"
    )
    return f"{note}, neighbours gave {describe(resource, given)}" if given else note
