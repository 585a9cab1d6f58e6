"""The sizes on record: which size each rank of a workload gets. Pure, on FluidWorkload status.

A role has one size per container; ranks that learned another one are listed below it, with all
containers of the role, because the admission policy takes a rank's entry whole. A rank whose size
equals its role's is not listed.
"""

from collections.abc import Mapping

from argocd_fluid.controller.intent import (
    ContainerIntent,
    as_resources,
    containers_of,
    size_of,
)
from argocd_fluid.engine.model import Rank, Resource, Size
from argocd_fluid.engine.sizes import with_amounts, within_bounds
from argocd_fluid.kube.fluid import (
    ContainerSize,
    FluidWorkload,
    FluidWorkloadSpec,
    FluidWorkloadStatus,
    RankSize,
    RoleSize,
)

Targets = Mapping[tuple[Rank, str], Size]
"""Rank and container name to the size on record."""


def initial_roles(spec: FluidWorkloadSpec) -> list[RoleSize]:
    """Give every role the size in Git, within the bounds."""
    intents = containers_of(spec)
    return [
        RoleSize(
            name=role.name,
            containers=[
                _initial(container.name, intents[role.name, container.name])
                for container in role.containers
            ],
        )
        for role in spec.roles
    ]


def carried_over(
    old: FluidWorkloadSpec, status: FluidWorkloadStatus, new: FluidWorkloadSpec
) -> list[RoleSize]:
    """Give the sizes under a changed intent: learned ones stay where Git's did not change.

    A container that Git resized starts from Git again, in all ranks; bounds that moved move what
    was learned inside them. This is idempotent.
    """
    before, after = containers_of(old), containers_of(new)
    recorded = {role.name: role for role in status.roles or ()}
    fresh = initial_roles(new)
    roles = []
    for role in fresh:
        learned = recorded.get(role.name)
        if learned is None:
            roles.append(role)
            continue
        keep = {
            container.name: after[role.name, container.name]
            for container in role.containers
            if _same_size(before.get((role.name, container.name)), after[role.name, container.name])
        }
        roles.append(_merge(role, learned, keep))
    return roles


def target_of(workload: FluidWorkload, rank: Rank, container: str) -> Size | None:
    """Give the size on record of one container of a rank; None if it is not enrolled."""
    for role in workload.status.roles or ():
        if role.name != rank.role:
            continue
        for sized in _entry(role, rank):
            if sized.name == container:
                return size_of(sized.resources)
    return None


def with_targets(roles: list[RoleSize], targets: Targets) -> list[RoleSize]:
    """Record sizes; what is not named stays."""
    return [
        _role_with(role, {key: size for key, size in targets.items() if key[0].role == role.name})
        for role in roles
    ]


def _role_with(role: RoleSize, targets: Targets) -> RoleSize:
    ranks = {(rank.job, rank.index): rank.containers for rank in role.ranks or ()}
    for (rank, container), size in targets.items():
        key = (rank.job_index, rank.completion_index)
        entry = ranks.get(key, role.containers)
        ranks[key] = [_sized(one.name, size) if one.name == container else one for one in entry]
    return _collapsed(role.name, role.containers, ranks)


def _merge(role: RoleSize, learned: RoleSize, keep: Mapping[str, ContainerIntent]) -> RoleSize:
    """Take what was learned of the containers in `keep`, and everything else from `role`."""

    def carried(recorded: list[ContainerSize]) -> list[ContainerSize]:
        by_name = {sized.name: sized for sized in recorded}
        return [
            _within(by_name[one.name], keep[one.name])
            if one.name in keep and one.name in by_name
            else one
            for one in role.containers
        ]

    ranks = {(rank.job, rank.index): carried(rank.containers) for rank in learned.ranks or ()}
    return _collapsed(role.name, carried(learned.containers), ranks)


def _collapsed(
    name: str, containers: list[ContainerSize], ranks: dict[tuple[str, str], list[ContainerSize]]
) -> RoleSize:
    differing = [
        RankSize(job=job, index=index, containers=entry)
        for (job, index), entry in sorted(ranks.items(), key=_numerically)
        if entry != containers
    ]
    return RoleSize(name=name, containers=containers, ranks=differing or None)


def _numerically(item: tuple[tuple[str, str], object]) -> tuple[tuple[int, str], ...]:
    return tuple((len(index), index) for index in item[0])


def _entry(role: RoleSize, rank: Rank) -> list[ContainerSize]:
    wanted = (rank.job_index, rank.completion_index)
    ranks = role.ranks or ()
    return next(
        (one.containers for one in ranks if (one.job, one.index) == wanted), role.containers
    )


def _same_size(before: ContainerIntent | None, after: ContainerIntent) -> bool:
    return before is not None and before.size == after.size


def bounded(size: Size, intent: ContainerIntent) -> Size:
    """Hold a size within the bounds of its container's policy."""
    for resource in Resource:
        policy = intent.policy.cpu if resource is Resource.CPU else intent.policy.memory
        if policy is not None:
            held = within_bounds(
                size.of(resource),
                intent=intent.size.of(resource),
                policy=policy,
                resource=resource,
            )
            size = with_amounts(size, resource, held)
    return size


def _initial(name: str, intent: ContainerIntent) -> ContainerSize:
    return _sized(name, bounded(intent.size, intent))


def _within(sized: ContainerSize, intent: ContainerIntent) -> ContainerSize:
    size = size_of(sized.resources)
    held = bounded(size, intent)
    # An unchanged size keeps its spelling, so that nothing is written.
    return sized if held == size else _sized(sized.name, held)


def _sized(name: str, size: Size) -> ContainerSize:
    return ContainerSize(name=name, resources=as_resources(size))
