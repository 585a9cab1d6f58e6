"""Every health script against its cases: in a machine like Argo CD's, and in the real one."""

import subprocess
from pathlib import Path

import pytest
import yaml
from argocd_fluid.argocd import settings
from lupa import luajit21

ROOT = Path(__file__).parents[2] / "lua-health"
SCRIPTS = sorted(ROOT.glob("*/*/health.lua"))


def _all_cases():
    for script in SCRIPTS:
        folder = script.parent
        for case in yaml.safe_load((folder / "health_test.yaml").read_text())["tests"]:
            path = folder / case["inputPath"]
            yield pytest.param(script, path, case["healthStatus"], id=f"{folder.name}-{path.stem}")


CASES = list(_all_cases())
IDS = [case.id for case in CASES]


@pytest.mark.parametrize(("script", "path", "expected"), CASES)
def test_script_says(machine, script, path, expected):
    answer = machine.run(script.read_text(), yaml.safe_load(path.read_text()))
    assert dict(answer) == expected


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.parent.name)
def test_every_object_has_a_case(script):
    cases = yaml.safe_load((script.parent / "health_test.yaml").read_text())["tests"]
    used = {case["inputPath"] for case in cases}
    assert used == {f"testdata/{path.name}" for path in (script.parent / "testdata").iterdir()}


@pytest.mark.parametrize(
    "script",
    ["return ('x'):upper()", "return string.upper('x')", "return math.floor(1.5)", "os.time()"],
)
def test_machine_has_no_library_that_argo_cd_lacks(machine, script):
    with pytest.raises(luajit21.LuaError, match="attempt to index"):
        machine.run(script, {})


def test_machine_has_time_by_require(machine):
    assert machine.run("return require('os').time() > 0", {}) is True


def test_machine_ends_a_script_that_runs_too_long(machine):
    with pytest.raises(luajit21.LuaError, match="deadline"):
        machine.run("while true do end", {})


@pytest.fixture(scope="session")
def argocd_cm(tmp_path_factory):
    path = tmp_path_factory.mktemp("argocd") / "argocd-cm.yaml"
    path.write_text(settings.argocd_cm("argocd"))
    return path


@pytest.mark.bench
@pytest.mark.parametrize(("path", "expected"), [case.values[1:] for case in CASES], ids=IDS)
def test_argo_cd_says(argocd_program, argocd_cm, path, expected):
    command = ["admin", "settings", "resource-overrides", "health", str(path)]
    done = subprocess.run(
        [argocd_program, *command, "--argocd-cm-path", str(argocd_cm)],
        capture_output=True,
        text=True,
        check=True,
        env={"HOME": str(argocd_cm.parent), "KUBECONFIG": "/nonexistent"},
    )
    said = [line.partition(": ")[::2] for line in done.stdout.splitlines()]
    assert said == [("STATUS", expected["status"]), ("MESSAGE", expected["message"])]
