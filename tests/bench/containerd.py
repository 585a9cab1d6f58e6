"""containerd of one real node: its configuration, its network plugin's, and the image import."""

import json
import shutil
import subprocess
from pathlib import Path

from tests.bench import build
from tests.bench.build import Unavailable
from tests.bench.images import PAUSE

_CONFIG = """\
version = 3
root = '{root}'
state = '{state}'
disabled_plugins = [
  'io.containerd.image-verifier.v1.bindir',
  'io.containerd.internal.v1.opt',
  'io.containerd.nri.v1.nri',
  'io.containerd.tracing.processor.v1.otlp',
]
[grpc]
  address = '{socket}'
[plugins.'io.containerd.cri.v1.images']
  snapshotter = 'overlayfs'
  [plugins.'io.containerd.cri.v1.images'.pinned_images]
    sandbox = '{pause}'
[plugins.'io.containerd.cri.v1.runtime']
  # A container without CAP_SYS_RESOURCE can't lower its score below its parent's.
  restrict_oom_score_adj = true
  disable_apparmor = true
  netns_mounts_under_state_dir = true
  [plugins.'io.containerd.cri.v1.runtime'.containerd]
    default_runtime_name = 'runc'
    [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
      runtime_type = 'io.containerd.runc.v2'
      [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]
        BinaryName = '{runtime}'
        SystemdCgroup = false
  [plugins.'io.containerd.cri.v1.runtime'.cni]
    bin_dirs = ['{binaries}']
    conf_dir = '{cni}'
"""


def find_runtime() -> str:
    """Path of the low-level runtime, which comes from the machine and is not built here."""
    for name in ("runc", "crun"):
        if path := shutil.which(name, path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin"):
            return path
    raise Unavailable("no runc and no crun on this machine: apt-get install runc")


class Containerd:
    """Files and command lines; starting the process is the node's part."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.socket = folder / "containerd.sock"

    def write_config(self, *, runtime: str, pod_subnet: str) -> None:
        cni = self._folder / "cni"
        cni.mkdir()
        (cni / "10-bench.conflist").write_text(json.dumps(self._network(pod_subnet)))
        (self._folder / "containerd.toml").write_text(
            _CONFIG.format(
                root=self._folder / "root",
                state=self._folder / "state",
                socket=self.socket,
                pause=PAUSE,
                runtime=runtime,
                binaries=build.ensure("node"),
                cni=cni,
            )
        )

    def argv(self) -> list[str]:
        return [
            str(build.ensure("node") / "containerd"),
            "--config",
            str(self._folder / "containerd.toml"),
        ]

    def is_ready(self) -> bool:
        return self.socket.exists() and self._ctr("version").returncode == 0

    def import_images(self, archives: list[Path]) -> None:
        for archive in archives:
            done = self._ctr("--namespace", "k8s.io", "images", "import", str(archive))
            if done.returncode:
                raise RuntimeError(f"import of {archive}: {done.stderr.strip()}")

    def _ctr(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(build.ensure("node") / "ctr"), "--address", str(self.socket), *arguments],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    def _network(self, pod_subnet: str) -> dict[str, object]:
        bridge = {
            "type": "bridge",
            "bridge": "pods",
            "isGateway": True,
            "hairpinMode": True,
            "ipam": {
                "type": "host-local",
                "dataDir": str(self._folder / "ipam"),
                "ranges": [[{"subnet": pod_subnet}]],
                "routes": [{"dst": "0.0.0.0/0"}],
            },
        }
        return {"cniVersion": "1.0.0", "name": "bench", "plugins": [bridge]}
