"""What the plugin writes into the intent, the controller reads."""

import json
from pathlib import Path

import msgspec
import pytest
from argocd_fluid.constants import INTENT
from argocd_fluid.controller.intent import containers_of, spec_of
from argocd_fluid.kube.types import ObjectMeta
from argocd_fluid.manifests.document import get
from argocd_fluid.manifests.reader import read

GOLDEN = Path(__file__).parent / "golden"
PLACE = ("metadata", "annotations", INTENT)


def enrolled() -> list[tuple[str, dict]]:
    return [
        (f"{file.parent.name}-{document.identity}", document.value)
        for file in sorted(GOLDEN.glob("*/out.yaml"))
        for document in read(file.read_bytes(), "out.yaml")
        if get(document.value, PLACE) is not None
    ]


CASES = dict(enrolled())


def test_there_are_cases() -> None:
    assert any('"pods"' in get(manifest, PLACE) for manifest in CASES.values())


@pytest.mark.parametrize("manifest", CASES.values(), ids=CASES.keys())
def test_the_controller_reads_it(manifest) -> None:
    spec = spec_of(msgspec.convert({"uid": "u", **manifest["metadata"]}, ObjectMeta))
    intended = json.loads(get(manifest, PLACE))["roles"]
    listed = {(role, name) for role, containers in intended.items() for name in containers}
    assert containers_of(spec).keys() == listed
