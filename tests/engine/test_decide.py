import pytest
from argocd_fluid.engine.decide import decide
from argocd_fluid.engine.model import Amounts, PendingReason, Reason, Resource, Size
from argocd_fluid.engine.negotiate import negotiate
from argocd_fluid.policy.model import Mode

MI = 1 << 20
NOW = 100_000.0
CPU, MEMORY = Resource.CPU, Resource.MEMORY


@pytest.fixture
def wish(make):
    def of(pod=None, now=NOW, **changes):
        container = make.container(**changes)
        wishes = decide(make.node(make.pod(container, **(pod or {}))), now)
        assert len(wishes) <= 1
        return wishes[0] if wishes else None

    return of


def milli(request, limit):
    return Amounts(request=request, limit=limit)


def mi(request, limit):
    return Amounts(request=request * MI, limit=None if limit is None else limit * MI)


@pytest.mark.parametrize(
    ("spec", "policy", "usage", "expected"),
    [
        pytest.param({}, {}, {"cpu": 900.0}, milli(1390, 1390), id="to the target"),
        pytest.param({}, {}, {"cpu": 800.0}, None, id="at the threshold is not above"),
        pytest.param({}, {}, {"cpu": None}, None, id="no rate yet"),
        pytest.param(
            {"cpu": (500, 1000)}, {}, {"cpu": 900.0}, milli(700, 1400), id="burstable moves along"
        ),
        pytest.param(
            {"cpu": (500, None)}, {}, {"cpu": 2000.0}, milli(1000, None), id="at most maxFactor"
        ),
        pytest.param(
            {}, {"cpu": {"max": 1100}}, {"cpu": 900.0}, milli(1100, 1100), id="up to the bound"
        ),
        pytest.param(
            {},
            {"cpu": {"max": 1010}},
            {"cpu": 990.0},
            milli(1010, 1010),
            id="small, but to the bound",
        ),
        pytest.param(
            {"cpu": (500, 1000)},
            {"cpu": {"limits": "keep"}},
            {"cpu": 450.0},
            milli(700, 1000),
            id="limit kept: the request is measured",
        ),
    ],
)
def test_hot_cpu(make, wish, *, spec, policy, usage, expected):
    found = wish(spec=make.size(**spec), usage=make.usage(**usage), policy=make.policy(**policy))
    assert (found and found.size.cpu) == expected
    assert found is None or found.reason is Reason.HOT


def test_hot_and_at_its_maximum_is_told(make, wish):
    found = wish(policy=make.policy(cpu={"max": 1000}), usage=make.usage(cpu=990.0))
    assert found.reason is Reason.BOUND
    assert found.size == found.container.spec
    assert found.detail == "cpu 990m of 1000m (99% > 80%), at its maximum 1000m"


@pytest.mark.parametrize(
    ("changes", "grows"),
    [
        pytest.param({"last_resize_s": NOW - 14}, False, id="cooling down"),
        pytest.param({"last_resize_s": NOW - 15}, True, id="cooled down"),
        pytest.param({"running": False}, False, id="not running"),
        pytest.param({"has_claims": True}, False, id="resource claims"),
        pytest.param({"usage": None}, False, id="no usage"),
        pytest.param({"hold_until_s": NOW + 1}, False, id="held after a refusal"),
        pytest.param({"hold_until_s": NOW}, True, id="hold is over"),
        pytest.param({"pod": {"generation": 2, "observed_generation": 1}}, False, id="unobserved"),
        pytest.param({"pod": {"in_progress": True}}, False, id="resize under way"),
    ],
)
def test_when_hot_cpu_grows(make, wish, changes, grows):
    found = wish(**{"usage": make.usage(cpu=900.0), **changes})
    assert (found is not None) is grows


@pytest.mark.parametrize(
    ("mode", "count"), [(Mode.AUTO, 1), (Mode.RECOMMEND, 1), (Mode.OFF, 0)], ids=str
)
def test_modes(make, mode, count):
    hot = make.container(usage=make.usage(cpu=900.0), policy=make.policy(mode=mode))
    assert len(decide(make.node(make.pod(hot)), NOW)) == count


