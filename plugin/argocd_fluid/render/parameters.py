"""The plugin's parameters: what an Application may set, and their announcement to Argo CD's UI.

Argo CD passes only what an Application sets, never an announced default, so defaults are applied
here. A name that is not in the table is an error: a misspelt parameter must not be ignored. An
error names the parameter, never its value, which comes from the environment.
"""

import argparse
import json
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, Final

from argocd_fluid.errors import PolicyError, Where
from argocd_fluid.policy.duration import parse_time_limit
from argocd_fluid.records import dataclass, field, replace
from argocd_fluid.render.budget import Surroundings

VARIABLE: Final = "ARGOCD_APP_PARAMETERS"
"""Set by Argo CD: a JSON list of the parameters that the Application has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """The values in force."""

    allow_empty: bool = False
    recurse: str = ""
    """A pattern for directories below the application's, as `envs/*`; "" for none of them."""
    timeout_s: float | None = None
    allow_remote_bases: bool = False
    policy: str = ""
    template: Mapping[str, str] = field(default_factory=dict)
    """`params` of templates."""
    helm_release_name: str = ""
    helm_value_files: tuple[str, ...] = ()
    helm_values: str = ""
    helm_parameters: Mapping[str, str] = field(default_factory=dict)


class Form(StrEnum):
    """How Argo CD carries a parameter: the key of its value, and its `collectionType`."""

    STRING = "string"
    ARRAY = "array"
    MAP = "map"


