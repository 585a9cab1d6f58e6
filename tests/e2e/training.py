"""The training run of the end-to-end tests: what a developer commits, and ways to watch it."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Any, TypeVar

import requests

MIB = 1 << 20

JOBSET = Template("""\
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata:
  name: train
  annotations:
    argocd-fluid.io/enabled: "true"
    argocd-fluid.io/policy: |
      cpu: {min: 50m, max: "1"}
      memory: {min: 64Mi, max: 2Gi}
      scaleUp: {cooldown: 5s}
      scaleDown: {after: 30s}
spec:
  replicatedJobs:
  - name: driver
    replicas: 1
    template:
      spec:
        parallelism: 1
        completions: 1
        backoffLimit: 0
        template: &pod
          spec:
            terminationGracePeriodSeconds: 1
            nodeSelector: {bench/real: "true"}
            tolerations: [{operator: Exists}]
            containers:
            - name: trainer
              image: $image
              imagePullPolicy: Never
              resources:
                requests: {cpu: $cpu, memory: $memory}
                limits: {cpu: $cpu, memory: $memory}
  - name: workers
    replicas: 1
    template:
      spec:
        parallelism: 3
        completions: 3
        backoffLimit: 0
        template: *pod
""")


def manifest(*, cpu: str = "200m", memory: str = "512Mi", image: str) -> str:
    """The JobSet as text: 1 driver, 3 workers."""
    return JOBSET.substitute(cpu=cpu, memory=memory, image=image)


T = TypeVar("T")


def wait_for(what: str, probe: Callable[[], T], *, timeout_s: float, every_s: float = 0.2) -> T:
    """Poll until `probe` gives something true; its last answer is in the failure."""
    deadline = time.monotonic() + timeout_s
    while True:
        answer = probe()
        if answer:
            return answer
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {timeout_s:.0f} s: {what}; last: {answer!r}")
        time.sleep(every_s)
