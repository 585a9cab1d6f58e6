"""The real decoder is the oracle: kubectl reads what we read, and what we wrote.

One call takes many objects where all are valid; single ones tell what is refused.
"""

import json
import random
import subprocess

import pytest
from argocd_fluid.errors import ManifestError, QuantityError
from argocd_fluid.manifests.quantity import parse_quantity
from argocd_fluid.manifests.reader import read, read_value
from argocd_fluid.manifests.writer import to_json, to_yaml

from tests.bench import build
from tests.bench.build import Unavailable

pytestmark = [pytest.mark.bench, pytest.mark.timeout(600)]


def seeded():
    return random.Random(20261201)  # noqa: S311 - test data, the same every time


@pytest.fixture(scope="module")
def kubectl():
    try:
        program = build.ensure("kubernetes") / "kubectl"
    except Unavailable as reason:
        pytest.skip(f"bench: {reason}")

    def run(*arguments, text):
        return subprocess.run(
            [str(program), *arguments, "--local", "-o", "json", "-f", "-"],
            input=text.encode(),
            capture_output=True,
            check=False,
        )

    return run


def objects(done):
    """kubectl wraps several objects into a List."""
    assert done.returncode == 0, done.stderr.decode()
    decoder, text, found = json.JSONDecoder(), done.stdout.decode().lstrip(), []
    while text:
        value, end = decoder.raw_decode(text)
        found += value["items"] if value["kind"] == "List" else [value]
        text = text[end:].lstrip()
    return found


def normal(value):
    """Numbers by value: Go writes 1e+22 and 18446744073709552000 as it likes."""
    if isinstance(value, dict):
        return {key: normal(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [normal(inner) for inner in value]
    if isinstance(value, float):
        return ("number", value)
    if isinstance(value, int) and not isinstance(value, bool):
        return ("number", float(value))
    return value


def random_scalars(count):
    generator = seeded()
    alphabet = "0012345678899abcdefxobXOBeEiInNyYtT~+-._:=TrueFalsnfoNY"
    return ["".join(generator.choices(alphabet, k=generator.randint(1, 7))) for _ in range(count)]


def safely_read(text):
    try:
        return read_value(text, "f")[0]
    except ManifestError:
        return ManifestError


def test_plain_scalars_mean_the_same(kubectl):
    entries = [f"v: {text}" for text in random_scalars(3000)]
    good = [entry for entry in entries if safely_read(entry) is not ManifestError]
    head = "apiVersion: v1\nkind: Unknown\nmetadata: {name: a}\nx:\n"
    text = head + "".join(f"- {entry}\n" for entry in good)
    [answer] = objects(kubectl("annotate", "a=b", text=text))
    ours = read(text.encode(), "f")[0].value["x"]
    differing = [
        (entry, here, there)
        for entry, here, there in zip(good, ours, answer["x"], strict=True)
        if normal(here) != normal(there)
    ]
    assert differing == []
    assert len(good) > len(entries) // 2


@pytest.mark.parametrize(
    "text",
    ["{~: 1}", "{[1]: 2}", ".inf", "*nope", "&a {x: *a}", "!!int a", "!!binary '*'", "{<<: 5}"],
)
def test_refused_by_both(kubectl, text):
    head = "apiVersion: v1\nkind: Unknown\nmetadata: {name: a}\nx: "
    assert kubectl("annotate", "a=b", text=f"{head}{text}\n").returncode != 0
    with pytest.raises(ManifestError):
        read(f"{head}{text}\n".encode(), "f")


@pytest.mark.parametrize("write", [to_json, to_yaml])
def test_what_we_write_is_read_as_the_same(kubectl, write):
    generator = seeded()
    special = [chr(code) for code in (9, 10, 13, 32, 34, 39, 92, 127, 133, 160, 8232, 8233, 65279)]
    others = [*"abyYnN01.-:#&*!|>%@`{}[],?=~", "\u00e9", "\U0001f600"]
    texts = ["".join(generator.choices(special + others, k=9)) for _ in range(1500)]
    texts += random_scalars(1500)
    value = {
        "apiVersion": "v1",
        "kind": "Unknown",
        "metadata": {"name": "a"},
        "x": texts,
        "keys": {text: index for index, text in enumerate(texts)},
    }
    [answer] = objects(kubectl("annotate", "a=b", text=write([value])))
    assert answer["x"] == texts
    assert answer["keys"] == value["keys"]


def quantity_texts(count):
    generator = seeded()
    suffixes = ["", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"]
    suffixes += ["e3", "E2", "e-3", "E+1", "e-12"]
    found = []
    for _ in range(count):
        whole = "".join(generator.choices("0123456789", k=generator.choice([1, 2, 3, 9, 18, 20])))
        part = "".join(generator.choices("0123456789", k=generator.choice([0, 1, 3, 10])))
        sign = generator.choice(["", "", "", "+", "-"])
        found.append(f"{sign}{whole}{'.' if part else ''}{part}{generator.choice(suffixes)}")
    return found


def test_quantities_have_the_same_value(kubectl):
    texts = quantity_texts(2000)
    names = [f"example.com/r{index}" for index in range(len(texts))]
    container = {"name": "c", "image": "i"}
    container["resources"] = {"requests": dict(zip(names, texts, strict=True))}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "a"},
        "spec": {"containers": [container]},
    }
    # `set env` decodes Pods into their types; `annotate` would keep the text.
    [answer] = objects(kubectl("set", "env", "A=b", text=to_json([pod])))
    theirs = answer["spec"]["containers"][0]["resources"]["requests"]
    differing = [
        (text, str(parse_quantity(text)), theirs[name])
        for name, text in zip(names, texts, strict=True)
        if parse_quantity(text) != parse_quantity(theirs[name])
    ]
    assert differing == []


@pytest.mark.parametrize("text", ["1K", "1e3Ki", "1 Gi", "1_000", "inf", "Ei", "", "1i", "0x10"])
def test_quantities_refused_by_both(kubectl, text):
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "a"},
        "spec": {"containers": [{"name": "c", "resources": {"limits": {"cpu": text}}}]},
    }
    assert kubectl("set", "env", "A=b", text=to_json([pod])).returncode != 0
    with pytest.raises(QuantityError):
        parse_quantity(text)
