from dataclasses import replace
from inspect import signature

import pytest
from argocd_fluid.engine.decide import decide
from argocd_fluid.engine.model import (
    Amounts,
    PendingReason,
    PodState,
    QosClass,
    Reason,
    Resource,
    Size,
)
from argocd_fluid.engine.need import memory_floor
from argocd_fluid.engine.negotiate import negotiate
from argocd_fluid.policy.model import Limits, Mode
from hypothesis import given, settings
from hypothesis import strategies as st

MI = 1 << 20
NOW = 100_000.0
CPU, MEMORY = Resource.CPU, Resource.MEMORY


def settle(snapshot, *, reserve=None):
    return negotiate(snapshot, decide(snapshot, NOW), reserve=reserve)


def filler(cpu=0, memory=0):
    return PodState(
        namespace="ns", name="other", uid="o", footprint={CPU: cpu, MEMORY: memory * MI}
    )


def hot(make, *, cpu=900.0, pod="hot", spec=None, **changes):
    return make.pod(
        make.container(pod=pod, spec=spec or make.size(), usage=make.usage(cpu=cpu), **changes),
        name=pod,
    )


def idle(make, *, pod, priority=0, cpu=100.0, **changes):
    policy = changes.pop("policy", make.policy(priority=priority))
    return make.pod(
        make.container(pod=pod, policy=policy, usage=make.usage(cpu=cpu, memory=100), **changes),
        name=pod,
    )


def cpu_of(grants, pod):
    return next(g.size.cpu for g in grants if g.container.key.pod == pod)


def test_whole_where_there_is_room(make):
    (grant,) = settle(make.node(hot(make), cpu=2000))
    assert (grant.reason, grant.size.cpu) == (Reason.HOT, Amounts(request=1390, limit=1390))
    assert grant.recorded == grant.size == grant.wished


@pytest.mark.parametrize(
    ("room", "spec", "expected", "reason"),
    [
        pytest.param(390, (1000, 1000), (1390, 1390), Reason.HOT, id="just fits"),
        pytest.param(
            205, (1000, 1000), (1200, 1200), Reason.PARTIAL, id="Guaranteed: both in part"
        ),
        pytest.param(49, (1000, 1000), (1000, 1000), Reason.NO_ROOM, id="too little to be useful"),
        pytest.param(-500, (1000, 1000), (1000, 1000), Reason.NO_ROOM, id="overcommitted"),
        pytest.param(100, (500, 1000), (600, 1400), Reason.PARTIAL, id="Burstable: limit whole"),
        pytest.param(0, (500, 1000), (500, 1400), Reason.PARTIAL, id="Burstable: limit alone"),
        pytest.param(0, (500, None), (500, None), Reason.NO_ROOM, id="no limit to grow"),
    ],
)
def test_in_part(make, room, spec, expected, reason):
    cpu = 900.0 if spec[1] else 450.0
    pod = hot(make, spec=make.size(cpu=spec), cpu=cpu)
    (grant,) = settle(make.node(pod, filler(), cpu=spec[0] + room))
    assert (grant.size.cpu.request, grant.size.cpu.limit) == expected
    assert grant.reason is reason


def test_reserve_is_left_free(make):
    (grant,) = settle(make.node(hot(make), cpu=1400), reserve={CPU: 200})
    assert grant.size.cpu.request == 1200


def test_a_grant_tells_the_numbers(make):
    (grant,) = settle(make.node(hot(make), cpu=1200))
    assert grant.detail == (
        "cpu 900m of 1000m (90% > 80%);"
        " cpu request: asked 390m more, granted 200m, node has 200m free"
    )


def test_nothing_grows_under_memory_pressure(make):
    (grant,) = settle(make.node(hot(make), memory_pressure=True))
    assert (grant.changes, grant.reason) == (False, Reason.MEMORY_PRESSURE)


def test_shrinks_come_first_and_make_room(make):
    giver = idle(make, pod="z")
    (container,) = giver.containers
    usage = make.usage(cpu=100.0, cpu_below_since=NOW - 600)
    giver = replace(giver, containers=(replace(container, usage=usage),))
    grants = settle(make.node(hot(make, pod="a"), giver, cpu=2000))
    assert [(g.container.key.pod, g.reason) for g in grants] == [
        ("z", Reason.IDLE),
        ("a", Reason.HOT),
    ]


