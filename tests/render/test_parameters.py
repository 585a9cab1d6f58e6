import json
import os
import subprocess
import sys

import pytest
from argocd_fluid.cli import main
from argocd_fluid.errors import PolicyError
from argocd_fluid.render.parameters import PARAMETERS, Parameters, read_parameters

SAID_NOTHING = {
    "absent": {},
    "empty": {"ARGOCD_APP_PARAMETERS": ""},
    "null": {"ARGOCD_APP_PARAMETERS": "null"},
    "no item": {"ARGOCD_APP_PARAMETERS": "[]"},
    "items without content": {
        "ARGOCD_APP_PARAMETERS": json.dumps([{"name": each.name} for each in PARAMETERS])
    },
}


@pytest.mark.parametrize(("name", "environment"), SAID_NOTHING.items(), ids=SAID_NOTHING.keys())
def test_defaults_hold_where_the_application_says_nothing(name, environment) -> None:
    # The announced time limit is the default; an environment variable may still change it.
    timeout_s = 45.0 if name == "items without content" else None
    assert read_parameters(environment) == Parameters(timeout_s=timeout_s)


READ = {
    "a flag": ("allowEmpty", "string", "true", "allow_empty", True),
    "all directories": ("recurse", "string", "true", "recurse", "**"),
    "no directories": ("recurse", "string", "false", "recurse", ""),
    "some directories": ("recurse", "string", "envs/*", "recurse", "envs/*"),
    "a duration": ("timeout", "string", "1m30s", "timeout_s", 90.0),
    "a list": ("helm.valueFiles", "array", ["a", "b"], "helm_value_files", ("a", "b")),
    "a map": ("params", "map", {"size": "3"}, "template", {"size": "3"}),
    "a block": ("helm.values", "string", "a: 1\n", "helm_values", "a: 1\n"),
}


@pytest.mark.parametrize(("name", "form", "content", "field", "value"), READ.values(), ids=READ)
def test_a_parameter_is_read(name, form, content, field, value) -> None:
    given = [{"name": name, form: content}]
    read = read_parameters({"ARGOCD_APP_PARAMETERS": json.dumps(given)})
    assert getattr(read, field) == value


REFUSED = {
    "misspelt": ('[{"name": "allowempty", "string": "true"}]', "did you mean allowEmpty"),
    "unknown": ('[{"name": "x", "string": "true"}]', "known are: allowEmpty, recurse, timeout, "),
    "no boolean": ('[{"name": "allowEmpty", "string": "yes"}]', "neither true nor false"),
    "a list": ('[{"name": "allowEmpty", "array": ["true"]}]', "a text, under the key string"),
    "no list at all": ('[{"name": "helm.valueFiles", "string": "a"}]', "under the key array"),
    "a list of numbers": ('[{"name": "helm.valueFiles", "array": [1]}]', "a list of texts"),
    "a map of numbers": ('[{"name": "params", "map": {"a": 1}}]', "a map of texts"),
    "twice": ('[{"name": "params", "map": {}}, {"name": "params"}]', "params: is given twice"),
    "no duration": ('[{"name": "timeout", "string": "45"}]', "no duration above zero"),
    "no time": ('[{"name": "timeout", "string": "0s"}]', "no duration above zero"),
    "out of the directory": ('[{"name": "recurse", "string": "a/../../b"}]', "leaves"),
    "an absolute directory": ('[{"name": "recurse", "string": "/etc"}]', "leaves"),
    "no name": ('[{"string": "true"}]', "no name"),
    "no list": ('{"name": "allowEmpty"}', "is no list"),
    "no JSON": ("allowEmpty=true", "is no JSON"),
    "nested deeply": ("[" * 100_000, "is no JSON"),
}


@pytest.mark.parametrize(("text", "problem"), REFUSED.values(), ids=REFUSED.keys())
def test_a_wrong_parameter_is_told(text, problem) -> None:
    with pytest.raises(PolicyError, match=problem):
        read_parameters({"ARGOCD_APP_PARAMETERS": text})


@pytest.mark.parametrize("parameter", PARAMETERS, ids=lambda parameter: parameter.name)
def test_an_error_keeps_the_value_to_itself(parameter) -> None:
    wrong = {"string": "array", "array": "string", "map": "string"}[parameter.form.value]
    content = ["hunter2"] if wrong == "array" else "hunter2"
    text = json.dumps([{"name": parameter.name, wrong: content}])
    with pytest.raises(PolicyError) as refused:
        read_parameters({"ARGOCD_APP_PARAMETERS": text})
    assert "hunter2" not in str(refused.value)


def test_the_announcement_is_the_list_that_argo_cd_reads(capsysbinary) -> None:
    assert main(["parameters"]) == 0
    announced = json.loads(capsysbinary.readouterr().out)
    assert [each["name"] for each in announced] == [each.name for each in PARAMETERS]
    for each in announced:
        assert set(each) == {"name", "title", "tooltip", "collectionType", each["collectionType"]}
        # What the UI shows as the default, and sends back unchanged, must be readable.
        read_parameters({"ARGOCD_APP_PARAMETERS": json.dumps([each])})


def test_they_are_announced_in_the_smallest_environment() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "argocd_fluid", "parameters"],
        env={"PYTHONPATH": os.pathsep.join(sys.path), "ARGOCD_APP_NAME": "a"},
        capture_output=True,
        check=True,
    )
    assert done.stderr == b""
    assert len(json.loads(done.stdout)) == len(PARAMETERS)
