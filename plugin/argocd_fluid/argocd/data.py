"""The files that administrators apply, found in the wheel or in a checkout.

They live at the top of the repository, where people look for them, and travel inside the wheel.
"""

from pathlib import Path

_PACKAGE = Path(__file__).parents[1]


def folder(name: str) -> Path:
    """Give the folder `argocd` or `lua-health`: of the wheel, else of the checkout."""
    packed = _PACKAGE / "_data" / name
    return packed if packed.is_dir() else _PACKAGE.parents[1] / name


def text(name: str) -> str:
    """Give one file of `argocd/`."""
    return (folder("argocd") / name).read_text(encoding="utf-8")