def test_a_donor_gives_what_is_short_and_comes_first(make):
    grants = settle(make.node(hot(make), idle(make, pod="giver"), cpu=2100))
    assert [(g.container.key.pod, g.reason) for g in grants] == [
        ("giver", Reason.DONATED),
        ("hot", Reason.HOT),
    ]
    assert cpu_of(grants, "giver") == Amounts(request=710, limit=710)
    assert grants[0].detail == "cpu 290m given to ns/hot/main"
    assert grants[0].recorded == grants[0].size
    assert "neighbours gave 290m" in grants[1].detail


def test_the_lowest_priority_gives_first(make):
    pods = [idle(make, pod="a", priority=5), idle(make, pod="b", priority=1), hot(make)]
    grants = settle(make.node(*pods, cpu=3000))
    assert [g.container.key.pod for g in grants] == ["b", "hot"]


def test_donors_give_in_turn_until_it_is_enough(make):
    pods = [idle(make, pod="a", cpu=500.0), idle(make, pod="b", cpu=500.0), hot(make)]
    grants = settle(make.node(*pods, cpu=3000))
    assert cpu_of(grants, "a").request == 770  # 500 / 0.65
    assert cpu_of(grants, "b").request == 840
    assert cpu_of(grants, "hot").request == 1390


def test_a_donor_of_both_resources_has_one_grant(make):
    taker = make.pod(make.container(pod="hot", usage=make.usage(cpu=900.0, memory=900)), name="hot")
    grants = settle(make.node(taker, idle(make, pod="giver"), cpu=2000, memory=2000))
    assert [g.container.key.pod for g in grants] == ["giver", "hot"]
    assert grants[0].size.cpu.request == 610
    assert grants[0].size.memory.request == 714 * MI


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"last_resize_s": NOW - 30}, id="just resized"),
        pytest.param({"running": False}, id="not running"),
        pytest.param({"started_s": NOW - 10}, id="just started"),
        pytest.param({"has_claims": True}, id="resource claims"),
        pytest.param({"hold_until_s": NOW + 60}, id="held"),
        pytest.param({"restarts": frozenset({Resource.CPU})}, id="a resize would restart it"),
    ],
)
def test_who_gives_nothing(make, changes):
    grants = settle(make.node(hot(make), idle(make, pod="giver", **changes), cpu=2000))
    assert [(g.container.key.pod, g.reason) for g in grants] == [("hot", Reason.NO_ROOM)]


def test_a_recommended_container_gives_nothing(make):
    policy = make.policy(mode=Mode.RECOMMEND)
    grants = settle(make.node(hot(make), idle(make, pod="giver", policy=policy), cpu=2000))
    assert [g.container.key.pod for g in grants] == ["hot"]


def test_an_oom_kill_is_served_before_a_hot_neighbour(make):
    killed = make.pod(make.container(pod="z", oom_killed_s=NOW - 9), name="z")
    warm = make.pod(make.container(pod="a", usage=make.usage(memory=900)), name="a")
    grants = settle(make.node(warm, killed, memory=2500))
    assert [(g.container.key.pod, g.reason) for g in grants] == [
        ("z", Reason.OOM_KILLED),
        ("a", Reason.NO_ROOM),
    ]


def test_a_recorded_size_stays_on_record_until_there_is_room(make):
    target = make.size(cpu=(2000, 2000))
    pod = make.pod(make.container(target=target))
    (grant,) = settle(make.node(pod, cpu=1500))
    assert (grant.reason, grant.size.cpu.request) == (Reason.PARTIAL, 1500)
    assert grant.recorded == target


@pytest.mark.parametrize(
    ("intent", "recorded"),
    [pytest.param(1000, 700, id="learned"), pytest.param(2000, 2000, id="from Git")],
)
def test_a_deferred_resize_is_lowered_to_what_fits(make, intent, recorded):
    state = make.container(
        spec=make.size(cpu=(2000, 2000)),
        intent=make.size(cpu=(intent, intent)),
        actual=make.size(cpu=(500, 500)),
    )
    pod = make.pod(state, pending=PendingReason.DEFERRED, pending_since_s=NOW - 301)
    (grant,) = settle(make.node(pod, filler(cpu=300), cpu=1000))
    assert grant.cause is Reason.DEFERRED
    assert grant.size.cpu == Amounts(request=700, limit=700)
    assert grant.recorded.cpu.request == recorded


