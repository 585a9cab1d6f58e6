"""The training run of the end-to-end tests: what a developer commits, and ways to watch it."""

import json
import re
import secrets
import time
from dataclasses import dataclass, field
from string import Template
from typing import Any

from tests.bench.api import Api, Object
from tests.bench.images import LOAD
from tests.bench.load_client import Load

MIB = 1 << 20
WORKERS = 3
JOBSET_API = "jobset.x-k8s.io/v1alpha2"
FLUID_API = "argocd-fluid.io/v1alpha1"
RESIZES = re.compile(
    r'^apiserver_request_total\{[^}]*code="200"[^}]*resource="pods"[^}]*subresource="resize"'
    r'[^}]*verb="PATCH"[^}]*\} ([0-9.e+]+)$',
    re.MULTILINE,
)

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
      scaleDown: {after: $idle}
spec:
  replicatedJobs:
  - name: driver
    replicas: 1
    template:
      spec:
        parallelism: 1
        completions: 1
        backoffLimit: 100
        template: &pod
          spec:
            terminationGracePeriodSeconds: 1
            nodeSelector: {bench/real: "true", kubernetes.io/hostname: $node}
            tolerations: [{key: bench/real, operator: Exists}]
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
        backoffLimit: 100
        template: *pod
""")


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One container at one moment; what a resize must keep, and what it changes."""

    uid: str
    container_id: str
    restarts: int
    resources: str
    quota_us: int
    memory_limit: int

    @property
    def incarnation(self) -> tuple[str, str, int]:
        return (self.uid, self.container_id, self.restarts)


@dataclass
class Training:
    """One JobSet in Git, its Application, and what runs of it."""

    argocd: Any
    control_plane: Any
    node: Any
    api: Api
    namespace: str
    values: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.values = {
            "cpu": "200m",
            "memory": "512Mi",
            "image": LOAD,
            "idle": "10m",
            "node": self.node.name,
        } | self.values
        name = f"training-{secrets.token_hex(2)}"
        self.repository = self.argocd.repository(name)
        self.committed_s = 0.0
        self.revision = self.commit("Start the run")
        self.application = self.argocd.application(
            name, repo=self.repository, path="train", namespace=self.namespace
        )

    def commit(self, message: str, **values: str) -> str:
        """Commit the JobSet with changed values; nothing happens where none changed."""
        if values and self.values | values == self.values:
            return self.revision
        self.values |= values
        return self.commit_text(JOBSET.substitute(self.values), message)

    def commit_text(self, text: str, message: str) -> str:
        self.committed_s = time.monotonic()
        self.revision = self.repository.commit({"train/jobset.yaml": text}, message)
        return self.revision

    def sync(self, *, health: str | None = "Healthy", timeout_s: float = 90) -> Object:
        """Let Argo CD look, and wait until the last commit is Synced."""
        self.application.refresh()
        return self.application.wait(
            sync="Synced", health=health, revision=self.revision, timeout_s=timeout_s
        )

    def start_over(self) -> int:
        """Commit another CPU size, which all ranks take: what they learned is gone. Millicores."""
        milli = 220 if self.values["cpu"] != "220m" else 200
        self.change("Start over", cpu=f"{milli}m", memory="512Mi", idle="10m")
        self.api.wait_for(
            f"all ranks have {milli}m",
            lambda: {self.cpu_milli(rank) for rank in self.running()} == {milli},
        )
        return milli

    def sync_anew(self) -> None:
        """Let a sync succeed now: Argo CD never self-heals after a failed one (argo-cd 18442)."""
        other = "11m" if self.values["idle"] != "11m" else "12m"
        self.change("A sync that succeeds", idle=other)

    def change(self, message: str, **values: str) -> None:
        """Commit and sync, unless nothing changes."""
        before = self.revision
        if self.commit(message, **values) != before:
            self.sync()

    def jobset(self) -> Object:
        return self.api.get(JOBSET_API, "JobSet", "train", self.namespace)

    def fluid(self) -> Object:
        return self.api.find(FLUID_API, "FluidWorkload", "jobset-train", self.namespace) or {}

    def pods(self) -> dict[str, Object]:
        """Pods by rank (`workers-2`), without those that go."""
        pods = {}
        for pod in self.api.list("v1", "Pod", self.namespace):
            labels = pod["metadata"].get("labels", {})
            role = labels.get("jobset.sigs.k8s.io/replicatedjob-name")
            ended = pod["status"].get("phase") in ("Failed", "Succeeded")
            if role and not ended and "deletionTimestamp" not in pod["metadata"]:
                pods[f"{role}-{labels['batch.kubernetes.io/job-completion-index']}"] = pod
        return pods

    def running(self) -> dict[str, Object]:
        """All four pods, each with a load that answers; empty while one is missing."""
        pods = self.pods()
        whole = len(pods) == WORKERS + 1 and all(map(_is_running, pods.values()))
        return pods if whole and all(self.load(rank).is_healthy() for rank in pods) else {}

    def wait_until_running(self, *, timeout_s: float = 60) -> dict[str, Object]:
        return self.api.wait_for("all ranks run", self.running, timeout_s=timeout_s)

    def load(self, rank: str) -> Load:
        return Load(self.pods()[rank]["status"]["podIP"])

    def rest(self) -> None:
        """Take the load from every rank."""
        for rank in self.wait_until_running():
            self.load(rank).cpu(0)
            self.load(rank).memory(mebibytes=20)

    def see(self, rank: str) -> Seen:
        pod = self.pods()[rank]
        status = pod["status"]["containerStatuses"][0]
        cgroup = self.node.cgroup(pod["metadata"]["uid"], status["containerID"])
        return Seen(
            uid=pod["metadata"]["uid"],
            container_id=status["containerID"],
            restarts=status["restartCount"],
            resources=json.dumps(pod["spec"]["containers"][0]["resources"], sort_keys=True),
            quota_us=cgroup["cpu_quota_us"],
            memory_limit=cgroup["memory_limit_bytes"],
        )

    def see_all(self) -> dict[str, Seen]:
        return {rank: self.see(rank) for rank in self.pods()}

    def cpu_milli(self, rank: str) -> int:
        """The CPU limit in the kernel."""
        return self.see(rank).quota_us // 100

    def burn(self, rank: str) -> int:
        """Use 95 % of the rank's CPU limit; give that limit in millicores."""
        limit = self.cpu_milli(rank)
        self.load(rank).cpu(limit * 95 // 100)
        return limit

    def wait_for_quota_above(self, rank: str, milli: int, *, timeout_s: float = 60) -> int:
        return self.api.wait_for(
            f"{rank} has more CPU than {milli}m",
            lambda: now if (now := self.cpu_milli(rank)) > milli else 0,
            timeout_s=timeout_s,
            every_s=0.05,
        )

    def resize_requests(self) -> int:
        """How many PATCHes of pods/resize the API server has carried out since it started."""
        text = self.api.request("GET", "/metrics")
        return sum(int(float(count)) for count in RESIZES.findall(text))


def _is_running(pod: Object) -> bool:
    statuses = pod["status"].get("containerStatuses", [])
    return bool(statuses) and all("running" in one["state"] for one in statuses)
