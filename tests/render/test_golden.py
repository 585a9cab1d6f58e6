"""Directories and what becomes of them. A case is golden/<case>/in with out.yaml or error.txt."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from argocd_fluid.cli import main

GOLDEN = Path(__file__).parent / "golden"
CASES = sorted(folder.name for folder in GOLDEN.iterdir())
RENDERED = [case for case in CASES if (GOLDEN / case / "out.yaml").exists()]
REFUSED = [case for case in CASES if (GOLDEN / case / "error.txt").exists()]


@pytest.fixture
def generate(monkeypatch, capsysbinary):
    def run(folder: Path, output: str = "yaml") -> tuple[int, str, str]:
        monkeypatch.chdir(folder)
        code = main(["generate", "-o", output])
        done = capsysbinary.readouterr()
        return code, done.out.decode(), done.err.decode()

    return run


def test_every_case_says_what_comes_out() -> None:
    assert sorted(RENDERED + REFUSED) == CASES


@pytest.mark.parametrize("case", RENDERED)
def test_renders(case, generate) -> None:
    assert generate(GOLDEN / case / "in") == (0, (GOLDEN / case / "out.yaml").read_text(), "")


@pytest.mark.parametrize("case", REFUSED)
def test_refuses_without_output(case, generate) -> None:
    assert generate(GOLDEN / case / "in") == (1, "", (GOLDEN / case / "error.txt").read_text())


@pytest.mark.parametrize("output", ["json", "yaml"])
@pytest.mark.parametrize("case", RENDERED)
def test_rendering_the_output_again_changes_nothing(case, output, generate, tmp_path) -> None:
    _, first, _ = generate(GOLDEN / case / "in", output)
    (tmp_path / "out.yaml").write_text(first)
    policy = GOLDEN / case / "in" / "fluid.yaml"
    if policy.exists():
        shutil.copy(policy, tmp_path)

    assert generate(tmp_path, output) == (0, first, "")


@pytest.mark.parametrize("case", RENDERED)
def test_bytes_do_not_depend_on_the_order_of_the_directory(case, generate, tmp_path) -> None:
    _, expected, _ = generate(GOLDEN / case / "in")
    for file in sorted((GOLDEN / case / "in").iterdir(), reverse=True):
        shutil.copy(file, tmp_path)

    assert generate(tmp_path)[1] == expected


EVERY_CASE = """\
import os, sys
from argocd_fluid.cli import main
for folder in sys.argv[1:]:
    os.chdir(folder)
    print(folder.rsplit("/", 2)[-2], flush=True)
    print(main(["generate"]), flush=True)
"""
WORLDS = {
    "C": {"PYTHONHASHSEED": "1", "LC_ALL": "C", "PYTHONUTF8": "0", "TZ": "UTC"},
    "other": {"PYTHONHASHSEED": "4711", "LC_ALL": "C.UTF-8", "TZ": "Asia/Kathmandu"},
}


def test_two_processes_in_different_worlds_give_the_same_bytes(tmp_path) -> None:
    outputs = []
    for world, environment in WORLDS.items():
        folders = []
        for case in CASES:
            folder = tmp_path / world / case / "in"
            folder.mkdir(parents=True)
            # A directory is listed in the order of its making, or of nothing.
            files = sorted((GOLDEN / case / "in").iterdir(), reverse=world == "C")
            for file in files:
                shutil.copy(file, folder)
            folders.append(str(folder))
        done = subprocess.run(
            [sys.executable, "-c", EVERY_CASE, *folders],
            env={"PATH": os.environ["PATH"], "PYTHONPATH": ":".join(sys.path), **environment},
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr.decode()
        outputs.append((done.stdout, done.stderr))
    assert outputs[0] == outputs[1]
    assert outputs[0][0].count(b"\n0\n") == len(RENDERED)
