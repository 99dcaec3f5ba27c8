"""The messages that the site or a worker has set aside, kept in Redis for the operator."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from typing import Any

from workers.service.messaging.signing import RefusedMessage

SET_ASIDE = "set-aside"
"""The beginning of the names of the lists in Redis that keep the latest messages set aside."""
MOST_SET_ASIDE = 100
MOST_KEPT = 10_000
"""Characters of a message that are kept."""

Refused = Sequence[tuple[bytes | str, RefusedMessage]]
"""Messages, each with the reason why it is refused."""

log = logging.getLogger("workers.service.messaging.set_aside")


def set_aside_key(name: str) -> str:
    """The list with what the worker of this name, or the site, has set aside."""
    return f"{SET_ASIDE}.{name}"


def keep_messages(client: Any, key: str, refused: Refused) -> None:
    """Keep the last of these messages in a list, and log the last reason; raises Redis's errors."""
    log.error("%d messages are set aside, the last because: %s", len(refused), refused[-1][1])
    kept = [json.dumps({"why": str(why), "message": _shown(item)}) for item, why in refused]
    client.lpush(key, *kept[-MOST_SET_ASIDE:])
    client.ltrim(key, 0, MOST_SET_ASIDE - 1)


def _shown(item: bytes | str) -> str:
    text = item if isinstance(item, str) else item.decode(errors="backslashreplace")
    return text[:MOST_KEPT]
