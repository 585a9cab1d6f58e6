"""The one way to the API server: typed answers, one error class per meaning, a time-out per call.

Bodies go out as JSON, answers come back as msgspec Structs. The kubernetes package brings only
the connection and the credentials. Nothing is retried here, except once after 401 with fresh
credentials (such a request was not carried out).
"""

import contextlib
import logging
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import msgspec
import urllib3
from kubernetes.client.api_client import ApiClient
from kubernetes.client.exceptions import ApiException

from argocd_fluid import constants
from argocd_fluid.errors import Unreachable
from argocd_fluid.kube import responses
from argocd_fluid.kube.connection import Loader
from argocd_fluid.kube.types import ListMeta, ListOf

T = TypeVar("T")
Manifest = dict[str, Any]
Query = Mapping[str, str]

JSON = "application/json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_MERGE_PATCH = "application/strategic-merge-patch+json"
METADATA_ONLY = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
METADATA_ONLY_LIST = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"

CONNECT_TIMEOUT_S = 5.0
UNAUTHORIZED = 401
PAGE = 500
BY_US: Query = {"fieldManager": constants.FIELD_MANAGER}

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One call, before credentials. `silence_s`: how long the server may send nothing."""

    method: str
    path: str
    query: Query = field(default_factory=dict)
    body: Manifest | None = None
    accept: str = JSON
    content_type: str = JSON
    silence_s: float | None = None

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


class Client:
    """Requests to one API server. Safe to share between threads."""

    def __init__(self, load: Loader, *, timeout_s: float = 10.0) -> None:
        """`timeout_s` is how long the server may stay silent in a call that is no watch."""
        self._load = load
        self._timeout_s = timeout_s
        self._api = self._connect()
        self._refused = False
        self._noting = threading.Lock()

    def get(self, path: str, kind: type[T]) -> T:
        """Read one object."""
        return self._call(Request(method="GET", path=path), kind)

    def list(
        self, path: str, kind: type[T], *, query: Query | None = None, accept: str = JSON
    ) -> ListOf[T]:
        """List a collection in chunks; all of it is of one resource version."""
        items: list[T] = []
        token = ""
        while True:
            chunk = {"limit": str(PAGE), **(query or {})} | ({"continue": token} if token else {})
            request = Request(method="GET", path=path, query=chunk, accept=accept)
            page = self._call(request, ListOf[kind])  # type: ignore[valid-type]  # made at run time
            items.extend(page.items or ())
            token = page.metadata.continue_
            if not token:
                version = page.metadata.resource_version
                return ListOf(metadata=ListMeta(resource_version=version), items=items)

    def create(self, path: str, body: Manifest, kind: type[T]) -> T:
        """Create one object; `path` is its collection."""
        return self._call(Request(method="POST", path=path, body=body, query=BY_US), kind)

    def patch(
        self, path: str, body: Manifest, kind: type[T], *, content_type: str = MERGE_PATCH
    ) -> T:
        """Patch one object or subresource, and give it as the server has it afterwards."""
        request = Request(
            method="PATCH", path=path, body=body, query=BY_US, content_type=content_type
        )
        return self._call(request, kind)

    def delete(self, path: str, *, uid: str) -> None:
        """Delete one object, unless another one has its name by now (409)."""
        body = {"preconditions": {"uid": uid}}
        self._read(Request(method="DELETE", path=path, body=body))

    @contextlib.contextmanager
    def stream(
        self, path: str, *, query: Query, silence_s: float, accept: str = JSON
    ) -> Iterator[Iterator[bytes]]:
        """Open a watch and give its lines; `silence_s` without a byte raises Unreachable."""
        request = Request(method="GET", path=path, query=query, accept=accept, silence_s=silence_s)
        response = self._open(request)
        try:
            yield responses.lines(response, request)
        finally:
            # Half-read: the connection cannot serve another request.
            response.close()

    def _connect(self) -> ApiClient:
        api = ApiClient(self._load())
        api.user_agent = constants.FIELD_MANAGER
        return api

    def _call(self, request: Request, kind: type[T]) -> T:
        body = self._read(request)
        try:
            return msgspec.json.decode(body, type=kind)
        except msgspec.MsgspecError as error:
            raise Unreachable(f"{request}: no answer of the API: {error}") from error

    def _read(self, request: Request) -> bytes:
        response = self._open(request)
        with responses.transport_errors(request):
            return response.data

    def _open(self, request: Request) -> urllib3.BaseHTTPResponse:
        response = self._send(request)
        if response.status == UNAUTHORIZED:
            response.close()
            self._api = self._connect()
            response = self._send(request)
            self._note_credentials(request, refused=response.status == UNAUTHORIZED)
        else:
            self._refused = False
        if response.status >= responses.FIRST_ERROR:
            with responses.transport_errors(request):
                raise responses.error_of(request, response.status, response.data)
        return response

    def _note_credentials(self, request: Request, *, refused: bool) -> None:
        """Say once what many threads find out at the same time, and again only after it worked."""
        with self._noting:
            is_news, self._refused = refused and not self._refused, refused
        if is_news:
            log.error(
                "the API server refuses our credentials: give a --kubeconfig whose user it knows,"
                " or recreate the pod to get a new service account token; trying on",
                extra={"path": request.path},
            )

    def _send(self, request: Request) -> urllib3.BaseHTTPResponse:
        api = self._api
        call = api.param_serialize(
            request.method,
            request.path,
            query_params=list(request.query.items()),
            header_params={"Accept": request.accept, "Content-Type": request.content_type},
            body=request.body,
            auth_settings=["BearerToken"],
        )
        timeout = (CONNECT_TIMEOUT_S, request.silence_s or self._timeout_s)
        with responses.transport_errors(request):
            try:
                response: urllib3.BaseHTTPResponse = api.call_api(
                    *call, _request_timeout=timeout
                ).response
                return response
            except ApiException as error:  # status 0: TLS
                raise Unreachable(f"{request}: {error.reason}") from error
