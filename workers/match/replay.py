"""A recorded game played again: do the engines choose the same moves under its limits and seed?

Sees players, not processes, as the referee does; knows no queue and no site.
"""

from __future__ import annotations

from dataclasses import dataclass

from engines.protocol import Winner
from engines.records import Record, Termination, side_controls, start_history, verify_record
from engines.rules.base import Position, Result
from engines.rules.registry import find_game
from engines.timecontrol import TimeControlError
from workers.game.referee import EngineMove, GameSetup, MoveRequest, PlayedGame, Player, play_game


class ReplayError(ValueError):
    """A record that cannot be played again, or engines that cannot play it; one sentence."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Where a game first went another way. ``ply`` counts the record's moves from 1.

    ``recorded`` and ``played`` are moves, or what ended the game instead of one.
    """

    ply: int
    position: Position
    recorded: str
    played: str


def replay_game(record: Record, white: Player, black: Player, *, margin_ms: int = 50) -> Difference | None:
    """Have both players choose their moves again, from the last given one on; None is the same game.

    Stops at the first difference. A forfeit must come again too, by the same termination; an adjudicated
    game is the same once its moves are. Raises ``ReplayError``. The seed is for the caller to set.
    """
    match = _match_of(record, margin_ms)
    try:
        played = play_game(match, _Follower(white, record), _Follower(black, record))
    except _Decided as decided:
        return decided.difference
    return _compare_ends(record, played, match.history.position)


def _match_of(record: Record, margin_ms: int) -> GameSetup:
    for wrong in verify_record(record):
        raise ReplayError(f"the record is not true: {wrong}")
    if record.header("Termination") == Termination.VOID:
        raise ReplayError("the game is void: nothing came of it")
    try:
        controls = side_controls(record)
    except TimeControlError as error:
        raise ReplayError(f"the record is not true: {error}") from None
    opening = tuple(move.token for move in record.moves if move.book)
    return GameSetup(find_game(record.header("Game")), start_history(record), controls, margin_ms, opening)


class _Decided(Exception):
    """The question is answered before the game has ended: by a difference, or None."""

    def __init__(self, difference: Difference | None) -> None:
        super().__init__(difference)
        self.difference = difference


class _Follower:
    """A player whose choices are held against the record's."""

    def __init__(self, player: Player, record: Record) -> None:
        self._player = player
        self._record = record

    def prepare(self) -> None:
        self._player.prepare()

    def line(self) -> None:
        """Every choice is looked at here."""

    def choose(self, turn: MoveRequest) -> EngineMove:
        """What the player chose; raises ``_Decided`` if the game goes on another way with it."""
        position, ply = turn.history.position, len(turn.history.moves)
        moves, termination = self._record.moves, self._record.header("Termination")
        is_past_the_end = ply == len(moves)
        if is_past_the_end and termination == Termination.ADJUDICATION:
            raise _Decided(None)
        choice = self._player.choose(turn)
        if is_past_the_end and position.is_legal(choice.token):
            raise _Decided(Difference(ply + 1, position, _end_of(self._record), choice.token))
        if not is_past_the_end and choice.token != moves[ply].token:
            raise _Decided(Difference(ply + 1, position, moves[ply].token, choice.token))
        return choice

    def finish(self, winner: Winner, reason: str) -> None:
        self._player.finish(winner, reason)


def _compare_ends(record: Record, played: PlayedGame, position: Position) -> Difference | None:
    """The difference of two games with the same moves, as far as the second one went."""
    if played.result is Result.UNDECIDED:
        raise ReplayError(played.evidence)
    ply = len(played.moves)
    came = f"{played.termination}, {played.result}"
    if ply < len(record.moves):
        return Difference(ply + 1, position, record.moves[ply].token, came)
    return None if came == _end_of(record) else Difference(ply + 1, position, _end_of(record), came)


def _end_of(record: Record) -> str:
    return f"{record.header('Termination')}, {record.result}"
