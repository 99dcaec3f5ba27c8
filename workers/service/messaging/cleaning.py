"""Reduces a message to the form that ``send_task`` gives to a task with one argument or none.

Whoever signs a message could still put features of Celery into it: callbacks, other tasks, limits of time.
Independent of Kombu.
"""

from __future__ import annotations

import base64
import json
import re
from datetime import datetime
from typing import Any

from workers.service.messaging.signing import RefusedMessage

_EMBEDDED = {"callbacks": None, "errbacks": None, "chain": None, "chord": None}
_TASK = re.compile(r"(tournament|workers)\.[a-z_]{1,40}")
"""Not the tasks of Celery itself, which every app has."""
_NAME = re.compile(r"[A-Za-z0-9-]{1,64}")


def clean_message(message: object, queue: str) -> dict[str, Any]:
    """A message of a queue reduced to what ``send_task`` sets; raises ``RefusedMessage``."""
    match message:
        case {
            "body": str(body),
            "content-type": "application/json",
            "content-encoding": "utf-8",
            "headers": dict(headers),
            "properties": {"delivery_tag": str(tag), "delivery_info": dict(info), "body_encoding": "base64"},
        } if _NAME.fullmatch(tag):
            pass
        case _:
            raise RefusedMessage("malformed", "it has not the form of a message")
    content = _decode(body)
    return {
        "body": body,
        "content-type": "application/json",
        "content-encoding": "utf-8",
        "headers": _clean_headers(headers, content) if headers else {},
        "properties": {
            "delivery_tag": tag,
            "delivery_info": {
                "exchange": "",
                "routing_key": queue,
                "redelivered": info.get("redelivered") is True,
            },
            "body_encoding": "base64",
            "priority": 0,
        },
    }


def _decode(body: str) -> object:
    try:
        text = base64.b64decode(body, validate=True)
    except ValueError:
        raise RefusedMessage("malformed", "its body is not base64") from None
    return parse_json(text)


def parse_json(text: str | bytes) -> object:
    """Parse JSON; raises ``RefusedMessage``."""
    try:
        content: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise RefusedMessage("malformed", f"its text is not JSON: {str(error)[:80]}") from None
    return content


def _clean_headers(headers: dict[str, Any], content: object) -> dict[str, Any]:
    match headers, content:
        case {"task": str(task), "id": str(name)}, [list(arguments), dict(named), dict(embedded)] if (
            len(arguments) <= 1
            and not named
            and embedded == _EMBEDDED
            and _TASK.fullmatch(task)
            and _NAME.fullmatch(name)
        ):
            return {"lang": "py", "task": task, "id": name, "retries": 0, "expires": _expiry(headers)}
        case _:
            raise RefusedMessage("malformed", "it is not a task with one argument")


def _expiry(headers: dict[str, Any]) -> str | None:
    expires = headers.get("expires")
    if expires is None:
        return None
    try:
        return datetime.fromisoformat(expires).isoformat()
    except (TypeError, ValueError):
        raise RefusedMessage("malformed", "the time when it expires is not a time") from None
