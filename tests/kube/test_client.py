import pytest
from argocd_fluid.errors import (
    Conflict,
    Forbidden,
    Gone,
    Invalid,
    NotFound,
    Terminal,
    Unreachable,
)
from argocd_fluid.kube.client import STRATEGIC_MERGE_PATCH, Client
from argocd_fluid.kube.types import Pod

from tests.kube.scripted import Answer, Script, listing, loader, pod

PATH = "/api/v1/namespaces/ns/pods"


def test_a_list_is_read_in_chunks_of_one_version(server: Script, client: Client) -> None:
    server.answers = [
        Answer(body=listing(7, pod("a", 1), more="next")),
        Answer(body=listing(7, pod("b", 2))),
    ]

    got = client.list(PATH, Pod)

    assert [item.metadata.name for item in got.items or ()] == ["a", "b"]
    assert got.metadata.resource_version == "7"
    assert [asked.query.get("continue") for asked in server.asked] == [None, "next"]
    assert all(int(asked.query["limit"]) > 0 for asked in server.asked)


def test_a_write_names_its_author_and_keeps_nulls(server: Script, client: Client) -> None:
    server.answers = [Answer(body=pod("a", 2))]

    client.patch(f"{PATH}/a/resize", {"x": None}, Pod, content_type=STRATEGIC_MERGE_PATCH)

    [asked] = server.asked
    assert asked.query["fieldManager"] == "argocd-fluid"
    assert asked.headers["User-Agent"] == "argocd-fluid"
    assert asked.headers["Content-Type"] == STRATEGIC_MERGE_PATCH
    assert asked.body == {"x": None}


@pytest.mark.parametrize(
    ("code", "error"),
    [
        (400, Terminal),
        (403, Forbidden),
        (404, NotFound),
        (409, Conflict),
        (410, Gone),
        (422, Invalid),
        (429, Unreachable),
        (500, Unreachable),
        (503, Unreachable),
    ],
)
def test_each_status_is_an_error_of_its_own(
    server: Script, client: Client, code: int, error: type[Exception]
) -> None:
    causes = [{"reason": "NodeCapacity", "message": "too much"}]
    server.answers = [
        Answer(status=code, body={"code": code, "message": "no", "details": {"causes": causes}})
    ]

    with pytest.raises(error) as caught:
        client.get(f"{PATH}/a", Pod)

    assert type(caught.value) is error
    assert caught.value.status == code
    assert caught.value.cause == "NodeCapacity"
    assert "no" in str(caught.value)


def test_a_silent_server_is_unreachable_and_asked_once(server: Script, client: Client) -> None:
    server.answers = [Answer(body=pod("a", 1), hang_s=5)]

    with pytest.raises(Unreachable):
        client.patch(f"{PATH}/a/resize", {}, Pod)

    assert len(server.asked) == 1


def test_an_answer_in_prose_is_unreachable(server: Script, client: Client) -> None:
    server.answers = [Answer(body="<html>gateway</html>")]

    with pytest.raises(Unreachable, match="no answer of the API"):
        client.get(f"{PATH}/a", Pod)


def test_a_rotated_token_is_loaded_and_used(server: Script) -> None:
    server.answers = [Answer(status=401, body={"code": 401}), Answer(body=pod("a", 1))]
    client = Client(loader(server, iter(["old", "new"])), timeout_s=0.5)

    assert client.get(f"{PATH}/a", Pod).metadata.name == "a"
    assert [asked.headers["Authorization"] for asked in server.asked] == [
        "Bearer old",
        "Bearer new",
    ]


def test_credentials_that_stay_wrong_are_an_error(server: Script) -> None:
    server.answers = [Answer(status=401, body={"code": 401, "message": "Unauthorized"})]
    client = Client(loader(server, iter(["old", "older"])), timeout_s=0.5)

    with pytest.raises(Unreachable, match="Unauthorized"):
        client.get(f"{PATH}/a", Pod)

    assert len(server.asked) == 2
