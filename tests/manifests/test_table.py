"""Kinds are known by their names in the table alone."""

import io
import tokenize
from pathlib import Path

import argocd_fluid
import pytest
from argocd_fluid.manifests.table import KINDS

PACKAGE = Path(argocd_fluid.__file__).parent
WATCHED = ("controller", "argocd", "kube", "agent", "simulate")
"""What runs in a cluster watches kinds, and has policies and health checks per kind."""
NAMES = {row.kind for row in KINDS} | {row.group for row in KINDS if row.group}


def sources():
    for file in sorted(PACKAGE.rglob("*.py")):
        place = file.relative_to(PACKAGE)
        if place.parts[0] not in WATCHED and place != Path("manifests/table.py"):
            yield place


def strings(text):
    """Give the string literals that are whole values, as a comparison with a kind would be."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.STRING:
            yield token.start[0], token.string.strip("\"'")


@pytest.mark.parametrize("place", list(sources()), ids=str)
def test_no_other_module_names_a_kind(place):
    found = [(line, text) for line, text in strings((PACKAGE / place).read_text()) if text in NAMES]
    assert found == []


def test_a_row_is_found_by_group_and_kind():
    assert len({(row.group, row.kind) for row in KINDS}) == len(KINDS)


def test_the_documentation_names_every_kind():
    page = (Path(__file__).parents[2] / "docs" / "kinds.md").read_text()
    assert [row.kind for row in KINDS if row.kind not in page] == []
