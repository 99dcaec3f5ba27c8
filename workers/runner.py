"""A job played: two engines, some games between them, a report for each.

The engines' processes are kept from game to game and started anew after a fault.
Whatever goes wrong on our side is a void report, never a lost game. Knows no
queue: reports and progress go to functions.
"""

from __future__ import annotations

import datetime
import logging
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from engines.records import BOOK, Fault, RecordMove, Termination, clean_text, format_note
from engines.rules.base import Result, Side
from engines.rules.history import History
from engines.rules.registry import find_game
from engines.timecontrol import parse_time_control
from workers.bundles import fetch_bundle
from workers.jobs import EngineSpec, GameJob, GameReport, JobError, JobGame, Progress, SideLog
from workers.launch import Launch, plan_launch
from workers.players import UgiPlayer, derive_seed
from workers.referee import Board, Match, PlayedGame, Void, play_game

PROGRESS_SECONDS = 2.0

log = logging.getLogger("workers.runner")


@dataclass(frozen=True, slots=True)
class Worker:
    """Who plays, and where it finds bundles (``store``) and keeps them unpacked (``cache``)."""

    name: str
    store: Path
    cache: Path


@dataclass(frozen=True, slots=True)
class Line:
    """To whoever gave the job out. ``is_stopping`` is asked often: once it says so the game is broken off."""

    on_report: Callable[[GameReport], None]
    on_progress: Callable[[Progress], None]
    is_stopping: Callable[[], bool] = lambda: False


class Stopped(Exception):
    """The worker was told to stop; the game is given back."""


def run_job(job: GameJob, worker: Worker, line: Line) -> tuple[JobGame, ...]:
    """Play the games of ``job`` in order; returns those not played because the worker was told to stop.

    Leaves no engine behind, whatever is raised.
    """
    desk = _Desk(job, worker, line)
    try:
        for number, game in enumerate(job.games):
            try:
                line.on_report(desk.play(game))
            except Stopped:
                return job.games[number:]
    finally:
        desk.close()
    return ()


def refuse_job(message: object, worker: Worker, error: JobError) -> Iterator[GameReport]:
    """A void for each game of a job that cannot be read, as far as its games can: a person will be told.

    Without them nobody would hear of it before ten leases had run out.
    """
    games = message.get("games") if isinstance(message, Mapping) else None
    for value in games if isinstance(games, list | tuple) else ():
        try:
            game = JobGame.from_json(value)
        except JobError:
            continue
        played, now = void_game(f"the worker cannot read its job: {error}"), _now()
        yield _report_of(game, played, worker, now, (SideLog(), SideLog()))


class _Seat:
    """One engine of a job; its player is made when it is first needed."""

    def __init__(self, spec: EngineSpec, variant: str, worker: Worker, on_wait: Callable[[], None]) -> None:
        self._spec = spec
        self._worker = worker
        self.player = UgiPlayer(self._plan, variant=variant, options=spec.options, on_wait=on_wait)

    def _plan(self) -> Launch:
        spec = self._spec
        if spec.bundle is None:
            return plan_launch(spec, None if spec.directory is None else Path(spec.directory))
        try:
            folder = fetch_bundle(spec.bundle, store=self._worker.store, cache=self._worker.cache)
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else error  # no paths of ours in public
            raise Void(f"the bundle of {spec.name} cannot be had: {why}") from error
        return plan_launch(spec, folder)

    def log(self) -> SideLog:
        return SideLog(stderr=self.player.take_stderr(), lines=self.player.take_lines())


