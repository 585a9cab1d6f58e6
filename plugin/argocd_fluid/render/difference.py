"""Where two manifests differ, field by field, with list items found by their names. Pure."""

from collections.abc import Iterator
from typing import Any

from argocd_fluid.errors import QuantityError
from argocd_fluid.manifests.quantity import parse_quantity
from argocd_fluid.records import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One field. `keys` are the mapping keys on the way, `field` is for people; None is absent."""

    field: str
    keys: tuple[str, ...]
    before: Any
    after: Any

    @property
    def is_size(self) -> bool:
        """Whether it is cpu or memory of a container."""
        return (
            self.keys[-1] in ("cpu", "memory")
            and self.keys[-3:-1] in (("resources", "requests"), ("resources", "limits"))
            # A pod has `resources` as well, which no live resize reaches.
            and self.keys[-4:-3] in (("containers",), ("initContainers",))
        )

    def __str__(self) -> str:
        return f"{self.field}{_change(self.before, self.after)}"


def differences(
    before: Any,  # noqa: ANN401 - a JSON value
    after: Any,  # noqa: ANN401 - a JSON value
    *,
    field: str = "",
    keys: tuple[str, ...] = (),
) -> Iterator[Difference]:
    """Give the deepest fields that differ; equal quantities in other words do not."""
    if isinstance(before, dict | None) and isinstance(after, dict | None):
        old, new = before or {}, after or {}
        for key in dict.fromkeys((*old, *new)):
            inner = f"{field}.{key}" if field else key
            yield from differences(old.get(key), new.get(key), field=inner, keys=(*keys, key))
    elif _has_same_names(before, after):
        for old, new in zip(before, after, strict=True):
            yield from differences(old, new, field=f"{field}[{_name(old)}]", keys=keys)
    elif before != after and not _is_same_quantity(before, after, keys):
        yield Difference(field=field, keys=keys, before=before, after=after)


def _has_same_names(before: Any, after: Any) -> bool:  # noqa: ANN401 - JSON values
    names = [_names(value) for value in (before, after)]
    return names[0] is not None and names[0] == names[1]


def _names(value: Any) -> list[str] | None:  # noqa: ANN401 - a JSON value
    if not isinstance(value, list) or not value:
        return None
    names = [_name(item) for item in value]
    return [str(name) for name in names] if all(names) else None


def _name(item: Any) -> str | None:  # noqa: ANN401 - a JSON value
    if not isinstance(item, dict):
        return None
    name = item.get("name", item.get("groupName"))
    return name if isinstance(name, str) else None


def _is_same_quantity(before: Any, after: Any, keys: tuple[str, ...]) -> bool:  # noqa: ANN401 - JSON values
    if keys[-3:-1] not in (("resources", "requests"), ("resources", "limits")):
        return False
    if before is None or after is None:
        return False
    try:
        return parse_quantity(before) == parse_quantity(after)
    except QuantityError:
        return False


def _change(before: Any, after: Any) -> str:  # noqa: ANN401 - JSON values
    """Show scalars; longer values would bury the field's name."""
    if isinstance(before, list) and isinstance(after, list):
        old, new = _names(before) or [], _names(after) or []
        moved = [f"+{name}" for name in new if name not in old]
        moved += [f"-{name}" for name in old if name not in new]
        return f" ({', '.join(moved)})" if moved else ""
    if isinstance(before, dict | list) or isinstance(after, dict | list):
        return " added" if before is None else " removed" if after is None else ""
    return f" {_text(before)} -> {_text(after)}"


def _text(value: Any) -> str:  # noqa: ANN401 - a JSON value
    return "absent" if value is None else str(value)
