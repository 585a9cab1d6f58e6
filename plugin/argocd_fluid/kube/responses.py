"""What an answer over HTTP means: lines of a stream, and one error class per status.

A time-out or a broken connection says nothing about whether the server carried a request out;
that is `Unreachable`, and whoever wrote must read again before writing again.
"""

import contextlib
from collections.abc import Iterator
from typing import Final

import msgspec
import urllib3

from argocd_fluid.errors import (
    ApiError,
    Conflict,
    Forbidden,
    Gone,
    Invalid,
    NotFound,
    Terminal,
    Unreachable,
)
from argocd_fluid.kube.types import Status

FIRST_ERROR: Final = 400
SERVER_ERROR: Final = 500
SHOWN: Final = 500

_CLASSES: Final[dict[int, type[ApiError]]] = {
    401: Unreachable,  # stale credentials: says nothing about the request itself
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    410: Gone,
    422: Invalid,
    429: Unreachable,
}


@contextlib.contextmanager
def transport_errors(request: object) -> Iterator[None]:
    """Turn what breaks below HTTP into Unreachable."""
    try:
        yield
    except (urllib3.exceptions.HTTPError, OSError) as error:
        raise Unreachable(f"{request}: {error}") from error


def error_of(request: object, status: int, body: bytes) -> ApiError:
    """Give the exception for an answer with an error status."""
    return error_of_status(request, _parse(status, body))


def error_of_status(request: object, status: Status) -> ApiError:
    """Give the exception for a Status object, as an answer or inside a watch."""
    fallback = Unreachable if status.code >= SERVER_ERROR or not status.code else Terminal
    kind = _CLASSES.get(status.code, fallback)
    causes = (status.details.causes or ()) if status.details else ()
    cause = causes[0].reason if causes else ""
    return kind(f"{request}: {status.message}", status=status.code, cause=cause)


def lines(response: urllib3.BaseHTTPResponse, request: object) -> Iterator[bytes]:
    """Split a streamed body into its lines, as they arrive; a half line at the end is dropped."""
    rest = b""
    with transport_errors(request):
        for chunk in response.stream():
            *whole, rest = (rest + chunk).split(b"\n")
            yield from (line for line in whole if line)


def _parse(code: int, body: bytes) -> Status:
    """Read a Status; proxies and kubelets answer in prose."""
    try:
        status = msgspec.json.decode(body, type=Status)
    except msgspec.MsgspecError:
        return Status(code=code, message=body[:SHOWN].decode(errors="replace").strip())
    return msgspec.structs.replace(status, code=code)
