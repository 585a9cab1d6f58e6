"""What Argo CD itself needs: keys of `argocd-cm`, and the plugin's configuration.

The health scripts are read from `lua-health/`, which keeps Argo CD's own layout; no other copy
of them exists.
"""

from textwrap import indent

from argocd_fluid.argocd import data


def argocd_cm(namespace: str) -> str:
    """Give ConfigMap argocd-cm, with only the keys that argocd-fluid adds."""
    return _in_namespace(data.text("argocd-cm.yaml") + _health_keys(), namespace)


def plugin(namespace: str) -> str:
    """Give the ConfigMap that the sidecar mounts as its plugin.yaml."""
    head = (
        "apiVersion: v1\n"
        "kind: ConfigMap\n"
        "metadata:\n"
        "  name: argocd-fluid-plugin\n"
        "  namespace: argocd\n"
        "  labels: {app.kubernetes.io/part-of: argocd-fluid}\n"
        "data:\n"
    )
    return _in_namespace(head, namespace) + _literal("plugin.yaml", data.text("plugin.yaml"))


def _health_keys() -> str:
    scripts = sorted(data.folder("lua-health").glob("*/*/health.lua"))
    return "".join(
        _literal(
            f"resource.customizations.health.{script.parts[-3]}_{script.parts[-2]}",
            script.read_text(encoding="utf-8"),
        )
        for script in scripts
    )


def _literal(key: str, text: str) -> str:
    return f"  {key}: |\n" + indent(text, "    ")


def _in_namespace(text: str, namespace: str) -> str:
    return text.replace("  namespace: argocd\n", f"  namespace: {namespace}\n")
