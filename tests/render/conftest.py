"""The programs that sources are rendered with, and the plugin run as Argo CD runs it."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.bench import build, helm
from tests.conftest import available

ENVIRONMENT = {
    "ARGOCD_APP_NAME": "train",
    "ARGOCD_APP_NAMESPACE": "research",
    "KUBE_VERSION": "1.36.2",
    "KUBE_API_VERSIONS": "v1,batch/v1,example.com/v1/Thing",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Generated:
    """How `generate` ended."""

    code: int
    printed: str
    said: str

    @property
    def objects(self) -> list[dict]:
        assert (self.code, self.said) == (0, "")
        return [json.loads(line) for line in self.printed.splitlines() if line != "---"]

    @property
    def problem(self) -> str:
        """The one line of a refusal."""
        assert (self.code, self.printed) == (1, "")
        [line] = self.said.splitlines()
        assert len(self.said) <= 2048
        assert "Traceback" not in self.said
        return line.removeprefix("argocd-fluid: ")


@pytest.fixture(scope="session")
def programs(request) -> str:
    """A PATH with the real kubectl and helm."""
    with available(request.config):
        folders = [build.ensure("kubernetes"), helm.ensure()]
    return os.pathsep.join([*map(str, folders), os.defpath])


@pytest.fixture
def generate(tmp_path) -> Callable[..., Generated]:
    """Run `generate` below `tmp_path`, as a process; `parameters` as Argo CD gives them."""

    def run(*parameters: dict, folder: str = "", **environment: str) -> Generated:
        given = {"ARGOCD_APP_PARAMETERS": json.dumps(parameters)} if parameters else {}
        base = {"PATH": os.defpath, "PYTHONPATH": os.pathsep.join(sys.path)}
        done = subprocess.run(
            [sys.executable, "-m", "argocd_fluid", "generate"],
            cwd=tmp_path / folder,
            env={**base, **ENVIRONMENT, **given, **environment},
            capture_output=True,
            check=False,
            timeout=60,
        )
        return Generated(
            code=done.returncode, printed=done.stdout.decode(), said=done.stderr.decode()
        )

    return run


@pytest.fixture
def write(tmp_path) -> Callable[[dict[str, str | bytes]], Path]:
    """Write files by their path."""

    def run(files: dict[str, str | bytes]) -> Path:
        for name, content in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return tmp_path

    return run
