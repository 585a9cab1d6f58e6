"""Renders a Helm chart with the real program, as a release named like the Application.

Nothing is fetched: dependencies must lie in `charts/`. Values come from the parameters, and values
files must lie in the application's directory.
"""

from collections.abc import Iterator
from typing import Final

from argocd_fluid.errors import ManifestError, PolicyError, RenderError, Where
from argocd_fluid.manifests.reader import read_value
from argocd_fluid.render import files
from argocd_fluid.render.application import Application
from argocd_fluid.render.child import HOME, Child, output

LABEL: Final = "helm template"
DEFAULT_NAME: Final = "release"
_VALUES: Final = "values.yaml"
_MISSING: Final = ("missing in charts/", "found in Chart.yaml, but missing")


def render(application: Application) -> bytes:
    """Give what Helm renders; raises RenderError, or PolicyError for a wrong parameter."""
    files.check_tree(application.folder)
    child = Child(
        name=LABEL,
        argv=("helm", "template", _name(application), ".", *_flags(application)),
        folder=application.folder,
        hint="the sidecar's image needs helm on its PATH",
        files={_VALUES: _values(application).encode()},
    )
    try:
        return output(child, application.surroundings)
    except RenderError as error:
        if any(text in error.problem for text in _MISSING):
            hint = "dependencies are never fetched: commit what `helm dependency build` makes"
            raise RenderError(error.problem, hint=hint) from error
        raise


def _name(application: Application) -> str:
    # With applications in any namespace Argo CD's name has a `_`, which no release may have.
    given = application.environment.get("ARGOCD_APP_NAME", "") or DEFAULT_NAME
    return _word(application.parameters.helm_release_name or given.replace("_", "-"),
                 "helm.releaseName")  # fmt: skip


def _flags(application: Application) -> Iterator[str]:
    environment = application.environment
    yield "--include-crds"
    for flag, name in (("--namespace", "ARGOCD_APP_NAMESPACE"), ("--kube-version", "KUBE_VERSION")):
        if environment.get(name):
            yield f"{flag}={environment[name]}"
    for each in environment.get("KUBE_API_VERSIONS", "").split(","):
        if each.strip():
            yield f"--api-versions={each.strip()}"
    for file in application.parameters.helm_value_files:
        yield f"--values={_values_file(application, file)}"
    yield f"--values={HOME}/{_VALUES}"
    for key, value in application.parameters.helm_parameters.items():
        # Helm takes `a,b=c` for two values; a text in braces is its list.
        text = value if value.startswith("{") and value.endswith("}") else value.replace(",", r"\,")
        yield f"--set={key}={text}"


def _values_file(application: Application, file: str) -> str:
    try:
        return str(files.checked(application.folder, file))
    except RenderError as error:
        where = Where(field=f"parameter helm.valueFiles: {file}")
        raise PolicyError(error.problem, where=where) from error


def _values(application: Application) -> str:
    text = application.parameters.helm_values
    where = Where(field="parameter helm.values")
    try:
        value, _ = read_value(text, "")
    except ManifestError as error:
        raise PolicyError(f"line {error.where.line}: {error.problem}", where=where) from error
    if not isinstance(value, dict | None):
        raise PolicyError("is no mapping", where=where)
    return text


def _word(text: str, name: str) -> str:
    # A leading dash would be a flag of Helm's.
    if text.startswith("-"):
        raise PolicyError("begins with a dash", where=Where(field=f"parameter {name}"))
    return text
