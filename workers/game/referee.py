"""The referee: plays one game between two players and returns how it ended.

It uses the ``Player`` interface, not processes. The value it returns keeps the result, the
termination and the fault apart. A forfeit is an engine's fault and counts; a void is the server's
fault, and the game is played again. Ordinary moves take the fast path
(``workers.game.fastpath.moves``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from engines.protocol import RESIGN, Winner
from engines.records import Fault, MoveNote, RecordMove, Termination
from engines.rules.base import IllegalMove, Outcome, Reason, Result, Side
from engines.rules.history import History
from engines.rules.registry import Variant
from engines.timecontrol import TimeControl
from workers.game.adjudication import Adjudicator
from workers.game.charges import Charge
from workers.game.fastpath.clock import NS_PER_MS, GameClock
from workers.game.fastpath.kept import KeptMoves
from workers.game.fastpath.moves import EngineChannel, OrdinaryMoves, Pending
from workers.game.fastpath.questions import Questions
from workers.jobs import BOTH_UNABLE

MAX_TOKEN_SHOWN = 80

_TERMINATIONS = {Reason.REPETITION: Termination.REPETITION, Reason.PLY_LIMIT: Termination.PLY_LIMIT}


class Forfeit(Exception):
    """A player loses by its own fault; ``evidence`` is a sentence."""

    def __init__(self, termination: Termination, evidence: str) -> None:
        super().__init__(evidence)
        self.termination = termination
        self.evidence = evidence


class Void(Exception):
    """The game cannot be played, and no player is at fault; the text is the evidence."""


@dataclass(slots=True)
class MoveRequest:
    """A request for one move: the game so far and the time allowed.

    ``question`` is the ``position`` line and the ``go`` line. ``allowance_ns`` runs from sending them to
    the arrival of the answer, margin included; None is no flag. ``asked`` is set if the fast path has
    already sent the question and did not complete the move.
    """

    history: History
    question: bytes
    allowance_ns: int | None
    asked: Pending | None = None


@dataclass(slots=True)
class EngineMove:
    """A player's answer, unchecked: ``token`` may be ``RESIGN``, illegal, or empty if there was no move.

    ``used_ns`` is charged; ``charge`` has its parts, None if it is the wall time.
    """

    token: str
    used_ns: int
    note: MoveNote | None = None
    charge: Charge | None = None


class Player(Protocol):
    """One side of one game. All methods but ``finish`` raise ``Forfeit``, or ``Void`` for server faults."""

    def prepare(self) -> None:
        """Get ready for a new game; the clock does not run."""

    def fast_channel(self) -> EngineChannel | None:
        """The channel for the fast path; None if the player must be asked by ``choose``."""

    def choose(self, turn: MoveRequest) -> EngineMove:
        """Return the move for the side to move."""

    def finish(self, winner: Winner, reason: str) -> None:
        """Announce that the game is over; never raises."""


@dataclass(frozen=True, slots=True)
class GameSetup:
    """The settings of one game. ``history`` is the start of the game, with no moves played.

    ``controls`` and ``margins_ms`` are White's and Black's. ``opening`` holds the opening moves;
    ``play_game`` raises for an illegal one. ``adjudicator`` must not be shared between games; None never
    ends a game early.
    """

    game: Variant
    history: History
    controls: tuple[TimeControl, TimeControl]
    margins_ms: tuple[int, int]
    opening: tuple[str, ...] = ()
    adjudicator: Adjudicator | None = None


@dataclass(frozen=True, slots=True)
class PlayedGame:
    """How a game ended, and its moves, opening moves included. Scores are None in games without."""

    kept: KeptMoves
    result: Result
    termination: Termination
    fault: Fault
    reason: Reason = Reason.NONE
    evidence: str = ""
    white_score: int | None = None
    black_score: int | None = None

    @property
    def moves(self) -> tuple[RecordMove, ...]:
        """The moves as values, made anew by each access; reports and records need only ``kept``."""
        return self.kept.records()


class GameState:
    """A game in progress: history, clocks and the moves played."""

    def __init__(self, setup: GameSetup) -> None:
        self.setup = setup
        self.history = setup.history
        self.adjudicator = setup.adjudicator
        white, black = setup.controls
        white_margin_ms, black_margin_ms = setup.margins_ms
        self.clocks = (GameClock(white, white_margin_ms), GameClock(black, black_margin_ms))
        """White's and Black's."""
        self.kept = KeptMoves()
        """The moves played."""
        self.is_begun = False
        """Whether both engines were ready: from then on the side to move is asked and its clock runs."""
        self._questions = Questions(setup.history, setup.controls, self.clocks)
        self._fast_path: OrdinaryMoves | None = None

    def is_over(self) -> bool:
        """Whether the game has ended by its rules, by repetition or by the ply limit."""
        return self.history.outcome.decided

    def play(self, token: str, note: MoveNote | None = None, book: bool = False) -> None:
        self.history.play(token)
        self.kept.add(token, note, book)
        self._questions.add(token)

    def play_plainly(self, players: tuple[Player, Player]) -> Pending | None:
        """Play ordinary moves on the fast path; returns a question that it did not complete, else None."""
        white, black = (player.fast_channel() for player in players)
        if white is None or black is None or self.adjudicator is not None:
            return None
        channels = (white, black)
        if self._fast_path is None or not self._fast_path.fits(channels):
            self.close()
            self._fast_path = OrdinaryMoves(self.history, self._questions, self.clocks, self.kept, channels)
        return self._fast_path.play()

    def ask(self, side: Side, player: Player, asked: Pending | None = None) -> EngineMove:
        """Ask ``side`` for a move and charge its clock; raises ``Forfeit`` if the answer is late."""
        clock = self.clocks[side]
        allowance_ns = clock.allowance_ns
        question = self._questions.ask(side) if asked is None else asked.question
        choice = player.choose(MoveRequest(self.history, question, allowance_ns, asked))
        if allowance_ns is not None and choice.used_ns > allowance_ns:
            margin_ms = self.setup.margins_ms[side]
            late = late_sentence(choice.used_ns, allowance_ns, margin_ms, choice.charge)
            raise Forfeit(Termination.TIME, late)
        clock.charge(choice.used_ns)
        return choice

    def close(self) -> None:
        if self._fast_path is not None:
            self._fast_path.close()


def play_game(
    setup: GameSetup,
    white: Player,
    black: Player,
    *,
    on_start: Callable[[GameState], None] = lambda state: None,
) -> PlayedGame:
    """Play a game to its end. ``on_start`` receives its state, which it may read during the game.

    Raises ``IllegalMove`` for an opening that cannot be played. Exceptions of ``on_start`` and of the
    players pass through, except ``Forfeit`` and ``Void``.
    """
    players = (white, black)
    state = GameState(setup)
    for token in setup.opening:
        state.play(token, book=True)
    on_start(state)
    try:
        ended = _play(state, players)
    except Void as void:
        ended = _void(state, str(void))
    finally:
        state.close()
    winner = _winner(setup.game, ended.result)
    for player in players:
        player.finish(winner, ended.reason or ended.termination)
    return ended


def _play(state: GameState, players: tuple[Player, Player]) -> PlayedGame:
    if state.is_over():
        return _ended_by_rules(state)
    if (unable := _prepare(state, players)) is not None:
        return unable
    state.is_begun = True
    history = state.history
    while True:
        asked = state.play_plainly(players)
        if history.outcome.decided:
            return _ended_by_rules(state)
        side = history.position.side
        try:
            choice = state.ask(side, players[side], asked)
            if choice.token == RESIGN:
                return _resigned(state, side)
            state.play(choice.token, choice.note)
        except IllegalMove as error:
            why = explain_illegal(choice.token, error) + _explain_repeat(history, choice.token)
            return _forfeited(state, side, Forfeit(Termination.ILLEGAL_MOVE, why))
        except Forfeit as forfeit:
            return _forfeited(state, side, forfeit)
        if state.adjudicator is not None and (result := _agreed(state, side, choice)) is not None:
            evidence = "" if result is Result.DRAW else state.adjudicator.evidence
            return PlayedGame(state.kept, result, Termination.ADJUDICATION, Fault.NONE, evidence=evidence)


def _prepare(state: GameState, players: tuple[Player, Player]) -> PlayedGame | None:
    """Prepare both players; returns how the game ended if one cannot start, else None."""
    faults: dict[Side, Forfeit] = {}
    for side in Side:
        try:
            players[side].prepare()
        except Forfeit as forfeit:
            faults[side] = forfeit
    if len(faults) == len(players):
        evidence = "; ".join(f"{side.name.lower()}: {faults[side].evidence}" for side in Side)
        raise Void(f"{BOTH_UNABLE}: {evidence}")
    for side, fault in faults.items():
        return _forfeited(state, side, fault)
    return None


def late_sentence(used_ns: int, allowance_ns: int, margin_ms: int, charge: Charge | None = None) -> str:
    limit_ms = allowance_ns // NS_PER_MS - margin_ms
    came_ms = (used_ns if charge is None else charge.wall_ns) // NS_PER_MS
    times = "" if charge is None else f" ({charge.sentence})"
    return (
        f"the answer came after {came_ms} ms, with {limit_ms} ms left and a margin of {margin_ms} ms{times}"
    )


def explain_illegal(token: str, error: IllegalMove) -> str:
    """A sentence about an engine's illegal move; ``error`` comes from the rules."""
    if not token:
        return "the bestmove line named no move"
    if len(token) > MAX_TOKEN_SHOWN:
        return f"unreadable move {f'{token[:MAX_TOKEN_SHOWN]}…'!r} of {len(token)} characters"
    return str(error)


