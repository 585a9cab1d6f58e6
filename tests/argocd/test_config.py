"""What `argocd-fluid config` prints is whole, and goes where it was asked to go."""

import argparse

import argocd_fluid
import pytest
import yaml
from argocd_fluid.argocd import config, data, policies, settings

SHARD = "argocd-fluid.io/shard"


def _print(*arguments):
    parser = argparse.ArgumentParser()
    config.add_arguments(parser)
    return list(yaml.safe_load_all(config.run(parser.parse_args(arguments))))


def _namespaces(objects):
    found = {o["metadata"].get("namespace") for o in objects}
    found |= {s["namespace"] for o in objects for s in o.get("subjects", [])}
    found |= {o["metadata"]["name"] for o in objects if o["kind"] == "Namespace"}
    return found - {None}


def test_all_is_every_part_but_the_patch():
    parts = [_print(part) for part in ("crds", "rbac", "policies", "argocd-cm", "plugin")]
    assert _print("all") == [manifest for part in parts for manifest in part]


@pytest.mark.parametrize(
    ("part", "namespaces"),
    [
        ("rbac", {"argocd-fluid"}),
        ("argocd-cm", {"argocd"}),
        ("plugin", {"argocd"}),
        ("all", {"argocd-fluid", "argocd"}),
    ],
)
def test_namespace_is_replaced_everywhere(part, namespaces):
    assert _namespaces(_print(part)) == namespaces
    assert _namespaces(_print(part, "--namespace", "elsewhere")) == {"elsewhere"}


def test_every_shard_has_one_binding_and_the_pods_without_one_have_their_own():
    bindings = {
        manifest["metadata"]["name"]: manifest["spec"]
        for manifest in _print("policies")
        if manifest["kind"].endswith("Binding")
        and manifest["spec"]["policyName"] == "argocd-fluid-size-pods"
    }
    unsharded = bindings.pop("argocd-fluid-size-pods-unsharded")
    assert unsharded["paramRef"]["selector"] == {}
    without = {"matchExpressions": [{"key": SHARD, "operator": "DoesNotExist"}]}
    assert unsharded["matchResources"]["objectSelector"] == without
    assert len(bindings) == 16
    for digit in policies.SHARDS:
        spec = bindings[f"argocd-fluid-size-pods-{digit}"]
        selector = {"matchLabels": {SHARD: digit}}
        assert spec["paramRef"]["selector"] == selector
        assert spec["matchResources"]["objectSelector"] == selector


def test_policies_have_the_version_that_the_server_has():
    versions = {
        manifest["apiVersion"] for manifest in _print("policies", "--admission-api=v1beta1")
    }
    assert versions == {"admissionregistration.k8s.io/v1beta1"}


def test_every_health_script_is_in_argocd_cm_letter_by_letter():
    keys = yaml.safe_load(settings.argocd_cm("argocd"))["data"]
    scripts = list(data.folder("lua-health").glob("*/*/health.lua"))
    assert scripts
    for script in scripts:
        key = f"resource.customizations.health.{script.parts[-3]}_{script.parts[-2]}"
        assert keys[key] == script.read_text()


def test_plugin_has_the_version_of_the_package():
    plugin = yaml.safe_load(_print("plugin")[0]["data"]["plugin.yaml"])
    assert plugin["spec"]["version"] == f"v{argocd_fluid.__version__}"


def test_example_application_names_the_plugin_as_argo_cd_does():
    plugin = yaml.safe_load(data.text("plugin.yaml"))
    application = yaml.safe_load(data.text("application.yaml"))
    name = f"{plugin['metadata']['name']}-{plugin['spec']['version']}"
    assert application["spec"]["source"]["plugin"]["name"] == name


def test_controller_may_write_to_pods_only_through_resize():
    role = next(manifest for manifest in _print("rbac") if manifest["kind"] == "ClusterRole")
    writes = {"create", "update", "patch", "delete", "deletecollection"}
    writable = {
        r for rule in role["rules"] if writes & set(rule["verbs"]) for r in rule["resources"]
    }
    assert writable == {"pods/resize", "fluidworkloads", "fluidworkloads/status"}
    everything = {r for rule in role["rules"] for r in (*rule["resources"], *rule["verbs"])}
    assert not everything & {"*", "nodes/proxy", "pods/exec", "secrets"}
