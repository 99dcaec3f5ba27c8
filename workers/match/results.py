"""The results of games as standings need them, and their sums. Pure."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from engines.records import Fault, Termination
from engines.rules.base import Result, Side
from workers.match.plan import pair_key
from workers.statistics import Pentanomial, Wdl

HALF_POINTS = {Result.BLACK_WINS: 0, Result.DRAW: 1, Result.WHITE_WINS: 2}
"""The points of White, in half points."""


class GameResult(NamedTuple):
    """One game with a result; ``white`` and ``black`` are the engines' names.

    ``has_moves`` is whether an engine chose a move. ``line`` identifies the start and the moves: two games
    with the same one are copies; empty if unknown.
    """

    key: str
    ladder: str
    white: str
    black: str
    result: Result
    termination: str
    fault: str
    has_moves: bool = True
    line: str = ""

    @property
    def is_void(self) -> bool:
        return self.termination == Termination.VOID

    @property
    def culprit(self) -> str | None:
        """The name of the engine that forfeited the game, or None."""
        if self.fault == Fault.WHITE:
            return self.white
        return self.black if self.fault == Fault.BLACK else None

    @property
    def is_failed_start(self) -> bool:
        """Whether an engine crashed or stalled before any engine chose a move."""
        is_ours = self.termination in (Termination.CRASH, Termination.STALL)
        return is_ours and self.culprit is not None and not self.has_moves

    @property
    def has_fault(self) -> bool:
        """Whether the game is void or a forfeit."""
        return self.is_void or self.culprit is not None

    def half_points(self, name: str) -> int:
        points = HALF_POINTS[self.result]
        return points if name == self.white else 2 - points


def line_of(fen: str | None, tokens: Iterable[str]) -> str:
    """As ``GameResult.line``: a digest of the start and the moves of a game; None is the initial position."""
    text = f"{fen or ''}\n{' '.join(tokens)}"
    return hashlib.blake2b(text.encode(), digest_size=9).hexdigest()


class Scores:
    """The sums of a match's games, which may be added in any order. ``names`` are those of the engines."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self.forfeits: Counter[tuple[str, str]] = Counter()
        """The number of forfeits, by ladder and engine."""
        self.copies: Counter[str] = Counter()
        """The number of games of each ladder that are copies of an earlier game of the same engines."""
        self._lines: set[tuple[str, frozenset[str], str]] = set()
        self._games: Counter[tuple[str, str, str, int]] = Counter()
        self._pairs: Counter[tuple[str, str, str, int]] = Counter()
        self._halves: dict[str, GameResult] = {}

    def add(self, game: GameResult) -> int | None:
        """Count a game; if it completes its pair, returns the half points (0 to 4) of the engine named first.

        None if it does not.
        """
        self._games[game.ladder, game.white, game.black, HALF_POINTS[game.result]] += 1
        if game.culprit is not None:
            self.forfeits[game.ladder, game.culprit] += 1
        self._count_copy(game)
        key = pair_key(game.key)
        other = self._halves.pop(key, None)
        if other is None:
            self._halves[key] = game
            return None
        one, two = sorted((game.white, game.black), key=self.names.index)
        points = game.half_points(one) + other.half_points(one)
        self._pairs[game.ladder, one, two, points] += 1
        return points

    def _count_copy(self, game: GameResult) -> None:
        line = (game.ladder, frozenset((game.white, game.black)), game.line)
        if game.line and game.has_moves:
            self.copies[game.ladder] += line in self._lines
            self._lines.add(line)

    def games(self, ladders: Sequence[str], name: str, side: Side) -> Wdl:
        """The games of ``name`` with this colour, from its own side."""
        counts = [0, 0, 0]
        for (ladder, white, black, points), count in self._games.items():
            if ladder in ladders and name == (white if side is Side.WHITE else black):
                counts[points if side is Side.WHITE else 2 - points] += count
        return Wdl(*counts)

    def pairs(self, ladders: Sequence[str], name: str) -> Pentanomial:
        """The complete pairs of ``name`` against all others."""
        counts = [0] * 5
        for (ladder, one, two, points), count in self._pairs.items():
            if ladder in ladders and name in (one, two):
                counts[points if name == one else 4 - points] += count
        return Pentanomial(*counts)
