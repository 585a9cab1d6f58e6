"""The plugin's parameters: what an Application may set, and their announcement to Argo CD's UI.

Argo CD passes only what an Application sets, never an announced default, so defaults are applied
here. A name that is not in the table is an error: a misspelt parameter must not be ignored.
"""

import argparse
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Final

from argocd_fluid.errors import PolicyError, Where

VARIABLE: Final = "ARGOCD_APP_PARAMETERS"
"""Set by Argo CD: a JSON list of the parameters that the Application has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """The values in force."""

    allow_empty: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One parameter as Argo CD announces it. `read` turns its text into the value of `field`."""

    name: str
    field: str
    title: str
    tooltip: str
    default: str
    read: Callable[[str], Any]

    def announcement(self) -> dict[str, str]:
        """Give the JSON that Argo CD's UI shows."""
        return {
            "name": self.name,
            "title": self.title,
            "tooltip": self.tooltip,
            "collectionType": "string",
            "string": self.default,
        }


def _boolean(text: str) -> bool:
    if text not in ("true", "false"):
        raise PolicyError(f"{text!r} is neither true nor false")
    return text == "true"


PARAMETERS: Final = (
    Parameter(
        name="allowEmpty",
        field="allow_empty",
        title="Allow no manifests",
        tooltip="Render a directory without manifests; with pruning that deletes everything.",
        default="false",
        read=_boolean,
    ),
)


def read_parameters(environment: Mapping[str, str]) -> Parameters:
    """Read what the Application sets; absent, empty and null say nothing. Raises PolicyError."""
    text = environment.get(VARIABLE, "")
    try:
        given = json.loads(text) if text.strip() else None
    except ValueError as error:
        raise PolicyError(f"is no JSON: {error}", where=Where(field=VARIABLE)) from error
    if not isinstance(given, list | None):
        raise PolicyError("is no list", where=Where(field=VARIABLE))
    return Parameters(**dict(_value(item) for item in given or ()))


def _value(item: object) -> tuple[str, Any]:
    if not isinstance(item, dict) or not isinstance(item.get("name"), str):
        raise PolicyError("an item has no name", where=Where(field=VARIABLE))
    where = Where(field=f"parameter {item['name']}")
    known = {parameter.name: parameter for parameter in PARAMETERS}
    parameter = known.get(item["name"])
    if parameter is None:
        near = get_close_matches(item["name"], known, n=1)
        hint = f"did you mean {near[0]}?" if near else f"known are: {', '.join(known)}"
        raise PolicyError("is unknown", where=where, hint=hint)
    text = item.get("string")
    if not isinstance(text, str):
        raise PolicyError("is no string", where=where)
    try:
        return parameter.field, parameter.read(text)
    except PolicyError as error:
        raise PolicyError(error.problem, where=where) from error


def add_arguments(_: argparse.ArgumentParser) -> None:
    """Take none: Argo CD gives none."""


def run(_: argparse.Namespace) -> str:
    """Announce: a JSON list, as Argo CD's plugin protocol wants it."""
    return json.dumps([parameter.announcement() for parameter in PARAMETERS]) + "\n"
