"""YAML and JSON are read as Kubernetes reads them; what it would lose in silence is refused.

The scalars were measured with kubectl 1.37; `test_kubectl` asks it again where it is built.
"""

import json
import subprocess
import sys

import pytest
from argocd_fluid.errors import ManifestError
from argocd_fluid.manifests import reader
from argocd_fluid.manifests.reader import read

SCALARS = {
    "y": True, "n": False, "Y": True, "N": False, "yes": True, "No": False, "on": True,
    "OFF": False, "true": True, "FALSE": False, "oN": "oN", "nULL": "nULL",
    "~": None, "": None, "null": None, "NULL": None,
    "0644": 420, "010": 8, "0o644": 420, "0O17": 15, "08": 8, "09": 9, "0_8": 8, "0o8": "0o8",
    "1e3": 1000, "12e03": 12000, "1e+3": 1000, "1E5": 100000, "+.5": 0.5, "1.e3": 1000, "-.5": -0.5,
    "1_000": 1000, "0x1_F": 31, "0X1F": 31, "-0x1F": -31, "0b11": 3, "-0B11": -3, "0b2": "0b2",
    "12:30:45": "12:30:45", "1:20": "1:20",
    "2026-11-30": "2026-11-30", "2026-11-30T10:00:00Z": "2026-11-30T10:00:00Z",
    "=": "=", "<<": "<<", "-0": 0, "-0.0": 0, "5.": 5, "1.0": 1, "1e400": "1e400", "1e-400": 0,
    "12345678901234567890123": 1.2345678901234568e22, "18446744073709551615": 1.8446744073709552e19,
    "9223372036854775807": 2**63 - 1, "-9223372036854775808": -(2**63),
    "1e18": 10**18, "1e21": 1e21, "0.1": 0.1, "1234e56": 1.234e59, "._5": "._5", "_1": "_1",
    "!!float 1": 1, "!!int '5'": 5, "!!bool yes": True, "!!str 5": "5", "! 5": "5",
    "!!binary aGk=": "hi", "!foo bar": "bar", "!!timestamp 2026-11-30": "2026-11-30",
    "'5'": "5", '"on"': "on", '"\\u00e9\\U0001F600"': "\u00e9\U0001f600", "5kk": "5kk",
}  # fmt: skip

KEYS = {
    "on": "true", "n": "false", "1": "1", "0o17": "15", "1.5": "1.5", "1e5": "100000",
    "1e6": "1e+06", "123456789.5": "1.2345679e+08", "1e-5": "1e-05", "-0.0": "-0", ".inf": ".inf",
    "1e40": ".inf", "=": "=", "!!str 1": "1", "'<<'": "<<", "2026-11-30": "2026-11-30",
}  # fmt: skip

REFUSED = {
    "duplicate key": ("a: 1\nb: 2\na: 3", 3, "key 'a' is given twice"),
    "duplicate key in another spelling": ("{1: a, '1': b}", 1, "key '1' is given twice"),
    "duplicate key in JSON": ('{"a": 1,\n\t"a": 2}', 2, "key 'a' is given twice"),
    "duplicate key in a JSON stream": ('{"a": 1}\n\n{"b": 1, "b": 2}', 3, "key 'b' is given twice"),
    "unknown anchor": ("a:\n  b: *nope", 2, "unknown anchor 'nope' referenced"),
    "self-reference": ("a: &x\n  b: *x", 2, "anchor 'x' value contains itself"),
    "infinity": ("a: .inf", 1, "cannot be written as JSON"),
    "not a number": ("a:\n- .NaN", 2, "cannot be written as JSON"),
    "null key": ("~: 1", 1, "a key is null"),
    "list as key": ("? [1]\n: 2", 1, "a key is a list or a mapping"),
    "huge key": ("18446744073709551615: 1", 1, "Kubernetes wants strings"),
    "wrong merge": ("a: 1\n<<: 5", 2, "map merge requires map or sequence of maps"),
    "wrong tag": ("a: !!int abc", 1, "cannot decode 'abc' as a !!int"),
    "wrong binary": ("a: !!binary '***'", 1, "invalid base64"),
    "no YAML": ("a: 1\n b: 2", 2, "is no YAML"),
    "no YAML, but like JSON": ('{"a": 1,\n "b" }}', 2, "is no YAML"),
    "template": ("a: 1\nb: {{ x }}", 2, "a key is a list or a mapping"),
    "tab": ("a:\n\tb: 1", 2, "is no YAML"),
    "control character": ("a: 1\nb: \x01", 2, "is no YAML"),
    "no mapping": ("- a", 1, "is no object"),
    "plain text": ("---\nhello", 2, "is no object"),
    "too deep": ("a: " + "[" * 300 + "]" * 300, 1, "nested deeper than 200"),
}


