import pytest
from argocd_fluid.controller.intent import spec_of
from argocd_fluid.controller.sizes import (
    carried_over,
    initial_roles,
    target_of,
    with_targets,
)
from argocd_fluid.engine.model import Amounts, Rank, Size
from argocd_fluid.kube.fluid import FluidWorkloadStatus

from tests.controller.jobsets import SIZE, intent, resource
from tests.controller.objects import js, workload

MIB = 1 << 20


def rank(index: str) -> Rank:
    return Rank(role="workers", job_index="0", completion_index=index)


def size(cpu: int, memory: int = 64) -> Size:
    return Size(
        cpu=Amounts(request=cpu, limit=2 * cpu),
        memory=Amounts(request=memory * MIB, limit=2 * memory * MIB),
    )


def learned(**targets: Size):
    """A workload whose ranks learned sizes: r0=..., r11=..."""
    start = workload()
    chosen = {(rank(name[1:]), "load"): target for name, target in targets.items()}
    return workload(roles=with_targets(start.status.roles, chosen))


def test_a_rank_that_learned_is_listed_whole_and_the_others_keep_the_role_s_size() -> None:
    known = learned(r1=size(400))
    [role] = known.status.roles
    assert [(one.job, one.index) for one in role.ranks] == [("0", "1")]
    assert role.ranks[0].containers[0].resources.requests == {"cpu": "400m", "memory": "64Mi"}
    assert target_of(known, rank("1"), "load") == size(400)
    assert target_of(known, rank("0"), "load") == size(100)
    assert target_of(known, rank("0"), "unknown") is None


def test_a_rank_back_at_its_role_s_size_is_not_listed() -> None:
    known = learned(r1=size(400), r2=size(300))
    roles = with_targets(known.status.roles, {(rank("1"), "load"): size(100)})
    assert [one.index for one in roles[0].ranks] == ["2"]


def test_ranks_are_in_the_order_of_numbers() -> None:
    known = learned(r10=size(400), r9=size(300), r0=size(200))
    assert [one.index for one in known.status.roles[0].ranks] == ["0", "9", "10"]


def test_sizes_in_git_outside_the_bounds_are_held_at_them() -> None:
    spec = spec_of(js(intent(cpu=resource("150m", "800m", 0.65))).metadata)
    [role] = initial_roles(spec)
    assert role.containers[0].resources.requests["cpu"] == "150m"
    assert role.containers[0].resources.limits["cpu"] == "300m"


def test_a_changed_size_in_git_drops_what_the_ranks_learned_of_it() -> None:
    known = learned(r1=size(400))
    larger = SIZE | {"requests": {"cpu": "200m", "memory": "64Mi"}}
    [role] = carried_over(known.spec, known.status, spec_of(js(intent(larger)).metadata))
    assert role.ranks is None
    assert role.containers[0].resources.requests["cpu"] == "200m"


@pytest.mark.parametrize(("low", "high", "cpu"), [("50m", "800m", "400m"), ("50m", "250m", "250m")])
def test_changed_bounds_keep_what_was_learned_inside_them(low: str, high: str, cpu: str) -> None:
    known = learned(r1=size(400))
    spec = spec_of(js(intent(cpu=resource(low, high, 0.65))).metadata)
    [role] = carried_over(known.spec, known.status, spec)
    assert role.ranks[0].containers[0].resources.requests["cpu"] == cpu


def test_carrying_over_twice_changes_nothing_more() -> None:
    known = learned(r1=size(400))
    new = spec_of(js(intent(SIZE | {"requests": {"cpu": "200m", "memory": "64Mi"}})).metadata)
    once = carried_over(known.spec, known.status, new)
    assert carried_over(known.spec, FluidWorkloadStatus(roles=once), new) == once
