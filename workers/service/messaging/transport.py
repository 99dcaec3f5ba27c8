"""The Redis transport of Celery, hardened: only the site and its workers send, and nothing stops a reader.

Whoever can write to the broker can put any bytes into a queue, and Celery's own features into a message:
callbacks, other tasks, limits of time. A message passes only if it is signed (``signing``) and has the form
that ``send_task`` gives to a task with one argument or none; everything else is set aside.

The keys come with the connection, as ``signer`` in its transport options. A connection without them sends
unsigned messages, which nobody accepts, and accepts none.
"""

from __future__ import annotations

import base64
import contextlib
import json
import logging
import time
from datetime import datetime
from typing import Any

from celery.utils.dispatch import Signal
from kombu.transport import TRANSPORT_ALIASES, redis, virtual
from kombu.utils.json import dumps

from workers.service.messaging.signing import RefusedMessage, Signer

SET_ASIDE = "set-aside"
"""The list in Redis that keeps the latest messages that were set aside, for the operator."""
MOST_SET_ASIDE = 100
MOST_KEPT = 10_000
"""Characters of a message that are kept."""
CLOCK_SECONDS = 60.0
_EMBEDDED = {"callbacks": None, "errbacks": None, "chain": None, "chord": None}

log = logging.getLogger("workers.service.messaging.transport")

message_set_aside = Signal(name="message_set_aside", providing_args=["kind"])
"""Sent after a message was set aside; ``kind`` is a word for counting."""


class SignedMessage(virtual.Message):
    """A message that is queued again in its envelope, as it came, if it is not acknowledged."""

    def __init__(self, payload: Any, channel: Any = None, **options: Any) -> None:
        super().__init__(payload, channel=channel, **options)
        self._raw = payload.get("envelope", payload)


class HardenedQoS(redis.QoS):
    """Unacknowledged messages, of which those that cannot be read are dropped."""

    def ack(self, delivery_tag: Any) -> None:
        """Acknowledge a message. If the broker does not hear it, the next messages are taken all the same.

        Kombu would count the message as being handled for ever, and a process that takes one message at a
        time would take no other.
        """
        try:
            super().ack(delivery_tag)
        except self.channel.connection_errors:  # type: ignore[attr-defined]
            virtual.QoS.ack(self, delivery_tag)
            raise

    def restore_by_tag(self, tag: Any, client: Any = None, leftmost: bool = False) -> None:
        try:
            super().restore_by_tag(tag, client=client, leftmost=leftmost)
        except (ValueError, TypeError, RecursionError):
            self._remove_from_indices(tag).execute()  # type: ignore[attr-defined]
            channel: Any = self.channel
            channel.set_aside(tag, "malformed", "an unacknowledged message cannot be read")