def value_of(text):
    return read(text.encode(), "f.yaml")[0].value


@pytest.mark.parametrize(("text", "value"), SCALARS.items(), ids=map(repr, SCALARS))
def test_scalar(text, value):
    got = value_of(f"v: {text}")["v"]
    assert got == value
    assert type(got) is type(value)


@pytest.mark.parametrize(("text", "key"), KEYS.items(), ids=map(repr, KEYS))
def test_key_is_a_string(text, key):
    assert value_of(f"{text}: 1") == {key: 1}


@pytest.mark.parametrize(("text", "line", "problem"), REFUSED.values(), ids=REFUSED.keys())
def test_refuses_with_file_and_line(text, line, problem):
    with pytest.raises(ManifestError, match=problem) as caught:
        read(text.encode(), "f.yaml")
    assert (caught.value.where.file, caught.value.where.line) == ("f.yaml", line)


def test_refuses_what_is_not_utf_8():
    with pytest.raises(ManifestError, match="is not UTF-8") as caught:
        read(b"a: 1\nb: \xff", "f.yaml")
    assert caught.value.where.line == 2


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("<<: {a: 1, b: 2}\na: 3", {"a": 3, "b": 2}),
        ("a: 3\n<<: {a: 1, b: 2}", {"a": 1, "b": 2}),
        ("<<: [{a: 1, b: 2}, {a: 3, c: 4}]", {"a": 1, "b": 2, "c": 4}),
        ("x: &x {a: 1}\nz: {<<: *x, b: 2}", {"x": {"a": 1}, "z": {"a": 1, "b": 2}}),
    ],
    ids=["before", "after, which Kubernetes lets win", "list, first wins", "alias"],
)
def test_merge(text, value):
    assert value_of(text) == value


def test_aliases_are_resolved_within_their_document():
    first, second = read(b"a: &x 1\nb: *x\n---\na: &x 2\nb: *x\n", "f")
    assert (first.value, second.value) == ({"a": 1, "b": 1}, {"a": 2, "b": 2})
    with pytest.raises(ManifestError, match="unknown anchor"):
        read(b"a: &x 1\n---\nb: *x\n", "f")


def test_refuses_a_billion_laughs_at_once():
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    with pytest.raises(ManifestError, match="more than 1000000 values, aliases expanded"):
        read("\n".join(lines).encode(), "f")


def test_refuses_a_file_that_is_too_large():
    with pytest.raises(ManifestError, match="larger than 32 MiB"):
        read(b"#" * (reader.MAX_BYTES + 1), "f")


def test_empty_documents_are_skipped_and_lines_go_on():
    documents = read(b"\xef\xbb\xbf# head\n---\n---\na: 1\n---\nnull\n---\nb: 2\n...\n", "f")
    assert [(each.value, each.where().line) for each in documents] == [({"a": 1}, 4), ({"b": 2}, 8)]
    assert read(b"", "f") == []


@pytest.mark.parametrize(
    "text",
    ['{"a":\t"\\ud83d\\ude00"}\n\n{"a": 1e3}', '---\n{"a": "\U0001f600"}\n---\n{"a": 1000}'],
    ids=["stream with tabs and surrogates", "separated"],
)
def test_json_documents(text):
    documents = read(text.encode(), "f.json")
    assert [each.value for each in documents] == [{"a": "\U0001f600"}, {"a": 1000}]


def test_each_field_has_its_line():
    text = b"""\
kind: Pod
metadata:
  name: x
  annotations:
    text: |
      first
    other: value
spec:
  containers:
  - name: a
    image: b
  - {name: c,
     image: d}
"""
    document = read(text, "f.yaml")[0]
    lines = {
        ("metadata",): 2,
        ("metadata", "annotations", "text"): 6,
        ("metadata", "annotations", "other"): 7,
        ("spec", "containers", 0, "image"): 11,
        ("spec", "containers", 1): 12,
        ("spec", "containers", 1, "image"): 13,
        ("spec", "containers", 1, "missing", "deep"): 12,
        ("spec", "containers", 7): 9,
    }
    assert {path: document.where(path).line for path in lines} == lines
    assert str(document.where(("spec", "containers", 1, "image"))) == (
        "f.yaml:13: Pod x: spec.containers[1].image"
    )


def test_without_libyaml_it_reads_the_same():
    text = "".join(f"- {{v: {scalar} }}\n" for scalar in SCALARS)
    code = (
        "import json, sys, yaml\n"
        "del yaml.CSafeLoader\n"
        "from argocd_fluid.manifests.reader import read_value\n"
        "print(json.dumps(read_value(sys.stdin.read(), 'f')[0]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], input=text, capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout) == [{"v": value} for value in SCALARS.values()]
