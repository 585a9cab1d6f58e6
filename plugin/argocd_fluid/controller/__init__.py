"""Loops that observe nodes and workloads, let the engine decide, and apply what it decided."""
