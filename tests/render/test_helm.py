"""Helm charts, rendered by the real program."""

import os

import pytest

CHART = "apiVersion: v2\nname: chart\nversion: 0.1.0\n"
SHOWS = """
apiVersion: v1
kind: ConfigMap
metadata: {name: "{{ .Release.Name }}", namespace: "{{ .Release.Namespace }}"}
data:
  a: {{ .Values.a | quote }}
  list: {{ .Values.list | toJson | quote }}
  kube: {{ .Capabilities.KubeVersion.Version }}
  thing: {{ .Capabilities.APIVersions.Has "example.com/v1/Thing" | quote }}
  other: {{ .Capabilities.APIVersions.Has "example.com/v1/Other" | quote }}
"""
FILES = {"Chart.yaml": CHART, "templates/a.yaml": SHOWS, "values.yaml": "a: chart\n"}
VALUES = {"name": "helm.values", "string": "a: inline\n"}
PARAMETERS = {"name": "helm.parameters", "map": {"a": "single"}}


def value_files(*names: str) -> dict:
    return {"name": "helm.valueFiles", "array": list(names)}


@pytest.fixture
def template(generate, write, programs):
    def run(files, *parameters, folder="", **environment):
        write(files)
        return generate(*parameters, folder=folder, **{"PATH": programs, **environment})

    return run


def test_the_release_is_the_application_s(template) -> None:
    [shown] = template(FILES).objects
    assert shown["metadata"] == {"name": "train", "namespace": "research"}
    assert shown["data"] == {
        "a": "chart",
        "list": "null",
        "kube": "v1.36.2",
        "thing": "true",
        "other": "false",
    }


def test_an_application_in_another_namespace_has_a_release_as_well(template) -> None:
    [shown] = template(FILES, ARGOCD_APP_NAME="team_train").objects
    assert shown["metadata"]["name"] == "team-train"


def test_the_release_s_name_can_be_set(template) -> None:
    [shown] = template(FILES, {"name": "helm.releaseName", "string": "other"}).objects
    assert shown["metadata"]["name"] == "other"


STRENGTH = {
    "one file": ([value_files("one.yaml")], "one"),
    "a later file wins": ([value_files("one.yaml", "env/two.yaml")], "two"),
    "values win over files": ([value_files("one.yaml"), VALUES], "inline"),
    "parameters win over all": ([value_files("one.yaml"), PARAMETERS, VALUES], "single"),
}


@pytest.mark.parametrize(("parameters", "value"), STRENGTH.values(), ids=STRENGTH.keys())
def test_which_values_win(parameters, value, template) -> None:
    files = {**FILES, "one.yaml": "a: one\n", "env/two.yaml": "a: two\n"}
    [shown] = template(files, *parameters).objects
    assert shown["data"]["a"] == value


TEXTS = {
    "a comma": ({"a": "x,list=1"}, "a", "x,list=1"),
    "a list": ({"list": "{x,y}"}, "list", '["x","y"]'),
    "an element": ({"list[0]": "x"}, "list", '["x"]'),
}


@pytest.mark.parametrize(("given", "key", "value"), TEXTS.values(), ids=TEXTS.keys())
def test_what_a_parameter_says(given, key, value, template) -> None:
    [shown] = template(FILES, {"name": "helm.parameters", "map": given}).objects
    assert shown["data"][key] == value


def test_custom_resource_definitions_are_rendered(template) -> None:
    crd = (
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n"
        "metadata: {name: things.example.com}\n"
    )
    kinds = [each["kind"] for each in template({**FILES, "crds/thing.yaml": crd}).objects]
    assert kinds == ["CustomResourceDefinition", "ConfigMap"]


def test_a_chart_in_the_charts_directory_is_rendered(template) -> None:
    dependency = 'dependencies: [{name: part, version: 0.1.0, repository: "https://example.com"}]\n'
    files = {
        **FILES,
        "Chart.yaml": CHART + dependency,
        "charts/part/Chart.yaml": CHART.replace("chart", "part"),
        "charts/part/templates/b.yaml": SHOWS.replace("Release.Name }}", "Release.Name }}-part"),
    }
    names = sorted(each["metadata"]["name"] for each in template(files).objects)
    assert names == ["train", "train-part"]


def test_a_missing_dependency_is_told_and_not_fetched(template) -> None:
    dependency = 'dependencies: [{name: part, version: 0.1.0, repository: "http://127.0.0.1:1"}]\n'
    problem = template({**FILES, "Chart.yaml": CHART + dependency}).problem
    assert "missing in charts/ directory: part" in problem
    assert "dependencies are never fetched: commit what" in problem


