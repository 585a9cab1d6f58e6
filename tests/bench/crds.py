"""CustomResourceDefinitions as their Go modules bring them."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

from tests.bench.api import Api

_API_VERSION = "apiextensions.k8s.io/v1"
_KIND = "CustomResourceDefinition"


def install(api: Api, files: Iterable[Path]) -> None:
    """Apply them (server-side: some are too long for an annotation), wait until they are served."""
    names = []
    for file in files:
        crd = yaml.load(file.read_text(), Loader=yaml.CSafeLoader)
        api.apply(crd)
        names.append(crd["metadata"]["name"])
    for name in names:
        api.wait_for(
            f"CRD {name}", lambda name=name: _is_served(api.get(_API_VERSION, _KIND, name))
        )


def _is_served(crd: dict[str, Any]) -> bool:
    conditions = crd.get("status", {}).get("conditions") or []
    return any(one["type"] == "Established" and one["status"] == "True" for one in conditions)
