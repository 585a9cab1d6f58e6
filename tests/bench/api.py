"""A thin client for tests: dict objects, and an exception with the server's own words."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import requests

Object = dict[str, Any]

_CORE = {
    "Namespace": ("namespaces", False),
    "Node": ("nodes", False),
    "Pod": ("pods", True),
    "ConfigMap": ("configmaps", True),
    "Secret": ("secrets", True),
    "Service": ("services", True),
    "ServiceAccount": ("serviceaccounts", True),
    "Event": ("events", True),
    "ResourceQuota": ("resourcequotas", True),
    "LimitRange": ("limitranges", True),
    "PersistentVolumeClaim": ("persistentvolumeclaims", True),
}
_CLUSTER_KINDS = {
    "CustomResourceDefinition",
    "ClusterRole",
    "ClusterRoleBinding",
    "MutatingAdmissionPolicy",
    "MutatingAdmissionPolicyBinding",
    "MutatingWebhookConfiguration",
    "ValidatingWebhookConfiguration",
    "PriorityClass",
    "CSINode",
    "ClusterAnalysisTemplate",
}
_PLURALS = {
    "MutatingAdmissionPolicy": "mutatingadmissionpolicies",
    "PriorityClass": "priorityclasses",
}


class ApiFailure(Exception):
    """An answer that is not 2xx."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(f"{status}: {text}")
        self.status = status
        self.text = text


class Api:
    """One API server, one set of credentials."""

    def __init__(
        self,
        url: str,
        ca_file: Path,
        *,
        certificate: tuple[Path, Path] | None = None,
        token: str = "",
    ) -> None:
        self.url = url
        self._session = requests.Session()
        # The environment's CA bundle and proxies are for other hosts.
        self._session.trust_env = False
        self._session.verify = str(ca_file)
        if certificate:
            self._session.cert = (str(certificate[0]), str(certificate[1]))
        if token:
            self._session.headers["Authorization"] = f"Bearer {token}"

    def close(self) -> None:
        self._session.close()

    def request(
        self, method: str, path: str, *, body: Any = None, content_type: str = "", **query: Any
    ) -> Any:
        """One call; JSON in and out (text where the answer is no JSON)."""
        headers = {"Content-Type": content_type or "application/json"} if body is not None else {}
        answer = self._session.request(
            method,
            self.url + path,
            data=None if body is None else json.dumps(body),
            headers=headers,
            params=query,
            timeout=30,
        )
        if not answer.ok:
            raise ApiFailure(answer.status_code, _message(answer))
        is_json = answer.headers.get("Content-Type", "").startswith("application/json")
        return answer.json() if is_json else answer.text

    def get(self, api_version: str, kind: str, name: str, namespace: str = "") -> Object:
        return self.request("GET", path_of(api_version, kind, namespace, name))

    def find(self, api_version: str, kind: str, name: str, namespace: str = "") -> Object | None:
        """Like get; None for 404."""
        try:
            return self.get(api_version, kind, name, namespace)
        except ApiFailure as failure:
            if failure.status == 404:
                return None
            raise

    def list(
        self, api_version: str, kind: str, namespace: str = "", *, labels: str = ""
    ) -> list[Object]:
        query = {"labelSelector": labels} if labels else {}
        items = self.request("GET", path_of(api_version, kind, namespace), **query)["items"]
        # Lists of built-in kinds leave these out of their items.
        return [{"apiVersion": api_version, "kind": kind} | item for item in items]

    def create(self, item: Object) -> Object:
        return self.request("POST", _path_of_object(item, named=False), body=item)

    def apply(self, item: Object, *, manager: str = "bench") -> Object:
        """Server-side apply, conflicts overruled."""
        return self.request(
            "PATCH",
            _path_of_object(item),
            body=item,
            content_type="application/apply-patch+yaml",
            fieldManager=manager,
            force="true",
        )

    def patch(
        self,
        item: Object,
        change: Any,
        *,
        subresource: str = "",
        content_type: str = "application/merge-patch+json",
    ) -> Object:
        path = _path_of_object(item) + (f"/{subresource}" if subresource else "")
        return self.request("PATCH", path, body=change, content_type=content_type)

    def delete(self, item: Object, *, grace_s: int | None = None) -> None:
        """Delete an object; one that is gone already is fine."""
        body: Object = {"propagationPolicy": "Background"}
        if grace_s is not None:
            body["gracePeriodSeconds"] = grace_s
        try:
            self.request("DELETE", _path_of_object(item), body=body)
        except ApiFailure as failure:
            if failure.status != 404:
                raise

    def wait_for(
        self,
        what: str,
        probe: Callable[[], Any],
        *,
        timeout_s: float = 30,
        every_s: float = 0.1,
    ) -> Any:
        """Poll until `probe` gives something true, and give that."""
        deadline = time.monotonic() + timeout_s
        while not (answer := probe()):
            if time.monotonic() > deadline:
                raise AssertionError(f"not within {timeout_s:.0f} s: {what}; last: {answer!r}")
            time.sleep(every_s)
        return answer


def path_of(api_version: str, kind: str, namespace: str = "", name: str = "") -> str:
    """The REST path of a kind, or of one object."""
    prefix = f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"
    plural, _ = _CORE.get(kind, (_PLURALS.get(kind, kind.lower() + "s"), True))
    middle = f"/namespaces/{namespace}" if namespace else ""
    return f"{prefix}{middle}/{plural}" + (f"/{name}" if name else "")


def _path_of_object(item: Object, *, named: bool = True) -> str:
    kind, metadata = item["kind"], item["metadata"]
    _, namespaced = _CORE.get(kind, ("", kind not in _CLUSTER_KINDS))
    namespace = metadata.get("namespace", "default") if namespaced else ""
    return path_of(item["apiVersion"], kind, namespace, metadata["name"] if named else "")


def _message(answer: requests.Response) -> str:
    try:
        return answer.json()["message"]
    except (ValueError, KeyError, TypeError):
        return answer.text[:2000]
