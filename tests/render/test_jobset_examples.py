"""The JobSet project's own manifests, read from its Go module where the bench has it."""

import os
import re
from dataclasses import replace
from pathlib import Path

import pytest
from argocd_fluid.constants import ENABLED, INTENT
from argocd_fluid.errors import ManifestError, UserError
from argocd_fluid.manifests.document import get, with_value
from argocd_fluid.manifests.kinds import flattened, kind_of, roles
from argocd_fluid.manifests.reader import read
from argocd_fluid.policy.schema import read_policy
from argocd_fluid.render.enrol import enrolled
from argocd_fluid.render.intent import amounts_of
from argocd_fluid.render.policies import Policies

GO_MOD = Path(__file__).parents[1] / "bench" / "go" / "kubernetes" / "go.mod"
MODULES = Path(os.environ.get("GOMODCACHE") or Path.home() / "go" / "pkg" / "mod")
BLOCK = re.compile(r"^```ya?ml\n(.*?)^```", re.DOTALL | re.MULTILINE)
POLICY = b"""\
apiVersion: argocd-fluid.io/v1alpha1
kind: FluidPolicy
spec:
  rules:
  - match: {kind: JobSet}
"""


def module():
    version = re.search(r"sigs\.k8s\.io/jobset (v\S+)", GO_MOD.read_text())[1]
    return MODULES / "sigs.k8s.io" / f"jobset@{version}"


def texts():
    """Give what its design documents and samples show, whole or in part."""
    for file in sorted(module().rglob("*.md")):
        for found in BLOCK.finditer(file.read_text()):
            yield str(file.relative_to(module())), found[1]
    for file in sorted(module().glob("**/examples/**/*.yaml")):
        yield str(file.relative_to(module())), file.read_text()


@pytest.fixture
def jobsets():
    """Give every JobSet among them that can be read; many are cut short on purpose."""
    if not module().is_dir():
        pytest.skip(f"the module cache has no {module().name}")
    found = []
    for file, text in texts():
        if "kind: JobSet" not in text:
            continue
        try:
            documents = list(flattened(read(text.encode(), file)))
            found.extend(each for each in documents if kind_of(each.value) and _has_pods(each))
        except ManifestError:
            continue
    return found


def _has_pods(document):
    return any(role.containers for role in roles(document))


def expected(document, rendered):
    """Give the source with what enrolment adds, and nothing else."""
    value = document.value
    for key, text in ((ENABLED, "true"), (INTENT, rendered["metadata"]["annotations"][INTENT])):
        value = with_value(value, ("metadata", "annotations", key), text)
    for index, role in enumerate(value["spec"]["replicatedJobs"]):
        job = ("spec", "replicatedJobs", index, "template", "spec")
        if "completionMode" not in role["template"]["spec"]:
            value = with_value(value, (*job, "completionMode"), "Indexed")
        if "restartPolicy" not in role["template"]["spec"]["template"]["spec"]:
            value = with_value(value, (*job, "template", "spec", "restartPolicy"), "OnFailure")
    return value


def test_they_pass_unchanged_where_nobody_opts_in(jobsets) -> None:
    assert len(jobsets) >= 5
    for document in jobsets:
        assert enrolled(document, Policies()) == document.value


def test_they_are_unchanged_but_for_the_enrolment(jobsets) -> None:
    [policy] = read(POLICY, "fluid.yaml")
    policies = Policies(file=read_policy(policy))
    for document in jobsets:
        sized = _sized(document)
        try:
            rendered = enrolled(sized, policies)
        except UserError as error:
            pytest.fail(f"{document.file}: {error}")
        assert rendered == expected(sized, rendered)


def _sized(document):
    """Give every container without a size one: most of the examples have none."""
    value = document.value
    for role in roles(document):
        for container in role.containers:
            if not amounts_of(document, container):
                path = (*container.resources, "requests")
                given = get(value, path) or {}
                value = with_value(value, path, {**given, "cpu": "1", "memory": "1Gi"})
    return replace(document, value=value)
