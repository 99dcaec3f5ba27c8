"""Plays a recorded game again and finds where the engines choose other moves.

Like the referee it uses players, not processes.
"""

from __future__ import annotations

from dataclasses import dataclass

from engines.protocol import Winner
from engines.records import CLOCK_FIELD, Record, Termination, find_disagreements, side_controls, start_history
from engines.rules.base import Position, Result
from engines.rules.registry import find_game
from engines.timecontrol import TimeControlError
from workers.game.referee import EngineMove, GameSetup, MoveRequest, PlayedGame, Player, play_game

MARGIN_MS = 50
"""Forgiven to both players on each move."""


class ReplayError(ValueError):
    """The record cannot be played again, or the engines cannot play it; the text is one sentence."""


@dataclass(frozen=True, slots=True)
class Difference:
    """The first difference between two games. ``ply`` counts the record's moves from 1.

    ``recorded`` and ``played`` are moves, or a termination and result if the game ended there.
    """

    ply: int
    position: Position
    recorded: str
    played: str


def replay_game(record: Record, white: Player, black: Player) -> Difference | None:
    """Let both players choose all moves after the opening again; returns None for the same game.

    Stops at the first difference. A forfeit must happen again, with the same termination; for an adjudicated
    game it is enough that its moves are the same. The caller sets the players' seed. Raises ``ReplayError``.
    """
    setup = _setup_of(record)
    try:
        played = play_game(setup, _CheckedPlayer(white, record), _CheckedPlayer(black, record))
    except _ReplayEnded as ended:
        return ended.difference
    return _compare_ends(record, played, setup.history.position)


def _setup_of(record: Record) -> GameSetup:
    for wrong in find_disagreements(record):
        if wrong.field != CLOCK_FIELD:  # a wrong time does not keep the moves from being replayed
            raise ReplayError(f"the record is wrong: {wrong.sentence}")
    if record.header("Termination") == Termination.VOID:
        raise ReplayError("the game is void, so there is no result to compare with")
    try:
        controls = side_controls(record)
    except TimeControlError as error:
        raise ReplayError(f"the record is wrong: {error}") from None
    opening = tuple(move.token for move in record.moves if move.book)
    return GameSetup(
        find_game(record.header("Game")), start_history(record), controls, (MARGIN_MS, MARGIN_MS), opening
    )


class _ReplayEnded(Exception):
    """Ends the replay before the end of the game, with a difference or None."""

    def __init__(self, difference: Difference | None) -> None:
        super().__init__(difference)
        self.difference = difference


class _CheckedPlayer:
    """A player whose moves are compared with those of the record."""

    def __init__(self, player: Player, record: Record) -> None:
        self._player = player
        self._record = record

    def prepare(self) -> None:
        self._player.prepare()

    def fast_channel(self) -> None:
        """No fast path: ``choose`` compares every move."""

    def choose(self, turn: MoveRequest) -> EngineMove:
        """The player's choice; raises ``_ReplayEnded`` if it differs from the record."""
        position, ply = turn.history.position, len(turn.history.moves)
        moves, termination = self._record.moves, self._record.header("Termination")
        is_past_the_end = ply == len(moves)
        if is_past_the_end and termination == Termination.ADJUDICATION:
            raise _ReplayEnded(None)
        choice = self._player.choose(turn)
        recorded = _end_of(self._record) if is_past_the_end else moves[ply].token
        if position.is_legal(choice.token) if is_past_the_end else choice.token != recorded:
            raise _ReplayEnded(Difference(ply + 1, position, recorded, choice.token))
        return choice

    def finish(self, winner: Winner, reason: str) -> None:
        self._player.finish(winner, reason)


def _compare_ends(record: Record, played: PlayedGame, position: Position) -> Difference | None:
    """The difference between the ends of two games that have the same moves up to there."""
    if played.result is Result.UNDECIDED:
        raise ReplayError(played.evidence)
    ply = len(played.moves)
    end = f"{played.termination}, {played.result}"
    if ply < len(record.moves):
        return Difference(ply + 1, position, record.moves[ply].token, end)
    return None if end == _end_of(record) else Difference(ply + 1, position, _end_of(record), end)


def _end_of(record: Record) -> str:
    return f"{record.header('Termination')}, {record.result}"