REFUSED = {
    "out of the directory": (value_files("../secret.yaml"), "leads out of the application's"),
    "absolute": (value_files("/etc/passwd"), "leads out of the application's"),
    "an address": (value_files("https://example.com/v.yaml"), "does not exist"),
    "missing": (value_files("nothing.yaml"), "helm.valueFiles: nothing.yaml: does not exist"),
    "a directory": (value_files("templates"), "is no file"),
    "a NUL": (value_files("a\0b"), "is no path"),
    "values that are a list": ({"name": "helm.values", "string": "- a"}, "is no mapping"),
    "values that are no YAML": ({"name": "helm.values", "string": "\n{a"}, "line 3: is no YAML"),
    "a flag": ({"name": "helm.releaseName", "string": "--post-renderer=x"}, "begins with a dash"),
    "a name that is none": ({"name": "helm.releaseName", "string": "A b"}, "invalid release name"),
    "a parameter that is none": (
        {"name": "helm.parameters", "map": {"a[x]": "1"}},
        "failed parsing",
    ),
}


@pytest.mark.parametrize(("parameter", "problem"), REFUSED.values(), ids=REFUSED.keys())
def test_a_wrong_parameter_is_told(parameter, problem, template, write) -> None:
    write({"secret.yaml": "a: secret\n"})
    files = {f"app/{name}": content for name, content in FILES.items()}
    assert problem in template(files, parameter, folder="app").problem


BROKEN = {
    "fail": ('{{ fail "no size" }}', "no size"),
    "required": ('{{ required "size is needed" .Values.size }}', "size is needed"),
    "syntax": ("{{ nope }}", 'function "nope" not defined'),
    "no YAML": ("a: b: c", "b.yaml"),
    "no kind": ("metadata: {name: a}", "it has no apiVersion"),
    "no mapping": ("- a", "b.yaml"),
}


@pytest.mark.parametrize(("text", "problem"), BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_template_is_told(text, problem, template, tmp_path) -> None:
    told = template({**FILES, "templates/b.yaml": text}).problem
    assert problem in told
    assert str(tmp_path) not in told


def test_a_chart_without_a_version_is_told(template) -> None:
    assert "chart.metadata" in template({**FILES, "Chart.yaml": "name: x\n"}).problem


@pytest.mark.parametrize("place", ["files/a", "templates/b.yaml", "charts/x.tgz"])
def test_a_link_out_of_the_chart_is_refused(place, template, tmp_path, write) -> None:
    write({"secret": "a: secret\n", f"app/{place}": ""})
    (tmp_path / "app" / place).unlink()
    (tmp_path / "app" / place).symlink_to(tmp_path / "secret")
    files = {f"app/{name}": content for name, content in FILES.items()}
    problem = template(files, folder="app").problem
    assert problem == f"{place}: leads out of the application's directory"


def test_a_linked_directory_is_refused(template, tmp_path) -> None:
    (tmp_path / "files").symlink_to("/etc")
    assert template(FILES).problem == "files: leads out of the application's directory"


def test_a_pipe_in_a_chart_does_not_hang(template, tmp_path, write) -> None:
    write(FILES)
    os.mkfifo(tmp_path / "templates" / "pipe")
    assert template(FILES).problem == "templates/pipe: is no file"


def test_the_cluster_and_the_process_are_out_of_reach(template) -> None:
    text = """
apiVersion: v1
kind: ConfigMap
metadata: {name: reached}
data:
  found: {{ lookup "v1" "Secret" "" "" | toJson | quote }}
  host: {{ getHostByName "localhost" | quote }}
"""
    reached = template({**FILES, "templates/a.yaml": text}, ARGOCD_ENV_X="hunter2").objects[0]
    assert reached["data"] == {"found": "{}", "host": ""}
    problem = template({**FILES, "templates/a.yaml": '{{ env "HOME" }}'}).problem
    assert 'function "env" not defined' in problem


def test_without_the_program_it_is_told(template, tmp_path) -> None:
    done = template(FILES, PATH=str(tmp_path))
    assert done.problem == (
        "there is no program helm to run helm template with "
        "(the sidecar's image needs helm on its PATH)"
    )


def test_a_template_without_end_is_ended(template) -> None:
    text = "{{ range until 1000000 }}{{ range until 1000000 }}x{{ end }}{{ end }}"
    files = {**FILES, "templates/b.yaml": text}
    problem = template(files, {"name": "timeout", "string": "2s"}).problem
    assert "helm template" in problem


def test_what_git_keeps_beside_a_chart_does_not_count(template, tmp_path, write) -> None:
    write({".git/config": ""})
    with (tmp_path / ".git" / "pack").open("wb") as file:
        file.truncate(1 << 27)
    assert len(template({**FILES, ".helmignore": ".git\n"}).objects) == 1
