"""Players without a process, which answer from a script with given times and faults."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from engines.protocol import Go, SetPosition, Winner, parse_server_line
from engines.records import (
    MoveNote,
    Record,
    RecordEvent,
    RecordOutcome,
    RecordPlayers,
    RecordSettings,
    build_record,
)
from engines.rules import find_game
from engines.rules.history import History
from engines.timecontrol import parse_time_control
from workers.game.adjudication import Adjudicator
from workers.game.referee import EngineMove, GameSetup, MoveRequest, PlayedGame

Step = str | EngineMove | Exception
"""A move answered at once, a whole answer, or what ``choose`` raises."""


@dataclass
class ScriptedPlayer:
    """Answers with its steps in turn and remembers what it was asked and told."""

    steps: Iterable[Step] = ()
    unable: Exception | None = None
    """What ``prepare`` raises."""
    turns: list[MoveRequest] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    prepared: int = 0

    def __post_init__(self) -> None:
        self._steps: Iterator[Step] = iter(self.steps)

    def prepare(self) -> None:
        self.prepared += 1
        if self.unable is not None:
            raise self.unable

    def fast_channel(self) -> None:
        """There is no process."""

    def choose(self, turn: MoveRequest) -> EngineMove:
        self.turns.append(turn)
        step = next(self._steps)
        if isinstance(step, Exception):
            raise step
        return EngineMove(step, 0) if isinstance(step, str) else step

    def finish(self, winner: Winner, reason: str) -> None:
        self.told.append(f"{winner} {reason}")


class FirstMovePlayer(ScriptedPlayer):
    """Plays the first legal move it finds, whatever happens."""

    def choose(self, turn: MoveRequest) -> EngineMove:
        return EngineMove(next(turn.history.position.legal_moves()), 0)


def answer(token: str, ms: float = 0, note: MoveNote | None = None) -> EngineMove:
    return EngineMove(token, int(ms * 1_000_000), note)


def search(turn: MoveRequest) -> Go:
    """What the question of ``turn`` asks for."""
    position, go, end = turn.question.decode().split("\n")
    message = parse_server_line(go)
    assert isinstance(parse_server_line(position), SetPosition)
    assert isinstance(message, Go)
    assert end == ""
    return message


def setup_of(
    code: str = "dogon-kulei",
    *,
    fen: str | None = None,
    opening: str = "",
    control: str = "10+0",
    black_control: str | None = None,
    ply_limit: int | None = None,
    margin_ms: int = 50,
    adjudicator: Adjudicator | None = None,
) -> GameSetup:
    game = find_game(code)
    start = None if fen is None else game.position.parse(fen)
    controls = (parse_time_control(control), parse_time_control(black_control or control))
    history = History(game, start, ply_limit)
    return GameSetup(game, history, controls, (margin_ms, margin_ms), tuple(opening.split()), adjudicator)


def record_of_played(
    played: PlayedGame,
    code: str = "dogon-kulei",
    *,
    fen: str | None = None,
    control: str = "10+0",
    ply_limit: int | None = None,
) -> Record:
    """The record that the site would make of it."""
    return build_record(
        played.moves,
        players=RecordPlayers("A", "B"),
        settings=RecordSettings(code, control, fen, ply_limit),
        outcome=RecordOutcome(
            played.result,
            played.termination,
            played.fault,
            played.reason,
            played.white_score,
            played.black_score,
            played.evidence,
        ),
        event=RecordEvent(date="2026.11.21"),
    )
