"""Which moves solve a task: an exact search over the rules of the game, without match rules.

A search plays at most so many moves as the caller allows, and raises ``TooLong`` instead of one more.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from engines.rules.base import Position
from engines.tasks.model import Kind

MAX_PLAYED: Final = 500_000
PASS: Final = "pass"


class TooLong(Exception):
    """The search would have to play more moves than it may."""


class Solver:
    """Searches that together play at most ``most`` moves."""

    def __init__(self, most: int = MAX_PLAYED) -> None:
        self._left = most
        self._last_escape = ""

    def solve(self, kind: Kind, position: Position) -> Iterator[str]:
        """All moves that solve a task of this kind, in the order of ``legal_moves``."""
        replies = self._replies(position)
        if kind is Kind.CAPTURE:
            captured = {token: position.count_captured(after) for token, after in replies}
            most = max(captured.values(), default=0)
            return (token for token, count in captured.items() if count == most > 0)
        if kind is Kind.WIN_IN_ONE:
            return self.wins(position)
        solves = {Kind.FORCE_PASS: must_pass, Kind.DEFEND: self.is_safe, Kind.WIN_IN_TWO: self.is_trapped}
        return (token for token, after in replies if solves[kind](after))

    def wins(self, position: Position) -> Iterator[str]:
        """The moves that win at once."""
        for token, after in self._replies(position):
            if after.outcome().winner is position.side:
                yield token

    def is_safe(self, position: Position) -> bool:
        """Whether the side to move has not won, and cannot win at once."""
        return position.outcome().winner is not position.side and not any(self.wins(position))

    def is_trapped(self, position: Position) -> bool:
        """Whether the side to move loses by the opponent's next move, whatever it plays."""
        return not position.outcome().decided and not self.find_escape(position)

    def find_escape(self, position: Position) -> str:
        """A move after which the opponent neither has won nor can win at once; "" if there is none.

        The last escape found is tried first, because it often is one again; then the moves that win.
        """
        tokens = [*self.wins(position), *position.legal_moves()]
        if self._last_escape in tokens:
            tokens.insert(0, self._last_escape)
        for token in tokens:
            if self.is_safe(self._play(position, token)):
                self._last_escape = token
                return token
        return ""

    def find_defence(self, position: Position) -> str:
        """The move that leaves the opponent the fewest winning moves but not none; "" without such a move."""
        left = {token: sum(1 for _ in self.wins(after)) for token, after in self._replies(position)}
        return min((token for token, count in left.items() if count), key=left.__getitem__, default="")

    def _replies(self, position: Position) -> Iterator[tuple[str, Position]]:
        for token in position.legal_moves():
            yield token, self._play(position, token)

    def _play(self, position: Position, token: str) -> Position:
        self._left -= 1
        if self._left < 0:
            raise TooLong
        return position.play(token)


def must_pass(position: Position) -> bool:
    """Whether the side to move has no move but a pass."""
    return list(position.legal_moves()) == [PASS]
