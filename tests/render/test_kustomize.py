"""Kustomize directories, built by the real kubectl."""

import os
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

CONFIG_MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\n"
REMOTE = {"name": "allowRemoteBases", "string": "true"}


@pytest.fixture
def build(generate, write, programs):
    def run(files, *parameters, folder="", **environment):
        write(files)
        return generate(*parameters, folder=folder, **{"PATH": programs, **environment})

    return run


@pytest.fixture
def address():
    """A web server on this machine, and what it was asked for."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write((CONFIG_MAP % "fetched").encode())

        def log_message(self, *_):
            pass

    asked = []
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever).start()
        yield f"http://127.0.0.1:{server.server_port}", asked
        server.shutdown()


@pytest.mark.parametrize("name", ["kustomization.yaml", "kustomization.yml", "Kustomization"])
def test_a_kustomization_is_built(name, build) -> None:
    done = build({name: "resources: [a.yaml]\nnamePrefix: x-\n", "a.yaml": CONFIG_MAP % "a"})
    assert [each["metadata"]["name"] for each in done.objects] == ["x-a"]


def test_jobsets_of_a_kustomization_are_enrolled(build) -> None:
    jobset = """
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: train}
spec:
  replicatedJobs:
  - name: workers
    template: {spec: {template: {spec: {containers: [
      {name: trainer, image: i, resources: {requests: {cpu: "1"}}}]}}}}
