"""etcd, kube-apiserver, kube-controller-manager and kube-scheduler, on loopback.

Own certificates, Node and RBAC authorization, no anonymous access. Flags were measured with
Kubernetes 1.37; `--unsafe-no-fsync` because nothing here outlives the run.
"""

import subprocess
from collections.abc import Sequence
from pathlib import Path

from tests.bench import build, kubeconfig
from tests.bench.api import Api, ApiFailure
from tests.bench.pki import Authority
from tests.bench.processes import Supervisor, free_port
from tests.bench.readiness import answers

# Where pods of real nodes reach the API server: the host's end of each node's link.
_NODE_LINKS = tuple(f"10.88.{index}.1" for index in range(4))
_SERVICES = "10.0.0.0/24"
_FIRST_SERVICE = "10.0.0.1"
_ADMINISTRATORS = "system:masters"


class ControlPlane:
    """One cluster without nodes."""

    def __init__(self, folder: Path, supervisor: Supervisor) -> None:
        self.folder = folder
        self.supervisor = supervisor
        self.port = free_port()
        self.url = f"https://127.0.0.1:{self.port}"
        self.authority = Authority(folder / "pki")
        self._admin = self.authority.issue("admin", organization=_ADMINISTRATORS, client=True)
        self.admin_kubeconfig = self._write_kubeconfig(
            "admin", kubeconfig.certificate_user(self._admin)
        )
        self._binaries = Path()

    def start(self, *, apiserver_flags: Sequence[str] = ()) -> None:
        """Return when every component says that it is ready, and the default account exists."""
        self._binaries = build.ensure("kubernetes")
        etcd = self._start_etcd()
        self._start_apiserver(etcd, apiserver_flags)
        self._start_controller_manager()
        self._start_scheduler()
        api = self.client()
        api.wait_for(
            "the default service account",
            lambda: api.find("v1", "ServiceAccount", "default", "default"),
        )

    def stop(self) -> None:
        for name in ("kube-scheduler", "kube-controller-manager", "kube-apiserver", "etcd"):
            self.supervisor.stop(name)

    def client(self) -> Api:
        """An administrator's client."""
        return Api(self.url, self.authority.ca_file, certificate=self._admin)

    def kubectl(self, *arguments: str, input: str | None = None) -> str:  # noqa: A002 (subprocess's name)
        """Run the real kubectl as administrator; its error output becomes the exception's text."""
        done = subprocess.run(
            [
                self._binaries / "kubectl",
                f"--kubeconfig={self.admin_kubeconfig}",
                # What it knows by heart of an earlier API server on the same port is wrong.
                f"--cache-dir={self.folder / 'kubectl'}",
                *arguments,
            ],
            input=input,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"kubectl {' '.join(arguments)}: {done.stderr.strip()}")
        return done.stdout

    def kubeconfig(self, common_name: str, organization: str | None = None) -> Path:
        """A kubeconfig of a user with a client certificate."""
        pair = self.authority.issue(common_name, organization=organization, client=True)
        return self._write_kubeconfig(pair.certificate.stem, kubeconfig.certificate_user(pair))

    def token_kubeconfig(self, namespace: str, service_account: str) -> Path:
        """A kubeconfig of a service account: what its pod would have."""
        user = {"token": self.token(namespace, service_account)}
        return self._write_kubeconfig(f"{namespace}-{service_account}", user)

    def token(self, namespace: str, service_account: str) -> str:
        answer = self.client().request(
            "POST",
            f"/api/v1/namespaces/{namespace}/serviceaccounts/{service_account}/token",
            body={
                "apiVersion": "authentication.k8s.io/v1",
                "kind": "TokenRequest",
                "spec": {"expirationSeconds": 6 * 3600},
            },
        )
        return answer["status"]["token"]

    def _start_etcd(self) -> str:
        client, peer = (f"http://127.0.0.1:{free_port()}" for _ in range(2))
        self.supervisor.start(
            "etcd",
            [
                str(self._binaries / "etcd"),
                "--name=bench",
                f"--data-dir={self.folder / 'etcd'}",
                "--unsafe-no-fsync",
                f"--listen-client-urls={client}",
                f"--advertise-client-urls={client}",
                f"--listen-peer-urls={peer}",
                f"--initial-advertise-peer-urls={peer}",
                f"--initial-cluster=bench={peer}",
                "--log-level=warn",
            ],
            ready=lambda: answers(f"{client}/health"),
        )
        return client

    def _start_apiserver(self, etcd: str, extra: Sequence[str]) -> None:
        self.supervisor.start(
            "kube-apiserver",
            [
                str(self._binaries / "kube-apiserver"),
                f"--etcd-servers={etcd}",
                f"--secure-port={self.port}",
                "--bind-address=127.0.0.1",
                "--advertise-address=127.0.0.1",
                "--anonymous-auth=false",
                "--authorization-mode=Node,RBAC",
                "--enable-admission-plugins=NodeRestriction",
                *self._identity(),
                *self._front_proxy(),
                f"--service-cluster-ip-range={_SERVICES}",
                "--kubelet-preferred-address-types=InternalIP",
                "--allow-privileged=true",
                "--endpoint-reconciler-type=none",
                "--profiling=false",
                "--v=1",
                *extra,
            ],
            ready=self._is_ready,
            timeout_s=60,
        )

    def _identity(self) -> list[str]:
        """Flags: what the API server shows to clients and kubelets, and signs tokens with."""
        pki = self.authority
        serving = pki.issue(
            "kube-apiserver",
            ips=("127.0.0.1", _FIRST_SERVICE, *_NODE_LINKS),
            dns=("localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"),
            server=True,
        )
        kubelet = pki.issue("apiserver-kubelet-client", organization=_ADMINISTRATORS, client=True)
        tokens = pki.token_keys()
        return [
            f"--client-ca-file={pki.ca_file}",
            f"--tls-cert-file={serving.certificate}",
            f"--tls-private-key-file={serving.key}",
            f"--kubelet-certificate-authority={pki.ca_file}",
            f"--kubelet-client-certificate={kubelet.certificate}",
            f"--kubelet-client-key={kubelet.key}",
            f"--service-account-key-file={tokens.certificate}",
            f"--service-account-signing-key-file={tokens.key}",
            "--service-account-issuer=https://kubernetes.default.svc",
        ]

    def _front_proxy(self) -> list[str]:
        """Flags: how an aggregated API server knows that a request came through this one."""
        proxy = self.authority.issue("front-proxy-client", client=True)
        return [
            f"--proxy-client-cert-file={proxy.certificate}",
            f"--proxy-client-key-file={proxy.key}",
            f"--requestheader-client-ca-file={self.authority.ca_file}",
            "--requestheader-allowed-names=front-proxy-client",
            "--requestheader-username-headers=X-Remote-User",
            "--requestheader-group-headers=X-Remote-Group",
            "--requestheader-extra-headers-prefix=X-Remote-Extra-",
        ]

    def _start_controller_manager(self) -> None:
        pki = self.authority
        self._start_loop(
            "kube-controller-manager",
            f"--service-account-private-key-file={pki.ca_file.parent / 'sa.key'}",
            f"--root-ca-file={pki.ca_file}",
            f"--cluster-signing-cert-file={pki.ca_file}",
            f"--cluster-signing-key-file={pki.ca_key_file}",
            "--use-service-account-credentials=true",
            "--controllers=*",
            "--allocate-node-cidrs=false",
            "--concurrent-job-syncs=20",
        )

    def _start_scheduler(self) -> None:
        self._start_loop("kube-scheduler")

    def _start_loop(self, name: str, *flags: str) -> None:
        config = self.kubeconfig(f"system:{name}")
        port = free_port()
        self.supervisor.start(
            name,
            [
                str(self._binaries / name),
                f"--kubeconfig={config}",
                f"--authentication-kubeconfig={config}",
                f"--authorization-kubeconfig={config}",
                "--bind-address=127.0.0.1",
                f"--secure-port={port}",
                "--leader-elect=false",
                "--kube-api-qps=200",
                "--kube-api-burst=400",
                "--v=1",
                *flags,
            ],
            # Its serving certificate is of its own making.
            ready=lambda: answers(f"https://127.0.0.1:{port}/healthz"),
        )

    def _write_kubeconfig(self, name: str, user: dict[str, str]) -> Path:
        return kubeconfig.write(
            self.folder / "pki" / f"{name}.kubeconfig",
            server=self.url,
            ca_file=self.authority.ca_file,
            user=user,
        )

    def _is_ready(self) -> bool:
        try:
            return self.client().request("GET", "/readyz") == "ok"
        except ApiFailure:
            return False
