"""Kubeconfig files: JSON, which every reader of kubeconfigs takes."""

import json
from pathlib import Path
from typing import Any

from tests.bench.pki import KeyPair


def write(path: Path, *, server: str, ca_file: Path, user: dict[str, Any]) -> Path:
    """Write a file that names one cluster and one user; only its owner may read it."""
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [
            {
                "name": "bench",
                "cluster": {"server": server, "certificate-authority": str(ca_file)},
            }
        ],
        "users": [{"name": "user", "user": user}],
        "contexts": [{"name": "bench", "context": {"cluster": "bench", "user": "user"}}],
        "current-context": "bench",
    }
    path.touch(mode=0o600)
    path.write_text(json.dumps(config, indent=1))
    return path


def certificate_user(pair: KeyPair) -> dict[str, str]:
    return {"client-certificate": str(pair.certificate), "client-key": str(pair.key)}
