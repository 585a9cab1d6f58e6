"""The one table of kinds with a pod template: no other module knows any of them by its name.

A row tells where the templates, roles and pod counts are, what the API does with a change, and
what enrolment has to add. Sources: the API types and update validations of Kubernetes, JobSet,
LeaderWorkerSet, KubeRay, Kubeflow Training and Trainer, Volcano and Argo Rollouts.
`manifests.kinds` reads objects by it.
"""

from typing import Final

from argocd_fluid.manifests.document import Path
from argocd_fluid.manifests.layout import Count, Kind, OnChange, Slot


def _one(template: Path, *pods: Path) -> tuple[Slot, ...]:
    return (Slot(template=template, pods=tuple(Count(path=path) for path in pods)),)


def _replica_specs(field_name: str) -> tuple[Slot, ...]:
    """Give the shape of Kubeflow's training jobs: a mapping of replica types."""
    pods = (Count(path=("replicas",)),)
    return (Slot(each=("spec", field_name), is_mapping=True, template=("template",), pods=pods),)


def _ray_cluster(*base: str) -> tuple[Slot, ...]:
    """Give the shape of a Ray cluster; the head's name is the one that KubeRay labels it with."""
    return (
        Slot(role="headgroup", template=(*base, "headGroupSpec", "template"), is_optional=True),
        Slot(
            each=(*base, "workerGroupSpecs"),
            name="groupName",
            template=("template",),
            pods=(Count(path=("replicas",)), Count(path=("numOfHosts",))),
        ),
    )


_TEMPLATE: Final = ("spec", "template")
_REPLICAS: Final = ("spec", "replicas")
_JOB_MUTABLE: Final = (
    ("activeDeadlineSeconds",),
    ("backoffLimit",),
    ("parallelism",),
    ("suspend",),
    ("ttlSecondsAfterFinished",),
)

