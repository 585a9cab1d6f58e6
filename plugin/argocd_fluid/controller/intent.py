"""The intent annotation of a JobSet: what Git asks for, as the plugin wrote it. Pure.

Reading it never guesses: what does not parse is an error that names the JobSet, and the workload
stays as it is until the annotation is right again.
"""

from dataclasses import dataclass
from typing import Any

import msgspec

from argocd_fluid import constants
from argocd_fluid.engine.model import Rank, Size
from argocd_fluid.engine.sizes import resources_from_size, size_from_resources
from argocd_fluid.errors import PolicyError, UserError, Where
from argocd_fluid.kube.fluid import ContainerSpec, FluidWorkloadSpec, RoleSpec, Target
from argocd_fluid.kube.types import ObjectMeta, Quantities, ResourceRequirements, Wire
from argocd_fluid.policy.model import ContainerPolicy, Mode
from argocd_fluid.policy.wire import from_wire

VERSION = 1
JOBSET_API_VERSION = "jobset.x-k8s.io/v1alpha2"
JOBSET_KIND = "JobSet"


class IntentContainer(Wire, frozen=True):
    """One container in the annotation."""

    policy: dict[str, Any]
    requests: Quantities | None = None
    limits: Quantities | None = None


class Intent(Wire, frozen=True):
    """The annotation: role, then container name."""

    v: int
    roles: dict[str, dict[str, IntentContainer]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerIntent:
    """What the controller needs of one container of a spec."""

    size: Size
    policy: ContainerPolicy


def is_enrolled(metadata: ObjectMeta) -> bool:
    """Opted in: the plugin wrote an intent, and nobody opted out."""
    return bool(metadata.annotation(constants.INTENT)) and (
        metadata.annotation(constants.ENABLED) != "false"
    )


def spec_of(metadata: ObjectMeta) -> FluidWorkloadSpec:
    """Give the FluidWorkload spec of an enrolled JobSet; raises PolicyError."""
    intent = _parse(metadata)
    roles = [
        RoleSpec(
            name=role,
            containers=[
                ContainerSpec(
                    name=name,
                    resources=ResourceRequirements(
                        requests=container.requests, limits=container.limits
                    ),
                    policy=container.policy,
                )
                for name, container in sorted(containers.items())
            ],
        )
        for role, containers in sorted(intent.roles.items())
    ]
    spec = FluidWorkloadSpec(
        target=Target(
            api_version=JOBSET_API_VERSION,
            kind=JOBSET_KIND,
            name=metadata.name,
            uid=metadata.uid,
        ),
        mode=Mode.OFF.value,
        roles=roles,
    )
    try:
        modes = {intended.policy.mode for intended in containers_of(spec).values()}
    except UserError as error:
        raise _wrong(metadata, str(error)) from error
    return msgspec.structs.replace(spec, mode=_mode_of(metadata, modes).value)


def containers_of(spec: FluidWorkloadSpec) -> dict[tuple[str, str], ContainerIntent]:
    """Resolve a spec: (role, container) to its size in Git and its policy."""
    return {
        (role.name, container.name): ContainerIntent(
            size=size_of(container.resources),
            policy=from_wire(container.policy),
        )
        for role in spec.roles
        for container in role.containers
    }


def as_mapping(resources: ResourceRequirements | None) -> dict[str, Quantities]:
    """Give `resources` as the engine reads it."""
    if resources is None:
        return {}
    return {"requests": resources.requests or {}, "limits": resources.limits or {}}


def size_of(resources: ResourceRequirements | None) -> Size:
    """Read the size in a container's resources."""
    return size_from_resources(as_mapping(resources))


def as_resources(size: Size) -> ResourceRequirements:
    """Give a size as it stands in an object."""
    return msgspec.convert(resources_from_size(size), ResourceRequirements)


def rank_of(metadata: ObjectMeta) -> Rank:
    """Give the stable identity of a pod of a JobSet; attempts and names do not matter."""
    return Rank(
        role=metadata.label(constants.REPLICATED_JOB),
        job_index=metadata.label(constants.JOB_INDEX),
        completion_index=metadata.label(constants.COMPLETION_INDEX),
    )


def fluid_name(jobset: str) -> str:
    """Give the name of a JobSet's FluidWorkload."""
    return f"{JOBSET_KIND.lower()}-{jobset}"


def _parse(metadata: ObjectMeta) -> Intent:
    try:
        intent = msgspec.json.decode(metadata.annotation(constants.INTENT), type=Intent)
    except msgspec.MsgspecError as error:
        raise _wrong(metadata, str(error)) from error
    if intent.v != VERSION:
        raise _wrong(metadata, f"version {intent.v} is not known here, only {VERSION}")
    return intent


def _wrong(metadata: ObjectMeta, problem: str) -> PolicyError:
    where = Where(document=f"JobSet {metadata.namespace}/{metadata.name}", field=constants.INTENT)
    return PolicyError(problem, where=where)


def _mode_of(metadata: ObjectMeta, modes: set[Mode]) -> Mode:
    """Give the most that any container may get; pausing a workload turns all of it off."""
    if metadata.annotation(constants.PAUSED) == "true":
        return Mode.OFF
    return next((mode for mode in (Mode.AUTO, Mode.RECOMMEND) if mode in modes), Mode.OFF)