"""
    policy = (
        "apiVersion: argocd-fluid.io/v1alpha1\nkind: FluidPolicy\n"
        "spec: {rules: [{match: {kind: JobSet}}]}\n"
    )
    kustomization = (
        "resources: [a.yaml]\n"
        'commonAnnotations: {argocd-fluid.io/enabled: "true", link: "https://example.com"}\n'
    )
    [built] = build(
        {"kustomization.yaml": kustomization, "a.yaml": jobset, "fluid.yaml": policy}
    ).objects
    assert '"cpu":"1"' in built["metadata"]["annotations"]["argocd-fluid.io/intent"]


def test_an_overlay_reaches_a_base_in_the_same_repository(build) -> None:
    done = build(
        {
            ".git/HEAD": "",
            "base/kustomization.yaml": "resources: [a.yaml]\n",
            "base/a.yaml": CONFIG_MAP % "a",
            "apps/dev/kustomization.yaml": "resources: [../../base]\nnameSuffix: -dev\n",
        },
        folder="apps/dev",
    )
    assert [each["metadata"]["name"] for each in done.objects] == ["a-dev"]


def test_the_sidecar_s_copy_of_the_repository_is_its_bound(build) -> None:
    files = {
        "_cmp_server/one/base/kustomization.yaml": "resources: [a.yaml]\n",
        "_cmp_server/one/base/a.yaml": CONFIG_MAP % "a",
        "_cmp_server/one/app/kustomization.yaml": "resources: [../base]\n",
        "_cmp_server/two/app/kustomization.yaml": "resources: [../../one/base]\n",
    }
    assert len(build(files, folder="_cmp_server/one/app").objects) == 1
    refused = build(files, folder="_cmp_server/two/app").problem
    assert "'../../one/base' leads out of the repository" in refused


ADDRESSES = {
    "https": "resources: [https://example.com/a.yaml]",
    "http": "resources: [http://127.0.0.1:1/a.yaml]",
    "github": "resources: [github.com/org/repository//base?ref=v1]",
    "github in capitals": "resources: [GitHub.com/org/repository]",
    "ssh": "resources: [git@example.com:org/repository]",
    "git over ssh": "resources: [ssh://git@example.com/org/repository]",
    "file": "resources: [file:///etc]",
    "getter": "resources: ['git::https://example.com/x']",
    "bases": "bases: [https://example.com/x]",
    "components": "components: [https://example.com/x]",
    "crds": "crds: [https://example.com/x.json]",
    "configurations": "configurations: [https://example.com/x]",
    "openapi": "openapi: {path: https://example.com/x}",
    "patches": "patches: [{path: https://example.com/x}]",
    "json patches": "patchesJson6902: [{path: https://example.com/x, target: {kind: X, name: y}}]",
    "merge patches": "patchesStrategicMerge: [https://example.com/x]",
    "replacements": "replacements: [{path: https://example.com/x}]",
    "files of a generator": "configMapGenerator: [{name: a, files: ['k=https://example.com/x']}]",
    "envs of a generator": "secretGenerator: [{name: a, envs: [https://example.com/x]}]",
    "generators": "generators: [https://example.com/x]",
    "transformers": "transformers: [https://example.com/x]",
    "inline generator": "generators:\n- |-\n  apiVersion: builtin\n  kind: ConfigMapGenerator\n"
    "  metadata: {name: a}\n  name: a\n  files: ['k=https://example.com/x']\n",
}


@pytest.mark.parametrize("text", ADDRESSES.values(), ids=ADDRESSES.keys())
def test_nothing_is_fetched(text, build) -> None:
    problem = build({"kustomization.yaml": text}).problem
    assert problem.startswith("kustomization.yaml:")
    assert "set the parameter allowRemoteBases" in problem


def test_nothing_is_fetched_for_a_base_either(build) -> None:
    files = {
        "kustomization.yaml": "resources: [base]\n",
        "base/kustomization.yaml": "components: [../part]\n",
        "part/kustomization.yaml": "kind: Component\nresources: [https://example.com/a.yaml]\n",
    }
    assert build(files).problem.startswith("part/kustomization.yaml:2: ")


def test_nothing_is_fetched_for_a_generator_in_a_file(build) -> None:
    generator = (
        "apiVersion: builtin\nkind: ConfigMapGenerator\nmetadata: {name: a}\nname: a\n"
        "files: ['k=https://example.com/x']\n"
    )
    files = {"kustomization.yaml": "generators: [g.yaml]\n", "g.yaml": generator}
    assert build(files).problem.startswith("g.yaml:5: ")


def test_nothing_is_fetched_for_a_generator_behind_a_directory(build, address) -> None:
    url, asked = address
    generator = (
        "apiVersion: builtin\nkind: ConfigMapGenerator\nmetadata: {name: a}\nname: a\n"
        f"files: ['k={url}/x']\n"
    )
    files = {
        "kustomization.yaml": "generators: [part]\n",
        "part/kustomization.yaml": "resources: [g.yaml]\n",
        "part/g.yaml": generator,
    }
    assert build(files).problem.startswith("part/g.yaml:5: ")
    assert asked == []


def test_a_remote_base_is_fetched_where_it_is_allowed(build, address) -> None:
    url, asked = address
    files = {"kustomization.yaml": f"resources: [{url}/a.yaml]\n"}
    assert "is remote" in build(files).problem
    assert asked == []
    [built] = build(files, REMOTE).objects
    assert built["metadata"]["name"] == "fetched"
    assert asked == ["/a.yaml"]


OUTSIDE = {
    "file": "resources: [../secret.yaml]",
    "directory": "resources: [../other]",
    "absolute": "resources: [/etc/passwd]",
    "data": "configMapGenerator: [{name: a, files: [../secret.yaml]}]",
    "data with a key": "configMapGenerator: [{name: a, files: [k=../secret.yaml]}]",
    "environment": "configMapGenerator: [{name: a, env: ../secret.yaml}]",
    "patch": "patches: [{path: ../secret.yaml}]",
}


@pytest.mark.parametrize("text", OUTSIDE.values(), ids=OUTSIDE.keys())
def test_nothing_outside_is_read(text, build) -> None:
    files = {
        "app/.git/HEAD": "",
        "app/kustomization.yaml": text,
        "secret.yaml": CONFIG_MAP % "secret",
        "other/kustomization.yaml": "resources: []",
    }
    assert "leads out of the repository" in build(files, folder="app").problem


def test_a_link_out_is_not_followed(build, tmp_path, write) -> None:
    write({"secret.yaml": CONFIG_MAP % "secret", "app/.git/HEAD": ""})
    (tmp_path / "app" / "a.yaml").symlink_to("../secret.yaml")
    files = {"app/kustomization.yaml": "resources: [a.yaml]\n"}
    assert "leads out of the repository" in build(files, folder="app").problem


def test_a_link_to_another_directory_s_file_is_not_followed(build, tmp_path, write) -> None:
    write({"other/a.yaml": CONFIG_MAP % "a", ".git/HEAD": "", "app/kustomization.yaml": ""})
    (tmp_path / "app" / "a.yaml").symlink_to("../other/a.yaml")
    files = {"app/kustomization.yaml": "resources: [a.yaml]\n"}
    # In the repository, but not below the kustomization: LoadRestrictionsRootOnly holds.
    assert "is not in or below" in build(files, folder="app").problem


HELM = {
    "charts": "helmCharts: [{name: x, repo: https://example.com, version: 1.0.0}]",
    "generator": "helmChartInflationGenerator: [{chartName: x}]",
}


@pytest.mark.parametrize("text", HELM.values(), ids=HELM.keys())
def test_helm_is_not_run_by_kustomize(text, build) -> None:
    assert (
        "Helm charts are not inflated by Kustomize" in build({"kustomization.yaml": text}).problem
    )


FUNCTION = """
apiVersion: example.com/v1
kind: Thing
metadata:
  name: x
  annotations: {config.kubernetes.io/function: "%s"}
