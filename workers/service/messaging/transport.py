"""The Redis transport of Celery, hardened: only the site and its workers send, and nothing stops a reader.

Whoever can write to the broker can put any bytes into a queue, and Celery's own features into a message:
callbacks, other tasks, limits of time. A message passes only if it is signed (``signing``), has not been
received before (``replays``) and has the form that ``send_task`` gives to a task with one argument or none;
everything else is set aside.

The keys come with the connection, as ``signer`` in its transport options. A connection without them sends
unsigned messages, which nobody accepts, and accepts none.

A worker uses lists only, so that a Redis user can be limited to them (``redis_rules``): a message that it has
taken is in its memory alone. If it is lost there, the site's lease ends and the games are sent again.
"""

from __future__ import annotations

import contextlib
import json
import logging
from collections import Counter
from collections.abc import Iterator
from queue import Empty
from typing import Any

from celery.utils.dispatch import Signal
from kombu.transport import TRANSPORT_ALIASES, redis, virtual
from kombu.utils.json import dumps

from workers.service.messaging.broker_clock import BrokerClock
from workers.service.messaging.cleaning import clean_message, parse_json
from workers.service.messaging.replays import Received
from workers.service.messaging.set_aside import (
    MOST_KEPT,
    SET_ASIDE,
    Refused,
    keep_messages,
    set_aside_key,
)
from workers.service.messaging.signing import MOST_BYTES, SITE, RefusedMessage, Signer

MOST_AT_ONCE = 1000
"""So many items are set aside before a process looks at its other work."""
_WRONG_TYPE = "WRONGTYPE"
"""The beginning of Redis's error for a command on a key of another type."""

log = logging.getLogger("workers.service.messaging.transport")


message_set_aside = Signal(name="message_set_aside", providing_args=["kind", "number"])
"""Sent after messages were set aside; ``kind`` is a word for counting."""


class QueueBroken(Exception):
    """The key of a queue is not a list; the text is a sentence without its full stop."""


class SignedMessage(virtual.Message):
    """A message that is queued again in its envelope, as it came, if it is not acknowledged."""

    received: Received | None = None
    """What the memory of received messages keeps of it."""

    def __init__(self, payload: Any, channel: Any = None, **options: Any) -> None:
        super().__init__(payload, channel=channel, **options)
        self._raw = payload.get("envelope", payload)
        self.received = payload.get("received")


class HardenedQoS(redis.QoS):
    """The site's unacknowledged messages; those that cannot be read are dropped."""

    def ack(self, delivery_tag: Any) -> None:
        """Acknowledge a message and refuse it from now on.

        If the broker does not receive that, the next messages are taken all the same: Kombu would count the
        message as being handled for ever, and a process that takes one message at a time would take no other.
        """
        channel: Any = self.channel
        channel.remember((self._delivered or {}).get(delivery_tag))
        try:
            super().ack(delivery_tag)
        except channel.connection_errors:
            virtual.QoS.ack(self, delivery_tag)
            raise

    def restore_by_tag(self, tag: Any, client: Any = None, leftmost: bool = False) -> None:
        channel: Any = self.channel
        try:
            super().restore_by_tag(tag, client=client, leftmost=leftmost)
        except channel.connection_errors:
            raise
        except Exception:  # as for the items of a queue
            self._remove_from_indices(tag).execute()  # type: ignore[attr-defined]
            refused = RefusedMessage("malformed", "an unacknowledged message cannot be read")
            channel.set_aside([(str(tag), refused)])


