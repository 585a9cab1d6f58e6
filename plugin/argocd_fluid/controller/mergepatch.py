"""JSON merge patches (RFC 7386) between two versions of an object. Pure."""

from typing import Any

Json = dict[str, Any]


def merge_patch(old: Json, new: Json) -> Json:
    """Give the patch that turns `old` into `new`; empty if they are equal."""
    patch: Json = dict.fromkeys(old.keys() - new.keys())
    for key, value in new.items():
        before = old.get(key)
        if isinstance(before, dict) and isinstance(value, dict):
            inner = merge_patch(before, value)
            if inner:
                patch[key] = inner
        elif before != value:
            patch[key] = value
    return patch
