"""Checks of `fluid.yaml` itself: what in it is for nothing that the directory has."""

from collections.abc import Iterable, Iterator

from argocd_fluid.errors import Where
from argocd_fluid.manifests.document import Document
from argocd_fluid.policy.match import Policy, matches
from argocd_fluid.render.policies import subject_of
from argocd_fluid.render.rules.workload import Workload


def idle_rules(policy: Policy, workloads: Iterable[Workload]) -> Iterator[tuple[Where, str]]:
    """Find rules that match no container."""
    subjects = [
        subject_of(workload.document, role.name, container.name)
        for workload in workloads
        for role, container in workload.containers()
    ]
    for rule in policy.rules:
        if not any(matches(rule.match, subject) for subject in subjects):
            yield rule.where, "no container of the directory matches the rule"


def idle_patches(policy: Policy, documents: Iterable[Document]) -> Iterator[tuple[Where, str]]:
    """Find JSON patches that match no object."""
    values = [document.value for document in documents]
    for patch in policy.patches:
        if not any(patch.is_for(value) for value in values):
            yield patch.where, "no object of the directory matches the patch"
