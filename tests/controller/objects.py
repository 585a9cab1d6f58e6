"""API objects for pure tests, each as small as its test allows."""

import json
from typing import Any

import msgspec
from argocd_fluid.controller.intent import spec_of
from argocd_fluid.controller.sizes import initial_roles
from argocd_fluid.kube.fluid import FluidWorkload, FluidWorkloadStatus
from argocd_fluid.kube.types import Object, ObjectMeta, Pod

from tests.controller.jobsets import SIZE, intent

NOW = 1_800_000_000.0


def js(annotation: str = "", **annotations: str) -> Object:
    prefixed = {f"argocd-fluid.io/{key}": value for key, value in annotations.items()}
    return Object(
        metadata=ObjectMeta(
            name="train",
            namespace="ns",
            uid="js-uid-7",
            annotations={"argocd-fluid.io/intent": annotation or intent()} | prefixed,
        )
    )


def workload(jobset: Object | None = None, **status: Any) -> FluidWorkload:
    spec = spec_of((jobset or js()).metadata)
    return FluidWorkload(
        metadata=ObjectMeta(
            name="jobset-train", namespace="ns", uid="fw-uid", resource_version="1", generation=3
        ),
        spec=spec,
        status=FluidWorkloadStatus(**({"roles": initial_roles(spec)} | status)),
    )


def pod(name: str = "train-workers-0-0", index: str = "0", **changes: Any) -> Pod:
    """A running pod of the JobSet; `changes` are merged into its status."""
    size = changes.pop("size", SIZE)
    status = {
        "phase": "Running",
        "qosClass": "Burstable",
        "observedGeneration": 1,
        "containerStatuses": [
            {
                "name": "load",
                "allocatedResources": size["requests"],
                "resources": size,
                "state": {"running": {"startedAt": "2027-01-01T00:00:00Z"}},
            }
        ],
    }
    return msgspec.json.decode(
        json.dumps(
            {
                "metadata": {
                    "name": name,
                    "namespace": "ns",
                    "uid": f"uid-{name}",
                    "resourceVersion": "10",
                    "generation": changes.pop("generation", 1),
                    "labels": {
                        "jobset.sigs.k8s.io/jobset-name": "train",
                        "jobset.sigs.k8s.io/jobset-uid": "js-uid-7",
                        "jobset.sigs.k8s.io/replicatedjob-name": "workers",
                        "jobset.sigs.k8s.io/job-index": "0",
                        "batch.kubernetes.io/job-completion-index": index,
                    },
                },
                "spec": {"nodeName": "n1", "containers": [{"name": "load", "resources": size}]},
                "status": status | changes,
            }
        ),
        type=Pod,
    )
