"""Argo CD's real components with our real plugin, settings and policies, without containers.

redis, repo-server, one cmp-server with `argocd-fluid config plugin`, application-controller; on
demand argocd-server. Everything listens on loopback, except the application-controller's metrics,
whose address Argo CD does not let one choose.
"""

import json
import os
import secrets
import shutil
import socket
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import requests
import yaml

from tests.bench import build, crds, fluid
from tests.bench.applications import NAMESPACE, Application
from tests.bench.argocd_objects import USER, minimum_objects
from tests.bench.build import Unavailable
from tests.bench.control_plane import ControlPlane
from tests.bench.processes import free_port
from tests.bench.repositories import Repository

CRDS = ("application-crd.yaml", "appproject-crd.yaml")
RESYNC_S = 120


class ArgoCD:
    """One Argo CD over one control plane."""

    def __init__(self, control_plane: ControlPlane) -> None:
        """Keep what is needed; nothing runs before `start`."""
        self._control_plane = control_plane
        self._supervisor = control_plane.supervisor
        self._folder = control_plane.folder / "argocd"
        self._password = secrets.token_urlsafe(24)
        self._applications: list[Application] = []
        self._ports: dict[str, int] = {}
        self._kubeconfig = Path()
        self.plugin_name = ""

    def start(self) -> None:
        """Return when every component answers."""
        binaries = build.ensure("argocd")
        self._require_programs()
        shutil.rmtree(self._folder, ignore_errors=True)
        for name in (
            "gpg/keys",
            "gpg/source",
            "tls",
            "ssh",
            "sockets",
            "tmp",
            "git",
            "stubs",
            "programs",
        ):
            (self._folder / name).mkdir(parents=True, mode=0o700)
        self._ports = {name: free_port() for name in ("redis", "repo", "repo-metrics", "metrics")}
        self._kubeconfig = self._control_plane.kubeconfig(USER)
        self._write_stub()
        self._apply_objects()
        self._start_redis()
        self._start_plugin(binaries / "argocd")
        self._start_repo_server(binaries / "argocd")
        self._start_controller(binaries / "argocd")

    def stop(self) -> None:
        """Forget the Applications, then end the processes."""
        for application in self._applications:
            application.delete()
        self._applications.clear()
        for name in ("server", "application-controller", "repo-server"):
            self._supervisor.stop(f"argocd-{name}")
        # It takes the first SIGTERM as a request to remove its socket, and goes on.
        self._supervisor.kill("argocd-plugin")
        self._supervisor.stop("argocd-redis")

    def repository(self, name: str) -> Repository:
        """Make an empty Git repository that Argo CD can read."""
        return Repository(self._folder / "git", name)

    def application(
        self, name: str, *, repo: Repository, path: str, namespace: str, **spec: Any
    ) -> Application:
        """Create an Application that our plugin renders; `spec` replaces top-level fields."""
        application = Application(self._control_plane, name)
        automated = {"prune": True, "selfHeal": True}
        application.create(
            {
                "project": "default",
                "source": self.source(repo, path),
                "destination": {
                    "server": "https://kubernetes.default.svc",
                    "namespace": namespace,
                },
                "syncPolicy": {"automated": automated, "retry": {"refresh": True}},
            }
            | spec
        )
        self._applications.append(application)
        return application

    def source(
        self, repo: Repository, path: str, parameters: Sequence[Mapping[str, Any]] = ()
    ) -> dict[str, Any]:
        """Give the source of an Application that our plugin renders, with these parameters."""
        plugin: dict[str, Any] = {"name": self.plugin_name}
        if parameters:
            plugin["parameters"] = list(parameters)
        return {
            "repoURL": repo.url,
            "targetRevision": "main",
            "path": path,
            "plugin": plugin,
        }

    def install(self, program: Path) -> None:
        """Put a program on the PATH of the plugin, as an administrator does with a volume."""
        (self._folder / "programs" / program.name).symlink_to(program)

    def start_server(self) -> str:
        """Start argocd-server without log-in, and give its URL."""
        port, metrics = free_port(), free_port()
        url = f"http://127.0.0.1:{port}"
        self._start(
            "server",
            build.ensure("argocd") / "argocd",
            [
                *self._common_flags(),
                f"--namespace={NAMESPACE}",
                "--disable-auth",
                "--insecure",
                "--address=127.0.0.1",
                f"--port={port}",
                "--metrics-address=127.0.0.1",
                f"--metrics-port={metrics}",
                f"--repo-server=127.0.0.1:{self._ports['repo']}",
                "--repo-server-plaintext",
                # There is no dex; the default name would be looked up again and again.
                "--dex-server=http://127.0.0.1:1",
            ],
            health=f"{url}/healthz",
        )
        return url

    def _require_programs(self) -> None:
        for program in ("redis-server", "git"):
            if shutil.which(program) is None:
                raise Unavailable(f"{program} is not installed")
        if not (fluid.PROGRAMS / "argocd-fluid").exists():
            raise Unavailable("argocd-fluid is not installed in this virtual environment")

    def _write_stub(self) -> None:
        """repo-server runs this program even where signatures are not checked."""
        stub = self._folder / "stubs" / "git-verify-wrapper.sh"
        stub.write_text("#!/bin/sh\nexit 0\n")
        stub.chmod(0o700)

    def _apply_objects(self) -> None:
        crds.install(self._control_plane.client(), (build.crds("argocd") / name for name in CRDS))
        self._apply(json.dumps({"apiVersion": "v1", "kind": "List", "items": minimum_objects()}))
        self._apply(fluid.config("argocd-cm", "--namespace", NAMESPACE))

    def _apply(self, manifests: str) -> None:
        arguments = ("apply", "--server-side", "--force-conflicts", "-f", "-")
        self._control_plane.kubectl(*arguments, input=manifests)

    def _start_redis(self) -> None:
        config = self._folder / "redis.conf"
        config.write_text(
            f"port {self._ports['redis']}\nbind 127.0.0.1\nsave ''\nappendonly no\n"
            f"dir {self._folder / 'tmp'}\nrequirepass {self._password}\n"
        )
        config.chmod(0o600)
        self._supervisor.start(
            "argocd-redis", ["redis-server", str(config)], ready=self._redis_answers
        )

    def _redis_answers(self) -> bool:
        address = ("127.0.0.1", self._ports["redis"])
        with socket.create_connection(address, timeout=1) as connection:
            connection.sendall(f"AUTH {self._password}\r\nPING\r\n".encode())
            return connection.makefile("rb").read(12) == b"+OK\r\n+PONG\r\n"

    def _start_plugin(self, program: Path) -> None:
        folder = self._folder / "plugin"
        folder.mkdir()
        text = yaml.safe_load(fluid.config("plugin"))["data"]["plugin.yaml"]
        (folder / "plugin.yaml").write_text(text)
        plugin = yaml.safe_load(text)
        self.plugin_name = f"{plugin['metadata']['name']}-{plugin['spec']['version']}"
        path = self._folder / "sockets" / f"{self.plugin_name}.sock"
        environment = self._environment("cmp-server") | {
            "ARGOCD_CMP_WORKDIR": str(self._folder / "tmp" / "plugin")
        }
        self._supervisor.start(
            "argocd-plugin",
            [str(program), f"--config-dir-path={folder}", "--logformat=text"],
            env=environment,
            ready=lambda: _accepts(path),
        )

    def _start_repo_server(self, program: Path) -> None:
        self._start(
            "repo-server",
            program,
            [
                *self._common_flags(),
                "--address=127.0.0.1",
                f"--port={self._ports['repo']}",
                "--metrics-address=127.0.0.1",
                f"--metrics-port={self._ports['repo-metrics']}",
                "--disable-tls",
                # Its default is a file that only exists with TLS.
                "--client-ca-path=",
            ],
            health=f"http://127.0.0.1:{self._ports['repo-metrics']}/healthz",
        )

    def _start_controller(self, program: Path) -> None:
        self._start(
            "application-controller",
            program,
            [
                *self._common_flags(),
                f"--namespace={NAMESPACE}",
                f"--repo-server=127.0.0.1:{self._ports['repo']}",
                "--repo-server-plaintext",
                f"--metrics-port={self._ports['metrics']}",
                f"--app-resync={RESYNC_S}",
                "--app-resync-jitter=0",
            ],
            health=f"http://127.0.0.1:{self._ports['metrics']}/healthz",
        )

    def _start(self, name: str, program: Path, flags: list[str], *, health: str) -> None:
        self._supervisor.start(
            f"argocd-{name}",
            [str(program), *flags],
            env=self._environment(name),
            ready=lambda: _is_healthy(health),
        )

    def _common_flags(self) -> list[str]:
        return [f"--redis=127.0.0.1:{self._ports['redis']}", "--logformat=text"]

    def _environment(self, component: str) -> Mapping[str, str]:
        folder = self._folder
        first = (fluid.PROGRAMS, folder / "stubs", folder / "programs")
        path = (*map(str, first), os.environ["PATH"])
        return {
            "PATH": os.pathsep.join(path),
            "HOME": str(folder / "tmp"),
            "TMPDIR": str(folder / "tmp"),
            "KUBECONFIG": str(self._kubeconfig),
            "REDIS_PASSWORD": self._password,
            "ARGOCD_BINARY_NAME": f"argocd-{component}",
            # The controller finds its shard by the number at the end.
            "HOSTNAME": "argocd-0",
            "ARGOCD_FAKE_IN_CLUSTER": "true",
            "ARGOCD_GPG_ENABLED": "false",
            "ARGOCD_GNUPGHOME": str(folder / "gpg/keys"),
            "ARGOCD_GPG_DATA_PATH": str(folder / "gpg/source"),
            "ARGOCD_TLS_DATA_PATH": str(folder / "tls"),
            "ARGOCD_SSH_DATA_PATH": str(folder / "ssh"),
            "ARGOCD_PLUGINSOCKFILEPATH": str(folder / "sockets"),
            "ARGOCD_ASK_PASS_SOCK": str(folder / "sockets/ask.sock"),
        }


def _accepts(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as connection:
        return path.exists() and connection.connect_ex(str(path)) == 0


def _is_healthy(url: str) -> bool:
    with requests.Session() as session:
        session.trust_env = False
        return session.get(url, timeout=1).ok
