"""The workload loop: a JobSet with an intent has a FluidWorkload that says the same, and no other.

It owns spec, conditions and totals; sizes only where Git changed them. Deleting a JobSet deletes
its FluidWorkload by the owner reference, so there is nothing to do here and no finalizer.
"""

import logging
from collections.abc import Callable

import msgspec

from argocd_fluid import constants
from argocd_fluid.controller.cluster import Cluster
from argocd_fluid.controller.intent import fluid_name, is_enrolled, spec_of
from argocd_fluid.controller.kills import Kills, log_recorded
from argocd_fluid.controller.ledger import Ledger
from argocd_fluid.controller.mergepatch import merge_patch
from argocd_fluid.controller.queue import Done, Outcome, RequeueAfter, Stop
from argocd_fluid.controller.sizes import carried_over, initial_roles
from argocd_fluid.controller.status import Overview, stalled, with_overview
from argocd_fluid.errors import NotFound, UserError
from argocd_fluid.kube.client import Client, Manifest
from argocd_fluid.kube.endpoints import FLUID_WORKLOADS
from argocd_fluid.kube.fluid import FluidWorkload, FluidWorkloadSpec, FluidWorkloadStatus
from argocd_fluid.kube.store import Key
from argocd_fluid.kube.types import Object

AFTER_DELETE_S = 0.2

log = logging.getLogger(__name__)


class WorkloadLoop:
    """Steps over JobSets, by namespace and name. `clock` is the wall clock."""

    def __init__(
        self,
        cluster: Cluster,
        client: Client,
        ledger: Ledger,
        *,
        kills: Kills,
        clock: Callable[[], float],
    ) -> None:
        self._cluster = cluster
        self._client = client
        self._ledger = ledger
        self._kills = kills
        self._clock = clock

    def step(self, key: Key) -> Outcome:
        """Bring one JobSet's FluidWorkload in line."""
        jobset = self._cluster.jobsets.get(*key)
        workload = self._cluster.workloads.get(key[0], fluid_name(key[1]))
        if jobset is None or jobset.metadata.deletion_timestamp is not None:
            return Done()  # the garbage collector takes the FluidWorkload with it
        if not is_enrolled(jobset.metadata):
            return self._delete(workload, "not enrolled") if workload else Done()
        if workload is not None and workload.metadata.deletion_timestamp is not None:
            return RequeueAfter(AFTER_DELETE_S)
        if workload is not None and workload.spec.target.uid != jobset.metadata.uid:
            # A new JobSet of that name is a new start: what was learned belongs to the old one.
            return self._delete(workload, "recreated")
        try:
            spec = spec_of(jobset.metadata)
        except UserError as error:
            return self._stall(workload, error)
        return self._align(jobset, workload, spec)

    def _align(
        self, jobset: Object, workload: FluidWorkload | None, spec: FluidWorkloadSpec
    ) -> Outcome:
        if workload is None:
            workload = self._create(jobset, spec)
        elif workload.spec != spec:
            workload = self._respecify(workload, spec)
        workload = self._own(jobset, workload)
        self._record_kills(self._ledger.update(workload, self._overview))
        return Done()

    def _record_kills(self, workload: FluidWorkload) -> None:
        kills = self._kills.due(workload)
        if not kills:
            return
        recorded = self._ledger.update(workload, lambda now: self._kills.on_record(now, kills))
        self._kills.settle(kills)
        log_recorded(workload, recorded, kills)

    def _create(self, jobset: Object, spec: FluidWorkloadSpec) -> FluidWorkload:
        metadata = jobset.metadata
        body: Manifest = {
            "apiVersion": constants.API_VERSION,
            "kind": constants.FLUID_WORKLOAD,
            "metadata": {
                "name": fluid_name(metadata.name),
                "namespace": metadata.namespace,
                **_ownership(jobset),
            },
            "spec": msgspec.to_builtins(spec),
        }
        path = FLUID_WORKLOADS.path(metadata.namespace)
        created = self._client.create(path, body, FluidWorkload)
        self._cluster.workloads.put(created)
        log.info("workload is managed", extra={"jobset": f"{metadata.namespace}/{metadata.name}"})
        return created

    def _respecify(self, workload: FluidWorkload, spec: FluidWorkloadSpec) -> FluidWorkload:
        """Take over a changed intent: sizes first, so that no pod starts with a stale one."""

        def resized(current: FluidWorkload) -> FluidWorkloadStatus:
            roles = carried_over(current.spec, current.status, spec)
            return msgspec.structs.replace(current.status, roles=roles)

        workload = self._ledger.update(workload, resized)
        old, new = msgspec.to_builtins(workload.spec), msgspec.to_builtins(spec)
        workload = self._patch(workload, {"spec": merge_patch(old, new)})
        log.info(
            "intent has changed",
            extra={"workload": f"{workload.metadata.namespace}/{workload.metadata.name}"},
        )
        return workload

    def _own(self, jobset: Object, workload: FluidWorkload) -> FluidWorkload:
        """Adopt a FluidWorkload whose owner or shard were lost (a restore from a backup)."""
        owner, shard = workload.metadata.controller, workload.metadata.label(constants.SHARD)
        wanted = _ownership(jobset)
        if (
            owner
            and owner.uid == jobset.metadata.uid
            and shard == wanted["labels"][constants.SHARD]
        ):
            return workload
        return self._patch(workload, {"metadata": wanted})

    def _overview(self, workload: FluidWorkload) -> FluidWorkloadStatus:
        status = workload.status
        if status.roles is None:
            status = msgspec.structs.replace(status, roles=initial_roles(workload.spec))
        overview = Overview(pods=self._cluster.pods_of(workload), now=self._clock())
        return with_overview(workload, status, overview)

    def _stall(self, workload: FluidWorkload | None, error: UserError) -> Outcome:
        if workload is not None:
            now = self._clock()
            self._ledger.update(workload, lambda current: stalled(current, str(error), now))
        return Stop(error)

    def _delete(self, workload: FluidWorkload, why: str) -> Outcome:
        metadata = workload.metadata
        try:
            path = FLUID_WORKLOADS.path(metadata.namespace, metadata.name)
            self._client.delete(path, uid=metadata.uid)
        except NotFound:
            return RequeueAfter(AFTER_DELETE_S)  # the watch has not brought it yet
        extra = {"workload": f"{metadata.namespace}/{metadata.name}", "why": why}
        log.info("workload is no longer managed", extra=extra)
        return RequeueAfter(AFTER_DELETE_S)

    def _patch(self, workload: FluidWorkload, patch: Manifest) -> FluidWorkload:
        metadata = workload.metadata
        guard = {"uid": metadata.uid, "resourceVersion": metadata.resource_version}
        body = patch | {"metadata": guard | patch.get("metadata", {})}
        path = FLUID_WORKLOADS.path(metadata.namespace, metadata.name)
        patched = self._client.patch(path, body, FluidWorkload)
        self._cluster.workloads.refresh(patched)
        return patched


def _ownership(jobset: Object) -> Manifest:
    """Give the metadata that ties a FluidWorkload to its JobSet."""
    return {
        "labels": {constants.SHARD: jobset.metadata.uid[-1:]},
        "ownerReferences": [
            {
                "apiVersion": "jobset.x-k8s.io/v1alpha2",
                "kind": "JobSet",
                "name": jobset.metadata.name,
                "uid": jobset.metadata.uid,
                "controller": True,
                "blockOwnerDeletion": False,
            }
        ],
    }
