"""Makes an object fluid-enabled where somebody opted in; passes on every other one as it is.

An enrolled workload gets its intent, and a JobSet two defaults that JobSet's create-only webhook
puts into a list: a client-side apply replaces the whole list, and without them a live JobSet would
refuse every later sync. Nothing else changes. Idempotent.
"""

from collections.abc import Mapping
from typing import Any, Final

from argocd_fluid.constants import ENABLED, FLUID_RESTART, INTENT
from argocd_fluid.errors import ManifestError
from argocd_fluid.manifests.document import Document, Manifest, Path, get, with_value
from argocd_fluid.manifests.kinds import KINDS, Kind, Role, kind_of, roles
from argocd_fluid.policy.match import first_match
from argocd_fluid.policy.model import Mode
from argocd_fluid.render.intent import canonical, intent_of, policy_of, sized_containers
from argocd_fluid.render.policies import Policies, subject_of

ANNOTATIONS: Final[Path] = ("metadata", "annotations")
JOBSET_DEFAULTS: Final[Mapping[Path, str]] = {
    ("template", "spec", "completionMode"): "Indexed",
    ("template", "spec", "template", "spec", "restartPolicy"): "OnFailure",
}


def enrolled(document: Document, policies: Policies) -> Manifest:
    """Give the manifest to print. Raises UserError."""
    wish = _wish(document)
    if wish is False:
        return document.value
    row = kind_of(document.value)
    if row is None:
        if wish:
            hint = f"it works for {', '.join(KINDS)}"
            where = document.where(ANNOTATIONS)
            raise ManifestError("has no pods to resize", where=where, hint=hint)
        return document.value
    if wish is None and not _is_named_by_rule(document, policies):
        return document.value
    for role in roles(document):
        _check_resize_policies(document, row, role)
    intent = intent_of(document, policies)
    if not intent["roles"]:
        hint = "a BestEffort container cannot be resized"
        raise ManifestError("no container has cpu or memory", where=document.where(), hint=hint)
    manifest = _with_annotation(document.value, INTENT, canonical(intent))
    if wish is None:
        # Admission policies and the controller look at the workload, not at fluid.yaml.
        manifest = _with_annotation(manifest, ENABLED, "true")
    return _with_jobset_defaults(manifest)


def _wish(document: Document) -> bool | None:
    """Say whether the object opts in or out by itself; None: it says nothing."""
    annotations = get(document.value, ANNOTATIONS)
    if annotations is None:
        return None
    if not isinstance(annotations, dict):
        raise ManifestError("is no mapping", where=document.where(ANNOTATIONS))
    wishes = {}
    for key in (ENABLED, FLUID_RESTART):
        value = annotations.get(key)
        if value not in (None, "true", "false"):
            where = document.where((*ANNOTATIONS, key))
            problem = f'{value!r} is neither "true" nor "false"'
            raise ManifestError(problem, where=where, hint="quote it: annotations are text")
        wishes[key] = value
    if wishes[ENABLED] == "false":
        return False
    return True if "true" in wishes.values() else None


def _is_named_by_rule(document: Document, policies: Policies) -> bool:
    """Whether a rule of `fluid.yaml` wants any container of it resized."""
    for role in roles(document):
        for container, amounts in sized_containers(document, role):
            subject = subject_of(document, role.name, container.name)
            rule = first_match(policies.file.rules, subject)
            if rule is None or not rule.names_kind:
                continue
            policy = policy_of(document, policies, role.name, container.name, amounts)
            if policy.mode is not Mode.OFF:
                return True
    return False


def _check_resize_policies(document: Document, row: Kind, role: Role) -> None:
    if not row.is_batch:
        return
    for container in role.containers:
        listed = container.value.get("resizePolicy")
        for index, item in enumerate(listed if isinstance(listed, list) else ()):
            if get(item, ("restartPolicy",)) == "RestartContainer":
                where = document.where((*container.path, "resizePolicy", index, "restartPolicy"))
                hint = "leave it out: the default, NotRequired, resizes without a restart"
                raise ManifestError("a resize would restart the rank", where=where, hint=hint)


def _with_annotation(manifest: Manifest, key: str, value: str) -> Manifest:
    return dict(with_value(manifest, (*ANNOTATIONS, key), value))


def _with_jobset_defaults(manifest: Manifest) -> Manifest:
    if manifest["kind"] != "JobSet":
        return manifest
    result: Any = manifest
    for index, _ in enumerate(get(manifest, ("spec", "replicatedJobs")) or ()):
        for path, default in JOBSET_DEFAULTS.items():
            whole = ("spec", "replicatedJobs", index, *path)
            if get(result, whole) is None:
                result = with_value(result, whole, default)
    return dict(result)
