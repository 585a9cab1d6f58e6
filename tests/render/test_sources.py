import os

import pytest
from argocd_fluid.errors import RenderError, UserError
from argocd_fluid.render.budget import Surroundings
from argocd_fluid.render.generate import render
from argocd_fluid.render.parameters import Parameters
from argocd_fluid.render.sources import load

MANIFEST = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\n"


def names(folder) -> list[str]:
    return [document.value["metadata"]["name"] for document in load(folder).documents]


def test_files_are_read_by_name_and_directories_are_not(tmp_path) -> None:
    for name in ("b.yml", "a.yaml", "c.json.yaml", ".hidden.yaml", "notes.txt"):
        (tmp_path / name).write_text(MANIFEST % name)
    (tmp_path / "more.yaml").mkdir()
    (tmp_path / "more.yaml" / "d.yaml").write_text(MANIFEST % "d")

    assert names(tmp_path) == ["a.yaml", "b.yml", "c.json.yaml"]


def test_a_link_inside_the_directory_is_followed(tmp_path) -> None:
    (tmp_path / "real").write_text(MANIFEST % "linked")
    (tmp_path / "a.yaml").symlink_to("real")
    assert names(tmp_path) == ["linked"]


def test_a_link_out_of_the_directory_is_refused(tmp_path) -> None:
    outside = tmp_path / "secret"
    outside.write_text(MANIFEST % "secret")
    inside = tmp_path / "app"
    inside.mkdir()
    (inside / "a.yaml").symlink_to(outside)
    with pytest.raises(RenderError, match=r"a\.yaml: leads out of"):
        load(inside)


def test_a_pipe_does_not_hang_the_rendering(tmp_path) -> None:
    os.mkfifo(tmp_path / "a.yaml")
    with pytest.raises(RenderError, match=r"a\.yaml: is no file"):
        load(tmp_path)


def test_a_dangling_link_is_refused(tmp_path) -> None:
    (tmp_path / "a.yaml").symlink_to("nothing")
    with pytest.raises(RenderError, match=r"a\.yaml: does not exist"):
        load(tmp_path)


def test_a_link_to_itself_is_refused(tmp_path) -> None:
    (tmp_path / "a.yaml").symlink_to("a.yaml")
    with pytest.raises(UserError, match=r"a\.yaml"):
        load(tmp_path)


def test_an_empty_directory_is_rendered_only_where_it_is_allowed(tmp_path) -> None:
    with pytest.raises(RenderError, match="no manifests"):
        render(tmp_path, Parameters())
    assert render(tmp_path, Parameters(allow_empty=True)) == []


def test_the_policy_s_file_holds_one_policy(tmp_path) -> None:
    policy = "apiVersion: argocd-fluid.io/v1alpha1\nkind: FluidPolicy\n"
    (tmp_path / "fluid.yaml").write_text(f"{policy}---\n{policy}")
    with pytest.raises(UserError, match=r"fluid\.yaml:4: .*second policy"):
        load(tmp_path)


TREE = (
    "a.yaml",
    "b/a.yaml",
    "b/c/a.yaml",
    "b/c.yaml",
    "b-c/a.yaml",
    ".hidden/a.yaml",
    "b/.hidden/a.yaml",
    "envs/dev/jobs/a.yaml",
    "envs/prod/jobs/a.yaml",
)
PATTERNS = {
    "": ["a.yaml"],
    "**": ["a.yaml", "b/a.yaml", "b/c/a.yaml", "b/c.yaml", "b-c/a.yaml",
           "envs/dev/jobs/a.yaml", "envs/prod/jobs/a.yaml"],
    "b": ["a.yaml", "b/a.yaml", "b/c.yaml"],
    "b/**": ["a.yaml", "b/a.yaml", "b/c/a.yaml", "b/c.yaml"],
    "*": ["a.yaml", "b/a.yaml", "b/c.yaml", "b-c/a.yaml"],
    "b*/": ["a.yaml", "b/a.yaml", "b/c.yaml", "b-c/a.yaml"],
    "envs/*/jobs": ["a.yaml", "envs/dev/jobs/a.yaml", "envs/prod/jobs/a.yaml"],
    "**/jobs": ["a.yaml", "envs/dev/jobs/a.yaml", "envs/prod/jobs/a.yaml"],
    "nothing": ["a.yaml"],
    "[": ["a.yaml"],
}  # fmt: skip


@pytest.mark.parametrize(("pattern", "expected"), PATTERNS.items(), ids=PATTERNS.keys())
def test_further_directories_are_read_where_they_are_asked_for(
    pattern, expected, tmp_path, write
) -> None:
    write({name: MANIFEST % f"x{index}" for index, name in enumerate(TREE)})
    found = load(tmp_path, Parameters(recurse=pattern)).documents
    assert [document.file for document in found] == expected


def test_a_link_to_a_directory_is_not_followed(tmp_path, write) -> None:
    write({"a.yaml": MANIFEST % "a", "b/c.yaml": MANIFEST % "c"})
    (tmp_path / "d").symlink_to("b")
    assert names(tmp_path) == ["a"]
    with pytest.raises(RenderError, match=r"^d: is a link to a directory"):
        load(tmp_path, Parameters(recurse="**"))


@pytest.mark.parametrize("name", ["Chart.yaml", "kustomization.yaml", "Kustomization"])
def test_a_further_directory_of_another_kind_is_refused(name, tmp_path, write) -> None:
    write({"a.yaml": MANIFEST % "a", f"b/{name}": "x"})
    with pytest.raises(RenderError, match=rf"^b/{name}: .* own directory only"):
        load(tmp_path, Parameters(recurse="**"))


def test_a_policy_in_a_further_directory_is_refused(tmp_path, write) -> None:
    policy = "apiVersion: argocd-fluid.io/v1alpha1\nkind: FluidPolicy\nmetadata: {name: a}\n"
    write({"a.yaml": MANIFEST % "a", "b/fluid.yaml": policy})
    with pytest.raises(UserError, match=r"^b/fluid\.yaml:1: .* is read from fluid\.yaml only"):
        load(tmp_path, Parameters(recurse="**"))


def test_too_many_directories_are_not_walked(tmp_path) -> None:
    place = tmp_path
    for index in range(20_001):
        (place / f"d{index}").mkdir()
    with pytest.raises(RenderError, match="more than 20000 files"):
        load(tmp_path, Parameters(recurse="**"))


def test_the_time_of_a_rendering_holds_between_files(tmp_path, write) -> None:
    write({f"{index}.yaml": MANIFEST % f"x{index}" for index in range(3)})
    now = iter([0.0, 1.0, 50.0])
    surroundings = Surroundings.of({}, clock=lambda: next(now))
    with pytest.raises(RenderError, match="the rendering took longer than the 45 s it has"):
        load(tmp_path, surroundings=surroundings)
