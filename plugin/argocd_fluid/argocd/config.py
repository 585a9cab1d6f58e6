"""`argocd-fluid config`: prints what an administrator applies, as YAML for `kubectl apply -f -`.

Prints only; it talks to no cluster. Order matters in `all`: the policies name the FluidWorkload,
so its definition comes first.
"""

import argparse
from collections.abc import Callable
from typing import Final

from argocd_fluid.argocd import data, policies, settings

OWN_NAMESPACE: Final = "argocd-fluid"
ARGOCD_NAMESPACE: Final = "argocd"
ALL: Final = ("crds", "rbac", "policies", "argocd-cm", "plugin")

_PARTS: Final[dict[str, Callable[[argparse.Namespace], str]]] = {
    "crds": lambda _: data.text("crds.yaml"),
    "policies": lambda options: policies.policies(options.admission_api),
    "rbac": lambda options: rbac(options.namespace or OWN_NAMESPACE),
    "argocd-cm": lambda options: settings.argocd_cm(options.namespace or ARGOCD_NAMESPACE),
    "plugin": lambda options: settings.plugin(options.namespace or ARGOCD_NAMESPACE),
    "sidecar": lambda _: data.text("sidecar.yaml"),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what `argocd-fluid config` takes."""
    parser.add_argument(
        "part",
        choices=[*_PARTS, "all"],
        help="what to print; `all` is everything but the sidecar, which is a patch",
    )
    parser.add_argument(
        "--namespace",
        help=f"where namespaced objects go (default: {OWN_NAMESPACE} for rbac, "
        f"{ARGOCD_NAMESPACE} for argocd-cm and plugin)",
    )
    parser.add_argument(
        "--admission-api",
        choices=["v1", "v1beta1"],
        default="v1",
        help="version of the admission policies: v1 from Kubernetes 1.36, v1beta1 on 1.35 "
        "where an administrator turned them on",
    )


def run(options: argparse.Namespace) -> str:
    """Give the text to print."""
    parts = ALL if options.part == "all" else (options.part,)
    return "---\n".join(_PARTS[part](options) for part in parts)


def rbac(namespace: str) -> str:
    """Give the controller's namespace, account and rights."""
    own_namespace = f"kind: Namespace\nmetadata:\n  name: {OWN_NAMESPACE}\n"
    text = data.text("rbac.yaml")
    text = text.replace(own_namespace, own_namespace.replace(OWN_NAMESPACE, namespace))
    return text.replace(f"namespace: {OWN_NAMESPACE}", f"namespace: {namespace}")
