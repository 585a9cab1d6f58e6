"""Repositories that mean harm, or are broken: one line, exit 1, nothing else, soon and small."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import small
from tests.render.conftest import ENVIRONMENT
from tests.small import Ended

MAX_S = 10
MAX_RSS_KIB = 300 << 10
GOOD = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: good}\n"
HEAD = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"


def text(content: str | bytes, name: str = "a.yaml") -> Callable[[Path], None]:
    data = content if isinstance(content, bytes) else content.encode()
    return lambda folder: folder.joinpath(name).write_bytes(data) and None


def link(target: str, name: str = "a.yaml") -> Callable[[Path], None]:
    return lambda folder: folder.joinpath(name).symlink_to(target)


def pipe(folder: Path) -> None:
    os.mkfifo(folder / "a.yaml")


def sparse(size: int, name: str = "a.yaml") -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        with (folder / name).open("wb") as file:
            file.truncate(size)

    return make


def many_files(folder: Path) -> None:
    for index in range(100_000):
        os.close(os.open(folder / f"{index}.yaml", os.O_CREAT))


def large_together(folder: Path) -> None:
    for index in range(70):
        (folder / f"{index}.yaml").write_text(f"# {'x' * (1 << 20)}\n{HEAD}")


BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{new}: &{new} [{', '.join([f'*{old}'] * 9)}]\n"
    for old, new in zip("abcdefgh", "bcdefghi", strict=True)
)
MERGE_BOMB = "a: &a {x: 1}\n" + "".join(
    f"{new}: &{new} {{<<: [{', '.join([f'*{old}'] * 9)}], k{new}: 1}}\n"
    for old, new in zip("abcdefgh", "bcdefghi", strict=True)
)
TWICE = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  namespace: x\n  namespace: y\n"
CASES = {
    "link out": (link("/etc/passwd"), "a.yaml: leads out of the application's directory"),
    "link up": (link("../outside.yaml"), "a.yaml: leads out of the application's directory"),
    "link to itself": (link("a.yaml"), "a.yaml: is no path that can be opened"),
    "link to nothing": (link("nothing"), "a.yaml: does not exist"),
    "template that leads out": (link("../outside.yaml", "a.j2"), "a.j2: leads out of the"),
    "policy that leads out": (link("../outside.yaml", "fluid.yaml"), "fluid.yaml: leads out of"),
    "device": (link("/dev/zero"), "a.yaml: leads out of the application's directory"),
    "pipe": (pipe, "a.yaml: is no file"),
    "1 GB": (sparse(1 << 30), "a.yaml: is larger than 64 MiB"),
    "1 GB of policy": (sparse(1 << 30, "fluid.yaml"), "fluid.yaml: is larger than 64 MiB"),
    "1 GB of template": (sparse(1 << 30, "a.j2"), "a.j2: is larger than 64 MiB"),
    "40 MiB": (sparse(40 << 20), "a.yaml: is larger than 32 MiB"),
    "large together": (large_together, "the manifests are larger than 64 MiB together"),
    "100,000 files": (many_files, "the directory has more than 20000 files"),
    "no UTF-8": (text(HEAD.encode() + b"data: {x: \xff}\n"), "a.yaml:4: is not UTF-8"),
    "UTF-16": (text(b"\xff\xfe" + HEAD.encode("utf-16-le")), "a.yaml:1: is not UTF-8"),
    "UTF-16, big end": (text(b"\xfe\xff" + HEAD.encode("utf-16-be")), "a.yaml:1: is not UTF-8"),
    "NUL": (text(HEAD + "data: {x: \0}\n"), "a.yaml:4: is no YAML"),
    "only NULs": (text(b"\0" * 1000), "a.yaml:1: is no YAML"),
    "tab": (text("apiVersion: v1\nkind: ConfigMap\nmetadata:\n\tname: a"), "a.yaml:4: is no YAML"),
    "unclosed quote": (text(HEAD + 'data: {x: "y}\n'), "a.yaml:"),
    "unclosed bracket": (text(HEAD + "data: {x: y\n"), "a.yaml:"),
    "10,000 lists": (text(HEAD + "data: " + "[" * 10_000 + "]" * 10_000), "maximum nesting depth"),
    "10,000 mappings": (text("{a: " * 10_000 + "}" * 10_000), "deeper than 200 levels"),
    "10,000 blocks": (text("- " * 10_000 + "a"), "deeper than 200 levels"),
    "10,000 lists of JSON": (text('{"a": ' + "[" * 10_000 + "]" * 10_000 + "}", "a.json"), "deep"),
    "10,000 lists after a tab": (text('{\t"a": ' + "[" * 10_000 + "]" * 10_000 + "}", "a.json"),
                                 "a.json:1: "),
    "alias bomb": (text(BOMB), "more than 1000000 values, aliases expanded"),
    "merge bomb": (text(MERGE_BOMB), "more than 1000000 values, aliases expanded"),
    "an alias of itself": (text(HEAD + "data: &a {x: *a}\n"), "anchor 'a' value contains itself"),
    "unknown anchor": (text(HEAD + "data: *nope\n"), "a.yaml:4: unknown anchor 'nope' referenced"),
    "JSON and more": (text('{"apiVersion": "v1"} x', "a.json"), "a.json:1: "),
    "half a JSON": (text('{"apiVersion": "v1", "kind"', "a.json"), "a.json:"),
    "a list": (text("- a\n"), "a.yaml:1: is no object with apiVersion and kind"),
    "a scalar": (text("a\n"), "a.yaml:1: is no object with apiVersion and kind"),
    "no kind": (text("apiVersion: v1\nmetadata: {name: a}\n"), "it has no kind"),
    "an empty kind": (text(HEAD.replace("ConfigMap", '""')), "it has no kind"),
    "a number for a kind": (text(HEAD.replace("ConfigMap", "1")), "it has no kind"),
    "no apiVersion": (text("kind: X\nmetadata: {name: a}\n"), "it has no apiVersion"),
    "no name": (text("apiVersion: v1\nkind: X\n"), "a.yaml:1: X: has no metadata.name"),
    "an empty name": (text(HEAD.replace("{name: a}", '{name: ""}')), "has no metadata.name"),
    "a number for a name": (text(HEAD.replace("name: a", "name: 1")), "metadata.name: is no text"),
    "a list for metadata": (text(HEAD.replace("{name: a}", "[]")), "metadata: is no mapping"),
    "no name of an item": (text("apiVersion: v1\nkind: List\nitems:\n- {kind: X, apiVersion: v1}"),
                               "a.yaml:4: X: has no metadata.name"),
    "an item that is none": (text("apiVersion: v1\nkind: List\nitems: [x]"), "a.yaml:3: is no"),
    "a number as annotation": (text(HEAD.replace("{name: a}", "{name: a, annotations: {b: 1}}")),
                                   "a.yaml:3: ConfigMap a: metadata.annotations.b: is no text"),
    "null for a label": (text(HEAD.replace("{name: a}", "{name: a, labels: {x: }}")),
                         "metadata.labels.x: is no text"),
    "the same object twice": (text(f"{HEAD}---\n{HEAD}"),
                              "a.yaml:5: ConfigMap a: is the same object as in a.yaml:1"),
    "the same object as a namespace's": (
        text(HEAD + "---\n" + HEAD.replace("{name: a}", "{name: a, namespace: research}")),
        "a.yaml:5: ConfigMap research/a: is the same object as in a.yaml:1"),
    "the same object in another version": (
        text(f"{HEAD.replace('v1', 'x/v1')}---\n{HEAD.replace('v1', 'x/v2')}"),
        "a.yaml:5: ConfigMap a: is the same object as in a.yaml:1"),
    "namespace twice": (text(TWICE), "a.yaml:6: key 'namespace' is given twice"),
    "infinity": (text(HEAD + "data: {x: .inf}\n"), "a.yaml:4: "),
    "a name with an escape": (text("a: b: c", "\x1b[31m.yaml"), "\ufffd[31m.yaml:1: is no YAML"),
    "a kind with an escape": (text('apiVersion: v1\nkind: "\\e[31m"\n'), "\ufffd[31m: has no"),
    "a kind without end": (text(f"apiVersion: v1\nkind: {'x' * 100_000}\n"), "a.yaml:1: xxxx"),
}  # fmt: skip


def run(folder: Path, parameters: str = "") -> Ended:
    """Run `generate` as Argo CD does."""
    environment = {**ENVIRONMENT, "PATH": os.defpath, "PYTHONPATH": os.pathsep.join(sys.path)}
    if parameters:
        environment["ARGOCD_APP_PARAMETERS"] = parameters
    command = [sys.executable, "-m", "argocd_fluid", "generate"]
    return small.run(command, cwd=folder, env=environment)


@pytest.fixture
def application(tmp_path) -> Path:
    """A directory with one good manifest, in a place with one that is none of its business."""
    (tmp_path / "outside.yaml").write_text(HEAD.replace("name: a", "name: secret"))
    folder = tmp_path / "app"
    folder.mkdir()
    (folder / "good.yaml").write_text(GOOD)
    return folder


@pytest.mark.parametrize(("make", "problem"), CASES.values(), ids=CASES.keys())
def test_is_refused_in_one_line(make, problem, application) -> None:
    make(application)
    before = len(list(application.parent.rglob("*")))
    ended = run(application)

    said = ended.said
    assert (ended.code, ended.printed) == (1, b"")
    assert said.startswith("argocd-fluid: ")
    assert problem in said
    assert len(said.splitlines()) == 1
    assert len(said.encode()) <= 2048
    assert "Traceback" not in said
    assert "this is a bug" not in said
    assert ended.seconds < MAX_S
    assert ended.rss_kib < MAX_RSS_KIB
    assert len(list(application.parent.rglob("*"))) == before


ACCEPTED = {
    "CRLF": text(HEAD.replace("\n", "\r\n")),
    "a mark of UTF-8": text(b"\xef\xbb\xbf" + HEAD.encode()),
    "empty documents": text(f"---\n---\n# nothing\n---\n{HEAD}---\n"),
    "generateName": text(HEAD.replace("name: a", "generateName: a-")),
    "the same name of another kind": text(
        HEAD.replace("ConfigMap", "Secret").replace(" a", " good")
    ),
    "the same name elsewhere": text(HEAD.replace("{name: a}", "{name: good, namespace: x}")),
    "a tab between values of JSON": text(
        '{"apiVersion":\t"v1", "kind": "X", "metadata": {"name": "a"}}'
    ),
    "a directory with a manifest's name": lambda folder: folder.joinpath("a.yaml").mkdir(),
    "a tag that Python would obey": text(HEAD + "data: !!python/object/apply:os.abort []\n"),
    "a hidden pipe": lambda folder: os.mkfifo(folder / ".a.yaml"),
}


@pytest.mark.parametrize("make", ACCEPTED.values(), ids=ACCEPTED.keys())
def test_is_rendered(make, application) -> None:
    make(application)
    ended = run(application)
    assert (ended.code, ended.said) == (0, "")
    assert b'"name":"good"' in ended.printed


@pytest.mark.parametrize("name", ["Chart.yaml", "kustomization.yaml"])
def test_a_pipe_that_says_what_a_directory_is(name, application) -> None:
    os.mkfifo(application / name)
    ended = run(application)
    assert (ended.code, ended.printed) == (1, b"")
    assert ended.said == f"argocd-fluid: {name}: is no file\n"
    assert ended.seconds < MAX_S
