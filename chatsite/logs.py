"""Log lines that programs read: one JSON object each."""

import json
import logging
from datetime import UTC, datetime
from typing import Any


class Fields(dict[str, Any]):
    """A log message made of named values: `logger.info(Fields(event=...))`. It is JSON in lines of text as well."""

    def __str__(self) -> str:
        """JSON on one line."""
        return json.dumps(self, default=str)


class JsonFormatter(logging.Formatter):
    """A record as one line: time, level, logger, then its Fields or its message, and the traceback if it has one."""

    def format(self, record: logging.LogRecord) -> str:
        """ASCII without a newline, so that nothing in a message can look like a second line."""
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
        }
        line |= record.msg if isinstance(record.msg, Fields) else {"message": record.getMessage()}
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str)