@pytest.mark.parametrize(
    ("usage", "changes", "reason", "memory"),
    [
        pytest.param({"memory": 900}, {}, Reason.HOT, 1286, id="hot"),
        pytest.param({"memory": 600, "trend": 20.0}, {}, Reason.TREND, 1858, id="trend"),
        pytest.param({"memory": 600, "trend": 1.0}, {}, None, None, id="slow trend"),
        pytest.param(
            {"memory": 600, "trend": 20.0, "peak_memory": 790}, {}, None, None, id="known sawtooth"
        ),
        pytest.param({"memory": 300, "trend": 50.0}, {}, None, None, id="far from the limit"),
        pytest.param(
            {"memory": 960},
            {"last_resize_s": NOW - 1},
            Reason.HOT,
            1372,
            id="exhausted in cooldown",
        ),
        pytest.param(
            {"memory": 850, "trend": 10.0},
            {"last_resize_s": NOW - 1},
            Reason.HOT,
            1215,
            id="limit reached before the cooldown ends",
        ),
        pytest.param(
            {"memory": 850, "trend": 1.0},
            {"last_resize_s": NOW - 1},
            None,
            None,
            id="cooldown ends first",
        ),
        pytest.param(
            {"memory": 960},
            {"pod": {"in_progress": True}},
            Reason.HOT,
            1372,
            id="urgent, unsettled",
        ),
    ],
)
def test_memory_growth(make, wish, *, usage, changes, reason, memory):
    found = wish(usage=make.usage(**usage), **changes)
    assert (found and found.reason) == reason
    assert (found and found.size.memory) == (memory and mi(memory, memory))


@pytest.mark.parametrize(
    ("changes", "memory"),
    [
        pytest.param({"oom_killed_s": NOW - 30}, 1500, id="killed"),
        pytest.param({"oom_killed_s": NOW - 30, "running": False}, 1500, id="in back-off"),
        pytest.param({"oom_killed_s": NOW - 30, "usage": None}, 1500, id="no usage yet"),
        pytest.param(
            {"oom_killed_s": NOW - 30, "last_memory_resize_s": NOW - 20},
            None,
            id="answered already",
        ),
        pytest.param(
            {"oom_killed_s": NOW - 2, "last_resize_s": NOW - 5}, 1500, id="again, in the cooldown"
        ),
        pytest.param(
            {"oom_killed_s": NOW - 30, "last_memory_resize_s": NOW - 29.9},
            None,
            id="answered in its own second",
        ),
        pytest.param(
            {"oom_killed_s": NOW - 30, "last_resize_s": NOW - 20}, 1500, id="only cpu was resized"
        ),
        pytest.param({"oom_killed_s": NOW - 3600}, None, id="long ago"),
        pytest.param(
            {"oom_killed_s": NOW - 3600, "last_memory_resize_s": NOW - 9000},
            1500,
            id="waited for room",
        ),
        pytest.param(
            {"oom_killed_s": NOW - 30, "pod": {"in_progress": True}}, 1500, id="unsettled"
        ),
    ],
)
def test_oom_kill(wish, changes, memory):
    found = wish(**changes)
    assert (found and found.size.memory) == (memory and mi(memory, memory))
    assert found is None or (found.reason is Reason.OOM_KILLED and found.urgent)


def test_an_oom_kill_outweighs_a_recorded_shrink(make, wish):
    found = wish(target=make.size(memory=(700, 700)), oom_killed_s=NOW - 3)
    assert found.size.memory == mi(1500, 1500)


@pytest.mark.parametrize(
    ("usage", "changes", "cpu"),
    [
        pytest.param({}, {}, 310, id="to the peak"),
        pytest.param({"peak_cpu": 390.0}, {}, 600, id="peak, not latest"),
        pytest.param({"cpu": 20.0, "peak_cpu": 20.0}, {}, 250, id="lower bound"),
        pytest.param({"cpu_below_since": NOW - 599}, {}, None, id="not for long enough"),
        pytest.param({"cpu_below_since": None}, {}, None, id="not below"),
        pytest.param({}, {"started_s": NOW - 10}, None, id="just started"),
        pytest.param(
            {}, {"last_resize_s": NOW - 700, "scale_down_factor": 2.0}, None, id="did harm before"
        ),
        pytest.param(
            {}, {"last_resize_s": NOW - 1300, "scale_down_factor": 2.0}, 310, id="waited longer"
        ),
        pytest.param({}, {"pod": {"in_progress": True}}, None, id="unsettled"),
    ],
)
def test_idle_cpu(make, wish, usage, changes, cpu):
    base = {"cpu": 200.0, "cpu_below_since": NOW - 600, **usage}
    found = wish(usage=make.usage(**base), **changes)
    assert (found and found.size.cpu) == (cpu and milli(cpu, cpu))
    assert found is None or found.reason is Reason.IDLE


