import msgspec
from argocd_fluid.kube.store import Store
from argocd_fluid.kube.types import Pod

from tests.kube.scripted import pod


def made(name: str, version: int, uid: str = "u") -> Pod:
    item = msgspec.convert(pod(name, version), Pod)
    return msgspec.structs.replace(item, metadata=msgspec.structs.replace(item.metadata, uid=uid))


def test_an_older_version_never_replaces_a_newer_one() -> None:
    store: Store[Pod] = Store()
    store.put(made("a", 10))
    store.put(made("a", 9))
    assert store.values() == [made("a", 10)]


def test_the_answer_of_a_write_does_not_bring_a_deleted_object_back() -> None:
    store: Store[Pod] = Store()
    store.put(made("a", 10))
    store.remove(made("a", 11))
    store.refresh(made("a", 12))
    assert store.values() == []


def test_the_answer_of_a_write_does_not_replace_a_namesake() -> None:
    store: Store[Pod] = Store()
    store.put(made("a", 20, uid="new"))
    store.refresh(made("a", 25, uid="old"))
    assert store.values() == [made("a", 20, uid="new")]


def test_a_late_deletion_spares_the_namesake() -> None:
    store: Store[Pod] = Store()
    store.put(made("a", 20, uid="new"))
    store.remove(made("a", 15, uid="old"))
    assert store.values() == [made("a", 20, uid="new")]
