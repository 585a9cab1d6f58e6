"""The bench: real components on this machine, for tests and (`python -m tests.bench up`) people."""
