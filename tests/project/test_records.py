"""Records behave as the dataclasses that type checkers take them for."""

import dataclasses

import pytest
from argocd_fluid import records


def classes(module):
    @module.dataclass(frozen=True, slots=True, kw_only=True, order=True)
    class Frozen:
        a: int
        b: str = "x"
        c: list = module.field(default_factory=list, compare=False)
        d: int = module.field(default=1, repr=False)

        @property
        def double(self) -> int:
            return self.a * 2

    @module.dataclass(slots=True)
    class Open:
        a: int
        b: int | None = None

    return Frozen, Open


@pytest.fixture(params=[records, dataclasses], ids=["records", "dataclasses"])
def module(request):
    return request.param


def test_values_defaults_and_factories(module) -> None:
    frozen, opened = classes(module)
    first, second = frozen(a=1), frozen(a=1)
    assert (first.a, first.b, first.c, first.d, first.double) == (1, "x", [], 1, 2)
    assert first.c is not second.c
    assert (opened(1).b, opened(1, 2).b, opened(a=1, b=3).b) == (None, 2, 3)


def test_equality_order_and_hash(module) -> None:
    frozen, opened = classes(module)
    assert frozen(a=1, c=[1]) == frozen(a=1)
    assert hash(frozen(a=1)) == hash(frozen(a=1, c=[2]))
    assert frozen(a=1) < frozen(a=2) <= frozen(a=2)
    assert frozen(a=1) != opened(1)
    assert opened(1) == opened(1)
    with pytest.raises(TypeError):
        hash(opened(1))
    with pytest.raises(TypeError):
        assert opened(1) < opened(2)


def test_repr_names_the_values(module) -> None:
    frozen, _ = classes(module)
    assert repr(frozen(a=1)).endswith("Frozen(a=1, b='x', c=[])")


@pytest.mark.parametrize("given", [{}, {"a": 1, "z": 2}, {"b": "x"}], ids=str)
def test_wrong_arguments(module, given) -> None:
    with pytest.raises(TypeError):
        classes(module)[0](**given)
    with pytest.raises(TypeError):
        classes(module)[0](1)


def test_frozen_and_slots(module) -> None:
    frozen, opened = classes(module)
    with pytest.raises(AttributeError):
        frozen(a=1).a = 2
    with pytest.raises(AttributeError):
        opened(1).z = 2
    changed = opened(1)
    changed.a = 2
    assert changed.a == 2


@pytest.mark.parametrize("functions", [records, dataclasses], ids=["records", "dataclasses"])
def test_replace_of_either_kind(module, functions) -> None:
    frozen, _ = classes(module)
    assert functions.replace(frozen(a=1, b="y"), a=2) == frozen(a=2, b="y")


def test_asdict_and_fields(module) -> None:
    frozen, opened = classes(module)
    assert module.asdict(opened(1, [frozen(a=2)])) == {
        "a": 1,
        "b": [{"a": 2, "b": "x", "c": [], "d": 1}],
    }
    assert [each.name for each in module.fields(opened)] == ["a", "b"]
    assert module.is_dataclass(opened)
    assert not module.is_dataclass(1)
