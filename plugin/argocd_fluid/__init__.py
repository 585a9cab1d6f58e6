"""Live, in-place resizing of JobSet ranks under Argo CD, without drift."""

__version__ = "0.1.0"