_CONTENT: Final = {
    Form.STRING: "a text",
    Form.ARRAY: "a list of texts",
    Form.MAP: "a map of texts",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One parameter as Argo CD announces it. `read` turns its content into the value of `field`."""

    name: str
    field: str
    title: str
    tooltip: str
    default: Any = ""
    form: Form = Form.STRING
    read: Callable[[Any], Any] = str

    def announcement(self) -> dict[str, Any]:
        """Give the JSON that Argo CD's UI shows."""
        return {
            "name": self.name,
            "title": self.title,
            "tooltip": self.tooltip,
            "collectionType": self.form.value,
            self.form.value: self.default,
        }


def _boolean(text: str) -> bool:
    if text not in ("true", "false"):
        raise PolicyError("is neither true nor false")
    return text == "true"


def _recurse(text: str) -> str:
    if text in ("", "true", "false"):
        return "**" if text == "true" else ""
    if text.startswith("/") or ".." in text.split("/"):
        raise PolicyError("leaves the application's directory")
    return text


def _timeout(text: str) -> float | None:
    return parse_time_limit(text) if text else None


PARAMETERS: Final = (
    Parameter(
        name="allowEmpty",
        field="allow_empty",
        title="Allow no manifests",
        tooltip="Render a directory without manifests; with pruning that deletes everything.",
        default="false",
        read=_boolean,
    ),
    Parameter(
        name="recurse",
        field="recurse",
        title="Read further directories",
        tooltip="true: all below this one; or a pattern of directories, as envs/*/jobs or envs/**.",
        default="false",
        read=_recurse,
    ),
    Parameter(
        name="timeout",
        field="timeout_s",
        title="Time limit",
        tooltip="How long the rendering may take, as 45s; keep it below Argo CD's own limit.",
        default="45s",
        read=_timeout,
    ),
    Parameter(
        name="allowRemoteBases",
        field="allow_remote_bases",
        title="Allow remote Kustomize bases",
        tooltip="Let kustomize fetch bases and files from the network at every rendering.",
        default="false",
        read=_boolean,
    ),
    Parameter(
        name="policy",
        field="policy",
        title="Policy",
        tooltip="YAML like spec of fluid.yaml, without rules; wins over fluid.yaml.",
    ),
    Parameter(
        name="params",
        field="template",
        title="Template parameters",
        tooltip="What templates (*.j2) see as params.",
        default={},
        form=Form.MAP,
        read=dict,
    ),
    Parameter(
        name="helm.releaseName",
        field="helm_release_name",
        title="Helm release name",
        tooltip="Default: the Application's name.",
    ),
    Parameter(
        name="helm.valueFiles",
        field="helm_value_files",
        title="Helm values files",
        tooltip="Files in the application's directory; a later one wins.",
        default=[],
        form=Form.ARRAY,
        read=tuple,
    ),
    Parameter(
        name="helm.values",
        field="helm_values",
        title="Helm values",
        tooltip="A block of YAML; wins over the values files.",
    ),
    Parameter(
        name="helm.parameters",
        field="helm_parameters",
        title="Helm parameters",
        tooltip="Single values by path, as image.tag; win over all other values.",
        default={},
        form=Form.MAP,
        read=dict,
    ),
)


def of_command(arguments: argparse.Namespace) -> tuple[Parameters, Surroundings]:
    """Give a command's parameters, and start its budget."""
    parameters = read_parameters(arguments.environment)
    surroundings = Surroundings.of(
        arguments.environment, clock=arguments.clock, timeout_s=parameters.timeout_s
    )
    return parameters, surroundings


def read_parameters(environment: Mapping[str, str]) -> Parameters:
    """Read what the Application sets; absent, empty and null say nothing. Raises PolicyError."""
    text = environment.get(VARIABLE, "")
    try:
        given = json.loads(text) if text.strip() else None
    except (ValueError, RecursionError) as error:
        raise PolicyError("is no JSON", where=Where(field=VARIABLE)) from error
    if not isinstance(given, list | None):
        raise PolicyError("is no list", where=Where(field=VARIABLE))
    said: dict[str, Any] = {}
    for item in given or ():
        parameter = _named(item)
        if parameter.field in said:
            raise PolicyError("is given twice", where=_place(parameter.name))
        said[parameter.field] = _value(parameter, item)
    return Parameters(**said)


def _place(name: str) -> Where:
    return Where(field=f"parameter {name}")


def _named(item: object) -> Parameter:
    if not isinstance(item, dict) or not isinstance(item.get("name"), str):
        raise PolicyError("an item has no name", where=Where(field=VARIABLE))
    known = {parameter.name: parameter for parameter in PARAMETERS}
    if item["name"] not in known:
        from difflib import get_close_matches  # noqa: PLC0415 - slow to import, seldom needed

        near = get_close_matches(item["name"], known, n=1)
        guess = f"did you mean {near[0]}? " if near else ""
        hint = f"{guess}known are: {', '.join(known)}"
        raise PolicyError("is unknown", where=_place(item["name"]), hint=hint)
    return known[item["name"]]


def _value(parameter: Parameter, item: Mapping[str, Any]) -> object:
    content = item.get(parameter.form.value)
    # Argo CD leaves an empty string, list or map out of the JSON.
    if content is None and not any(item.get(form) is not None for form in Form):
        content = type(parameter.default)()
    if not _is_of(parameter.form, content):
        problem = f"wants {_CONTENT[parameter.form]}, under the key {parameter.form.value}"
        raise PolicyError(problem, where=_place(parameter.name))
    if not content and parameter.form is Form.STRING:
        content = parameter.default
    try:
        return parameter.read(content)
    except PolicyError as error:
        raise PolicyError(
            error.problem, where=replace(error.where, field=f"parameter {parameter.name}"),
            hint=error.hint,
        ) from error  # fmt: skip


def _is_of(form: Form, content: object) -> bool:
    if form is Form.STRING:
        return isinstance(content, str)
    if form is Form.ARRAY:
        return isinstance(content, list) and all(isinstance(each, str) for each in content)
    return isinstance(content, dict) and all(isinstance(each, str) for each in content.values())


def add_arguments(_: argparse.ArgumentParser) -> None:
    """Take none: Argo CD gives none."""


def run(_: argparse.Namespace) -> str:
    """Announce: a JSON list, as Argo CD's plugin protocol wants it."""
    return json.dumps([parameter.announcement() for parameter in PARAMETERS]) + "\n"
