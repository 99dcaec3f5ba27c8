"""The latest rated games of a bot on a ladder: openings, forfeits, rating changes and the time used.

A bot may have hundreds of thousands of games, so the pages count at most the latest ``MAX_COUNTED``, and say
so. They are found by the index of the rating events, newest first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.urls import reverse

from engines.arithmetic.standings import GameScore
from engines.records import read_first_side, read_times
from engines.rules.base import Result, Side
from engines.timecontrol import parse_time_control
from tournament.caches import cache
from tournament.models import GameRecord, RatingEvent
from tournament.views.games.replay import format_seconds

MAX_COUNTED = 500
MAX_CHANGES = 8
MAX_TIMED = 10
"""Games whose records are read for the time used."""
_COLUMNS = (
    "sequence", "pk", "game_id", "version_id", "game__white_id", "game__result", "game__termination",
    "game__fault", "game__pairing__opening",
)  # fmt: skip
_SHOWN = (
    "mu_before", "sigma_before", "mu_after", "sigma_after", "version__number", "game__result",
    "game__white__number", "game__white__bot__name", "game__white__bot__slug", "game__black__number",
    "game__black__bot__name", "game__black__bot__slug",
)  # fmt: skip
"""Columns of rating changes that pages show."""


@dataclass(frozen=True, slots=True)
class LatestGame:
    """A rated game as one player saw it; ``event`` is the id of its effect on the player's rating."""

    sequence: int
    event: int
    pk: int
    side: Side
    result: Result
    cause: str
    """The termination, if the player forfeited."""
    opening: str


def latest_games(ladder: str, versions: Sequence[int]) -> tuple[list[LatestGame], int | None]:
    """The latest rated games of these versions, and the oldest one's sequence, None if these are all."""
    events = RatingEvent.objects.filter(version__in=versions, ladder=ladder)
    # First the sequences, by an index that has all columns: what is read with them is sorted with them.
    keys = list(events.order_by("-sequence").values_list("pk", flat=True)[: MAX_COUNTED + 1])
    rows = RatingEvent.objects.filter(pk__in=keys[:MAX_COUNTED]).order_by("-sequence")
    games = [_latest_game(*row) for row in rows.values_list(*_COLUMNS)]
    return games, games[-1].sequence if len(keys) > MAX_COUNTED else None


def _latest_game(
    sequence: int, event: int, game: int, version: int, white: int, result: str, termination: str,
    fault: str, opening: str,
) -> LatestGame:  # fmt: skip
    side = Side.WHITE if version == white else Side.BLACK
    cause = termination if fault == side.name.lower() else ""
    return LatestGame(sequence, event, game, side, Result(result), cause, opening)


def scores_by_opening(latest: Sequence[LatestGame]) -> list[tuple[str, GameScore]]:
    """The given moves and the results after them, the most frequent first."""
    scores: dict[str, GameScore] = {}
    for game in latest:
        score = scores.setdefault(game.opening, GameScore())
        score.add(game.result, as_white=game.side is Side.WHITE)
    return sorted(scores.items(), key=lambda item: (-item[1].games, item[0]))


def rating_changes(latest: Sequence[LatestGame]) -> list[RatingEvent]:
    """The latest changes of the rating, with their games."""
    newest = [one.event for one in latest[:MAX_CHANGES]]
    events = RatingEvent.objects.select_related("version", "game__white__bot", "game__black__bot")
    found = events.only(*_SHOWN).in_bulk(newest)
    return [found[event] for event in newest]


def time_used(latest: Sequence[LatestGame], key: str) -> dict[str, Any] | None:
    """The time used in the latest ``MAX_TIMED`` games, cached while these are the same; None if unknown."""
    timed = latest[:MAX_TIMED]
    if not timed:
        return None
    games = ".".join(str(game.sequence) for game in timed)  # an annulment can take away any of them
    return cache.get_or_set(f"time-used-{key}-{games}", lambda: _time_used(timed))


def _time_used(games: Sequence[LatestGame]) -> dict[str, Any] | None:
    sides = {game.pk: game.side for game in games}
    records = GameRecord.objects.filter(game__in=sides).order_by("-game__sequence")
    times: list[tuple[int, int, int]] = []
    used = clock = 0
    for pk, text, written in records.values_list("pk", "text", "game__tournament__time_control"):
        own = _own_times(text, sides[pk])
        times += [(ms, pk, ply) for ply, ms in own]
        control = parse_time_control(written)
        if control.base_ms is not None:
            used += sum(ms for _, ms in own)
            clock += control.base_ms + control.increment_ms * len(own)
    if not times:
        return None
    longest, pk, ply = max(times, key=lambda time: time[0])
    return {
        "games": len({pk for _, pk, _ in times}),
        "moves": len(times),
        "mean": format_seconds(sum(ms for ms, *_ in times) // len(times)),
        "longest": format_seconds(longest),
        "address": f"{reverse('game', args=[pk])}?ply={ply}",
        "share": 100 * used / clock if clock else None,  # in percent; None without a game with a clock
    }


def _own_times(text: str, side: Side) -> list[tuple[int, int]]:
    """The ply and the milliseconds of each timed move of ``side`` in a record."""
    first = read_first_side(text)
    return [
        (ply, ms)
        for ply, ms in enumerate(read_times(text), start=1)
        if ms is not None and (ply % 2 == 1) == (side is first)
    ]