@dataclass(slots=True)
class _Desk:
    """A job being played: both seats, and the game that is under way."""

    job: GameJob
    worker: Worker
    line: Line
    seats: tuple[_Seat, _Seat] = field(init=False)
    _game: JobGame | None = None
    _board: Board | None = None
    _told: float = 0.0

    def __post_init__(self) -> None:
        one, two = self.job.engines
        self.seats = (
            _Seat(one, self.job.game, self.worker, self._look_up),
            _Seat(two, self.job.game, self.worker, self._look_up),
        )

    def play(self, game: JobGame) -> GameReport:
        """One game; raises ``Stopped`` and nothing else."""
        self._game, self._board, self._told = game, None, 0.0
        white, black = self.seats[game.white], self.seats[1 - game.white]
        started = _now()
        try:
            self._look_up()
            played = self._played(game, white.player, black.player)
        except Stopped:
            raise
        except Exception as error:
            log.exception("game %s is void", game.key)
            played = self._broken(error)
        report = _report_of(game, played, self.worker, started, (white.log(), black.log()))
        self._clear_up(played, white.player, black.player)
        return report

    def close(self) -> None:
        end = UgiPlayer.kill if self.line.is_stopping() else UgiPlayer.close
        one, two = self.seats
        try:
            end(one.player)
        finally:
            end(two.player)

    def _played(self, game: JobGame, white: UgiPlayer, black: UgiPlayer) -> PlayedGame:
        job = self.job
        rules = find_game(job.game)
        start = None if job.fen is None else rules.position.parse(job.fen)
        match = Match(
            rules,
            History(rules, start, job.ply_limit),
            parse_time_control(job.time_control),
            job.margin_ms,
            job.opening,
        )
        white.seed = black.seed = derive_seed(job.seed, game.key)
        return play_game(match, white, black, on_move=self._moved)

    def _broken(self, error: Exception) -> PlayedGame:
        """The void for an exception of ours; the moves so far are kept."""
        moves = tuple(self._board.moves) if self._board is not None else ()
        return void_game(f"{type(error).__name__}: {error}", moves)

    def _clear_up(self, played: PlayedGame, white: UgiPlayer, black: UgiPlayer) -> None:
        """End the engine that is at fault, and both after a void: the next game starts them anew."""
        void = played.fault is Fault.INFRASTRUCTURE
        for side, player in ((Side.WHITE, white), (Side.BLACK, black)):
            if void or played.fault is Fault.of(side):
                player.kill()

    def _moved(self, board: Board) -> None:
        self._board = board
        self._look_up()

    def _look_up(self) -> None:
        """See whether to stop, and say now and then how the game goes: that keeps its lease."""
        if self.line.is_stopping():
            raise Stopped
        now = time.monotonic()
        if self._board is None or now < self._told + PROGRESS_SECONDS:
            return
        self._told = now
        assert self._game is not None
        white, black = self._board.clocks
        self.line.on_progress(
            Progress(
                key=self._game.key,
                attempt=self._game.attempt,
                worker=self.worker.name,
                moves=_told_moves(tuple(self._board.moves)),
                white_ms=white.left_ms,
                black_ms=black.left_ms,
            )
        )


def _report_of(
    game: JobGame, played: PlayedGame, worker: Worker, started: str, logs: tuple[SideLog, SideLog]
) -> GameReport:
    return GameReport(
        key=game.key,
        attempt=game.attempt,
        worker=worker.name,
        result=played.result,
        termination=played.termination,
        reason=played.reason,
        fault=played.fault,
        evidence=clean_text(played.evidence),
        white_score=played.white_score,
        black_score=played.black_score,
        moves=_told_moves(played.moves),
        started=started,
        finished=_now(),
        white=logs[0],
        black=logs[1],
    )


def void_game(evidence: str, moves: tuple[RecordMove, ...] = ()) -> PlayedGame:
    """A game that our own side could not play."""
    return PlayedGame(moves, Result.UNDECIDED, Termination.VOID, Fault.INFRASTRUCTURE, evidence=evidence)


def _told_moves(moves: tuple[RecordMove, ...]) -> tuple[tuple[str, str], ...]:
    return tuple((move.token, _comment(move)) for move in moves)


def _comment(move: RecordMove) -> str:
    if move.book:
        return BOOK
    return "" if move.note is None else format_note(move.note)


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")
