"""Renders a Kustomize directory with the real program, which it does not trust with anything.

Plugins, exec functions and Helm inflation are never turned on. Every path that a kustomization
names is looked up first: it must exist and lie in the repository, so nothing is fetched unless the
Application allows it.
"""

import os
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from argocd_fluid.errors import RenderError, Where
from argocd_fluid.manifests.document import Document, dotted
from argocd_fluid.manifests.document import Path as FieldPath
from argocd_fluid.manifests.reader import read
from argocd_fluid.records import dataclass, field
from argocd_fluid.render import files
from argocd_fluid.render.application import Application
from argocd_fluid.render.child import Child, output

LABEL: Final = "kustomize build"
NAMES: Final = ("kustomization.yaml", "kustomization.yml", "Kustomization")
MAX_DIRECTORIES: Final = 1000
_FLAGS: Final = ("--load-restrictor", "LoadRestrictionsRootOnly")
_NO_NETWORK: Final = {
    # What the look-up may miss still gets nowhere: no git transport, and a proxy that is nobody.
    "GIT_ALLOW_PROTOCOL": "none",
    "HTTP_PROXY": "http://127.0.0.1:9",
    "HTTPS_PROXY": "http://127.0.0.1:9",
}
_NO_PROMPT: Final = {"GIT_TERMINAL_PROMPT": "0", "GIT_CONFIG_NOSYSTEM": "1"}
_REMOTE: Final = re.compile(
    r"://|@|::|^gh:|^github\.com[/:]|\.git(/|$|\?)|/_git/|[?&](ref|version|timeout)=", re.IGNORECASE
)
"""What Kustomize takes for a repository or an address (api/internal/git/repospec.go)."""

_LISTS: Final = ("resources", "bases", "components", "crds", "configurations",
                 "patchesStrategicMerge")  # fmt: skip
_CONFIGS: Final = ("generators", "transformers", "validators")
"""They may name files of their own, in fields of any name."""
_WITH_PATH: Final = ("patches", "patchesJson6902", "replacements")
_DATA: Final = ("configMapGenerator", "secretGenerator")
_HELM: Final = ("helmCharts", "helmChartInflationGenerator", "helmGlobals")


def render(application: Application) -> bytes:
    """Give what Kustomize builds; raises RenderError."""
    allow_remote = application.parameters.allow_remote_bases
    _Scan(application=application, allow_remote=allow_remote).directory(
        application.folder.resolve()
    )
    path = application.environment.get("PATH")
    program = ("kustomize", "build") if shutil.which("kustomize", path=path) else _KUBECTL
    child = Child(
        name=LABEL,
        argv=(*program, ".", *_FLAGS),
        folder=application.folder,
        hint="the sidecar's image needs kustomize or kubectl on its PATH",
        environment=_NO_PROMPT | ({} if allow_remote else _NO_NETWORK),
    )
    return output(child, application.surroundings)


_KUBECTL: Final = ("kubectl", "kustomize")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """A directory, and whether what it holds configures generators and transformers."""

    folder: Path
    is_config: bool


