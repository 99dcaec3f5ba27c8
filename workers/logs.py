"""The lines of the logs of the site and its workers: as text, or as JSON with ``DUARENA_LOG=json``.

Control characters, which texts of engines and headers of requests may have, are escaped. Every line carries
the ids of what it belongs to: ``request``, ``job`` and ``game``. Jobs and games have the same ids in the logs
of the site, of the record keeper and of the workers.
"""

from __future__ import annotations

import contextlib
import copy
import datetime
import json
import logging
import os
import re
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from typing import Any

FORMAT = "DUARENA_LOG"
FIELDS = "fields"
"""The name in ``extra`` of more values of a line: a dict, whose values are members of a JSON line."""
_NONE: Mapping[str, str] = {}
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
"""What moves the cursor of a terminal, ends a line or turns the direction of text."""
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


def escape_controls(text: str) -> str:
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def _escape_lines(text: str) -> str:
    return "\n".join(map(escape_controls, text.split("\n")))


class TextFormatter(logging.Formatter):
    """A line of text with the ids at its end."""

    def format(self, record: logging.LogRecord) -> str:
        ids = " ".join(f"{name}={value}" for name, value in current_ids().items())
        shown = copy.copy(record)
        shown.msg, shown.args = escape_controls(record.getMessage()), ()
        line = _escape_lines(super().format(shown))
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
        line = {name: escape_controls(one) if isinstance(one, str) else one for name, one in line.items()}
        if record.exc_info:
            line["exception"] = _escape_lines(self.formatException(record.exc_info))
        return json.dumps(line, default=str)


def make_formatter(text: str = "%(asctime)s %(levelname)s %(name)s: %(message)s") -> logging.Formatter:
    """The formatter of this process; ``text`` is the format of a line of text."""
    return JsonFormatter() if is_json() else TextFormatter(text)


def use_json(logger: logging.Logger) -> None:
    """Have the handlers of a logger write JSON if this process does."""
    if is_json():
        for handler in logger.handlers:
            handler.setFormatter(JsonFormatter())