class HardenedChannel(redis.Channel):
    """A channel that signs what it sends, and sets aside what is not signed for the queue it lies in."""

    QoS = HardenedQoS
    Message = SignedMessage
    signer: Signer | None = None
    """Set from the transport options of the connection."""
    from_transport_options = (*redis.Channel.from_transport_options, "signer")

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.do_restore = self.ack_emulation

    # What is sent

    def _put(self, queue: str, message: dict[str, Any], **options: Any) -> None:
        if self.signer is None:
            super()._put(queue, message, **options)
            return
        task = str(message.get("headers", {}).get("task", ""))
        envelope = self.signer.seal(dumps(message), task, queue, self.broker_time())
        if envelope is None:
            log.error("a message to %s is not sent: there is no key for it", queue)
            return
        with self._as_list(queue) as client:
            client.lpush(queue, json.dumps(envelope.to_json()))

    # What is received

    def _get(self, queue: str, timeout: float | None = None) -> Any:
        """The next message that passes; raises ``Empty``."""
        with self.conn_or_acquire() as client:
            while (item := client.rpop(queue)) is not None:
                if (message := self._first_to_pass(queue, item)) is not None:
                    return message
        raise Empty

    def _brpop_read(self, **options: Any) -> Any:
        """Read the answer to ``BRPOP`` and deliver a message that passes; raises ``Empty`` if none came."""
        client: Any = self.client
        try:
            found = client.parse_response(client.connection, "BRPOP", **options)
        except self.connection_errors:  # type: ignore[attr-defined]
            client.connection.disconnect()
            raise
        except self.ResponseError as error:
            self._remove_broken_queues(error)
            return True
        finally:
            self._in_poll = None
        if not found:
            raise Empty
        queue = found[0].decode()
        self._queue_cycle.rotate(queue)  # type: ignore[attr-defined]
        if (message := self._first_to_pass(queue, found[1])) is not None:
            transport: Any = self.connection
            transport._deliver(message, queue)
        return True

    def _first_to_pass(self, queue: str, item: bytes | None) -> dict[str, Any] | None:
        """The first message that passes, of this item and those behind it; None if they end before.

        Many items are set aside together, so that whoever fills a queue with them delays the messages of
        others as little as possible.
        """
        refused: list[tuple[bytes, RefusedMessage]] = []
        try:
            with self.conn_or_acquire() as client:
                while item is not None:
                    try:
                        return self._open(item, queue)
                    except RefusedMessage as error:
                        refused.append((item[:MOST_KEPT], error))
                    except Exception as error:  # anything can be in the item, and the reader must go on
                        why = RefusedMessage("malformed", f"it cannot be read: {error!r:.200}")
                        refused.append((item[:MOST_KEPT], why))
                    item = client.rpop(queue) if len(refused) < MOST_AT_ONCE else None
            return None
        finally:
            self.set_aside(refused)

    def _open(self, item: bytes, queue: str) -> dict[str, Any]:
        """The message in an item of a queue; raises ``RefusedMessage``."""
        if self.signer is None:
            raise RefusedMessage("forged", "this process has no keys")
        if len(item) > MOST_BYTES:
            raise RefusedMessage("malformed", f"it has {len(item)} bytes, more than {MOST_BYTES}")
        now = self.broker_time()
        envelope = self.signer.open(parse_json(item), queue, now)
        message = clean_message(parse_json(envelope.signed), queue)
        headers = message["headers"]
        received = self.signer.received(envelope, headers.get("task", ""), headers.get("id", ""), now)
        if envelope.sender != SITE and headers:
            headers["expires"] = None  # only the site's schedule has such messages
        headers["sender"] = envelope.sender
        if not self.ack_emulation:  # it cannot come a second time
            self.signer.remember(received, now)
        return {**message, "envelope": envelope.to_json(), "received": received}

    def remember(self, message: SignedMessage | None) -> None:
        """Refuse a message from now on: it has been handled."""
        if self.signer is not None and message is not None and message.received is not None:
            self.signer.remember(message.received, self.broker_time())

    def _restore(self, message: Any, leftmost: bool = False) -> None:
        """Queue a message again that is not acknowledged: the site does, a worker cannot."""
        if self.ack_emulation:
            super()._restore(message, leftmost)  # type: ignore[call-arg]  # the stubs lack it

    def _brpop_start(self, timeout: float | None = None) -> None:
        self._clock.refresh(self.conn_or_acquire)  # before: a message must not be lost with the connection
        super()._brpop_start(timeout)  # type: ignore[misc]

    # Queues, which are lists with the names of their routing keys

    def _queue_bind(self, *_: Any) -> None:
        """Kombu would store the binding in Redis, in a key that all processes share."""

    def get_table(self, exchange: str) -> Any:
        return virtual.Channel.get_table(self, exchange)

    def _size(self, queue: str) -> int:
        """Not counted: Kombu asks for it before it sends the first message to a queue, and ignores it."""
        return 0

    def length(self, queue: str) -> int:
        """How many messages wait; raises ``QueueBroken``."""
        with self._as_list(queue) as client:
            return int(client.llen(queue))

    @contextlib.contextmanager
    def _as_list(self, queue: str) -> Iterator[Any]:
        """A client for one command on a queue; raises ``QueueBroken``, for which Kombu does not try again."""
        try:
            with self.conn_or_acquire() as client:
                yield client
        except self.ResponseError as error:
            if not str(error).startswith(_WRONG_TYPE):
                raise
            raise QueueBroken(f"the key of the queue {queue} in the broker is not a list") from error

    def _purge(self, queue: str) -> int:
        """Delete the messages of a queue, also if its key is not a list; their number is not known."""
        with self.conn_or_acquire() as client:
            client.delete(queue)
        return 0

    def _remove_broken_queues(self, error: Exception) -> None:
        """Delete the keys of queues that are not lists; raises ``ConnectionError`` without the right.

        Raises ``error`` itself if it has another cause.
        """
        broken = [queue for queue in self.active_queues if self._is_broken(queue)]
        if not broken:
            raise error
        for queue in broken:
            why = RefusedMessage("malformed", f"the key of the queue {queue} is not a list")
            self.set_aside([(queue, why)])
            try:
                self._purge(queue)
            except self.ResponseError:
                raise ConnectionError(f"{queue} cannot be read: {error}") from error

    def _is_broken(self, queue: str) -> bool:
        try:
            self.length(queue)
        except QueueBroken:
            return True
        return False

    # The broker's clock

    def broker_time(self) -> float:
        """The time in seconds by the broker's clock, which all its clients share."""
        return self._clock.read(self.conn_or_acquire)

    @property
    def _clock(self) -> BrokerClock:
        transport: Any = self.connection
        clock: BrokerClock = transport.broker_clock
        return clock

    # What is set aside

    def set_aside(self, refused: Refused) -> None:
        """Keep the last of these items for the operator, log the last reason, and have them counted."""
        if not refused:
            return
        # ... without the right to write there they are only logged and counted
        with self.conn_or_acquire() as client, contextlib.suppress(self.ResponseError):
            keep_messages(client, self._set_aside_key, refused)
        for kind, number in Counter(why.kind for _, why in refused).items():
            message_set_aside.send(sender=self, kind=kind, number=number)

    @property
    def _set_aside_key(self) -> str:
        return SET_ASIDE if self.signer is None else set_aside_key(self.signer.keyring.name)


class HardenedTransport(redis.Transport):
    """A transport that delivers only tasks with one argument or none, and plain messages without a task."""

    Channel = HardenedChannel

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.broker_clock = BrokerClock()


def options_of(signer: Signer) -> dict[str, Any]:
    """The transport options of a process with these keys.

    The site keeps the messages that it has taken in Redis until it acknowledges them; a worker does not.
    """
    name = signer.keyring.name
    keys = {f"{key}_key": f"{key}.{name}" for key in ("unacked", "unacked_index", "unacked_mutex")}
    return {"signer": signer, "ack_emulation": name == SITE, **keys}


def use_hardened_transport() -> None:
    """Use this transport for all ``redis://`` addresses of this process."""
    for alias in ("redis", "rediss"):
        TRANSPORT_ALIASES[alias] = f"{__name__}:HardenedTransport"
