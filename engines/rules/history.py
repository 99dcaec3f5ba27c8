"""The match rules: a game that ends by its rules, by repetition or by the ply limit.

The order is: the rules of the game, then a position's third occurrence, then the ply
limit. They apply to the start position too, which is a first occurrence. Repetition and
the ply limit are rules of this server, not of the games.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Final

from engines.rules.base import IllegalMove, Outcome, Position, Reason
from engines.rules.registry import Variant

REPETITIONS: Final = 3
"""The occurrence of a position that ends the game."""


class History:
    """A game in progress; ``moves`` are the tokens played since ``start``.

    ``ply_limit`` is compared with the position's own ply, which includes the
    plies before ``start``. ``outcome`` is always up to date.
    """

    game: Variant
    start: Position
    position: Position
    moves: list[str]
    ply_limit: int
    outcome: Outcome

    def __init__(self, game: Variant, start: Position | None = None, ply_limit: int | None = None) -> None:
        self.game = game
        self.start = game.position.initial() if start is None else start
        self.position = self.start
        self.moves = []
        self.ply_limit = game.ply_limit if ply_limit is None else ply_limit
        self._occurrences: dict[Hashable, int] = {}
        self.outcome = self._judge()

    def play(self, token: str) -> Outcome:
        """Play a move and return the outcome; raises ``IllegalMove``, after the end for every token.

        An illegal move changes nothing.
        """
        if self.outcome.decided:
            raise IllegalMove(token, self.position, f"the game is over ({self.outcome.reason})")
        self.position = self.position.play(token)
        self.moves.append(token)
        self.outcome = self._judge()
        return self.outcome

    def copy(self) -> History:
        """The same game, to be continued separately."""
        other = History(self.game, self.start, self.ply_limit)
        other.position = self.position
        other.moves = self.moves.copy()
        other._occurrences = self._occurrences.copy()
        other.outcome = self.outcome
        return other

    @property
    def occurrence(self) -> int:
        """How many times the present position has occurred, this time included."""
        return self._occurrences[self.position.key()]

    def _judge(self) -> Outcome:
        """Count this occurrence of the position, and return the outcome."""
        key = self.position.key()
        occurrence = self._occurrences.get(key, 0) + 1
        self._occurrences[key] = occurrence
        outcome = self.position.outcome()
        if outcome.decided:
            return outcome
        if occurrence >= REPETITIONS:
            return self.position.outcome_by_match_rule(Reason.REPETITION)
        if self.position.ply >= self.ply_limit:
            return self.position.outcome_by_match_rule(Reason.PLY_LIMIT)
        return outcome


def replay_until_end(game: Variant, moves: Iterable[str], start: Position | None = None) -> History:
    """The game after these moves, of which those after its end are left out; raises ``IllegalMove``."""
    history = History(game, start)
    for token in moves:
        if history.outcome.decided:
            break
        history.play(token)
    return history
