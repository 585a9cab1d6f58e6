from dataclasses import replace

import pytest
from argocd_fluid.engine.model import Amounts, Grant, PodResize, Reason, Resource, Size
from argocd_fluid.engine.plan import patch_body, plan
from argocd_fluid.engine.sizes import merged
from hypothesis import given
from hypothesis import strategies as st

MI = 1 << 20


def granted(container, size):
    return Grant(container=container, wished=size, size=size, reason=Reason.HOT, detail="d")


@pytest.fixture
def steps(make):
    """Containers as (pod, name, spec, granted) in; (pod, {container: leaves}) per patch out."""

    def of(*rows):
        states = [make.container(name, pod, spec=spec) for pod, name, spec, _ in rows]
        pods = [
            make.pod(*(s for s in states if s.key.pod == name), name=name)
            for name in dict.fromkeys(row[0] for row in rows)
        ]
        grants = [granted(state, row[3]) for state, row in zip(states, rows, strict=True)]
        return plan(make.node(*pods), grants)

    return of


def shown(resizes):
    return [(r.name, dict(r.sizes)) for r in resizes]


def cpu(request=None, limit=None):
    return Size(cpu=Amounts(request=request, limit=limit))


def memory(request=None, limit=None):
    return Size(memory=Amounts(request=request and request * MI, limit=limit and limit * MI))


def test_nothing_to_do(make, steps):
    assert steps(("a", "main", make.size(), make.size())) == ()


def test_only_changed_leaves_in_one_patch_for_several_containers(make, steps):
    resizes = steps(
        ("a", "x", make.size(cpu=(500, 1000)), make.size(cpu=(500, 2000))),
        ("a", "y", make.size(), make.size(cpu=(1500, 1500), memory=(2000, 2000))),
    )
    both = replace(cpu(1500, 1500), memory=memory(2000, 2000).memory)
    assert shown(resizes) == [("a", {"x": cpu(limit=2000), "y": both})]


def test_shrinks_come_before_growth(make, steps):
    resizes = steps(
        ("a", "main", make.size(), make.size(cpu=(1500, 1500))),
        ("b", "main", make.size(), make.size(cpu=(500, 500))),
    )
    assert [r.name for r in resizes] == ["b", "a"]


def test_a_memory_shrink_goes_alone(make, steps):
    resizes = steps(("a", "main", make.size(), make.size(cpu=(500, 500), memory=(700, 700))))
    assert shown(resizes) == [
        ("a", {"main": cpu(500, 500)}),
        ("a", {"main": memory(700, 700)}),
    ]
    assert [r.resource_version for r in resizes] == ["7", ""]


def test_limits_grow_first_where_the_request_waits_for_room(make, steps):
    resizes = steps(
        ("a", "main", make.size(cpu=(500, 1000)), make.size(cpu=(700, 1400))),
        ("b", "main", make.size(), make.size(cpu=(500, 500))),
    )
    assert shown(resizes) == [
        ("b", {"main": cpu(500, 500)}),
        ("a", {"main": cpu(limit=1400)}),
        ("a", {"main": cpu(request=700)}),
    ]


def test_equal_leaves_never_part(make, steps):
    resizes = steps(
        ("a", "main", make.size(), make.size(cpu=(1400, 1400))),
        ("b", "main", make.size(), make.size(cpu=(500, 500))),
    )
    assert shown(resizes)[1:] == [("a", {"main": cpu(1400, 1400)})]


def test_a_grant_for_a_pod_that_is_gone_is_left_out(make):
    grant = granted(make.container(), make.size(cpu=(1500, 1500)))
    assert plan(make.node(), [grant]) == ()


def test_sidecars_are_known(make):
    side = make.container("side", sidecar=True)
    main = make.container("main")
    to = make.size(cpu=(1500, 1500))
    (resize,) = plan(make.node(make.pod(side, main)), [granted(side, to), granted(main, to)])
    assert resize.sidecars == {"side"}
    assert patch_body(resize) == {
        "metadata": {"uid": "uid-a", "resourceVersion": "7"},
        "spec": {
            "containers": [
                {
                    "name": "main",
                    "resources": {"limits": {"cpu": "1500m"}, "requests": {"cpu": "1500m"}},
                }
            ],
            "initContainers": [
                {
                    "name": "side",
                    "resources": {"limits": {"cpu": "1500m"}, "requests": {"cpu": "1500m"}},
                }
            ],
        },
    }


def test_a_following_patch_has_the_uid_as_its_only_guard():
    resize = PodResize(
        namespace="ns", name="a", uid="u", resource_version="", sizes={"main": cpu(limit=10)}
    )
    assert patch_body(resize)["metadata"] == {"uid": "u"}


def _amounts(unit):
    pair = st.tuples(st.integers(1, 3000), st.integers(0, 2000))
    return pair.map(lambda p: Amounts(request=p[0] * unit, limit=(p[0] + p[1]) * unit))


_sizes = st.builds(Size, cpu=_amounts(1), memory=_amounts(MI))


@given(
    before=st.lists(_sizes, min_size=3, max_size=3), after=st.lists(_sizes, min_size=3, max_size=3)
)
def test_all_patches_together_give_the_grants_and_each_is_valid(make, before, after):
    states = [make.container(pod=p, spec=s) for p, s in zip("abc", before, strict=True)]
    pods = [make.pod(state, name=state.key.pod) for state in states]
    grants = [granted(state, size) for state, size in zip(states, after, strict=True)]
    sizes = dict(zip("abc", before, strict=True))
    for resize in plan(make.node(*pods), grants):
        sizes[resize.name] = merged(sizes[resize.name], resize.sizes["main"])
        for resource in Resource:
            assert sizes[resize.name].of(resource).request <= sizes[resize.name].of(resource).limit
    assert list(sizes.values()) == after
