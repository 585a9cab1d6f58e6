"""Container images made without a registry: one static binary in a docker-archive.

The `load` program is the only content: it is the tests' workload, and with the argument `pause` the
sandbox container. `ctr images import` reads the archive; nothing is pulled, so pods that use these
names need `imagePullPolicy: Never`.
"""

import hashlib
import io
import json
import platform
import tarfile
from pathlib import Path

LOAD = "argocd-fluid.io/bench/load:1"
# The same content under another tag: enough for tests of an image change.
LOAD_OTHER = "argocd-fluid.io/bench/load:2"
PAUSE = "argocd-fluid.io/bench/pause:1"

# The container of most test pods; resources, env and mounts are the test's own.
LOAD_CONTAINER = {"name": "load", "image": LOAD, "imagePullPolicy": "Never"}

_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


def write_archive(
    binary: Path, archive: Path, *, names: list[str], command: tuple[str, ...] = ()
) -> None:
    """Write a docker-archive with `binary` in the root folder, which is the image's entrypoint."""
    layer = _tar({binary.name: (binary.read_bytes(), 0o755)})
    config = json.dumps(
        {
            "architecture": _ARCHITECTURES[platform.machine()],
            "os": "linux",
            "config": {"Entrypoint": [f"/{binary.name}"], "Cmd": list(command)},
            "rootfs": {
                "type": "layers",
                "diff_ids": [f"sha256:{hashlib.sha256(layer).hexdigest()}"],
            },
        }
    ).encode()
    config_name = f"{hashlib.sha256(config).hexdigest()}.json"
    manifest = [{"Config": config_name, "RepoTags": names, "Layers": ["layer.tar"]}]
    archive.write_bytes(
        _tar(
            {
                config_name: (config, 0o644),
                "layer.tar": (layer, 0o644),
                "manifest.json": (json.dumps(manifest).encode(), 0o644),
            }
        )
    )


def write_node_images(load: Path, folder: Path) -> list[Path]:
    """Write the archives that every real node imports.

    The pause image differs by its command, so it is an image of its own: containerd starts the
    sandbox with the image's entrypoint and no arguments.
    """
    workload = folder / "load.tar"
    write_archive(load, workload, names=[LOAD, LOAD_OTHER])
    pause = folder / "pause.tar"
    write_archive(load, pause, names=[PAUSE], command=("pause",))
    return [workload, pause]


def _tar(files: dict[str, tuple[bytes, int]]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, (content, mode) in files.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(content), mode
            archive.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()
