"""Configuration and command line of one real node's kubelet.

Measured on Kubernetes 1.37 with cgroup v1; every setting that is not a default is there because the
bench's nodes have no service network, no registry and share one machine's disk.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.bench import build
from tests.bench.pki import Authority, KeyPair

PORT = 10250
LABEL = "bench/real"
TAINT = {"key": LABEL, "value": "true", "effect": "NoSchedule"}


@dataclass(frozen=True, slots=True)
class Kubelet:
    """Files and command lines of one kubelet; starting the process is the node's part."""

    folder: Path
    name: str
    address: str
    authority: Authority

    def serving_certificate(self) -> KeyPair:
        """The API server connects by address, so the address is in the certificate."""
        return self.authority.issue(
            f"kubelet-{self.name}", dns=(self.name,), ips=(self.address,), server=True
        )

    def client_certificate(self) -> KeyPair:
        """The names by which the API server's node authorizer knows a kubelet."""
        return self.authority.issue(
            f"system:node:{self.name}", organization="system:nodes", client=True
        )

    def write_config(
        self, *, runtime_socket: Path, cgroup_root: str, kube_reserved: Mapping[str, str]
    ) -> None:
        """Write kubelet.json. `kube_reserved` shrinks allocatable and nothing else."""
        settings = (
            self._authentication()
            | self._disk()
            | {
                "apiVersion": "kubelet.config.k8s.io/v1beta1",
                "kind": "KubeletConfiguration",
                "containerRuntimeEndpoint": f"unix://{runtime_socket}",
                "address": self.address,
                "port": PORT,
                "healthzPort": 0,
                "failCgroupV1": False,
                "cgroupDriver": "cgroupfs",
                "cgroupRoot": f"/{cgroup_root}",
                "failSwapOn": False,
                "makeIPTablesUtilChains": False,
                # Reserved resources are only subtracted: no cgroup of the node holds its processes.
                "enforceNodeAllocatable": [],
                "kubeReserved": dict(kube_reserved),
                "resolvConf": "",
                "registerWithTaints": [TAINT],
                "nodeStatusUpdateFrequency": "2s",
                "syncFrequency": "10s",
            }
        )
        (self.folder / "kubelet.json").write_text(json.dumps(settings, indent=1))

    def write_kubeconfig(self, server: str) -> None:
        """`server` is the forwarder's address, which the API server's certificate need not name."""
        certificate, key = self.client_certificate()
        cluster = {
            "server": server,
            "certificate-authority": str(self.authority.ca_file),
            "tls-server-name": "localhost",
        }
        user = {"client-certificate": str(certificate), "client-key": str(key)}
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "bench", "cluster": cluster}],
            "users": [{"name": "kubelet", "user": user}],
            "contexts": [{"name": "bench", "context": {"cluster": "bench", "user": "kubelet"}}],
            "current-context": "bench",
        }
        (self.folder / "kubeconfig.json").write_text(json.dumps(config))

    def argv(self) -> list[str]:
        return [
            str(build.ensure("kubernetes") / "kubelet"),
            f"--config={self.folder / 'kubelet.json'}",
            f"--kubeconfig={self.folder / 'kubeconfig.json'}",
            f"--hostname-override={self.name}",
            f"--node-ip={self.address}",
            f"--root-dir={self.folder / 'kubelet'}",
            f"--cert-dir={self.folder / 'kubelet' / 'pki'}",
            f"--node-labels={LABEL}=true",
            "--v=2",
        ]

    def _authentication(self) -> dict[str, object]:
        certificate, key = self.serving_certificate()
        return {
            "tlsCertFile": str(certificate),
            "tlsPrivateKeyFile": str(key),
            "authentication": {
                "anonymous": {"enabled": False},
                "x509": {"clientCAFile": str(self.authority.ca_file)},
                # Tests change RBAC and must not meet the answer of two minutes ago.
                "webhook": {"enabled": True, "cacheTTL": "1s"},
            },
            "authorization": {
                "mode": "Webhook",
                "webhook": {"cacheAuthorizedTTL": "1s", "cacheUnauthorizedTTL": "1s"},
            },
        }

    def _disk(self) -> dict[str, object]:
        """The kubelet must neither judge nor clean the machine's disk."""
        return {
            "localStorageCapacityIsolation": False,
            "imageGCHighThresholdPercent": 100,
            "evictionHard": {"memory.available": "100Mi"},
            "staticPodPath": "",
            "volumePluginDir": str(self.folder / "volume-plugins"),
            "podLogsDir": str(self.folder / "pod-logs"),
        }
