"""The controller's account may do what it does, and nothing that would let it do more."""

import pytest
import yaml
from argocd_fluid.argocd import config

pytestmark = pytest.mark.bench

NAMESPACE = "fluid-rbac"
ALLOWED = [
    ("", "pods", "list"),
    ("", "pods/resize", "patch"),
    ("", "nodes/stats", "get"),
    ("jobset.x-k8s.io", "jobsets", "watch"),
    ("argocd-fluid.io", "fluidworkloads", "create"),
    ("argocd-fluid.io", "fluidworkloads/status", "patch"),
]
FORBIDDEN = [
    ("", "pods", "patch"),
    ("", "pods", "delete"),
    ("", "pods/exec", "create"),
    ("", "nodes", "patch"),
    ("", "nodes/proxy", "get"),
    ("", "secrets", "get"),
    ("", "events", "create"),
    ("coordination.k8s.io", "leases", "update"),
    ("jobset.x-k8s.io", "jobsets", "patch"),
]


@pytest.fixture(scope="module")
def review(control_plane):
    """Ask the real authorizer about the account of `config rbac`."""
    api = control_plane.client()
    for manifest in yaml.safe_load_all(config.rbac(NAMESPACE)):
        api.apply(manifest)

    def allowed(group, resource, verb, *, namespace=""):
        resource, _, subresource = resource.partition("/")
        attributes = {
            "namespace": namespace,
            "group": group,
            "resource": resource,
            "subresource": subresource,
            "verb": verb,
        }
        user = f"system:serviceaccount:{NAMESPACE}:argocd-fluid"
        review = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SubjectAccessReview",
            "spec": {"user": user, "resourceAttributes": attributes},
        }
        path = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
        return api.request("POST", path, body=review)["status"]["allowed"]

    # The authorizer reads roles from a watch.
    api.wait_for("the account's rights", lambda: allowed("", "pods", "list"))
    return allowed


@pytest.mark.parametrize(("group", "resource", "verb"), ALLOWED)
def test_account_may(review, group, resource, verb):
    assert review(group, resource, verb)


@pytest.mark.parametrize(("group", "resource", "verb"), FORBIDDEN)
def test_account_may_not(review, group, resource, verb):
    assert not review(group, resource, verb)
