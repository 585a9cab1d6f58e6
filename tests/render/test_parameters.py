import json

import pytest
from argocd_fluid.cli import main
from argocd_fluid.errors import PolicyError
from argocd_fluid.render.parameters import Parameters, read_parameters

SAID_NOTHING = {
    "absent": {},
    "empty": {"ARGOCD_APP_PARAMETERS": ""},
    "null": {"ARGOCD_APP_PARAMETERS": "null"},
    "no item": {"ARGOCD_APP_PARAMETERS": "[]"},
}


@pytest.mark.parametrize("environment", SAID_NOTHING.values(), ids=SAID_NOTHING.keys())
def test_defaults_hold_where_the_application_says_nothing(environment) -> None:
    assert read_parameters(environment) == Parameters()


def test_a_parameter_is_read() -> None:
    given = [{"name": "allowEmpty", "string": "true"}]
    assert read_parameters({"ARGOCD_APP_PARAMETERS": json.dumps(given)}).allow_empty


REFUSED = {
    "misspelt": ('[{"name": "allowempty", "string": "true"}]', "did you mean allowEmpty"),
    "unknown": ('[{"name": "x", "string": "true"}]', "known are: allowEmpty"),
    "no boolean": ('[{"name": "allowEmpty", "string": "yes"}]', "neither true nor false"),
    "a list": ('[{"name": "allowEmpty", "array": ["true"]}]', "is no string"),
    "no name": ('[{"string": "true"}]', "no name"),
    "no list": ('{"name": "allowEmpty"}', "is no list"),
    "no JSON": ("allowEmpty=true", "is no JSON"),
}


@pytest.mark.parametrize(("text", "problem"), REFUSED.values(), ids=REFUSED.keys())
def test_a_wrong_parameter_is_told(text, problem) -> None:
    with pytest.raises(PolicyError, match=problem):
        read_parameters({"ARGOCD_APP_PARAMETERS": text})


def test_the_announcement_is_the_list_that_argo_cd_reads(capsysbinary) -> None:
    assert main(["parameters"]) == 0
    [announced] = json.loads(capsysbinary.readouterr().out)
    assert announced["name"] == "allowEmpty"
    assert announced["string"] == "false"
    known = {"name", "title", "tooltip", "required", "itemType", "collectionType", "string"}
    assert set(announced) <= known
