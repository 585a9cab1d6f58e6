"""The checks that hold the design: style, types, layers, dependencies."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOOLS = Path(sys.executable).parent

CHECKS = {
    "ruff lint": ["ruff", "check", "."],
    "ruff format": ["ruff", "format", "--check", "."],
    "mypy strict": ["mypy"],
    "layers": ["lint-imports", "--no-cache"],
    "dependencies": ["deptry", "."],
}


@pytest.mark.parametrize("command", CHECKS.values(), ids=CHECKS.keys())
@pytest.mark.timeout(300)
def test_check_passes(command: list[str]) -> None:
    done = subprocess.run(
        [str(TOOLS / command[0]), *command[1:]],
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT / "plugin"), "PATH": "/usr/bin:/bin", "HOME": "/nonexistent"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_ci_runs_the_readme_s_test_command() -> None:
    readme = (ROOT / "README.md").read_text()
    blocks = re.findall(r"```sh\n(.*?)```", readme, re.DOTALL)
    tests = [block.strip() for block in blocks if block.strip().endswith("/pytest")]
    assert len(tests) == 1
    assert tests[0] in (ROOT / ".ci/run").read_text()
