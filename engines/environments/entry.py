"""Games under the match rules whose moves are entered part by part, as on the board of a site.

The parts are those that the rules give (``Position.parts``): cells, and words such as a direction. Nothing
here depends on a game.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, Final, Self

from engines.rules.base import IllegalMove, Position, RulesError, Side
from engines.rules.history import History
from engines.rules.registry import Variant, find_game

CONFIRM: Final = "confirm"
"""The action that ends a move where longer moves begin with the same parts, as a bounce in DuAlma does."""
MAX_KEPT: Final = 200_000
"""Tokens whose parts a ladder keeps."""

Parts = tuple[int, ...]
"""The numbers of a move's actions, in the order in which they are entered."""


class ActionSpace:
    """The actions of a ladder, numbered from 0: the cells of its board, its words, and ``CONFIRM``.

    ``names`` are their spellings. The space is the same in every position.
    """

    def __init__(self, variant: Variant) -> None:
        start = variant.position.initial()
        self.cells = tuple(start.board())
        self.words = tuple(variant.position.words())
        self.names = (*self.cells, *self.words, CONFIRM)
        self.numbers = {name: number for number, name in enumerate(self.names)}
        self.confirm = self.numbers[CONFIRM]
        self._parts_of = start.parts
        self._kept: dict[str, Parts] = {}

    def __len__(self) -> int:
        return len(self.names)

    def parts(self, token: str) -> Parts:
        """The actions that enter a legal move."""
        found = self._kept.get(token)
        if found is None:
            found = tuple([self.numbers[part] for part in self._parts_of(token)])
            if len(self._kept) < MAX_KEPT:
                self._kept[token] = found
        return found


@cache
def action_space(code: str) -> ActionSpace:
    """The actions of a ladder, made once."""
    return ActionSpace(find_game(code))


def start_of(variant: Variant, position: str) -> Position:
    """The position of a string, or the usual start; raises ``RulesError``, also if the game is over."""
    start = variant.position.parse(position) if position else variant.position.initial()
    if History(variant, start).outcome.decided:
        raise RulesError(f"the game is over at {position!r}")
    return start


class GameEntry:
    """A game, and the parts of the next move that are entered so far.

    A move is played as soon as nothing but this whole move can be entered, as on the board of a site. Players
    are numbered by who moves first: 0 and 1.
    """

    __slots__ = ("_going", "_legal", "actions", "entered", "history")

    def __init__(self, history: History) -> None:
        self.history = history
        self.actions = action_space(history.game.code)
        self.entered: Parts = ()
        self._going: Sequence[tuple[Parts, str]] | None = None
        """The legal moves that begin with the entered parts; None until they are needed."""
        self._legal: list[int] | None = None

    @classmethod
    def restore(cls, code: str, start: str, ply_limit: int, moves: Sequence[str], entered: Parts) -> Self:
        """The game from a position string after these moves and parts; raises ``IllegalMove``."""
        game = find_game(code)
        entry = cls(History(game, game.position.parse(start), ply_limit))
        for token in moves:
            entry.history.play(token)
        for action in entered:
            entry.enter(action)
        return entry

    @property
    def is_over(self) -> bool:
        return self.history.outcome.decided

    @property
    def player(self) -> int:
        """The player to move; the same until the move is complete."""
        return self.player_of(self.history.position.side)

    def player_of(self, side: Side) -> int:
        return int(side is not self.history.game.first)

    def side_of(self, player: int) -> Side:
        first = self.history.game.first
        return first.other if player else first

    def returns(self) -> list[float]:
        """For each player 1 after a win, -1 after a loss, else 0."""
        winner = self.history.outcome.winner
        if winner is None:
            return [0.0, 0.0]
        return [-1.0, 1.0] if self.player_of(winner) else [1.0, -1.0]

    def legal_actions(self) -> list[int]:
        """The actions that may be entered next, in ascending order; none after the end of the game."""
        if self._legal is None:
            self._legal = sorted(self._find_legal())
        return self._legal

    def _find_legal(self) -> set[int]:
        place = len(self.entered)
        found = {parts[place] for parts, _ in self._moves() if len(parts) > place}
        if place and any(len(parts) == place for parts, _ in self._moves()):
            found.add(self.actions.confirm)
        return found

    def _moves(self) -> Sequence[tuple[Parts, str]]:
        if self._going is None:
            parts = self.actions.parts
            tokens: Iterator[str] = iter(()) if self.is_over else self.history.position.legal_moves()
            self._going = [(parts(token), token) for token in tokens]
        return self._going

    def enter(self, action: int) -> str | None:
        """Enter one more part; returns the token of the move if it was played. Raises ``IllegalMove``."""
        if action not in self.legal_actions():
            raise IllegalMove(self._spell(action), self.history.position, self._objection())
        place = len(self.entered)
        if action == self.actions.confirm:
            return self._play(next(token for parts, token in self._moves() if len(parts) == place))
        going = [move for move in self._moves() if len(move[0]) > place and move[0][place] == action]
        if len(going) == 1 and len(going[0][0]) == place + 1:
            return self._play(going[0][1])
        self.entered = (*self.entered, int(action))
        self._going, self._legal = going, None
        return None

    def _play(self, token: str) -> str:
        self.history.play(token)
        self.entered, self._going, self._legal = (), None, None
        return token

    def _spell(self, action: int) -> str:
        names = self.actions.names
        return names[action] if 0 <= action < len(names) else str(action)

    def _objection(self) -> str:
        if self.is_over:
            return "the game is over"
        return f"no legal move goes on with it after {self.entered_names()}" if self.entered else ""

    def entered_names(self) -> str:
        """The entered parts, with spaces between."""
        return " ".join([self.actions.names[action] for action in self.entered])

    def __str__(self) -> str:
        """The position string, and after a bar the entered parts."""
        return (
            f"{self.history.position} | {self.entered_names()}"
            if self.entered
            else str(self.history.position)
        )

    def copy(self) -> Self:
        """The same game, to be continued separately."""
        other = type(self)(self.history.copy())
        other.entered, other._going, other._legal = self.entered, self._going, self._legal
        return other

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self.copy()

    def __reduce__(self) -> tuple[Any, ...]:
        """A pickle has the moves and the entered parts; the game is played again when it is read."""
        history = self.history
        begun = history.game.code, str(history.start), history.ply_limit
        return type(self).restore, (*begun, history.moves, self.entered)
