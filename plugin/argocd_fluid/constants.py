"""Every name that argocd-fluid shares with a cluster, with its owner. Spelled nowhere else.

"Writer" says who may set a key; everybody else only reads it. See docs for the meaning of each.
"""

from enum import StrEnum
from typing import Final

FIELD_MANAGER: Final = "argocd-fluid"
"""Field manager and user agent of every write; Argo CD's managedFieldsManagers may name it."""

GROUP: Final = "argocd-fluid.io"
VERSION: Final = "v1alpha1"
API_VERSION: Final = f"{GROUP}/{VERSION}"
FLUID_WORKLOAD: Final = "FluidWorkload"
FLUID_WORKLOADS: Final = "fluidworkloads"
FLUID_POLICY: Final = "FluidPolicy"

# Writer: people.
FLUID_RESTART: Final = "jobset.kubernetes.io/fluid-restart"
"""Opt in with "true": live resizes and in-place restarts."""
POLICY: Final = f"{GROUP}/policy"
"""Inline YAML of the policy of this workload; wins over `fluid.yaml`."""
HEALTH_RUNNING: Final = f"{GROUP}/health-running"
"""On a JobSet: "Progressing" makes Argo CD's later sync waves wait for its end (health.lua)."""

# Writer: people, and the plugin where `fluid.yaml` enrols a workload.
ENABLED: Final = f"{GROUP}/enabled"
"""Opt in ("true") or out ("false"), any kind, live resizes only."""

# Writer: the plugin.
INTENT: Final = f"{GROUP}/intent"
"""Canonical JSON: the sizes that Git asks for, per role and container, with the resolved policy."""

# Writer: people and Argo CD actions.
PAUSED: Final = f"{GROUP}/paused"
PIN: Final = f"{GROUP}/pin"
RESTART_REQUESTED: Final = f"{GROUP}/restart-requested"
REVERT_REQUESTED: Final = f"{GROUP}/revert-requested"

# Writer: the admission policy shard-jobs (pods), the controller (FluidWorkloads).
SHARD: Final = f"{GROUP}/shard"
"""Label: last hex digit of the JobSet's uid."""

# Writer: JobSet and Job, on every pod of theirs.
JOBSET_NAME: Final = "jobset.sigs.k8s.io/jobset-name"
JOBSET_UID: Final = "jobset.sigs.k8s.io/jobset-uid"
REPLICATED_JOB: Final = "jobset.sigs.k8s.io/replicatedjob-name"
JOB_INDEX: Final = "jobset.sigs.k8s.io/job-index"
COMPLETION_INDEX: Final = "batch.kubernetes.io/job-completion-index"


class Condition(StrEnum):
    """Condition types of a FluidWorkload (kstatus, and ours). Writer: the controller."""

    READY = "Ready"
    RECONCILING = "Reconciling"
    STALLED = "Stalled"
    RESIZING = "Resizing"
    DEFERRED = "Deferred"
    RESTARTING = "Restarting"
