import pytest
from argocd_fluid.controller.mergepatch import merge_patch


@pytest.mark.parametrize(
    ("old", "new", "patch"),
    [
        ({"a": 1}, {"a": 1}, {}),
        ({"a": 1}, {"a": 2}, {"a": 2}),
        ({"a": 1, "b": 1}, {"a": 1}, {"b": None}),
        ({"a": {"x": 1, "y": 1}}, {"a": {"x": 2}}, {"a": {"x": 2, "y": None}}),
        ({"a": [1, 2]}, {"a": [1]}, {"a": [1]}),
        ({}, {"a": {"b": 1}}, {"a": {"b": 1}}),
    ],
)
def test_the_patch_says_only_what_differs(old, new, patch) -> None:
    assert merge_patch(old, new) == patch
