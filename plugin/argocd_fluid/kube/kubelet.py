"""Usage as a node's kubelet measures it: GET /stats/summary on :10250, no proxy in between.

Needs `nodes/stats` (never `nodes/proxy`, which is root on the node). The kubelet renews its
figures every 10 to 16 s; each carries its own time, and the same one may come twice.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec
import urllib3

from argocd_fluid import constants
from argocd_fluid.errors import Unreachable
from argocd_fluid.kube import responses
from argocd_fluid.kube.client import UNAUTHORIZED
from argocd_fluid.kube.connection import Loader
from argocd_fluid.kube.summary import Summary
from argocd_fluid.kube.types import Node

PATH: Final = "/stats/summary?only_cpu_and_memory=true"
HOSTS: Final = 5000
"""Connections are kept per node; Kubernetes supports this many."""
FAMILIES: Final = ("InternalIP", "ExternalIP", "Hostname")
"""In the API server's own order (--kubelet-preferred-address-types), names last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trust:
    """How the kubelets prove who they are: by default with the cluster's own CA."""

    ca: Path | None = None
    insecure: bool = False


class Kubelets:
    """Asks kubelets with the same credentials as the API server. Safe to share between threads."""

    def __init__(self, load: Loader, *, trust: Trust, timeout_s: float = 4.0) -> None:
        """`timeout_s` holds for one node in all: a slow one must not cost a whole round."""
        self._load = load
        self._configuration = load()
        self._timeout = urllib3.Timeout(total=timeout_s)
        configuration = self._configuration
        self._pool = urllib3.PoolManager(
            num_pools=HOSTS,
            retries=False,
            cert_reqs="CERT_NONE" if trust.insecure else "CERT_REQUIRED",
            ca_certs=str(trust.ca) if trust.ca else configuration.ssl_ca_cert,
            cert_file=configuration.cert_file,
            key_file=configuration.key_file,
        )

    def summary(self, node: Node) -> Summary:
        """Read the usage of everything on one node."""
        url = url_of(node)
        headers = {"User-Agent": constants.FIELD_MANAGER, **self._authorization()}
        with responses.transport_errors(url):
            response = self._pool.request("GET", url, headers=headers, timeout=self._timeout)
        if response.status == UNAUTHORIZED:
            self._configuration = self._load()  # for the next round: tokens are rotated
        if response.status >= responses.FIRST_ERROR:
            raise responses.error_of(url, response.status, response.data)
        try:
            return msgspec.json.decode(response.data, type=Summary)
        except msgspec.MsgspecError as error:
            raise Unreachable(f"{url}: no summary: {error}") from error

    def _authorization(self) -> dict[str, str]:
        token = self._configuration.auth_settings().get("BearerToken")
        return {token["key"]: token["value"]} if token and token["value"] else {}


def url_of(node: Node) -> str:
    """Give the URL of a node's summary."""
    addresses = {address.type: address.address for address in node.status.addresses or ()}
    host = next((addresses[family] for family in FAMILIES if family in addresses), "")
    port = node.status.daemon_endpoints.kubelet_endpoint.port
    if not host or not port:
        raise Unreachable(f"node {node.metadata.name} does not say where its kubelet listens")
    if ":" in host:
        host = f"[{host}]"
    return f"https://{host}:{port}{PATH}"