"""
FUNCTIONS = {
    "exec": FUNCTION % "exec: {path: ./run}",
    "container": FUNCTION % "container: {image: x}",
    "plugin": FUNCTION.replace("annotations", "labels"),
}


@pytest.mark.parametrize("key", ["generators", "transformers", "validators"])
@pytest.mark.parametrize("text", FUNCTIONS.values(), ids=FUNCTIONS.keys())
def test_plugins_and_functions_are_not_run(key, text, build, write, tmp_path) -> None:
    write({"run": f"#!/bin/sh\ntouch {tmp_path}/ran\n"})
    (tmp_path / "run").chmod(0o755)
    files = {"kustomization.yaml": f"{key}: [f.yaml]\nresources: [a.yaml]\n", "f.yaml": text,
             "a.yaml": CONFIG_MAP % "a"}  # fmt: skip
    assert "kustomize build failed: " in build(files).problem
    assert not (tmp_path / "ran").exists()


BROKEN = {
    "missing file": ("resources: [a.yaml]", "kustomization.yaml:1: resources[0]: 'a.yaml' does"),
    "unknown field": ("resourcez: [a.yaml]", "unknown field"),
    "no YAML": ("a: b: c", "kustomization.yaml:1: is no YAML"),
    "a list": ("- a", "kustomization.yaml:1: is no object"),
    "itself": ("resources: [.]", "cycle detected"),
    "empty": ("", "kustomization.yaml is empty"),
}


@pytest.mark.parametrize(("text", "problem"), BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_one_is_told(text, problem, build, tmp_path) -> None:
    told = build({"kustomization.yaml": text}).problem
    assert problem in told
    assert str(tmp_path) not in told


def test_a_pipe_among_its_resources_does_not_hang(build, tmp_path) -> None:
    os.mkfifo(tmp_path / "a.yaml")
    assert "is no file" in build({"kustomization.yaml": "resources: [a.yaml]\n"}).problem


def test_a_circle_of_bases_ends(build) -> None:
    files = {
        "kustomization.yaml": "resources: [a]\n",
        "a/kustomization.yaml": "resources: [..]\n",
    }
    started = time.monotonic()
    assert "cycle detected" in build(files).problem
    assert time.monotonic() - started < 20


def test_without_the_program_it_is_told(build, tmp_path) -> None:
    (tmp_path / "empty").mkdir()
    done = build({"kustomization.yaml": "resources: []\n"}, PATH=str(tmp_path / "empty"))
    assert done.problem.startswith("there is no program kubectl to run kustomize build with (")


def test_kustomize_itself_is_preferred(build, tmp_path, programs) -> None:
    """With the words that the real program takes; what stands in for it here only shows them."""
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "kustomize"
    program.write_text('#!/bin/sh\nshift 1\nexec kubectl kustomize "$@"\n')
    program.chmod(0o755)
    done = build(
        {"kustomization.yaml": "resources: [a.yaml]\n", "a.yaml": CONFIG_MAP % "a"},
        PATH=f"{tmp_path / 'bin'}:{programs}",
    )
    assert len(done.objects) == 1
