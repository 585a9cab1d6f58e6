"""How to reach the API server: a kubeconfig file, else the pod's own service account.

The kubernetes package does the authentication (client certificates, tokens, exec plugins). Nothing
of its typed models is imported: they cost 2 s and drop fields that they do not know.
"""

from collections.abc import Callable
from pathlib import Path

from kubernetes.client.configuration import Configuration
from kubernetes.config import (
    ConfigException,
    load_incluster_config,
    load_kube_config,
)

from argocd_fluid.errors import UserError

POOL_CONNECTIONS = 64
"""Per host: two watches per resource, a handful of node loops that patch at once, room to spare."""

Loader = Callable[[], Configuration]
"""Gives fresh credentials; called again when the server no longer accepts the old ones."""


def loader(kubeconfig: Path | None) -> Loader:
    """Make a loader for a kubeconfig file, or for the cluster that this process runs in."""

    def load() -> Configuration:
        if kubeconfig is not None and not kubeconfig.is_file():
            raise UserError(f"no file {kubeconfig}", hint="--kubeconfig names a kubeconfig")
        configuration = Configuration()
        try:
            if kubeconfig is None:
                load_incluster_config(client_configuration=configuration)  # type: ignore[no-untyped-call]  # upstream has none
            else:
                load_kube_config(str(kubeconfig), client_configuration=configuration)  # type: ignore[no-untyped-call]  # same
        except ConfigException as error:
            raise UserError(
                f"no connection to a cluster: {error}", hint="give --kubeconfig, or run in a pod"
            ) from error
        # A lost answer to a PATCH must be seen, not repeated: retries are the caller's decision.
        configuration.retries = False
        configuration.connection_pool_maxsize = POOL_CONNECTIONS
        return configuration

    return load
