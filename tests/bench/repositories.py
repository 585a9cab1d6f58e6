"""Git repositories that Argo CD reads by file://, and a helper that commits to them."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

# Nobody's own configuration, hooks or signing keys reach a test's commits.
_ENVIRONMENT = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "bench",
    "GIT_AUTHOR_EMAIL": "bench@example.com",
    "GIT_COMMITTER_NAME": "bench",
    "GIT_COMMITTER_EMAIL": "bench@example.com",
}


class Repository:
    """A bare repository with branch main, and a clone of it to commit from."""

    def __init__(self, folder: Path, name: str) -> None:
        """Make both, empty."""
        self._bare = folder / f"{name}.git"
        self._clone = folder / name
        self._git(folder, "init", "--quiet", "--bare", "--initial-branch=main", str(self._bare))
        self._git(folder, "init", "--quiet", "--initial-branch=main", str(self._clone))
        self._git(self._clone, "remote", "add", "origin", str(self._bare))

    @property
    def url(self) -> str:
        """What an Application gives as its repoURL."""
        return f"file://{self._bare}"

    def commit(self, files: Mapping[str, str | None], message: str) -> str:
        """Write the files (None: delete it), commit, push; give the commit's hash."""
        for name, text in files.items():
            path = self._clone / name
            if text is None:
                path.unlink()
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        self._git(self._clone, "add", "--all")
        self._git(self._clone, "commit", "--quiet", "--allow-empty", "--message", message)
        self._git(self._clone, "push", "--quiet", "origin", "main")
        return self._git(self._clone, "rev-parse", "HEAD").strip()

    def _git(self, folder: Path, *arguments: str) -> str:
        done = subprocess.run(
            ["git", *arguments],
            cwd=folder,
            env=_ENVIRONMENT | {"PATH": os.environ["PATH"]},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"git {' '.join(arguments)}: {done.stderr}")
        return done.stdout
