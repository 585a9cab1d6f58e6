"""One application to render: where it is, what is set for it, and what surrounds it."""

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from argocd_fluid.records import dataclass, field
from argocd_fluid.render.budget import Surroundings
from argocd_fluid.render.parameters import Parameters

_WORK_FOLDER: Final = "_cmp_server"
"""Argo CD's sidecar puts every repository into `<work folder>/_cmp_server/<uuid>`."""


@dataclass(frozen=True, kw_only=True)
class Application:
    """What every source gets. `values` are those of `fluid.yaml`."""

    folder: Path
    parameters: Parameters = field(default_factory=Parameters)
    surroundings: Surroundings = field(default_factory=Surroundings)
    values: Mapping[str, Any] = field(default_factory=dict)

    @property
    def environment(self) -> Mapping[str, str]:
        """The environment that Argo CD gave."""
        return self.surroundings.environment

    @cached_property
    def repository(self) -> Path:
        """The top of the repository; the application's own directory where it cannot be told."""
        folder = self.folder.resolve()
        parents = [folder, *folder.parents]
        # The outermost, because the repository itself may have a directory of that name.
        for parent in reversed(parents[1:]):
            if parent.name == _WORK_FOLDER:
                return parent / folder.relative_to(parent).parts[0]
        return next((parent for parent in parents if (parent / ".git").exists()), folder)
