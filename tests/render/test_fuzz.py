"""Whatever a repository holds: manifests or problems, never both, no traceback, no hang."""

import contextlib
import io
import os
import time
from pathlib import Path

import pytest
from argocd_fluid.cli import main
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

ROOT = Path(__file__).parents[2]
GOLDEN = Path(__file__).parent / "golden"
SEEDS = sorted(
    file.read_bytes()
    for file in (*GOLDEN.glob("*/in/*.yaml"), *(ROOT / "examples").rglob("*.yaml"))
    if b"helm" not in file.read_bytes()
)
MARKS = (
    *(
        b"\n",
        b"---\n",
        b"...\n",
        b"- ",
        b": ",
        b" ",
        b"\t",
        b"&a ",
        b"*a",
        b"<<: *a",
        b"!!int ",
        b"|\n",
    ),
    *(b"{", b"}", b"[", b"]", b"'", b'"', b"#", b"null", b"true", b"0", b"-1", b"1e999", b"9" * 30),
    *(
        b"\x00",
        b"\xff",
        b"\xef\xbb\xbf",
        b"\xc2\x85",
        b"\xe2\x80\xa8",
        b"\r\n",
        b"{}",
        b"[]",
        b"{{ x }}",
    ),
)
WORDS = (
    *(
        "kind: List\nitems: ",
        "metadata: ",
        "annotations: ",
        "resources: ",
        "containers: ",
        "name: ",
    ),
    *("argocd-fluid.io/policy: |\n", "requests: ", "limits: ", "cpu: ", "rules: ", "1Gi", "500m"),
)
TOKENS = st.sampled_from([*MARKS, *(word.encode() for word in WORDS)])
LIMIT_S = 5
SETTINGS = settings(
    max_examples=300,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@st.composite
def mutated(draw) -> bytes:
    """Give a manifest with a few places cut, doubled, moved or replaced."""
    data = draw(st.sampled_from(SEEDS))
    for _ in range(draw(st.integers(1, 5))):
        start = draw(st.integers(0, len(data)))
        end = min(len(data), start + draw(st.integers(0, 40)))
        piece = draw(
            st.one_of(TOKENS, st.just(data[start:end] * 2), st.just(b""), st.binary(max_size=4))
        )
        data = data[:start] + piece + data[end:]
    return data


class _Captured(io.TextIOWrapper):
    """A stream with a buffer, as the command line writes to."""

    def __init__(self) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8")

    def text(self) -> str:
        self.flush()
        return self.buffer.getvalue().decode()


def run(argv: list[str]) -> tuple[int, str, str]:
    out, err = _Captured(), _Captured()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(argv)
    return code, out.text(), err.text()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Stand in one directory; each example writes the same files."""
    before = Path.cwd()
    path = tmp_path_factory.mktemp("fuzz")
    os.chdir(path)
    yield path
    os.chdir(before)


def check(folder: Path, name: str, data: bytes) -> None:
    for left in folder.iterdir():
        left.unlink()
    (folder / name).write_bytes(data)
    started = time.monotonic()
    code, out, err = run(["generate"])
    assert time.monotonic() - started < LIMIT_S
    assert "this is a bug in" not in err
    assert "Traceback" not in err
    assert len(err.encode()) <= 2048
    if code == 0:
        assert err == ""
        assert out == "" or out.startswith("---\n")
        assert out == "" or out.endswith("}\n")
    else:
        assert code == 1
        assert out == ""
        assert all(line.startswith("argocd-fluid: ") for line in err.splitlines())
        assert err.endswith("\n")


@given(
    data=st.one_of(mutated(), st.lists(TOKENS, max_size=30).map(b"".join), st.binary(max_size=200))
)
@SETTINGS
@example(data=b"")
@example(data=b"a: " * 5000)
@example(data=b"[" * 10_000)
@example(data=b"{" * 10_000)
@example(data=b"- " * 10_000)
@example(data=b"? " * 10_000)
@example(data=b"\xff\xfea\x00:\x00")
@example(data=b'{"apiVersion":"v1","kind":"A","metadata":{"name":"a"}} trailing')
@example(data=b"apiVersion: v1\nkind: A\nmetadata: {name: a}\nx: &a [*a]\n")
def test_any_manifest(folder, data) -> None:
    check(folder, "a.yaml", data)


@given(data=st.one_of(mutated(), st.lists(TOKENS, max_size=30).map(b"".join)))
@SETTINGS
def test_any_json(folder, data) -> None:
    check(folder, "a.json", data)


@given(data=st.one_of(mutated(), st.lists(TOKENS, max_size=30).map(b"".join)))
@SETTINGS
def test_any_policy(folder, data) -> None:
    check(folder, "fluid.yaml", data)


@given(data=mutated())
@SETTINGS
def test_lint_and_explain_take_it_as_well(folder, data) -> None:
    for left in folder.iterdir():
        left.unlink()
    (folder / "a.yaml").write_bytes(data)
    for command in (["lint", "--format", "sarif"], ["explain", "a.yaml"]):
        code, out, err = run(command)
        assert code in (0, 1)
        assert "this is a bug in" not in err
        assert command[0] == "lint" or bool(out) == (code == 0)
