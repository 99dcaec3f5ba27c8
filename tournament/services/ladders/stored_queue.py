"""The queue and the next games of all bots as pages show them, computed by the keeper every few seconds.

Without a recent one, because the keeper does not run, a page computes it, at most every few seconds.
"""

from __future__ import annotations

import datetime
import json
import time
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.core.cache import cache
from django.db.models import QuerySet

from tournament import access
from tournament.models import ActiveVersion, BotVersion, Game, QueueForecast
from tournament.services.ladders.forecasts import (
    NEVER_S,
    SWITCHED_OFF,
    ExpectedEvent,
    ExpectedGame,
    QueueState,
    describe_queue,
)
from tournament.services.ladders.queue import look

LEAST_WAIT = datetime.timedelta(seconds=3)
WAIT_FACTOR = 20.0
"""The keeper waits this many times the cost before it computes the forecast again: 5 % of its time."""
TOO_OLD = datetime.timedelta(seconds=30)
KEPT_S = 3
"""Seconds for which a page keeps what it has computed itself."""
UNKNOWN = "not known yet"
AFTER_VALIDATION = "after it has passed its validation"

_latest: tuple[datetime.datetime, QueueState] | None = None
"""The state that this process parsed last, with its time."""


@dataclass(frozen=True, slots=True)
class NextGame:
    """When a bot is likely to play next on a ladder."""

    version: BotVersion
    text: str
    seconds: float = NEVER_S
    """Seconds until then; infinite if no game is expected."""
    game: Game | None = None
    """The game it is playing now; only its id is known."""
    trouble: str = ""
    """Why the whole site starts no games at the moment; empty if it does."""

    @property
    def full_text(self) -> str:
        """With the site's trouble, for pages that do not show it elsewhere."""
        return f"{self.text}: {self.trouble}" if self.trouble else self.text

    @classmethod
    def of(cls, expected: ExpectedGame, version: BotVersion, trouble: str) -> NextGame:
        game = None if expected.game is None else Game(pk=expected.game)
        return cls(version, expected.text, expected.seconds, game, trouble if expected.is_blocked else "")


def queue_state(now: datetime.datetime) -> QueueState:
    """The queue as the keeper found it some seconds ago."""
    row = QueueForecast.objects.order_by("-pk").defer("content").first()
    if row is not None and abs(now - row.computed_at) < TOO_OLD:
        return _stored_state(row)
    known: QueueState | None = cache.get("queue-state") if row is not None else None
    if known is None:
        known = describe_queue(look(now))
        cache.set("queue-state", known, KEPT_S)
    return known


def refresh_queue(now: datetime.datetime) -> bool:
    """Compute and store the state if it is due; False if not."""
    row = QueueForecast.objects.order_by("-pk").defer("content").first()
    if row is not None:
        wait = max(LEAST_WAIT, WAIT_FACTOR * datetime.timedelta(seconds=row.cost_s))
        if row.computed_at <= now < row.computed_at + wait:
            return False
    begun = time.process_time()
    content = _format(describe_queue(look(now)))
    values = {"computed_at": now, "cost_s": time.process_time() - begun, "content": content}
    QueueForecast.objects.update_or_create(pk=row.pk if row else 1, defaults=values)
    return True


def next_games_of(
    state: QueueState, rows: Iterable[ActiveVersion], validating: Iterable[BotVersion] = ()
) -> dict[str, NextGame]:
    """The next games of a bot by ladder, from the rows of its active versions.

    Where it has none, those of its versions in ``validating`` are said to come after their validation.
    """
    rows = [row for row in rows if row.ladder_id in state.ladders]
    bots = {row.bot_id for row in rows}
    expected = {
        (code, one.version): one for code, games in state.ladders.items() for one in games if one.bot in bots
    }
    found = {}
    for row in rows:
        one = expected.get((row.ladder_id, row.version_id))
        if not row.enabled:
            found[row.ladder_id] = NextGame(row.version, SWITCHED_OFF)
        elif one is None or one.text == SWITCHED_OFF:
            found[row.ladder_id] = NextGame(row.version, UNKNOWN)
        else:
            found[row.ladder_id] = NextGame.of(one, row.version, state.trouble)
    for version in validating:
        for code in version.games:
            if code in state.ladders:
                found.setdefault(code, NextGame(version, AFTER_VALIDATION))
    return found


def validating_by_ladder(state: QueueState, user: access.Visitor) -> dict[str, list[NextGame]]:
    """Versions in validation that this user may see, on ladders where no version of their bot is active."""
    found: dict[str, list[NextGame]] = {}
    for version in _validating(user):
        for code in version.games:
            if all(one.bot != version.bot_id for one in state.ladders.get(code, ())):
                found.setdefault(code, []).append(NextGame(version, AFTER_VALIDATION))
    return found


def _validating(user: access.Visitor) -> QuerySet[BotVersion]:
    versions = BotVersion.objects.filter(state=BotVersion.State.VALIDATING).select_related("bot__owner")
    return access.visible_versions(user, versions)


def _stored_state(row: QueueForecast) -> QueueState:
    """Parsed once in each process: it has all bots, of which a page shows few."""
    global _latest
    known = _latest
    if known is None or known[0] != row.computed_at:
        known = _latest = row.computed_at, _parse(bytes(row.content))
    return known[1]


def _format(state: QueueState) -> bytes:
    """Compressed JSON; null instead of an infinite time."""
    ladders = {
        code: [one._replace(seconds=_finite(one.seconds)) for one in games]
        for code, games in state.ladders.items()
    }
    return zlib.compress(json.dumps(state._replace(ladders=ladders)).encode(), 1)


def _finite(seconds: float) -> Any:
    return None if seconds == NEVER_S else round(seconds, 1)


def _parse(content: bytes) -> QueueState:
    trouble, playing, events, ladders = json.loads(zlib.decompress(content))
    return QueueState(
        trouble,
        playing,
        [ExpectedEvent(*event) for event in events],
        {code: [_expected(*game) for game in games] for code, games in ladders.items()},
    )


def _expected(
    version: int, bot: int, owner: int | None, text: str, seconds: float | None, *more: Any
) -> ExpectedGame:
    return ExpectedGame(version, bot, owner, text, NEVER_S if seconds is None else seconds, *more)