def test_a_deferred_resize_is_reverted_where_nothing_fits(make):
    state = make.container(spec=make.size(cpu=(2000, 2000)), actual=make.size(cpu=(500, 500)))
    pod = make.pod(state, pending=PendingReason.DEFERRED, pending_since_s=NOW - 301)
    (grant,) = settle(make.node(pod, filler(cpu=500), cpu=1000))
    assert grant.size == state.actual


@st.composite
def containers(draw, pod, make, name="main"):
    leaves = {}
    for resource, unit in ((CPU, 1), (MEMORY, MI)):
        request = draw(st.integers(100, 3000)) * unit
        limit = draw(st.sampled_from([None, request, request + draw(st.integers(1, 2000)) * unit]))
        leaves[resource.value] = Amounts(request=request, limit=limit)
    spec = Size(**leaves)
    used_cpu = draw(st.floats(0, 5000))
    used_memory = draw(st.integers(1, 3000))
    below = draw(st.sampled_from([None, NOW - 700]))
    bounds = {"min": draw(st.integers(50, 1000)), "limits": draw(st.sampled_from(Limits))}
    return make.container(
        name=name,
        pod=pod,
        spec=spec,
        policy=make.policy(
            priority=draw(st.integers(0, 2)),
            cpu=bounds,
            memory={**bounds, "min": bounds["min"] * MI},
        ),
        usage=draw(
            st.none()
            | st.just(
                make.usage(
                    cpu=used_cpu,
                    memory=used_memory,
                    peak_cpu=used_cpu * draw(st.floats(1, 2)),
                    trend=draw(st.sampled_from([0.0, 5.0])),
                    cpu_below_since=below,
                    memory_below_since=below,
                )
            )
        ),
        oom_killed_s=draw(st.sampled_from([None, None, NOW - 5])),
        target=draw(st.sampled_from([spec, spec, make.size()])),
    )


@st.composite
def nodes(draw, make):
    pods = []
    for name in "abcde"[: draw(st.integers(1, 5))]:
        of_pod = [draw(containers(name, make, f"c{i}")) for i in range(draw(st.integers(1, 2)))]
        pods.append(make.pod(*of_pod, name=name, in_progress=draw(st.booleans())))
    used = {r: sum(pod.footprint[r] for pod in pods) for r in Resource}
    return make.node(
        *pods,
        cpu=used[CPU] + draw(st.integers(-500, 3000)),
        memory=used[MEMORY] // MI + draw(st.integers(-500, 3000)),
        memory_pressure=draw(st.sampled_from([False, False, True])),
    )


def requests(size, resource):
    return size.of(resource).request or 0


def used_by(snapshot):
    return {r: sum(pod.footprint[r] for pod in snapshot.pods) for r in Resource}


def applied(snapshot, grants):
    """The node after all grants took effect."""
    sizes = {g.container.key: g.size for g in grants}
    pods = []
    for pod in snapshot.pods:
        changed = [
            replace(c, spec=sizes[c.key], last_resize_s=NOW) if c.key in sizes else c
            for c in pod.containers
        ]
        footprint = {r: sum(requests(c.spec, r) for c in changed) for r in Resource}
        pods.append(replace(pod, containers=tuple(changed), footprint=footprint))
    return replace(snapshot, pods=tuple(pods))


def change(grant, resource):
    return requests(grant.size, resource) - requests(grant.container.spec, resource)


def invariant(test):
    @settings(max_examples=40, deadline=None)
    @given(data=st.data())
    def run(make, data):
        snapshot = data.draw(nodes(make))
        known = {"snapshot": snapshot, "grants": settle(snapshot)}
        test(**{name: known[name] for name in signature(test).parameters})

    return run


@invariant
def test_never_above_the_node(snapshot, grants):
    before, after = used_by(snapshot), used_by(applied(snapshot, grants))
    for resource in Resource:
        assert after[resource] <= max(before[resource], snapshot.allocatable[resource])


@invariant
def test_a_full_node_gets_no_fuller(snapshot, grants):
    """What donors and idle containers give is at least what takers get beyond the free room."""
    for resource in Resource:
        changes = [change(grant, resource) for grant in grants]
        free = snapshot.allocatable[resource] - used_by(snapshot)[resource]
        got, given = sum(c for c in changes if c > 0), -sum(c for c in changes if c < 0)
        assert got <= given + max(free, 0)


@invariant
def test_memory_never_falls_below_use(grants):
    for grant in grants:
        before, after = grant.container.spec.memory, grant.size.memory
        if after.reference < before.reference:
            assert grant.container.usage is not None
            assert after.reference >= memory_floor(grant.container.usage)


