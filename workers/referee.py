"""The referee: one game between two players, from the first move to the verdict.

Sees players, not processes, and returns a value: who won, why it stopped and
whose fault that was are three things here. A forfeit is an engine's fault and
counts; a void is ours and the game is played again. Moves that nothing is to be
said of are played by ``workers.exchange.plain``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from engines.protocol import RESIGN, Winner
from engines.records import Fault, MoveNote, RecordMove, Termination
from engines.rules.base import IllegalMove, Outcome, Reason, Result, Side
from engines.rules.history import History
from engines.rules.registry import Game
from engines.timecontrol import TimeControl
from workers.adjudication import Adjudicator
from workers.exchange.clocks import NS_PER_MS, Clock
from workers.exchange.plain import Asked, Line, PlainPlay
from workers.exchange.questions import Questions

BOTH_UNABLE = "both engines unable to start"
"""How the evidence of a void begins that is likely to end the same way again."""
MAX_TOKEN_SHOWN = 80

_TERMINATIONS = {Reason.REPETITION: Termination.REPETITION, Reason.PLY_LIMIT: Termination.PLY_LIMIT}


class Forfeit(Exception):
    """A player loses by its own fault; ``evidence`` is one sentence."""

    def __init__(self, termination: Termination, evidence: str) -> None:
        super().__init__(evidence)
        self.termination = termination
        self.evidence = evidence


class Void(Exception):
    """The game cannot be played through no fault of a player; the text is the evidence."""


@dataclass(slots=True)
class Turn:
    """What a player is asked: the game so far, in the protocol's words too, and how long it may take.

    ``question`` is the ``position`` line and the ``go`` line. ``allowance_ns`` counts from asking to the
    answer's arrival, margin included; None is no flag. ``asked``: the question has been put already, and
    what came of it is no plain answer.
    """

    history: History
    question: bytes
    allowance_ns: int | None
    asked: Asked | None = None


@dataclass(slots=True)
class Choice:
    """A player's answer as given: ``token`` may be ``RESIGN``, illegal, or empty when there was none."""

    token: str
    used_ns: int
    note: MoveNote | None = None


class Player(Protocol):
    """One side of one game. All but ``finish`` raise ``Forfeit``, or ``Void`` when the fault is ours."""

    def prepare(self) -> None:
        """Be ready for a new game; nothing of this is on the clock."""

    def line(self) -> Line | None:
        """Where it can be asked directly now; None when it has to be asked by ``choose``."""

    def choose(self, turn: Turn) -> Choice:
        """The move for the side to move."""

    def finish(self, winner: Winner, reason: str) -> None:
        """The game is over, a courtesy; never raises."""


@dataclass(frozen=True, slots=True)
class Match:
    """What both players agreed on before the game. ``history`` is the game's start, nothing played yet.

    ``controls`` are White's and Black's. ``opening`` are given moves. Raises nothing here; an illegal
    one is told by ``play_game``. ``adjudicator`` is of this game alone; None lets it run to its end.
    """

    game: Game
    history: History
    controls: tuple[TimeControl, TimeControl]
    margin_ms: int
    opening: tuple[str, ...] = ()
    adjudicator: Adjudicator | None = None


@dataclass(frozen=True, slots=True)
class PlayedGame:
    """A game's end and its moves, given ones included. Scores are Dogon's seeds, else None."""

    moves: tuple[RecordMove, ...]
    result: Result
    termination: Termination
    fault: Fault
    reason: Reason = Reason.NONE
    evidence: str = ""
    white_score: int | None = None
    black_score: int | None = None


class Board:
    """The game as it goes."""

    def __init__(self, match: Match) -> None:
        self.match = match
        self.history = match.history
        self.adjudicator = match.adjudicator
        white, black = match.controls
        self.clocks = (Clock(white, match.margin_ms), Clock(black, match.margin_ms))
        """White's and Black's."""
        self._kept: list[tuple[str, MoveNote | None, bool]] = []
        self._questions = Questions(match.history, match.controls, self.clocks)
        self._plain: PlainPlay | None = None

    def is_over(self) -> bool:
        """By the rules of the game or the match rules."""
        return self.history.outcome.decided

    @property
    def moves(self) -> tuple[RecordMove, ...]:
        """Those played so far, made when they are asked for: while the game goes on nobody needs them."""
        return tuple([RecordMove(token, note, book) for token, note, book in self._kept])

    def play(self, token: str, note: MoveNote | None = None, book: bool = False) -> None:
        self.history.play(token)
        self._kept.append((token, note, book))
        self._questions.add(token)

    def play_plainly(self, players: tuple[Player, Player]) -> Asked | None:
        """Play on as long as both engines do all as they should; what was asked beyond that is returned."""
        if self._plain is None:
            white, black = (player.line() for player in players)
            if white is None or black is None or self.adjudicator is not None:
                return None
            self._plain = PlainPlay(self.history, self._questions, self.clocks, self._kept, (white, black))
        elif players[0].line() is None or players[1].line() is None:
            return None
        return self._plain.play()

    def ask(self, side: Side, player: Player, asked: Asked | None = None) -> Choice:
        """The answer of ``side``, its time taken off the clock; one that came too late is a forfeit."""
        clock = self.clocks[side]
        allowance_ns = clock.allowance_ns
        question = self._questions.ask(side) if asked is None else asked.question
        choice = player.choose(Turn(self.history, question, allowance_ns, asked))
        if allowance_ns is not None and choice.used_ns > allowance_ns:
            raise Forfeit(Termination.TIME, late_sentence(choice.used_ns, allowance_ns, self.match.margin_ms))
        clock.charge(choice.used_ns)
        return choice

    def close(self) -> None:
        if self._plain is not None:
            self._plain.close()