KINDS: Final[tuple[Kind, ...]] = (
    Kind(
        group="jobset.x-k8s.io",
        kind="JobSet",
        versions=("v1alpha2",),
        slots=(
            Slot(
                each=("spec", "replicatedJobs"),
                template=("template", "spec", "template"),
                pods=(
                    Count(path=("replicas",)),
                    Count(path=("template", "spec", "parallelism")),
                ),
            ),
        ),
        is_batch=True,
        on_change=OnChange.IMMUTABLE,
        keeps_sizes=True,
        is_deleted_by_ttl=True,
        defaults={
            ("template", "spec", "completionMode"): "Indexed",
            ("template", "spec", "template", "spec", "restartPolicy"): "OnFailure",
        },
        mutable=(("suspend",), ("ttlSecondsAfterFinished",), ("coordinator",)),
        # Compared with their old value only, so one that comes or goes as a whole passes.
        addable=(("failurePolicy",), ("volumeClaimPolicies",)),
        template_while_suspended=("replicatedJobs", "template", "spec", "template"),
    ),
    Kind(
        group="batch",
        kind="Job",
        versions=("v1",),
        slots=_one(_TEMPLATE, ("spec", "parallelism")),
        is_batch=True,
        on_change=OnChange.IMMUTABLE,
        is_deleted_by_ttl=True,
        mutable=_JOB_MUTABLE,
        template_while_suspended=("template",),
    ),
    Kind(
        group="batch",
        kind="CronJob",
        versions=("v1", "v1beta1"),
        slots=_one(
            ("spec", "jobTemplate", "spec", "template"),
            ("spec", "jobTemplate", "spec", "parallelism"),
        ),
        is_batch=True,
        on_change=OnChange.NEXT_RUN,
    ),
    Kind(
        group="apps",
        kind="Deployment",
        versions=("v1",),
        slots=_one(_TEMPLATE, _REPLICAS),
        on_change=OnChange.ROLLOUT,
        immutable=(("selector",),),
    ),
    Kind(
        group="apps",
        kind="StatefulSet",
        versions=("v1",),
        slots=_one(_TEMPLATE, _REPLICAS),
        on_change=OnChange.ROLLOUT,
        mutable=(
            ("minReadySeconds",),
            ("ordinals",),
            ("persistentVolumeClaimRetentionPolicy",),
            ("replicas",),
            ("revisionHistoryLimit",),
            ("template",),
            ("updateStrategy",),
        ),
    ),
    Kind(
        group="apps",
        kind="DaemonSet",
        versions=("v1",),
        slots=_one(_TEMPLATE),
        on_change=OnChange.ROLLOUT,
        immutable=(("selector",),),
    ),
    Kind(
        group="apps",
        kind="ReplicaSet",
        versions=("v1",),
        slots=_one(_TEMPLATE, _REPLICAS),
        on_change=OnChange.NEXT_RUN,
        immutable=(("selector",),),
    ),
    Kind(
        group="",
        kind="Pod",
        versions=("v1",),
        slots=_one(()),
        on_change=OnChange.IMMUTABLE,
        mutable=(
            ("activeDeadlineSeconds",),
            ("containers", "image"),
            ("initContainers", "image"),
            ("terminationGracePeriodSeconds",),
        ),
    ),
    Kind(
        group="leaderworkerset.x-k8s.io",
        kind="LeaderWorkerSet",
        versions=("v1",),
        slots=(
            Slot(
                role="leader",
                template=("spec", "leaderWorkerTemplate", "leaderTemplate"),
                pods=(Count(path=_REPLICAS),),
                is_optional=True,
            ),
            Slot(
                role="worker",
                template=("spec", "leaderWorkerTemplate", "workerTemplate"),
                pods=(
                    Count(path=_REPLICAS),
                    Count(
                        path=("spec", "leaderWorkerTemplate", "size"),
                        less_one_with=("spec", "leaderWorkerTemplate", "leaderTemplate"),
                    ),
                ),
            ),
        ),
        on_change=OnChange.ROLLOUT,
    ),
    Kind(
        group="ray.io",
        kind="RayCluster",
        versions=("v1", "v1alpha1"),
        slots=_ray_cluster("spec"),
        on_change=OnChange.NEXT_RUN,
    ),
    Kind(
        group="ray.io",
        kind="RayJob",
        versions=("v1", "v1alpha1"),
        slots=(
            *_ray_cluster("spec", "rayClusterSpec"),
            Slot(
                role="submitter",
                template=("spec", "submitterPodTemplate"),
                is_optional=True,
            ),
        ),
        is_batch=True,
        on_change=OnChange.NEXT_RUN,
        elsewhere="with clusterSelector its pods belong to another object: enrol that",
    ),
    Kind(
        group="kubeflow.org",
        kind="PyTorchJob",
        versions=("v1",),
        slots=_replica_specs("pytorchReplicaSpecs"),
        is_batch=True,
        on_change=OnChange.NEXT_RUN,
    ),
    Kind(
        group="kubeflow.org",
        kind="MPIJob",
        versions=("v1", "v2beta1"),
        slots=_replica_specs("mpiReplicaSpecs"),
        is_batch=True,
        on_change=OnChange.NEXT_RUN,
    ),
    Kind(
        group="trainer.kubeflow.org",
        kind="TrainJob",
        versions=("v1alpha1",),
        # The pod template is in the runtime that it refers to. Of it, only the trainer's size can
        # be here; overrides of pod templates have no sizes.
        slots=(
            Slot(
                role="node",
                template=("spec", "trainer"),
                resources="resourcesPerNode",
                container="node",
                pods=(Count(path=("spec", "trainer", "numNodes")),),
                is_optional=True,
            ),
        ),
        is_batch=True,
        on_change=OnChange.NEXT_RUN,
        immutable=(("runtimeRef",), ("managedBy",)),
        elsewhere="sizes of its runtime are not known here: give spec.trainer.resourcesPerNode",
    ),
    Kind(
        group="batch.volcano.sh",
        kind="Job",
        versions=("v1alpha1",),
        slots=(
            Slot(
                each=("spec", "tasks"),
                unnamed="default",
                template=("template",),
                pods=(Count(path=("replicas",)),),
            ),
        ),
        is_batch=True,
        on_change=OnChange.IMMUTABLE,
        is_deleted_by_ttl=True,
        mutable=(
            ("minAvailable",),
            ("priorityClassName",),
            ("tasks", "minAvailable"),
            ("tasks", "replicas"),
        ),
    ),
    Kind(
        group="argoproj.io",
        kind="Rollout",
        versions=("v1alpha1",),
        slots=(Slot(template=_TEMPLATE, pods=(Count(path=_REPLICAS),), is_optional=True),),
        on_change=OnChange.ROLLOUT,
        immutable=(("selector",),),
        elsewhere="with workloadRef its pods are those of another object: enrol that",
    ),
)
