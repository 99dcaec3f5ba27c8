"""What is sent: the envelope of Standard Webhooks, and a message of Discord.

See https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md and
https://docs.discord.com/developers/resources/webhook#execute-webhook.
"""

from __future__ import annotations

import datetime
import hmac
import json
import re
import secrets
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from typing import Any

from django.conf import settings

from tournament.models import Webhook, WebhookDelivery

PREFIX = "whsec_"
SECRET_BYTES = 32
MAX_CONTENT, MAX_TITLE = 1_900, 250
"""Characters of a message of Discord, which takes 2,000 and 256."""
_MARKUP = re.compile(r"([\\`*_~|>#\[\]()<@:])")


def make_secret() -> str:
    return PREFIX + b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def event_of(delivery: WebhookDelivery) -> dict[str, Any]:
    """The event, the same at every attempt."""
    at = delivery.at.astimezone(datetime.UTC).isoformat(timespec="milliseconds")
    return {
        "id": delivery.event,
        "type": delivery.type,
        "at": at.replace("+00:00", "Z"),
        "data": delivery.data,
    }


def content_of(delivery: WebhookDelivery) -> dict[str, Any]:
    """What the body of its requests has: the event, or a message about it."""
    event = event_of(delivery)
    return _message(event) if delivery.webhook.kind == Webhook.Kind.DISCORD else event


def body_of(delivery: WebhookDelivery) -> bytes:
    return json.dumps(content_of(delivery), ensure_ascii=False, separators=(",", ":")).encode()


def readable(content: Mapping[str, Any]) -> str:
    """The content of a body in lines, for people."""
    return json.dumps(content, ensure_ascii=False, indent=2)


def headers_of(delivery: WebhookDelivery, body: bytes, now: datetime.datetime) -> dict[str, str]:
    """The headers of an attempt, signed with each secret that is valid."""
    webhook, at = delivery.webhook, int(now.timestamp())
    keys = [webhook.secret]
    if webhook.old_secret and webhook.old_secret_until and now < webhook.old_secret_until:
        keys.append(webhook.old_secret)
    return {
        "Content-Type": "application/json",
        "User-Agent": f"Duarena ({settings.SITE})",
        "webhook-id": delivery.event,
        "webhook-timestamp": str(at),
        "webhook-signature": sign(keys, delivery.event, at, body),
    }


def sign(keys: Sequence[str], event: str, at: int, body: bytes) -> str:
    """A signature with each key, as the header has them."""
    signed = f"{event}.{at}.".encode() + body
    digests = (hmac.digest(b64decode(key.removeprefix(PREFIX)), signed, "sha256") for key in keys)
    return " ".join(f"v1,{b64encode(digest).decode()}" for digest in digests)


def _message(event: dict[str, Any]) -> dict[str, Any]:
    """A message of Discord, in which no name of a bot is markup or a mention."""
    data = event["data"]
    title = str(event["type"]).replace(".", " ").capitalize()
    return {
        "content": _MARKUP.sub(r"\\\1", data["text"])[:MAX_CONTENT],
        "embeds": [{"title": title[:MAX_TITLE], "url": data["page"], "timestamp": event["at"]}],
        "allowed_mentions": {"parse": []},
    }