@invariant
def test_a_donor_keeps_what_it_needs(grants):
    for grant in grants:
        if grant.reason is Reason.DONATED:
            policy, usage = grant.container.policy.cpu, grant.container.usage
            if grant.size.cpu != grant.container.spec.cpu:
                assert grant.size.cpu.reference >= usage.peak_cpu_milli / policy.target or (
                    policy.limits is Limits.KEEP
                    and grant.size.cpu.request >= usage.peak_cpu_milli / policy.target
                )


@invariant
def test_requests_stay_within_bounds_or_move_towards_them(grants):
    for grant in grants:
        policy = grant.container.policy
        for resource, bounds in ((CPU, policy.cpu), (MEMORY, policy.memory)):
            before, after = grant.container.spec.of(resource), grant.size.of(resource)
            if after.request > before.request:
                assert after.request <= bounds.max
            elif after.request < before.request and grant.reason is Reason.DONATED:
                assert after.request >= bounds.min


@invariant
def test_leaves_and_classes_stay(snapshot, grants):
    classes = {pod.uid: pod.qos for pod in snapshot.pods}
    for grant in grants:
        for resource in Resource:
            before, after = grant.container.spec.of(resource), grant.size.of(resource)
            assert (before.request is None) is (after.request is None)
            assert (before.limit is None) is (after.limit is None)
            if after.limit is not None:
                assert after.request <= after.limit
                if before.request < before.limit:
                    assert after.request < after.limit
                if classes[grant.container.key.uid] is QosClass.GUARANTEED:
                    assert after.request == after.limit


@invariant
def test_the_order_of_pods_does_not_matter(snapshot, grants):
    pods = snapshot.pods[2:] + snapshot.pods[:2][::-1]
    assert settle(replace(snapshot, pods=pods)) == grants


@invariant
def test_one_grant_per_container_and_a_text_on_each(grants):
    keys = [grant.container.key for grant in grants]
    assert len(keys) == len(set(keys))
    assert all(grant.detail for grant in grants)


@invariant
def test_asking_again_after_the_grants_gives_no_more(snapshot, grants):
    """The same wishes against the node as granted: whoever got all or nothing moves no further."""
    after = applied(snapshot, grants)
    now = {c.key: c for pod in after.pods for c in pod.containers}
    wishes = [replace(wish, container=now[wish.container.key]) for wish in decide(snapshot, NOW)]
    again = negotiate(after, wishes)
    granted = {g.container.key for g in grants if g.size == g.wished}
    assert not [g for g in again if g.container.key in granted and g.changes]


@pytest.mark.parametrize(
    ("held", "request_of_giver", "request_of_hot"),
    [
        pytest.param(0, 610, 1390, id="its containers are its footprint"),
        pytest.param(200, 410, 1390, id="an init phase takes more, so it gives more"),
        pytest.param(500, 250, 1250, id="its minimum leaves only a part"),
        pytest.param(1200, None, None, id="more than it could ever give"),
    ],
)
def test_a_donor_gives_only_what_its_pod_s_footprint_really_loses(
    make, held, request_of_giver, request_of_hot
):
    giver = idle(make, pod="giver")
    taken = {**giver.footprint, Resource.CPU: giver.footprint[Resource.CPU] + held}
    giver = make.replace(giver, footprint=taken, held={Resource.CPU: held})
    snapshot = make.node(hot(make), giver, cpu=2000 + held)
    grants = settle(snapshot)
    if request_of_giver is None:
        assert [(g.container.key.pod, g.reason) for g in grants] == [("hot", Reason.NO_ROOM)]
        return
    assert cpu_of(grants, "hot").request == request_of_hot
    assert cpu_of(grants, "giver").request == request_of_giver


def test_an_idle_shrink_makes_no_room_behind_a_larger_init_phase(make):
    shrinking = make.container(
        pod="s", usage=make.usage(cpu=100.0, memory=600, cpu_below_since=NOW - 700)
    )
    pod = make.pod(
        shrinking,
        name="s",
        footprint={Resource.CPU: 3000, Resource.MEMORY: 1000 * MI},
        held={Resource.CPU: 2000},
    )
    grants = settle(make.node(hot(make), pod, cpu=4000))
    assert cpu_of(grants, "s").request < 1000
    assert cpu_of(grants, "hot").request == 1000
