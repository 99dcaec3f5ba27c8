"""The lines of the logs of the site and its workers: as text, or as JSON with ``DUARENA_LOG=json``.

Every line carries the ids of what it belongs to: ``request``, ``job`` and ``game``. Jobs and games have the
same ids in the logs of the site, of the record keeper and of the workers.
"""

from __future__ import annotations

import contextlib
import datetime
import json
import logging
import os
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from typing import Any

FORMAT = "DUARENA_LOG"
FIELDS = "fields"
"""The name in ``extra`` of more values of a line: a dict, whose values are members of a JSON line."""
_NONE: Mapping[str, str] = {}
_ids: ContextVar[Mapping[str, str]] = ContextVar("ids", default=_NONE)


@contextlib.contextmanager
def log_ids(**ids: str) -> Iterator[None]:
    """Give these ids to all lines that are logged meanwhile; empty ones are left out."""
    token = _ids.set({**_ids.get(), **{name: value for name, value in ids.items() if value}})
    try:
        yield
    finally:
        _ids.reset(token)


def current_ids() -> Mapping[str, str]:
    """The ids of a line that is logged now."""
    return _ids.get()


def is_json() -> bool:
    """Whether this process logs JSON."""
    return os.environ.get(FORMAT, "").lower() == "json"


class TextFormatter(logging.Formatter):
    """A line of text with the ids at its end."""

    def format(self, record: logging.LogRecord) -> str:
        ids = " ".join(f"{name}={value}" for name, value in current_ids().items())
        line = super().format(record)
        return f"{line} [{ids}]" if ids else line


class JsonFormatter(logging.Formatter):
    """A JSON object on one line: time (UTC), level, logger, process, message, ids, and other values."""

    def format(self, record: logging.LogRecord) -> str:
        at = datetime.datetime.fromtimestamp(record.created, datetime.UTC)
        line: dict[str, Any] = {
            "time": at.isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "process": record.process,
            "message": record.getMessage(),
            **current_ids(),
            **getattr(record, FIELDS, {}),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str)


def make_formatter(text: str = "%(asctime)s %(levelname)s %(name)s: %(message)s") -> logging.Formatter:
    """The formatter of this process; ``text`` is the format of a line of text."""
    return JsonFormatter() if is_json() else TextFormatter(text)


def use_json(logger: logging.Logger) -> None:
    """Have the handlers of a logger write JSON if this process does."""
    if is_json():
        for handler in logger.handlers:
            handler.setFormatter(JsonFormatter())
