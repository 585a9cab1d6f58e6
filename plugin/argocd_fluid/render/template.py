"""Renders Jinja2 templates, in a child process that has limits and no secrets.

A template can do nothing but make text: no file, no network, no environment beyond what its context
has, and only so much time and memory. Its errors point to a line of the template.
"""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from argocd_fluid.errors import RenderError, Where
from argocd_fluid.render.application import Application
from argocd_fluid.render.child import Child, End, Outcome, reason, run

CPU_S: Final = 2
"""Processor seconds for a few templates; more of them get more."""
_TEMPLATES_PER_S: Final = 100
_SANDBOX: Final = Path(__file__).with_name("sandbox.py")
_PREFIX: Final = "ARGOCD_ENV_"
_NAMES: Final = {
    "name": "ARGOCD_APP_NAME",
    "namespace": "ARGOCD_APP_NAMESPACE",
    "project": "ARGOCD_APP_PROJECT_NAME",
    "revision": "ARGOCD_APP_REVISION",
    "revisionShort": "ARGOCD_APP_REVISION_SHORT",
    "revisionShort8": "ARGOCD_APP_REVISION_SHORT_8",
    "repoURL": "ARGOCD_APP_SOURCE_REPO_URL",
    "path": "ARGOCD_APP_SOURCE_PATH",
    "targetRevision": "ARGOCD_APP_SOURCE_TARGET_REVISION",
    "kubeVersion": "KUBE_VERSION",
}
"""What templates see as `argocd.<name>`; absent where Argo CD does not give it."""


def render(application: Application, templates: Mapping[str, bytes]) -> dict[str, bytes]:
    """Render templates by name; raises RenderError with the line of the template."""
    texts = {name: _text(name, data) for name, data in templates.items()}
    cpu_s = CPU_S + len(texts) // _TEMPLATES_PER_S
    job = {"templates": texts, "context": context(application), "cpuSeconds": cpu_s}
    child = Child(
        name="the templates",
        # By path: an isolated Python sees no PYTHONPATH, and needs nothing of this package.
        argv=(sys.executable, "-I", str(_SANDBOX)),
        folder=application.folder,
        stdin=json.dumps(job).encode(),
    )
    outcome = run(child, application.surroundings)
    answers = [json.loads(line) for line in outcome.stdout.splitlines(keepends=True)
               if line.endswith(b"\n")]  # fmt: skip
    done = dict(zip(texts, answers, strict=False))
    for name, answer in done.items():
        if "problem" in answer:
            where = Where(file=answer.get("file") or name, line=answer.get("line"))
            raise RenderError(answer["problem"], where=where)
    if outcome.end is not End.BY_ITSELF or outcome.status or len(done) < len(texts):
        # The one that has no answer is the one that it was at.
        name = next((name for name in texts if name not in done), next(iter(texts)))
        raise RenderError(_problem(outcome, child, cpu_s), where=Where(file=name))
    return {name: answer["text"].encode() for name, answer in done.items()}


def context(application: Application) -> dict[str, Any]:
    """Give what templates see."""
    environment = application.environment
    argocd: dict[str, Any] = {
        name: environment[variable] for name, variable in _NAMES.items() if variable in environment
    }
    argocd["apiVersions"] = [each for each in environment.get("KUBE_API_VERSIONS", "").split(",")
                             if each]  # fmt: skip
    argocd["env"] = {
        name.removeprefix(_PREFIX): value
        for name, value in environment.items()
        if name.startswith(_PREFIX)
    }
    params = dict(application.parameters.template)
    return {"argocd": argocd, "params": params, "values": dict(application.values)}


def _text(name: str, data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise RenderError("is not UTF-8", where=Where(file=name, line=line)) from None


def _problem(outcome: Outcome, child: Child, cpu_s: int) -> str:
    if outcome.end is End.TOO_LONG:
        return "the rendering took longer than the time it has"
    if outcome.end is End.TOO_MUCH:
        return f"the templates make more than {child.max_output >> 20} MiB"
    # The limit ends it with SIGXCPU, and with SIGKILL where that is late.
    if outcome.status < 0:
        return f"needs more than {cpu_s} s of processor time, or too much memory"
    return f"cannot be rendered: {reason(outcome, child)}"
