import os

import pytest
from argocd_fluid.errors import RenderError, UserError
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
    with pytest.raises(RenderError, match=r"a\.yaml: is a link out of"):
        load(inside)


def test_a_pipe_does_not_hang_the_rendering(tmp_path) -> None:
    os.mkfifo(tmp_path / "a.yaml")
    with pytest.raises(RenderError, match=r"a\.yaml: is no file"):
        load(tmp_path)


def test_a_dangling_link_is_refused(tmp_path) -> None:
    (tmp_path / "a.yaml").symlink_to("nothing")
    with pytest.raises(RenderError, match=r"a\.yaml: is no file"):
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
