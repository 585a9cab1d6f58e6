"""The one exception tree.

FluidError
 +-- UserError            somebody's input is wrong; shown as one line, exit 1, never a traceback
 |    +-- ManifestError   a manifest cannot be read or makes no sense
 |    |    +-- QuantityError
 |    +-- PolicyError     fluid.yaml, a plugin parameter or a policy annotation
 |    +-- RenderError     sources, children, budgets
 +-- ApiError             an answer of the API server or a kubelet
      +-- Retryable       the same request may succeed later
      |    +-- Conflict   409: somebody wrote first; read again
      |    +-- Gone       410: the resource version is too old; list again
      |    +-- Unreachable  no answer, or one that says nothing about the outcome
      +-- Terminal        the same request will be refused again
           +-- NotFound   404
           +-- Forbidden  403, with its cause
           +-- Invalid    422, with its text
"""

from collections.abc import Iterator

from argocd_fluid.records import dataclass


class FluidError(Exception):
    """Anything that argocd-fluid raises on purpose."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """A place in somebody's input: each part is given as far as it is known."""

    file: str = ""
    line: int | None = None
    document: str = ""
    field: str = ""

    def __str__(self) -> str:
        place = self.file + (f":{self.line}" if self.line is not None else "")
        return ": ".join(part for part in (place, self.document, self.field) if part)


class UserError(FluidError):
    """Somebody's input is wrong. `str()` is the whole line that they read."""

    def __init__(self, problem: str, *, where: Where | None = None, hint: str = "") -> None:
        """Keep the parts, so that an outer layer can add the file or the object."""
        self.problem = problem
        self.where = where or Where()
        self.hint = hint
        super().__init__(problem)

    def __str__(self) -> str:
        text = f"{self.problem} ({self.hint})" if self.hint else self.problem
        place = str(self.where)
        return f"{place}: {text}" if place else text


def leaves(group: BaseExceptionGroup[UserError]) -> Iterator[UserError]:
    """Give the problems of a group, however deep it is nested, in their order."""
    for error in group.exceptions:
        if isinstance(error, BaseExceptionGroup):
            yield from leaves(error)
        else:
            yield error


class ManifestError(UserError):
    """A manifest cannot be read, or makes no sense to Kubernetes."""


class QuantityError(ManifestError):
    """A string is no quantity as Kubernetes reads them."""


class PolicyError(UserError):
    """A policy has an unknown key, a wrong type, or bounds that contradict each other."""


class RenderError(UserError):
    """A source could not be rendered: a child failed, a budget ran out, nothing was found."""


class ApiError(FluidError):
    """An answer of the API server or a kubelet that is not the one asked for."""

    def __init__(self, message: str, *, status: int = 0, cause: str = "") -> None:
        """`status` is the HTTP code, 0 if none came; `cause` is details.causes[0].reason."""
        self.status = status
        self.cause = cause
        super().__init__(message)


class Retryable(ApiError):
    """The same request may succeed later."""


class Conflict(Retryable):
    """409: somebody else wrote first."""


class Gone(Retryable):
    """410: the resource version is too old."""


class Unreachable(Retryable):
    """No answer, or one that says nothing about the outcome (5xx, 429, time-out)."""


class Terminal(ApiError):
    """The same request will be refused again."""


class NotFound(Terminal):
    """404."""


class Forbidden(Terminal):
    """403: RBAC, quota, limit range or node capacity; `cause` and the text tell which."""


class Invalid(Terminal):
    """422."""
