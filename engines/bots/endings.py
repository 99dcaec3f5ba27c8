"""The outcome of positions in a search, including the match rules.

Repetitions are counted over the moves played, not over those of the search: a position
that has occurred twice in the game ends it anywhere in the search.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable

from engines.rules.base import Outcome, Position, Reason
from engines.rules.history import REPETITIONS, History


class Endings:
    """Outcomes after one position of a game: by the rules, by repetition and by the ply limit."""

    def __init__(self, history: History) -> None:
        self.repeated = repeated_positions(history)
        self.ply_limit = history.ply_limit

    def outcome(self, position: Position) -> Outcome:
        outcome = position.outcome()
        if outcome.decided:
            return outcome
        if self.repeated and position.key() in self.repeated:
            return position.outcome_by_match_rule(Reason.REPETITION)
        if position.ply >= self.ply_limit:
            return position.outcome_by_match_rule(Reason.PLY_LIMIT)
        return outcome


def repeated_positions(history: History) -> frozenset[Hashable]:
    """The keys of positions whose next occurrence ends this game."""
    position = history.start
    seen = Counter([position.key()])
    for token in history.moves:
        position = position.play(token)
        seen[position.key()] += 1
    return frozenset(key for key, times in seen.items() if times >= REPETITIONS - 1)
