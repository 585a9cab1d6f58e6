"""The files of a Git revision, as they are in its tree, with the work tree left alone."""

import subprocess

import pytest
from argocd_fluid.errors import RenderError
from argocd_fluid.render import revisions
from argocd_fluid.render.revisions import checked_out


def git(folder, *arguments: str) -> str:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.com"]
    argv = ["git", *identity, *arguments]
    done = subprocess.run(argv, cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout


@pytest.fixture(params=["sha1", "sha256"])
def repository(request, tmp_path, monkeypatch):
    git(tmp_path, "init", f"--object-format={request.param}")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def commit(folder, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    git(folder, "add", ".")
    git(folder, "commit", "-m", "x")


def names(folder) -> list[str]:
    return sorted(str(each.relative_to(folder)) for each in folder.rglob("*") if each.is_file())


def test_gives_the_directory_and_leaves_the_work_tree_alone(repository) -> None:
    commit(repository, {"app/a.yaml": "old", "app/deep/b.yaml": "b", "other/c.yaml": "c"})
    commit(repository, {"app/a.yaml": "new"})
    (repository / "app" / "a.yaml").write_text("not committed")
    status = git(repository, "status", "--porcelain")

    with checked_out("HEAD~1", "app") as folder:
        assert names(folder) == ["a.yaml", "deep/b.yaml"]
        assert (folder / "a.yaml").read_text() == "old"
        assert not (folder.parent / "other").exists()
    assert not folder.exists()
    assert (repository / "app" / "a.yaml").read_text() == "not committed"
    assert git(repository, "status", "--porcelain") == status


def test_a_kustomization_finds_its_bases_beside_it(repository) -> None:
    commit(repository, {"app/kustomization.yaml": "resources: [../base]", "base/a.yaml": "a"})
    with checked_out("HEAD", "app") as folder:
        assert (folder / "../base/a.yaml").read_text() == "a"


def test_attributes_leave_no_file_out_and_change_none(repository) -> None:
    attributes = "a.yaml export-ignore\nb.yaml export-subst\n"
    commit(repository, {".gitattributes": attributes, "a.yaml": "a", "b.yaml": "$Format:%H$"})
    with checked_out("HEAD", "") as folder:
        assert names(folder) == [".gitattributes", "a.yaml", "b.yaml"]
        assert (folder / "b.yaml").read_text() == "$Format:%H$"


def test_links_stay_links(repository) -> None:
    (repository / "link.yaml").symlink_to("../../etc/passwd")
    commit(repository, {"a.yaml": "a"})
    with checked_out("HEAD", "") as folder:
        assert (folder / "link.yaml").readlink().as_posix() == "../../etc/passwd"


def test_odd_names_are_read(repository) -> None:
    commit(repository, {"a\tb\n.yaml": "odd", "é.yaml": "e"})
    with checked_out("HEAD", "") as folder:
        assert (folder / "a\tb\n.yaml").read_text() == "odd"
        assert (folder / "é.yaml").read_text() == "e"


@pytest.mark.parametrize("limit", ["MAX_FILES", "MAX_BYTES"])
def test_what_is_too_large_is_refused_before_it_is_read(limit, repository, monkeypatch) -> None:
    commit(repository, {"a.yaml": "aa", "b.yaml": "bb"})
    monkeypatch.setattr(revisions, limit, 1)
    with pytest.raises(RenderError, match="revision HEAD has more than"), checked_out("HEAD", ""):
        pass


@pytest.mark.parametrize("path", ["../x", "app/../../x"])
def test_a_path_out_of_the_repository_is_refused(path, repository) -> None:
    commit(repository, {"a.yaml": "a"})
    with pytest.raises(RenderError, match="leads out of"), checked_out("HEAD", path):
        pass