def play_game(
    match: Match, white: Player, black: Player, *, on_start: Callable[[Board], None] = lambda board: None
) -> PlayedGame:
    """Play ``match`` to its end. ``on_start`` is given the board, to look at while the game goes.

    Raises ``IllegalMove`` for an opening that cannot be played, and whatever ``on_start``
    or a player raises beside ``Forfeit`` and ``Void``.
    """
    players = (white, black)
    board = Board(match)
    for token in match.opening:
        board.play(token, book=True)
    on_start(board)
    try:
        ended = _play(board, players)
    except Void as void:
        ended = _void(board, str(void))
    finally:
        board.close()
    winner = _winner(match.game, ended.result)
    for player in players:
        player.finish(winner, ended.reason or ended.termination)
    return ended


def _play(board: Board, players: tuple[Player, Player]) -> PlayedGame:
    if board.is_over():
        return _by_the_board(board)
    if (unable := _prepare(board, players)) is not None:
        return unable
    history = board.history
    while True:
        asked = board.play_plainly(players)
        if history.outcome.decided:
            return _by_the_board(board)
        side = history.position.side
        try:
            choice = board.ask(side, players[side], asked)
            if choice.token == RESIGN:
                return _resigned(board, side)
            board.play(choice.token, choice.note)
        except IllegalMove as error:
            illegal = Forfeit(Termination.ILLEGAL_MOVE, explain_illegal(choice.token, error))
            return _forfeited(board, side, illegal)
        except Forfeit as forfeit:
            return _forfeited(board, side, forfeit)
        if board.adjudicator is not None and (result := _agreed(board, side, choice)) is not None:
            return PlayedGame(board.moves, result, Termination.ADJUDICATION, Fault.NONE)


def _prepare(board: Board, players: tuple[Player, Player]) -> PlayedGame | None:
    """Get both ready; the game's end if one cannot be, None if all is well."""
    faults: dict[Side, Forfeit] = {}
    for side in Side:
        try:
            players[side].prepare()
        except Forfeit as forfeit:
            faults[side] = forfeit
    if len(faults) == len(players):
        told = "; ".join(f"{side.name.lower()}: {faults[side].evidence}" for side in Side)
        raise Void(f"{BOTH_UNABLE}: {told}")
    for side, fault in faults.items():
        return _forfeited(board, side, fault)
    return None


def late_sentence(used_ns: int, allowance_ns: int, margin_ms: int) -> str:
    limit_ms = allowance_ns // NS_PER_MS - margin_ms
    used_ms = used_ns // NS_PER_MS
    return f"the answer came after {used_ms} ms, with {limit_ms} ms left and a margin of {margin_ms} ms"


def explain_illegal(token: str, error: IllegalMove) -> str:
    """What was wrong with an engine's move; ``error`` is the rules' own word on it."""
    if not token:
        return "the bestmove line named no move"
    if len(token) > MAX_TOKEN_SHOWN:
        return f"unreadable move {f'{token[:MAX_TOKEN_SHOWN]}…'!r} of {len(token)} characters"
    return str(error)


# Verdicts


def _agreed(board: Board, side: Side, choice: Choice) -> Result | None:
    """What both engines agree on after a move, if anything; what the rules say of a game goes before."""
    if board.adjudicator is None or board.is_over():
        return None
    return board.adjudicator.judge(side, choice.note, (len(board.history.moves) + 1) // 2)


def _by_the_board(board: Board) -> PlayedGame:
    outcome: Outcome = board.history.outcome
    termination = _TERMINATIONS.get(outcome.reason, Termination.RULES)
    return PlayedGame(
        board.moves,
        outcome.result,
        termination,
        Fault.NONE,
        reason=outcome.reason if termination is Termination.RULES else Reason.NONE,
        white_score=outcome.white_score,
        black_score=outcome.black_score,
    )


def _forfeited(board: Board, loser: Side, forfeit: Forfeit) -> PlayedGame:
    return PlayedGame(
        board.moves,
        Result.win_for(loser.other),
        forfeit.termination,
        Fault.of(loser),
        evidence=forfeit.evidence,
    )


def _resigned(board: Board, side: Side) -> PlayedGame:
    return PlayedGame(board.moves, Result.win_for(side.other), Termination.RESIGNATION, Fault.NONE)


def _void(board: Board, evidence: str) -> PlayedGame:
    return PlayedGame(
        board.moves, Result.UNDECIDED, Termination.VOID, Fault.INFRASTRUCTURE, evidence=evidence
    )


def _winner(game: Game, result: Result) -> Winner:
    if result is Result.win_for(game.first):
        return Winner.P1
    return Winner.P2 if result is Result.win_for(game.first.other) else Winner.DRAW
