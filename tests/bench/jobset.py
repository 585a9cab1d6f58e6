"""The real JobSet controller with its webhooks, outside the cluster."""

import base64
import json
import shutil
from typing import Any

from tests.bench import build, crds
from tests.bench.control_plane import ControlPlane
from tests.bench.processes import free_port
from tests.bench.readiness import answers

_CRD = "jobset.x-k8s.io_jobsets.yaml"
_PODS_OF_JOBSETS = {
    "matchExpressions": [{"key": "jobset.sigs.k8s.io/jobset-name", "operator": "Exists"}]
}


class JobSet:
    """JobSet 0.12; the alpha gate InPlaceRestart is on unless told otherwise."""

    def __init__(self, control_plane: ControlPlane, *, in_place_restart: bool = True) -> None:
        self._control_plane = control_plane
        self._folder = control_plane.folder / "jobset"
        self._in_place_restart = in_place_restart
        self._webhook_port = free_port()
        self._health_port = free_port()

    def start(self) -> None:
        """Return when the controller is ready and admission asks its webhooks."""
        binaries = build.ensure("jobset")
        api = self._control_plane.client()
        crds.install(api, [build.crds("jobset") / _CRD])
        config = self._write_files()
        self._control_plane.supervisor.start(
            "jobset",
            [
                str(binaries / "jobset"),
                f"--config={config}",
                f"--kubeconfig={self._control_plane.kubeconfig('jobset', 'system:masters')}",
                "--zap-log-level=info",
            ],
            ready=lambda: answers(f"http://127.0.0.1:{self._health_port}/readyz"),
        )
        for configuration in self._webhooks():
            api.apply(configuration)

    def stop(self) -> None:
        self._control_plane.supervisor.stop("jobset")

    def _write_files(self) -> str:
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.mkdir(parents=True)
        pair = self._control_plane.authority.issue(
            "jobset-webhook", ips=("127.0.0.1",), server=True
        )
        shutil.copy(pair.certificate, self._folder / "tls.crt")
        shutil.copy(pair.key, self._folder / "tls.key")
        config = {
            "apiVersion": "config.jobset.x-k8s.io/v1alpha1",
            "kind": "Configuration",
            "leaderElection": {"leaderElect": False},
            "internalCertManagement": {"enable": False},
            "webhook": {
                "host": "127.0.0.1",
                "port": self._webhook_port,
                "certDir": str(self._folder),
            },
            "metrics": {"bindAddress": "0"},
            "health": {"healthProbeBindAddress": f"127.0.0.1:{self._health_port}"},
            "clientConnection": {"qps": 500, "burst": 500},
            "featureGates": {"InPlaceRestart": self._in_place_restart},
        }
        path = self._folder / "config.json"
        path.write_text(json.dumps(config))
        return str(path)

    def _webhooks(self) -> list[dict[str, Any]]:
        jobsets = {"apiGroups": ["jobset.x-k8s.io"], "apiVersions": ["v1alpha2"]}
        pods = {"apiGroups": [""], "apiVersions": ["v1"]}
        jobset_path = "jobset-x-k8s-io-v1alpha2-jobset"
        kinds = (
            # JobSet 0.8.2 and newer set defaults on CREATE only.
            ("mutating", "mjobset.kb.io", f"/mutate-{jobset_path}", jobsets, ["CREATE"]),
            ("mutating", "mpod.kb.io", "/mutate--v1-pod", pods, ["CREATE"]),
            (
                "validating",
                "vjobset.kb.io",
                f"/validate-{jobset_path}",
                jobsets,
                ["CREATE", "UPDATE"],
            ),
            ("validating", "vpod.kb.io", "/validate--v1-pod", pods, ["CREATE"]),
        )
        configurations = []
        for verb in ("mutating", "validating"):
            hooks = [
                self._hook(name, path, rule, ops) for v, name, path, rule, ops in kinds if v == verb
            ]
            configurations.append(
                {
                    "apiVersion": "admissionregistration.k8s.io/v1",
                    "kind": f"{verb.capitalize()}WebhookConfiguration",
                    "metadata": {"name": f"jobset-{verb}-webhook-configuration"},
                    "webhooks": hooks,
                }
            )
        return configurations

    def _hook(
        self, name: str, path: str, rule: dict[str, Any], operations: list[str]
    ) -> dict[str, Any]:
        is_pod = path.endswith("pod")
        hook = {
            "name": name,
            "admissionReviewVersions": ["v1"],
            "sideEffects": "None",
            "failurePolicy": "Fail",
            "timeoutSeconds": 5,
            "clientConfig": {
                "url": f"https://127.0.0.1:{self._webhook_port}{path}",
                "caBundle": base64.b64encode(self._control_plane.authority.ca_pem).decode(),
            },
            "rules": [
                rule | {"operations": operations, "resources": ["pods" if is_pod else "jobsets"]}
            ],
        }
        return hook | ({"objectSelector": _PODS_OF_JOBSETS} if is_pod else {})
