"""JobSets with an intent annotation, as the plugin renders them."""

import json
from typing import Any

from tests.bench.images import LOAD_CONTAINER

Object = dict[str, Any]
SIZE = {
    "requests": {"cpu": "100m", "memory": "64Mi"},
    "limits": {"cpu": "200m", "memory": "128Mi"},
}


def policy(**changes: Any) -> Object:
    return {
        "mode": "auto",
        "cpu": resource("50m", "800m", 0.65),
        "memory": resource("32Mi", "512Mi", 0.7) | {"oomFactor": 1.5},
        "scaleUp": {"cooldown": "1s", "maxFactor": 2},
        "scaleDown": {"after": "10m", "memory": True},
        "priority": 0,
    } | changes


def resource(low: str, high: str, target: float) -> Object:
    return {
        "min": low,
        "max": high,
        "scaleUpAt": 0.8,
        "target": target,
        "scaleDownAt": 0.4,
        "limits": "proportional",
    }


def intent(size: Object = SIZE, **changes: Any) -> str:
    roles = {"workers": {"load": size | {"policy": policy(**changes)}}}
    return json.dumps({"v": 1, "roles": roles}, sort_keys=True, separators=(",", ":"))


def jobset(name: str, namespace: str, placement: Object, *, workers: int = 1) -> Object:
    pod = {
        **placement,
        "restartPolicy": "OnFailure",
        "terminationGracePeriodSeconds": 1,
        "containers": [{**LOAD_CONTAINER, "resources": SIZE}],
    }
    job = {
        "parallelism": workers,
        "completions": workers,
        "completionMode": "Indexed",
        "template": {"spec": pod},
    }
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "annotations": {"argocd-fluid.io/intent": intent()},
        },
        "spec": {"replicatedJobs": [{"name": "workers", "replicas": 1, "template": {"spec": job}}]},
    }