class HardenedChannel(redis.Channel):
    """A channel that signs what it sends, and sets aside what is not signed for the queue it lies in."""

    QoS = HardenedQoS
    Message = SignedMessage
    signer: Signer | None = None
    """Set from the transport options of the connection."""
    from_transport_options = (*redis.Channel.from_transport_options, "signer")

    def _put(self, queue: str, message: dict[str, Any], **options: Any) -> None:
        if self.signer is None:
            super()._put(queue, message, **options)
            return
        task = str(message.get("headers", {}).get("task", ""))
        envelope = self.signer.seal(dumps(message), task, queue, self.broker_time())
        if envelope is None:
            log.error("a message to %s is not sent: there is no key for it", queue)
            return
        with self.conn_or_acquire() as client:
            client.lpush(queue, json.dumps(envelope.to_json()))

    def _get(self, queue: str, timeout: float | None = None) -> Any:
        """The next message that passes; raises ``Empty``."""
        while True:
            message = super()._get(queue)
            if (opened := self.opened(message, queue)) is not None:
                return opened

    def _brpop_read(self, **options: Any) -> Any:
        try:
            return super()._brpop_read(**options)  # type: ignore[misc]  # the stubs lack it
        except (ValueError, RecursionError) as error:
            item = getattr(error, "doc", None) or getattr(error, "object", b"")
            self.set_aside(item, "malformed", "not JSON")
            return True

    def opened(self, item: object, queue: str) -> dict[str, Any] | None:
        """The message in an item of a queue; None if it was set aside."""
        try:
            return self._open(item, queue)
        except RefusedMessage as refused:
            self.set_aside(item, refused.kind, str(refused))
            return None

    def _open(self, item: object, queue: str) -> dict[str, Any]:
        if self.signer is None:
            raise RefusedMessage("forged", "this process has no keys")
        now = self.broker_time()
        envelope = self.signer.open(item, queue, now)
        message = clean_message(_parse(envelope.signed))
        self.signer.refuse_replay(envelope, message["headers"].get("task", ""), now)
        message["headers"]["sender"] = envelope.sender
        return {**message, "envelope": envelope.to_json()}

    def _brpop_start(self, timeout: float | None = None) -> None:
        self._clock.refresh(self)  # before: a message must not be lost with the connection
        super()._brpop_start(timeout)  # type: ignore[misc]

    def broker_time(self) -> float:
        """The time in seconds by the broker's clock, which all its clients share."""
        return self._clock.read(self)

    @property
    def _clock(self) -> BrokerClock:
        transport: Any = self.connection
        clock: BrokerClock = transport.broker_clock
        return clock

    def set_aside(self, item: object, kind: str, why: str) -> None:
        """Keep an item for the operator, and tell whoever counts them."""
        log.error("a message is set aside: %s", why)
        text = item if isinstance(item, str) else repr(item)
        with (
            self.conn_or_acquire() as client,
            contextlib.suppress(self.ResponseError),
        ):  # no right to write there
            client.lpush(SET_ASIDE, json.dumps({"why": why, "message": text[:MOST_KEPT]}))
            client.ltrim(SET_ASIDE, 0, MOST_SET_ASIDE - 1)
        message_set_aside.send(sender=self, kind=kind)


class BrokerClock:
    """The broker's time, read now and then and advanced by a clock of this machine."""

    def __init__(self) -> None:
        self._offset: float | None = None
        self._next_refresh = 0.0

    def read(self, channel: HardenedChannel) -> float:
        if self._offset is None:
            self.refresh(channel)
        return _machine_time() + (self._offset or 0.0)

    def refresh(self, channel: HardenedChannel) -> None:
        """Read the broker's clock if that was not done for ``CLOCK_SECONDS``."""
        now = _machine_time()
        if self._offset is None or now >= self._next_refresh:
            with channel.conn_or_acquire() as client:
                seconds, microseconds = client.time()
            self._offset, self._next_refresh = seconds + microseconds / 1e6 - now, now + CLOCK_SECONDS


def _machine_time() -> float:
    return time.clock_gettime(time.CLOCK_BOOTTIME)  # nobody sets it, and it advances during a suspension


class HardenedTransport(redis.Transport):
    """A transport that delivers only tasks with one argument or none, and plain messages without a task."""

    Channel = HardenedChannel

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.broker_clock = BrokerClock()

    def _deliver(self, message: Any, queue: Any) -> None:
        channel: Any = (self.channels or [])[0]
        if (opened := channel.opened(message, queue)) is not None:
            super()._deliver(opened, queue)


def unacknowledged_keys(name: str) -> dict[str, str]:
    """The transport options with the keys for messages that a process has taken and not acknowledged."""
    return {f"{key}_key": f"{key}.{name}" for key in ("unacked", "unacked_index", "unacked_mutex")}


def use_hardened_transport() -> None:
    """Use this transport for all ``redis://`` addresses of this process."""
    for alias in ("redis", "rediss"):
        TRANSPORT_ALIASES[alias] = f"{__name__}:HardenedTransport"


def clean_message(message: object) -> dict[str, Any]:
    """A message reduced to what ``send_task`` sets; raises ``RefusedMessage``."""
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
            raise RefusedMessage("malformed", "it has not the form of a message")
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
        text = base64.b64decode(body, validate=True)
    except ValueError:
        raise RefusedMessage("malformed", "its body is not base64") from None
    return _parse(text)


def _parse(text: str | bytes) -> object:
    try:
        content: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise RefusedMessage("malformed", f"its text is not JSON: {str(error)[:80]}") from None
    return content


def _clean_headers(headers: dict[str, Any], content: object) -> dict[str, Any]:
    match headers, content:
        case {"task": str(task), "id": str(name)}, [list(arguments), dict(named), dict(embedded)] if (
            len(arguments) <= 1 and not named and embedded == _EMBEDDED
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
