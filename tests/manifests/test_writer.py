"""What is written comes back as the same values, from our reader and from Kubernetes."""

import json

import pytest
from argocd_fluid.manifests.reader import read
from argocd_fluid.manifests.scalars import resolve
from argocd_fluid.manifests.writer import compact, to_json, to_yaml
from hypothesis import given
from hypothesis import strategies as st

# Kubernetes reads each of these as something else where it is not quoted.
NOT_PLAIN = [
    "", "y", "N", "on", "off", "Yes", "true", "null", "~", "0o644", "0644", "08", "1e3", "1e+3",
    "12e03", "1E5", "+.5", "1.e3", "0O17", "1e1_0", "-.5", "1234e56", "0x1F", "0b11", "1_000", "5.",
    ".inf", ".NaN", "=", "<<", "- a", "-", "?", ": a", "a: b", "a #b", "#", "'", '"', "{a}", "[a]",
    "&a", "*a", "!a", "|", ">", "%a", "@a", "`", "a ", " a", "\t", "a\tb", "a\x7fb", "a\x85b",
    "a\u2028b", "\ufeffa", "\u00e9", "\U0001f600", "12:30", "2026-11-30", "---", "a:", ",",
]  # fmt: skip
PLAIN = [
    "...",
    "a",
    "trainer",
    "500m",
    "1Gi",
    "a.b/c",
    "v1.2.3",
    "registry.example.com/a:2.4.0",
    "_x",
    "Off-1",
]
BLOCKS = {
    "a\nb\n": "v: |\n  a\n  b\n",
    "a\nb": "v: |-\n  a\n  b\n",
    "a\n\n\nb\n\n": "v: |+\n  a\n\n\n  b\n\n",
    "a\n  b\n": "v: |\n  a\n    b\n",
    " a\nb\n": 'v: " a\\nb\\n"\n',
    "\na\n": 'v: "\\na\\n"\n',
    "a \nb\n": 'v: "a \\nb\\n"\n',
    "a\r\nb": 'v: "a\\r\\nb"\n',
}

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(min_value=-(2**63), max_value=2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20)
    | st.sampled_from(NOT_PLAIN + PLAIN + list(BLOCKS)),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=8) | st.sampled_from(NOT_PLAIN), inner, max_size=4)
    ),
    max_leaves=20,
)
manifests = st.dictionaries(st.text(max_size=8), json_values, min_size=1, max_size=4)


@given(st.lists(manifests, max_size=3))
def test_json_comes_back(values):
    assert [each.value for each in read(to_json(values).encode(), "f")] == values


@given(st.lists(manifests, max_size=3))
def test_yaml_comes_back(values):
    assert [each.value for each in read(to_yaml(values).encode(), "f")] == values


@given(manifests)
def test_json_documents_are_json(value):
    separator, line, rest = to_json([value]).split("\n")
    assert (separator, rest) == ("---", "")
    assert json.loads(line) == value


@pytest.mark.parametrize("text", NOT_PLAIN, ids=repr)
def test_quotes_what_would_be_read_as_something_else(text):
    written = to_yaml([{"v": text}]).removeprefix("---\nv: ")
    assert written[0] in "\"'"


@pytest.mark.parametrize("text", PLAIN, ids=repr)
def test_leaves_plain_what_is_safe(text):
    assert to_yaml([{"v": text}]) == f"---\nv: {text}\n"


@pytest.mark.parametrize(("text", "written"), BLOCKS.items(), ids=map(repr, BLOCKS))
def test_lines_become_a_block_where_they_survive_it(text, written):
    assert to_yaml([{"v": text}]) == f"---\n{written}"


@given(st.text(alphabet="0123456789abcdefxobeEBOX+-._yYnNtrueTfalsinfI~=", max_size=10))
def test_plain_text_resolves_to_itself(text):
    written = to_yaml([{"v": text}]).removeprefix("---\nv: ").removesuffix("\n")
    assert written[0] in "\"'" or resolve(written) == text


def test_shape_of_yaml():
    value = {"a": {}, "b": [], "c": [[1, [2]], {"d": None, "e": ["x\ny\n"]}], "f": {"g": True}}
    assert to_yaml([value]) == (
        "---\na: {}\nb: []\nc:\n- - 1\n  - - 2\n- d: null\n  e:\n  - |\n    x\n    y\n"
        "f:\n  g: true\n"
    )


def test_canonical_json():
    assert compact({"b": 1, "a": {"d": 2.5, "c": "\u00e9"}}, sort_keys=True) == (
        '{"a":{"c":"\u00e9","d":2.5},"b":1}'
    )
    with pytest.raises(ValueError, match="JSON compliant"):
        compact(float("nan"))
    assert compact("\ud800\x7f") == '"\ufffd\\u007f"'
