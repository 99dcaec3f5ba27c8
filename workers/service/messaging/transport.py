"""The Redis transport of Celery, hardened: nothing in a queue can stop the process that reads it.

Whoever can write to the broker can put any bytes into a queue, and Celery's own features into a message:
callbacks, other tasks, limits of time. A message passes only in the form that ``send_task`` gives to
a task with one argument or none; everything else is set aside.
"""

from __future__ import annotations

import base64
import binascii
import json
import logging
from datetime import datetime
from typing import Any

from celery.utils.dispatch import Signal
from kombu.transport import TRANSPORT_ALIASES, redis

SET_ASIDE = "set-aside"
"""The list in Redis that keeps the latest messages that were set aside, for the operator."""
MOST_SET_ASIDE = 100
MOST_KEPT = 10_000
"""Characters of a message that are kept."""
_EMBEDDED = {"callbacks": None, "errbacks": None, "chain": None, "chord": None}

log = logging.getLogger("workers.service.messaging.transport")

message_set_aside = Signal(name="message_set_aside", providing_args=["reason"])
"""Sent after a message was set aside."""


class MalformedMessage(ValueError):
    """An item of a queue is not a message of ours; the text says why."""


class HardenedChannel(redis.Channel):
    """A channel that sets aside what is not JSON."""

    def _brpop_read(self, **options: Any) -> Any:
        try:
            return super()._brpop_read(**options)  # type: ignore[misc]  # the stubs lack it
        except (ValueError, RecursionError) as error:
            self.set_aside(getattr(error, "doc", None) or getattr(error, "object", b""), "not JSON")
            return True

    def set_aside(self, item: object, why: str) -> None:
        """Keep an item for the operator, and tell whoever counts them."""
        log.error("a message is set aside: %s", why)
        text = item if isinstance(item, str) else repr(item)
        with self.conn_or_acquire() as client:
            client.lpush(SET_ASIDE, json.dumps({"why": why, "message": text[:MOST_KEPT]}))
            client.ltrim(SET_ASIDE, 0, MOST_SET_ASIDE - 1)
        message_set_aside.send(sender=self, reason=why)


class HardenedTransport(redis.Transport):
    """A transport that delivers only tasks with one argument or none, and plain messages without a task."""

    Channel = HardenedChannel

    def _deliver(self, message: Any, queue: Any) -> None:
        try:
            clean = clean_message(message)
        except MalformedMessage as error:
            channel: Any = (self.channels or [])[0]
            channel.set_aside(message, str(error))
            return
        super()._deliver(clean, queue)


def use_hardened_transport() -> None:
    """Use this transport for all ``redis://`` addresses of this process."""
    for alias in ("redis", "rediss"):
        TRANSPORT_ALIASES[alias] = f"{__name__}:HardenedTransport"


def clean_message(message: object) -> dict[str, Any]:
    """A message reduced to what ``send_task`` sets; raises ``MalformedMessage``."""
    match message:
        case {
            "body": str(body),
            "content-type": "application/json",
            "content-encoding": "utf-8",
            "headers": dict(headers),
            "properties": {"delivery_tag": str(tag), "delivery_info": dict(info), "body_encoding": "base64"},
        }:
            pass
        case _:
            raise MalformedMessage("it has not the form of a message")
    content = _decode(body)
    return {
        "body": body,
        "content-type": "application/json",
        "content-encoding": "utf-8",
        "headers": _clean_headers(headers, content) if headers else {},
        "properties": {
            "delivery_tag": tag,
            "delivery_info": {name: str(info.get(name, "")) for name in ("exchange", "routing_key")}
            | {"redelivered": info.get("redelivered") is True},
            "body_encoding": "base64",
            "priority": 0,
        },
    }


def _decode(body: str) -> object:
    try:
        content: object = json.loads(base64.b64decode(body, validate=True))
    except (ValueError, RecursionError, binascii.Error) as error:
        raise MalformedMessage(f"its body is not JSON: {str(error)[:80]}") from None
    return content


def _clean_headers(headers: dict[str, Any], content: object) -> dict[str, Any]:
    match headers, content:
        case {"task": str(task), "id": str(name)}, [list(arguments), dict(named), dict(embedded)] if (
            len(arguments) <= 1 and not named and embedded == _EMBEDDED
        ):
            return {"lang": "py", "task": task, "id": name, "retries": 0, "expires": _expiry(headers)}
        case _:
            raise MalformedMessage("it is not a task with one argument")


def _expiry(headers: dict[str, Any]) -> str | None:
    expires = headers.get("expires")
    if expires is None:
        return None
    try:
        return datetime.fromisoformat(expires).isoformat()
    except (TypeError, ValueError):
        raise MalformedMessage("the time when it expires is not a time") from None
