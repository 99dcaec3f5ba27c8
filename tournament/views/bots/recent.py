"""The latest rated games of a bot on a ladder: openings, forfeits, rating changes and the time used.

A bot may have hundreds of thousands of games, so the pages count at most the latest ``MOST_COUNTED``, and say
so. They are found by the index of the rating events, newest first.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.core.cache import cache
from django.urls import reverse

from engines.records import Termination, read_times
from engines.rules.base import Result, Side
from engines.rules.registry import find_game
from engines.timecontrol import parse_time_control
from tournament.arithmetic.standings import GameScore
from tournament.models import BotVersion, GameRecord, RatingEvent
from tournament.views.games.filters import NO_OPENING, games_address
from tournament.views.games.replay import format_seconds
from tournament.views.games.scores import ScoreRow
from tournament.views.paging import first_of_parts

MOST_COUNTED = 500
MOST_OPENINGS = 8
MOST_CHANGES = 8
MOST_TIMED = 10
"""Games whose records are read for the time used."""
_HEADER = re.compile(r'^\[(Game|FEN) "([^"\\]*)"\]$', re.MULTILINE)
_COLUMNS = (
    "pk", "game_id", "version_id", "game__white_id", "game__result", "game__termination",
    "game__fault", "game__pairing__opening",
)  # fmt: skip
_SHOWN = (
    "mu_before", "sigma_before", "mu_after", "sigma_after", "game__result", "game__white__number",
    "game__white__bot__name", "game__white__bot__slug", "game__black__number", "game__black__bot__name",
    "game__black__bot__slug",
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


@dataclass(frozen=True, slots=True)
class Latest:
    """The latest games, the newest first; ``first`` is the oldest one's sequence, None if these are all."""

    games: list[LatestGame]
    first: int | None


@dataclass(frozen=True, slots=True)
class FrequentOpenings:
    """The most frequent openings, and how many others there are."""

    rows: list[ScoreRow]
    others: int


@dataclass(frozen=True, slots=True)
class ForfeitRow:
    """How many games were forfeited in one way; ``address`` lists them."""

    termination: Termination
    games: int
    address: str


@dataclass(frozen=True, slots=True)
class RatingChange:
    """A step of a player's rating with its game."""

    event: RatingEvent
    side: Side

    @property
    def player(self) -> BotVersion:
        game = self.event.game
        return game.white if self.side is Side.WHITE else game.black

    @property
    def opponent(self) -> BotVersion:
        game = self.event.game
        return game.black if self.side is Side.WHITE else game.white


@dataclass(frozen=True, slots=True)
class TimeUsed:
    """The time of the bot's own moves in the latest games."""

    games: int
    moves: int
    mean: str
    longest: str
    address: str
    """The game with the longest time, at this move."""
    share: float | None
    """The part of the clock that was used, in percent; None if no game had a clock."""


def latest_games(ladder: str, versions: Sequence[int]) -> Latest:
    """The latest rated games of these versions."""
    # The index orders the events of each version by sequence, but not those of a bot.
    parts = [RatingEvent.objects.filter(version=version, ladder=ladder) for version in versions]
    found = first_of_parts(parts, ["-sequence"], MOST_COUNTED + 1, *_COLUMNS)
    games = [_latest_game(*row) for row in found[:MOST_COUNTED]]
    return Latest(games, games[-1].sequence if len(found) > MOST_COUNTED else None)


def _latest_game(
    sequence: int, event: int, game: int, version: int, white: int, result: str, termination: str,
    fault: str, opening: str,
) -> LatestGame:  # fmt: skip
    side = Side.WHITE if version == white else Side.BLACK
    cause = termination if fault == side.name.lower() else ""
    return LatestGame(sequence, event, game, side, Result(result), cause, opening)


def openings_of(latest: Latest, filters: Mapping[str, object]) -> FrequentOpenings:
    """The results by opening."""
    scores: dict[str, GameScore] = {}
    for game in latest.games:
        score = scores.setdefault(game.opening, GameScore())
        score.add(game.result, as_white=game.side is Side.WHITE)
    ranked = sorted(scores.items(), key=lambda item: (-item[1].games, item[0]))
    rows = [
        ScoreRow(score, {**filters, "min_sequence": latest.first, "opening": opening or NO_OPENING}, opening)
        for opening, score in ranked[:MOST_OPENINGS]
    ]
    return FrequentOpenings(rows, len(ranked) - len(rows))


def forfeits_of(latest: Latest, filters: Mapping[str, object]) -> list[ForfeitRow]:
    """The forfeits by termination, the most frequent first."""
    causes = Counter(game.cause for game in latest.games if game.cause)
    chosen = {**filters, "min_sequence": latest.first, "fault": "bot"}
    return [
        ForfeitRow(Termination(cause), count, games_address(**chosen, termination=cause))
        for cause, count in causes.most_common()
    ]


def rating_changes(latest: Latest) -> list[RatingChange]:
    """The latest changes of the rating, with their games."""
    newest = latest.games[:MOST_CHANGES]
    events = RatingEvent.objects.select_related("game__white__bot", "game__black__bot")
    found = events.only(*_SHOWN).in_bulk([one.event for one in newest])
    return [RatingChange(found[one.event], one.side) for one in newest]


def time_used(latest: Latest, key: str) -> TimeUsed | None:
    """The time used in the latest ``MOST_TIMED`` games, cached while these are the same; None if unknown."""
    timed = latest.games[:MOST_TIMED]
    if not timed:
        return None
    games = ".".join(str(game.sequence) for game in timed)  # an annulment can take away any of them
    return cache.get_or_set(f"time-used-{key}-{games}", lambda: _time_used(timed))


def _time_used(games: Sequence[LatestGame]) -> TimeUsed | None:
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
    mean = sum(ms for ms, *_ in times) // len(times)
    return TimeUsed(
        games=len({pk for _, pk, _ in times}),
        moves=len(times),
        mean=format_seconds(mean),
        longest=format_seconds(longest),
        address=f"{reverse('game', args=[pk])}?ply={ply}",
        share=100 * used / clock if clock else None,
    )


def _own_times(text: str, side: Side) -> list[tuple[int, int]]:
    """The ply and the milliseconds of each timed move of ``side`` in a record."""
    headers = dict(_HEADER.findall(text))
    rules, fen = find_game(headers["Game"]), headers.get("FEN")
    first = rules.position.parse(fen).side if fen else rules.first
    return [
        (ply, ms)
        for ply, ms in enumerate(read_times(text), start=1)
        if ms is not None and (ply % 2 == 1) == (side is first)
    ]
