"""The fast reader never accepts what the full one refuses, nor reads anything differently."""

import re
from pathlib import Path

import pytest
from argocd_fluid.errors import ManifestError
from argocd_fluid.manifests import events, plain
from argocd_fluid.manifests.reader import read
from hypothesis import example, given, settings
from hypothesis import strategies as st

ROOT = Path(__file__).parents[2]
MANIFESTS = sorted(
    file
    for folder in ("examples", "argocd", "tests/render/golden", "tests/bench/kwok")
    for file in (ROOT / folder).rglob("*.yaml")
)
SCALARS = st.one_of(
    st.sampled_from(
        [
            *(
                "a",
                "1",
                "0644",
                "yes",
                "null",
                "~",
                "1e3",
                "12:30",
                "a:b",
                "a#b",
                "a #b",
                "a: b",
                "a:",
            ),
            *(
                "'q'",
                '"q"',
                "'it''s'",
                '"\\n"',
                "'a' # c",
                '"a" b',
                "*x",
                "&x a",
                "!!str 1",
                "|",
                ">",
            ),
            *(
                "{}",
                "[]",
                "{a: 1}",
                "{a: 1, a: 2}",
                "{a: 'x, y', b: \"z\"}",
                "{a: {b: 1}}",
                "{a: b",
            ),
            *(
                "[a, b]",
                "[a, b,]",
                "[a b]",
                "[1, 'x']",
                "[a: 1]",
                "{a,b}",
                "- a",
                "? a",
                "a\tb",
                "@a",
            ),
            *(
                ".inf",
                "08",
                "1_000",
                "-",
                "-1",
                "--- a",
                "a- b",
                "# c",
                "é",
                "%a",
                "{a: 1 } ",
                "[ ]",
            ),
        ]
    ),
    st.text("ab1:# -'\"{}[],&*!|>.~", max_size=8),
)
KEYS = st.sampled_from(
    ["a", "b", "kind", "app.io/x", "y", "on", "null", "'q'", "1", "<<", "a b", "", "?", "- a"]
)
LINES = st.one_of(
    st.builds("{}{}: {}".format, st.sampled_from(["", "- ", "-   "]), KEYS, SCALARS),
    st.builds("{}{}:".format, st.sampled_from(["", "- "]), KEYS),
    st.builds("- {}".format, SCALARS),
    SCALARS,
    st.sampled_from(["", "# comment", "---", "...", "-", "--- # c", "   "]),
)
TEXTS = st.lists(st.tuples(st.integers(0, 6), LINES), max_size=12).map(
    lambda lines: "".join(f"{' ' * indent}{line}\n" for indent, line in lines)
)


@st.composite
def blocks(draw, depth=0):
    """Give text that is mostly right, so that the fast reader gets deep into it."""
    keys = draw(st.lists(st.sampled_from(["a", "b", "c", "y"]), min_size=1, max_size=3))
    lines = []
    for key in keys:
        shape = draw(st.sampled_from(["scalar", "map", "list", "none"])) if depth < 3 else "scalar"
        if shape == "scalar":
            lines.append(f"{key}: {draw(SCALARS)}")
        elif shape == "none":
            lines.append(f"{key}:")
        else:
            inner = draw(blocks(depth=depth + 1))
            pad = " " * draw(st.integers(0, 3))
            if shape == "list":
                inner = [f"{'  ' if index else '- '}{line}" for index, line in enumerate(inner)]
            lines += [f"{key}:", *(f"{pad}{line}" for line in inner)]
    return lines


def both(text):
    try:
        value = plain.value(text, {})
    except plain.NotPlainError:
        return
    documents = [value for value, _ in events.values(text, "f") if value is not None]
    assert repr(documents) == repr([] if value is None else [value])


@given(st.one_of(TEXTS, blocks().map("\n".join)))
@settings(max_examples=1000, deadline=None)
@example("a: b\n c: d\n")
@example("a:\n- b: 1\n  c: 2\n- d\ne: 3\n")
@example("a:\n  b: 1\n c: 2\n")
def test_it_reads_as_the_full_reader_or_not_at_all(text) -> None:
    if plain.is_plain(text) and "---" not in text and "..." not in text:
        both(text)


@given(TEXTS, TEXTS)
@settings(max_examples=300, deadline=None)
def test_several_documents_are_read_as_the_full_reader_does(first, second) -> None:
    text = f"{first}---\n{second}"
    try:
        expected = [
            (value, marks) for value, marks in events.values(text, "f") if value is not None
        ]
        lines = [marks.line for _, marks in expected]
        assert all(isinstance(value, dict) for value, _ in expected)
    except (ManifestError, AssertionError):
        with pytest.raises(ManifestError):
            read(text.encode(), "f")
        return
    found = read(text.encode(), "f")
    assert repr([document.value for document in found]) == repr([value for value, _ in expected])
    assert [document.where().line for document in found] == lines


@pytest.mark.parametrize("file", MANIFESTS, ids=lambda file: str(file.relative_to(ROOT)))
def test_real_manifests_are_read_alike(file) -> None:
    text = file.read_text()
    try:
        expected = [(value, marks) for value, marks in events.values(text, file.name) if value]
    except ManifestError as error:
        with pytest.raises(ManifestError, match=re.escape(str(error))):
            read(text.encode(), file.name)
        return
    for document, (value, marks) in zip(read(text.encode(), file.name), expected, strict=True):
        assert repr(document.value) == repr(value)
        for path in paths(value):
            assert document.where(path).line == marks.at(path).line


def paths(value, path=()):
    yield path
    parts = value.items() if isinstance(value, dict) else enumerate(value)
    for step, part in parts if isinstance(value, dict | list) else ():
        if isinstance(part, dict | list):
            yield from paths(part, (*path, step))
        else:
            yield (*path, step)


def test_the_usual_manifest_needs_no_full_reader() -> None:
    text = (ROOT / "examples/after/jobset.yaml").read_text()
    assert plain.value(text, {})["kind"] == "JobSet"