@dataclass(slots=True, kw_only=True)
class _Scan:
    """Looks up what kustomizations name, directory by directory."""

    application: Application
    allow_remote: bool
    seen: set["_Place"] = field(default_factory=set)

    def directory(self, folder: Path) -> None:
        """Scan a directory and all that it leads to."""
        waiting = [_Place(folder=folder, is_config=False)]
        while waiting:
            place = waiting.pop()
            if place in self.seen:
                continue
            self.seen.add(place)
            if len(self.seen) > MAX_DIRECTORIES:
                raise RenderError(f"more than {MAX_DIRECTORIES} directories are kustomizations")
            self.application.surroundings.budget.check()
            for name in NAMES:
                if os.path.lexists(place.folder / name):
                    waiting += self._kustomization(place, name)

    def _kustomization(self, place: "_Place", name: str) -> Iterator["_Place"]:
        for document in self._read(place.folder, name):
            for key in _HELM:
                if key in document.value:
                    problem = "Helm charts are not inflated by Kustomize"
                    raise RenderError(problem, where=document.where((key,)), hint=_HELM_HINT)
            for path, text in _named(document.value):
                is_config = place.is_config or path[0] in _CONFIGS
                if "\n" not in text:
                    found = _Place(folder=place.folder, is_config=is_config)
                    yield from self._reference(found, text, document.where(path))
                elif is_config:
                    self._config(document, path, text)

    def _reference(self, place: "_Place", text: str, where: Where) -> Iterator["_Place"]:
        if _REMOTE.search(text):
            if not self.allow_remote:
                raise RenderError(f"{text!r} is remote", where=where, hint=_REMOTE_HINT)
            return
        target = self._inside(place.folder, text, where)
        if target.is_dir():
            yield _Place(folder=target, is_config=place.is_config)
            return
        files.checked(place.folder, text, root=self.application.repository, outside=_REPOSITORY)
        if place.is_config:
            for each in self._read(place.folder, text):
                self._strings(each, each.value, ())

    def _inside(self, folder: Path, text: str, where: Where) -> Path:
        try:
            target = Path(folder, text).resolve()
            inside = target.is_relative_to(self.application.repository)
            exists = inside and target.exists()
        except (OSError, ValueError, RuntimeError):
            raise RenderError(f"{text!r} is no path that can be opened", where=where) from None
        if not inside:
            raise RenderError(f"{text!r} leads out of {_REPOSITORY}", where=where)
        if not exists:
            raise RenderError(f"{text!r} does not exist", where=where)
        return target

    def _config(self, document: Document, path: FieldPath, text: str) -> None:
        file = f"{document.file}: {dotted(path)}"
        for each in read(text.encode(), file):
            self._strings(each, each.value, ())
        self.application.surroundings.budget.check()

    def _strings(self, document: Document, value: object, path: FieldPath) -> None:
        """Refuse addresses anywhere in the configuration of a generator or transformer."""
        if isinstance(value, dict):
            for key, each in value.items():
                self._strings(document, each, (*path, key))
        elif isinstance(value, list):
            for index, each in enumerate(value):
                self._strings(document, each, (*path, index))
        elif isinstance(value, str) and "://" in value and not self.allow_remote:
            raise RenderError("names an address", where=document.where(path), hint=_REMOTE_HINT)

    def _read(self, folder: Path, name: str) -> list[Document]:
        root = self.application.repository
        data = files.read(folder, name, root=root, outside=_REPOSITORY)
        top = self.application.folder.resolve()
        path = folder / name
        shown = path.relative_to(top if path.is_relative_to(top) else root)
        return read(data, str(shown))


_REPOSITORY: Final = "the repository"
_REMOTE_HINT: Final = "bring it into the repository, or set the parameter allowRemoteBases"
_HELM_HINT: Final = "render a chart with an Application of its own"


def _named(value: Mapping[str, Any]) -> Iterator[tuple[FieldPath, str]]:
    """Give every text of a kustomization that is a path, or YAML in place of one."""
    for key in (*_LISTS, *_CONFIGS):
        yield from _texts(value.get(key), (key,))
    for key in _WITH_PATH:
        for index, item in enumerate(_items(value.get(key))):
            if isinstance(item, dict):
                yield from _text(item.get("path"), (key, index, "path"))
    openapi = value.get("openapi")
    if isinstance(openapi, dict):
        yield from _text(openapi.get("path"), ("openapi", "path"))
    for key in _DATA:
        for index, item in enumerate(_items(value.get(key))):
            if isinstance(item, dict):
                yield from _sources(item, (key, index))


def _sources(item: Mapping[str, Any], path: FieldPath) -> Iterator[tuple[FieldPath, str]]:
    for field_path, text in _texts(item.get("files"), (*path, "files")):
        # Either a path, or a key and a path.
        yield field_path, text.split("=", 1)[-1]
    yield from _texts(item.get("envs"), (*path, "envs"))
    yield from _text(item.get("env"), (*path, "env"))


def _texts(value: object, path: FieldPath) -> Iterator[tuple[FieldPath, str]]:
    for index, item in enumerate(_items(value)):
        yield from _text(item, (*path, index))


def _text(value: object, path: FieldPath) -> Iterator[tuple[FieldPath, str]]:
    if isinstance(value, str) and value:
        yield path, value


def _items(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
