"""An example of each event, as pages and tests show it."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from engines.rules.registry import GAMES
from tournament.models import WebhookDelivery
from tournament.models.webhooks import TEST_EVENT, EventType
from tournament.services.webhooks.envelope import event_of, readable
from tournament.services.webhooks.events import about

_LADDER = next(iter(GAMES.values()))
_BOT = {"bot": "Ada", "bot_slug": "ada", "version": 3}
_OPPONENT = {"opponent": "Pebble", "opponent_slug": "pebble", "opponent_version": 1}
EXAMPLES: Mapping[str, tuple[str, str, Mapping[str, Any]]] = {
    EventType.VERSION_CHECKED: (
        "Ada v3 is refused: it said an illegal move.",
        "/bots/ada/3/",
        {**_BOT, "state": "refused", "reason": "It said an illegal move."},
    ),
    EventType.GAME_LOST: (
        f"Ada v3 lost a game of {_LADDER.name} against Pebble v1.",
        "/games/4711/?ply=31",
        {
            **_BOT,
            **_OPPONENT,
            "game": 4711,
            "ladder": _LADDER.code,
            "result": "0-1",
            "termination": "rules",
        },
    ),
    EventType.TOURNAMENT_FINISHED: (
        "Winter has ended. Ada v3 wins.",
        "/tournaments/winter/",
        {"tournament": "winter", "name": "Winter", "state": "finished"},
    ),
    EventType.RATING_RECORD: (
        f"Ada v3 has its best rating so far on {_LADDER.name}: 28.41.",
        "/bots/ada/3/",
        {**_BOT, "ladder": _LADDER.code, "rating": 28.41, "games": 212},
    ),
    TEST_EVENT: ("This is a test of a webhook.", "/account/webhooks/1/", {"owner": "ada"}),
}
"""The text, the page and the further data of an event of each type."""


@dataclass(frozen=True, slots=True)
class EventExample:
    """What a page shows of a type."""

    type: str
    when: str
    body: str


def examples() -> Iterator[EventExample]:
    when = {**dict(EventType.choices), TEST_EVENT: "I have pressed Send a test"}
    at = datetime.datetime(2026, 11, 29, 10, 20, 30, 456_000, datetime.UTC)
    for type_, (text, path, data) in EXAMPLES.items():
        sent = WebhookDelivery(event="0123456789abcdef" * 2, type=type_, at=at, data=about(text, path, data))
        yield EventExample(type_, when[type_], readable(event_of(sent)))