@pytest.mark.parametrize(
    ("usage", "policy", "memory"),
    [
        pytest.param({}, {}, 286, id="to the peak"),
        pytest.param({"peak_cached": 700}, {}, 771, id="page cache counts"),
        pytest.param({"peak_cached": 990}, {}, None, id="full of page cache"),
        pytest.param({}, {"scale_down_memory": False}, None, id="not allowed"),
        pytest.param({"trend": 1.0}, {}, 372, id="growing now"),
        pytest.param({}, {"memory": {"max": 100 * MI, "min": 50 * MI}}, 221, id="usage over bound"),
    ],
)
def test_idle_memory(make, wish, usage, policy, memory):
    base = {"memory": 200, "memory_below_since": NOW - 600, **usage}
    spec = make.size()
    found = wish(usage=make.usage(**base), policy=make.policy(**policy), spec=spec)
    assert (found and found.size.memory) == (memory and mi(memory, memory))


@pytest.mark.parametrize(
    ("target", "changes", "expected"),
    [
        pytest.param({"cpu": (600, 600)}, {}, {"cpu": (600, 600)}, id="changed in Git"),
        pytest.param({"memory": (2000, 2000)}, {}, {"memory": (2000, 2000)}, id="recreated pod"),
        pytest.param({"cpu": (9000, 9000)}, {}, {"cpu": (4000, 4000)}, id="clamped"),
        pytest.param({"memory": (700, 700)}, {}, {"memory": (700, 700)}, id="safe memory shrink"),
        pytest.param({"memory": (500, 500)}, {}, {"memory": (858, 858)}, id="no lower than needed"),
        pytest.param({"memory": (700, 700)}, {"usage": None}, None, id="memory in use unknown"),
        pytest.param({"cpu": (600, 600)}, {"usage": None}, {"cpu": (600, 600)}, id="cpu may"),
        pytest.param({"cpu": (600, 600)}, {"running": False}, None, id="not running"),
        pytest.param({"cpu": (600, 600)}, {"has_claims": True}, None, id="resource claims"),
        pytest.param(
            {"cpu": (600, 600)}, {"pod": {"in_progress": True}}, {"cpu": (600, 600)}, id="unsettled"
        ),
        pytest.param({"cpu": (500, 900)}, {}, {"cpu": (900, 900)}, id="stays Guaranteed"),
    ],
)
def test_recorded(make, wish, target, changes, expected):
    found = wish(target=make.size(**target), intent=make.size(**target), **changes)
    assert (found and found.size) == (expected and make.size(**expected))
    assert found is None or found.reason is Reason.RECORDED


def test_one_wish_for_both_resources(make, wish):
    found = wish(target=make.size(cpu=(700, 700)), usage=make.usage(memory=900))
    assert found.size == make.size(cpu=(700, 700), memory=(1286, 1286))
    assert found.reason is Reason.HOT
    assert found.recorded == {CPU}
    assert found.detail == (
        "cpu 1000m/1000m to the 700m/700m on record; memory 900Mi of 1000Mi (90% > 80%)"
    )


@pytest.mark.parametrize(
    ("pending", "waited_s", "reason", "cpu"),
    [
        pytest.param(PendingReason.DEFERRED, 299, None, None, id="patience"),
        pytest.param(PendingReason.DEFERRED, 300, Reason.DEFERRED, 1000, id="to what fits"),
        pytest.param(PendingReason.DEFERRED, 600, Reason.DEFERRED, 400, id="taken back"),
        pytest.param(PendingReason.INFEASIBLE, 0, Reason.INFEASIBLE, 400, id="infeasible"),
    ],
)
def test_stuck_resize(make, wish, *, pending, waited_s, reason, cpu):
    found = wish(
        pod={"pending": pending, "pending_since_s": NOW - waited_s},
        actual=make.size(cpu=(400, 400)),
    )
    assert (found and found.reason) == reason
    assert (found and found.size.cpu) == (cpu and milli(cpu, cpu))


