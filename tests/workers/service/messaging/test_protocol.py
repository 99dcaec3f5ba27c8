"""The version of the messages: whoever changes one of them, or a game's rules, must raise it."""

from __future__ import annotations

import dataclasses
import hashlib

from engines.rules.registry import GAMES
from workers.jobs import (
    PROTOCOL,
    ComplianceJob,
    ComplianceNews,
    GameJob,
    GameReport,
    JsonValue,
    Progress,
    Release,
)
from workers.service.messaging.commands import Command
from workers.service.messaging.heartbeat import Heartbeat, Trouble

MESSAGES = (
    *(GameJob, GameReport, Progress, Release),
    *(ComplianceJob, ComplianceNews, Command, Heartbeat, Trouble),
)
OURS = ("workers.jobs", "workers.service")
KNOWN = {2: "bd6eb34636e73935"}
"""The digest of the messages and rules of each version since this test exists."""


def describe(kind: type[JsonValue], known: set[str]) -> list[str]:
    """A line for each field of a message and of the values in it."""
    if kind.__name__ in known:
        return []
    known.add(kind.__name__)
    lines = [f"{kind.__name__}.{field.name}: {field.type}" for field in dataclasses.fields(kind)]  # type: ignore[arg-type]
    inner = [other for other in all_values() if any(other.__name__ in line for line in lines)]
    return lines + [line for other in inner for line in describe(other, known)]


def all_values() -> list[type[JsonValue]]:
    ours = [kind for kind in JsonValue.__subclasses__() if kind.__module__.startswith(OURS)]
    return sorted(ours, key=lambda kind: kind.__name__)


def test_a_change_of_a_message_or_of_rules_raises_the_version() -> None:
    """If it fails, note the digest, and raise ``PROTOCOL`` unless earlier workers understand the messages."""
    known: set[str] = set()
    lines = [line for kind in MESSAGES for line in describe(kind, known)]
    lines += [f"{code}: rules {game.rules_version}" for code, game in sorted(GAMES.items())]
    digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]
    assert KNOWN.get(PROTOCOL) == digest, "\n".join(lines)
