"""Signed messages: an envelope shows who sent a message, to which queue, and until when it is valid.

The code in it is an HMAC-SHA256 (RFC 2104) over the exact text of the message, its sender, queue, id and
expiry. Each worker shares one key with the site, for both directions; the site signs its messages to itself
with a key of its own. Independent of Kombu: ``transport`` wraps and opens messages. Times are seconds of
the broker's clock, so that the clocks of the hosts may be wrong.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import uuid
from dataclasses import asdict, dataclass, replace
from typing import Any, Protocol

from workers.service.messaging.quotas import SenderQuotas
from workers.service.messaging.replays import MessageMemory, Received

SITE = "site"
"""The site as a sender; no worker has this name, because each has an @ in it."""
RECORDS = "records"
"""The queue of the record keeper."""
COMMANDS = "commands"
MOST_LIFETIME_SECONDS = 7 * 24 * 3600
"""Messages that must arrive: jobs may wait as long as games take, and reports while the keeper is down."""
COMMAND_LIFETIME_SECONDS = 60
"""The site repeats a command that still applies."""
_STATE_LIFETIME_SECONDS = 600
_STATES = frozenset({"tournament.heartbeat", "tournament.progress", "tournament.trouble"})
"""Tasks that report a state: the next one replaces a lost one, and an old one would show a false state."""
MOST_BYTES = 64 * 1024 * 1024
"""A longer item of a queue is not read: as objects of Python it would take many times its size."""
KEY_BYTES = 32


class RefusedMessage(ValueError):
    """A message that must have no effect; ``kind`` is a word for counting, the text says why."""

    def __init__(self, kind: str, why: str) -> None:
        super().__init__(why)
        self.kind = kind


class Keyring(Protocol):
    """The keys that one process knows."""

    @property
    def name(self) -> str:
        """The name under which this process sends: a worker's, or ``SITE``."""

    def key_for(self, queue: str) -> bytes | None:
        """The key for messages to a queue; None if this process may not send there."""

    def key_of(self, sender: str, queue: str) -> bytes | None:
        """The key of messages from ``sender`` in a queue; None if it may not send there."""


class WorkerKeyring:
    """A worker's own key: it sends to the record keeper and receives what the site sends to its queues."""

    def __init__(self, name: str, key: bytes) -> None:
        self.name = name
        self._key = key

    def key_for(self, queue: str) -> bytes | None:
        return self._key if queue == RECORDS else None

    def key_of(self, sender: str, queue: str) -> bytes | None:
        return self._key if sender == SITE and owner_of(queue) == self.name else None


def own_queue(kind: str, worker: str) -> str:
    """The queue of that kind (``games``, ``validation`` or ``COMMANDS``) that belongs to one worker."""
    return f"{kind}.{worker}"


def owner_of(queue: str) -> str:
    """The worker to which a queue belongs; empty for the queue of the record keeper."""
    return queue.partition(".")[2]


def parse_key(text: str) -> bytes:
    """Read a key, 64 hexadecimal digits; raises ``ValueError``."""
    if len(text) != 2 * KEY_BYTES:
        raise ValueError(f"a worker's key has {2 * KEY_BYTES} hexadecimal digits")
    return bytes.fromhex(text)


@dataclass(frozen=True, slots=True)
class Envelope:
    """A message with the proof of its origin; all fields but ``mac`` are covered by it."""

    signed: str
    """The message as Kombu formats it."""
    sender: str
    recipient: str
    """The name of the queue."""
    id: str
    expires: int
    mac: str

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(slots=True, repr=False, eq=False)  # Kombu tells connections apart by the text of their options
class Signer:
    """Makes and opens envelopes with the keys of one process.

    ``memory`` has the messages that the process has received; None for a process that receives none.
    ``quotas`` limit the messages of others than the site; None for no limit.
    """

    keyring: Keyring
    memory: MessageMemory | None = None
    quotas: SenderQuotas | None = None

    def seal(self, text: str, task: str, queue: str, now: float) -> Envelope | None:
        """Sign a message to a queue; None without a key for it. ``task`` decides how long it is valid."""
        key = self.keyring.key_for(queue)
        if key is None:
            return None
        expires = round(now) + _lifetime(task, queue)
        unsigned = Envelope(text, self.keyring.name, queue, str(uuid.uuid4()), expires, "")
        return replace(unsigned, mac=_mac(unsigned, key))

    def open(self, item: object, queue: str, now: float) -> Envelope:
        """The envelope in a queue's item; raises ``RefusedMessage`` if it has no effect here."""
        envelope = _read(item)
        if envelope.recipient != queue:
            raise RefusedMessage("foreign", f"it was sent to the queue {envelope.recipient[:80]!r}")
        key = self.keyring.key_of(envelope.sender, queue)
        if key is None:
            raise RefusedMessage("forged", f"{envelope.sender[:80]!r} has no key for this queue")
        if not hmac.compare_digest(_mac(envelope, key), envelope.mac.encode("ascii", "replace").decode()):
            raise RefusedMessage("forged", f"its signature is not that of {envelope.sender[:80]!r}")
        if envelope.expires < now:
            raise RefusedMessage("expired", "it came after its time")
        if envelope.expires > now + MOST_LIFETIME_SECONDS + COMMAND_LIFETIME_SECONDS:
            raise RefusedMessage("malformed", "it would be valid for too long")
        return envelope

    def received(self, envelope: Envelope, task: str, name: str, now: float) -> Received:
        """The message of an envelope, for the memory.

        Raises ``RefusedMessage`` if it was received before, or if its sender's quota is used up.
        ``name`` is the id of a task, which stays the same if its sender sends it twice; empty for a command.
        """
        sent = min(envelope.expires - _lifetime(task, envelope.recipient), round(now))
        whole = f"{envelope.sender} {name or envelope.id}".encode(errors="replace")
        digest = hashlib.blake2b(whole, digest_size=16).hexdigest()
        message = Received(digest, envelope.recipient, sent)
        if self.memory is not None and self.memory.has(message, now):
            raise RefusedMessage("replayed", "it was received before")
        self._count(envelope, sent)
        return message

    def _count(self, envelope: Envelope, sent: int) -> None:
        if self.quotas is None or envelope.sender == SITE:
            return
        if not self.quotas.take(envelope.sender, sent, len(envelope.signed)):
            raise RefusedMessage(
                "flood", f"{envelope.sender!r} sent more than {self.quotas.a_minute} messages in a minute"
            )

    def remember(self, message: Received, now: float) -> None:
        """Refuse the message from now on."""
        if self.memory is not None:
            self.memory.add(message, now)


def _lifetime(task: str, queue: str) -> int:
    if queue.startswith(f"{COMMANDS}."):
        return COMMAND_LIFETIME_SECONDS
    return _STATE_LIFETIME_SECONDS if task in _STATES else MOST_LIFETIME_SECONDS


def _mac(envelope: Envelope, key: bytes) -> str:
    covered = [envelope.sender, envelope.recipient, envelope.id, envelope.expires, envelope.signed]
    return hmac.new(key, json.dumps(covered).encode(), hashlib.sha256).hexdigest()


def _read(item: object) -> Envelope:
    match item:
        case {
            "signed": str(signed),
            "sender": str(sender),
            "recipient": str(recipient),
            "id": str(name),
            "expires": int(expires),
            "mac": str(mac),
            **rest,
        } if not rest and type(expires) is int:
            return Envelope(signed, sender, recipient, name, expires, mac)
    raise RefusedMessage("malformed", "it is not a signed message")
