"""Makes an object fluid-enabled where somebody opted in; passes on every other one as it is.

An enrolled workload gets its intent, and the defaults that a create-only webhook puts into its list
of roles: a client-side apply replaces the whole list, and without them a live workload would refuse
every later sync. One that opts out by `"false"` may have been enrolled while it ran: it gets those
defaults as well. Nothing else changes. Idempotent.
"""

from collections.abc import Mapping
from typing import Any

from argocd_fluid.constants import ENABLED, FLUID_RESTART, INTENT
from argocd_fluid.errors import ManifestError
from argocd_fluid.manifests.document import Document, Manifest, get, with_value
from argocd_fluid.manifests.kinds import NAMES, kind_of, known_versions, roles
from argocd_fluid.manifests.layout import Kind
from argocd_fluid.policy.match import first_match
from argocd_fluid.policy.model import Mode
from argocd_fluid.render.annotations import ANNOTATIONS
from argocd_fluid.render.annotations import check as check_annotations
from argocd_fluid.render.intent import canonical, intent_of, policy_of, sized_containers
from argocd_fluid.render.policies import Policies, subject_of
from argocd_fluid.render.refusals import check


def enrolled(document: Document, policies: Policies) -> Manifest:
    """Give the manifest to print. Raises UserError."""
    check_annotations(document)
    wish = _wish(document)
    row = kind_of(document.value)
    if wish is False:
        return _left(document, row)
    if row is None:
        versions = known_versions(document.value)
        if wish and versions:
            where, hint = document.where(("apiVersion",)), f"known: {', '.join(versions)}"
            raise ManifestError("is no version known here", where=where, hint=hint)
        if wish:
            hint = f"it works for {', '.join(NAMES)}"
            where = document.where(ANNOTATIONS)
            raise ManifestError("has no pods to resize", where=where, hint=hint)
        return document.value
    if wish is None and not _is_named_by_rule(document, policies):
        return document.value
    check(document, row, policies)
    intent = intent_of(document, policies)
    if not intent["roles"]:
        hint = row.elsewhere or "a BestEffort container cannot be resized"
        raise ManifestError("no container has cpu or memory", where=document.where(), hint=hint)
    _check_ranks(document, row, intent)
    manifest = _with_annotation(document.value, INTENT, canonical(intent))
    if wish is None:
        # Admission policies and the controller look at the workload, not at fluid.yaml.
        manifest = _with_annotation(manifest, ENABLED, "true")
    return _with_defaults(manifest, row)


def _wish(document: Document) -> bool | None:
    """Say whether the object opts in or out by itself; None: it says nothing."""
    annotations = get(document.value, ANNOTATIONS) or {}
    if annotations.get(ENABLED) == "false":
        return False
    return True if "true" in (annotations.get(ENABLED), annotations.get(FLUID_RESTART)) else None


def _left(document: Document, row: Kind | None) -> Manifest:
    """Give one that opts out; a live one refuses a sync without the defaults, like any other."""
    if row is None or not row.defaults:
        return document.value
    # Raises for another shape than the defaults fit into.
    roles(document)
    return _with_defaults(document.value, row)


def _check_ranks(document: Document, row: Kind, intent: Mapping[str, Any]) -> None:
    """Refuse pods that cannot be told apart: a size is kept for each rank by its index."""
    for role in roles(document) if row.keeps_sizes else ():
        path = (*role.path[:-1], "completionMode")
        policies = [each["policy"] for each in intent["roles"].get(role.name, {}).values()]
        is_resized = any(policy["mode"] != Mode.OFF for policy in policies)
        if is_resized and get(document.value, path) == "NonIndexed":
            problem = "ranks of a NonIndexed job have no identity to keep a size for"
            hint = "use Indexed, or a rule with mode: off for this role"
            raise ManifestError(problem, where=document.where(path), hint=hint)


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


def _with_annotation(manifest: Manifest, key: str, value: str) -> Manifest:
    return dict(with_value(manifest, (*ANNOTATIONS, key), value))


def _with_defaults(manifest: Manifest, row: Kind) -> Manifest:
    result: Any = manifest
    for slot in row.slots if row.defaults else ():
        for index, _ in enumerate(get(manifest, slot.each) or ()):
            for path, default in row.defaults.items():
                whole = (*slot.each, index, *path)
                if get(result, whole) is None:
                    result = with_value(result, whole, default)
    return dict(result)
