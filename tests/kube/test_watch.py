import threading

import pytest
from argocd_fluid.kube.client import Client
from argocd_fluid.kube.store import Store
from argocd_fluid.kube.types import Pod
from argocd_fluid.kube.watch import RECONNECT_S, Reflector

from tests.kube.scripted import Answer, Script, gone, listing, pod

PATH = "/api/v1/pods"


class Seen:
    """A store, and what its listeners were told."""

    def __init__(self, client: Client) -> None:
        self.store: Store[Pod] = Store()
        self.changes: list[tuple[str | None, str | None]] = []
        self.store.listen(lambda old, new: self.changes.append((version(old), version(new))))
        self.reflector = Reflector(client, PATH, Pod, store=self.store)
        self.reflector.silence_s = 0.3
        self.stop = threading.Event()

    def step(self) -> float:
        return self.reflector.step(self.stop)

    @property
    def names(self) -> list[str]:
        return sorted(item.metadata.name for item in self.store.values())


def version(item: Pod | None) -> str | None:
    return item.metadata.resource_version if item else None


@pytest.fixture
def seen(client: Client) -> Seen:
    return Seen(client)


def event(kind: str, item: object) -> dict[str, object]:
    return {"type": kind, "object": item}


def test_events_reach_the_store_and_a_clean_end_goes_on_from_the_last_version(
    server: Script, seen: Seen
) -> None:
    server.answers = [
        Answer(body=listing(10, pod("a", 5))),
        Answer(
            lines=[
                event("ADDED", pod("b", 11)),
                event("MODIFIED", pod("a", 12)),
                event("DELETED", pod("b", 13)),
            ]
        ),
        Answer(lines=[]),
    ]

    assert seen.step() == RECONNECT_S
    seen.step()

    assert seen.names == ["a"]
    assert seen.changes == [(None, "5"), (None, "11"), ("5", "12"), ("11", None)]
    watches = [asked.query for asked in server.asked[1:]]
    assert [query["resourceVersion"] for query in watches] == ["10", "13"]
    assert all(query["allowWatchBookmarks"] == "true" for query in watches)


def test_a_bookmark_moves_the_version_and_nothing_else(server: Script, seen: Seen) -> None:
    bookmark = event("BOOKMARK", {"metadata": {"resourceVersion": "99"}})
    server.answers = [Answer(body=listing(10)), Answer(lines=[bookmark]), Answer(lines=[])]

    seen.step()
    seen.step()

    assert server.asked[-1].query["resourceVersion"] == "99"
    assert seen.changes == []


@pytest.mark.parametrize(
    "refusal",
    [Answer(status=410, body=gone()), Answer(lines=[event("ERROR", gone())])],
    ids=["as an answer", "inside the stream"],
)
def test_410_lists_again_and_tells_the_deletion_that_nobody_saw(
    server: Script, seen: Seen, refusal: Answer
) -> None:
    server.answers = [
        Answer(body=listing(10, pod("kept", 1), pod("lost", 2))),
        refusal,
        Answer(body=listing(50, pod("kept", 1), pod("new", 40))),
        Answer(lines=[]),
    ]

    seen.step()
    seen.step()

    assert seen.names == ["kept", "new"]
    assert sorted(seen.changes[2:], key=str) == [("2", None), (None, "40")]


@pytest.mark.parametrize(
    "broken",
    [
        Answer(lines=[event("ADDED", pod("a", 11)), '{"type":"ADDED","obj'], cut=True),
        Answer(lines=[event("ADDED", pod("a", 11))], hang_s=5),
    ],
    ids=["cut in the middle of a line", "half-open, silent"],
)
def test_a_broken_stream_is_resumed_where_it_broke(
    server: Script, seen: Seen, broken: Answer
) -> None:
    server.answers = [
        Answer(body=listing(10)),
        broken,
        Answer(lines=[event("ADDED", pod("b", 12))]),
    ]

    assert seen.step() > 0
    seen.step()

    assert seen.names == ["a", "b"]
    assert [asked.query.get("resourceVersion") for asked in server.asked] == [None, "10", "11"]


def test_an_event_that_cannot_be_read_leads_to_a_list(server: Script, seen: Seen) -> None:
    server.answers = [
        Answer(body=listing(10)),
        Answer(lines=[event("ADDED", {"metadata": "nonsense"})]),
        Answer(body=listing(20, pod("a", 15))),
        Answer(lines=[]),
    ]

    seen.step()
    seen.step()

    assert seen.names == ["a"]


def test_failures_back_off_and_an_event_ends_that(server: Script, seen: Seen) -> None:
    server.answers = [Answer(status=503, body={"code": 503})]
    waits = [seen.step() for _ in range(12)]
    assert waits[0] < 1
    assert waits[-1] >= 15

    server.answers = [Answer(body=listing(10)), Answer(lines=[event("ADDED", pod("a", 11))])]
    assert seen.step() == RECONNECT_S


def test_a_server_that_ends_every_watch_at_once_is_not_hammered(server: Script, seen: Seen) -> None:
    server.answers = [Answer(body=listing(10)), Answer(lines=[])]

    waits = [seen.step() for _ in range(10)]

    assert sum(waits) > 30


def test_the_loop_ends_with_stop(server: Script, seen: Seen) -> None:
    server.answers = [Answer(body=listing(10)), Answer(lines=[])]
    waited: list[float] = []

    def wait(seconds: float) -> None:
        waited.append(seconds)
        if len(waited) == 3:
            seen.stop.set()

    seen.reflector.run(seen.stop, wait)

    assert len(waited) == 3


def refusal(code: int) -> Answer:
    return Answer(status=code, body={"code": code, "message": "no"})


@pytest.mark.parametrize(
    ("code", "advice"), [(401, "--kubeconfig whose user it knows"), (403, "apply argocd/rbac.yaml")]
)
def test_a_refused_token_is_said_once_with_what_to_do_and_then_tried_quietly(
    server: Script, seen: Seen, caplog: pytest.LogCaptureFixture, code: int, advice: str
) -> None:
    server.answers = [refusal(code)]

    waits = [seen.step() for _ in range(8)]

    [line] = caplog.records
    assert advice in line.getMessage()
    assert waits[0] >= 1
    assert waits[-1] >= 15

    server.answers = [Answer(body=listing(10, pod("a", 5))), Answer(lines=[])]
    seen.step()
    assert seen.names == ["a"]
