"""The results of each two players of a tournament, of which its tables and its next rounds are made.

A halted game is over: it counts half a point for both, so that the next round does not wait for it. A game of
a withdrawn player counts for the opponent. An annulled game is over and counts no points.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from engines.arithmetic.standings import GameScore
from engines.formats.base import EventFormat
from engines.pairing.results import MeetingResult
from engines.rules.base import Result
from engines.terminations import Fault

SCORE: Final = ("wins", "draws", "losses", "given_up", "walkovers", "defaults")
"""The numbers of a ``GameScore``, in its order."""
COLUMNS: Final = (*SCORE, "annulled")
"""How a game can count."""
_OF_RESULT: Final = {Result.WHITE_WINS: "wins", Result.DRAW: "draws", Result.BLACK_WINS: "losses"}
_OF_FAULT: Final[dict[str, str]] = {Fault.WHITE: "defaults", Fault.BLACK: "walkovers"}
"""Of halted games by fault; those without such a fault are given up."""
_REVERSED: Final = {"wins": "losses", "losses": "wins", "walkovers": "defaults", "defaults": "walkovers"}


class PlayedMeeting(NamedTuple):
    """The games of two players against each other, in one round or in all."""

    round: int
    """0 unless the rounds are drawn one after another."""
    one: int
    """The lower number of both players."""
    other: int
    score: GameScore
    """The score of ``one``."""
    annulled: int


class ScheduledGame(NamedTuple):
    """A game of a schedule."""

    round: int
    white: int
    black: int
    column: str
    """How it counts for White (``column_of``); empty if it is not over."""


def column_of(result: Result | None, fault: str, *, is_annulled: bool) -> str:
    """How a game that is over counts for White, of ``COLUMNS``; without a result it is halted."""
    if is_annulled:
        return "annulled"
    return _OF_FAULT.get(fault, "given_up") if result is None else _OF_RESULT[result]


def place(form: EventFormat, game: ScheduledGame) -> tuple[int, int, int, str]:
    """The meeting of a game, as its round and both players, the lower first; how it counts for the lower."""
    number = game.round if form.is_staged else 0
    if game.white > game.black:
        return number, game.black, game.white, _REVERSED.get(game.column, game.column)
    return number, game.white, game.black, game.column


def count_meetings(form: EventFormat, games: Iterable[ScheduledGame]) -> list[PlayedMeeting]:
    """The meetings of a ladder in the order of their rounds, also those whose games are not over yet."""
    counts: dict[tuple[int, int, int], dict[str, int]] = {}
    for game in games:
        number, one, other, column = place(form, game)
        row = counts.setdefault((number, one, other), dict.fromkeys(COLUMNS, 0))
        if column:
            row[column] += 1
    return [
        PlayedMeeting(*meeting, GameScore(*(row[name] for name in SCORE)), row["annulled"])
        for meeting, row in sorted(counts.items())
    ]


def seeded_results(ids: Sequence[int], met: Iterable[PlayedMeeting]) -> list[MeetingResult]:
    """The same meetings of seeds; ``ids`` are the players, the best seed first."""
    places = {pk: place for place, pk in enumerate(ids, 1)}
    results = []
    for one in met:
        sides = [(places[one.one], one.score.points), (places[one.other], one.score.reversed().points)]
        (first, mine), (second, theirs) = sorted(sides)
        results.append(MeetingResult(one.round, first, second, mine, theirs, one.annulled))
    return results