def test_a_stuck_resize_goes_back_to_a_size_that_the_pod_can_have(make, wish):
    """The status rounds cpu limits and drops leaves; the class and the leaves must stay."""
    rounded = Size(cpu=milli(417, 420), memory=Amounts(request=1000 * MI))
    found = wish(pod={"pending": PendingReason.INFEASIBLE}, actual=rounded)
    assert found.size == make.size(cpu=(420, 420))


def test_a_refused_memory_shrink_is_taken_back(make, wish):
    found = wish(
        pod={"in_progress": True, "resize_error": "cannot decrease memory limits"},
        spec=make.size(memory=(500, 500)),
        usage=make.usage(memory=300, cached=600, peak_cached=600),
    )
    assert found.reason is Reason.SHRINK_REFUSED
    assert found.size.memory == mi(661, 661)


def test_a_request_catches_up_with_a_limit_that_grew_alone(make, wish):
    found = wish(
        spec=make.size(cpu=(500, 2000)),
        intent=make.size(cpu=(500, 1000)),
        usage=make.usage(cpu=1200.0),
    )
    assert (found.reason, found.size.cpu) == (Reason.LAGGING, milli(1000, 2000))


def test_the_order_of_pods_does_not_matter(make):
    pods = [
        make.pod(make.container(pod=name, usage=make.usage(cpu=900.0)), name=name) for name in "cab"
    ]
    forward, backward = decide(make.node(*pods), NOW), decide(make.node(*pods[::-1]), NOW)
    assert forward == backward
    assert [w.container.key.pod for w in forward] == ["a", "b", "c"]


def test_a_record_below_what_is_in_use_is_raised_to_what_the_container_keeps(make) -> None:
    spec = make.size(memory=(1000, 1000))
    low = make.size(memory=(300, 300))
    it = make.container(spec=spec, target=low, intent=low, usage=make.usage(memory=500))
    [grant] = negotiate(make.node(make.pod(it)), decide(make.node(make.pod(it)), make.NOW))
    assert 550 * make.MI < grant.size.memory.limit < 1000 * make.MI
    assert grant.recorded.memory == grant.size.memory


def test_a_record_below_what_is_in_use_is_raised_even_where_no_resize_is_worth_it(make) -> None:
    spec = make.size(memory=(720, 720))
    low = make.size(memory=(300, 300))
    it = make.container(spec=spec, target=low, intent=low, usage=make.usage(memory=500))
    snapshot = make.node(make.pod(it))
    [grant] = negotiate(snapshot, decide(snapshot, make.NOW))
    assert not grant.changes
    assert grant.recorded.memory == spec.memory

    settled = make.replace(it, target=grant.recorded)
    assert decide(make.node(make.pod(settled)), make.NOW) == ()
    quiet = make.usage(memory=100, memory_below_since=make.NOW - 700)
    idle = make.replace(settled, usage=quiet)
    [wish] = decide(make.node(make.pod(idle)), make.NOW)
    assert wish.size.memory.limit <= 300 * make.MI


def test_a_record_is_left_alone_while_nobody_knows_what_is_in_use(make) -> None:
    low = make.size(memory=(300, 300))
    it = make.container(target=low, intent=low, usage=None)
    assert decide(make.node(make.pod(it)), make.NOW) == ()


def test_a_resource_whose_resize_restarts_the_container_is_explained_and_left(make) -> None:
    it = make.container(
        usage=make.usage(cpu=950, memory=900), restarts=frozenset({Resource.MEMORY})
    )
    [wish] = decide(make.node(make.pod(it)), make.NOW)
    assert wish.size.cpu.limit > it.spec.cpu.limit
    assert wish.size.memory == it.spec.memory
    assert "would restart it" in wish.detail

    both = make.replace(it, restarts=frozenset(Resource))
    snapshot = make.node(make.pod(both))
    [grant] = negotiate(snapshot, decide(snapshot, make.NOW))
    assert (grant.reason, grant.changes) == (Reason.RESTARTS, False)
