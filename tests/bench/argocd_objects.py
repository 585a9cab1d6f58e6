"""What Argo CD needs in the cluster before it starts, and the bench's right to all of it."""

import base64
import secrets
from typing import Any

from tests.bench.applications import API_VERSION, NAMESPACE

USER = "argocd-bench"


def minimum_objects() -> list[dict[str, Any]]:
    """Give the namespace, the key, the project, and the rights of the bench's user."""
    labels = {"app.kubernetes.io/part-of": "argocd"}
    key = base64.b64encode(secrets.token_bytes(32)).decode()
    anything = [{"group": "*", "kind": "*"}]
    return [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}},
        {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": "argocd-secret", "namespace": NAMESPACE, "labels": labels},
            "stringData": {"server.secretkey": key},
        },
        {
            "apiVersion": API_VERSION,
            "kind": "AppProject",
            "metadata": {"name": "default", "namespace": NAMESPACE},
            "spec": {
                "sourceRepos": ["*"],
                "destinations": [{"namespace": "*", "server": "*"}],
                "clusterResourceWhitelist": anything,
            },
        },
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": USER},
            "roleRef": {
                "apiGroup": "rbac.authorization.k8s.io",
                "kind": "ClusterRole",
                "name": "cluster-admin",
            },
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": USER}],
        },
    ]