def _explain_repeat(history: History, token: str) -> str:
    """What is probably wrong if an illegal move is the one that the engine has just played."""
    is_repeat = history.moves[-2:-1] == [token]
    return (
        "; it is the engine's last move again, perhaps a second bestmove that came late" if is_repeat else ""
    )


# How a game ends


def _agreed(state: GameState, side: Side, choice: EngineMove) -> Result | None:
    """The result of adjudication after a move, if any. The rules take precedence: a game over is None."""
    if state.adjudicator is None or state.is_over():
        return None
    return state.adjudicator.judge(side, choice.note, (len(state.history.moves) + 1) // 2)


def _ended_by_rules(state: GameState) -> PlayedGame:
    outcome: Outcome = state.history.outcome
    termination = _TERMINATIONS.get(outcome.reason, Termination.RULES)
    return PlayedGame(
        state.kept,
        outcome.result,
        termination,
        Fault.NONE,
        reason=outcome.reason if termination is Termination.RULES else Reason.NONE,
        white_score=outcome.white_score,
        black_score=outcome.black_score,
    )


def _forfeited(state: GameState, loser: Side, forfeit: Forfeit) -> PlayedGame:
    return PlayedGame(
        state.kept,
        Result.win_for(loser.other),
        forfeit.termination,
        Fault.of(loser),
        evidence=forfeit.evidence,
    )


def _resigned(state: GameState, side: Side) -> PlayedGame:
    return PlayedGame(state.kept, Result.win_for(side.other), Termination.RESIGNATION, Fault.NONE)


def _void(state: GameState, evidence: str) -> PlayedGame:
    return PlayedGame(state.kept, Result.UNDECIDED, Termination.VOID, Fault.INFRASTRUCTURE, evidence=evidence)


def _winner(game: Variant, result: Result) -> Winner:
    if result is Result.win_for(game.first):
        return Winner.P1
    return Winner.P2 if result is Result.win_for(game.first.other) else Winner.DRAW
