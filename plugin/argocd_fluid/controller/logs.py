"""Log lines as JSON on stderr: one per state change, with the object's key in fields of its own."""

import logging
import sys
from datetime import UTC, datetime
from typing import TextIO

import msgspec

_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


class JsonFormatter(logging.Formatter):
    """Time, level, message, then the fields given with `extra`."""

    def format(self, record: logging.LogRecord) -> str:
        """Give one line; what JSON cannot say is said as text."""
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "msg": record.getMessage(),
            "logger": record.name.removeprefix("argocd_fluid."),
        }
        line |= {key: value for key, value in vars(record).items() if key not in _STANDARD}
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return msgspec.json.encode(line, enc_hook=str).decode()


def set_up(stream: TextIO = sys.stderr) -> None:
    """Send our own log to a stream; other libraries' warnings too."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonFormatter())
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("argocd_fluid").setLevel(logging.INFO)
    # Unverified TLS to kubelets is a choice that was made on the command line.
    logging.captureWarnings(capture=True)
