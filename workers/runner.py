"""A job being played: two engines at a desk, some games between them, a report for each.

The engines' processes are kept from game to game and started anew after a fault.
Whatever goes wrong on our side is a void report, never a lost game. Knows no
queue: reports and progress go to functions.
"""

from __future__ import annotations

import datetime
import logging
import math
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from engines.records import BOOK, Fault, RecordMove, Termination, clean_text, format_note
from engines.rules.base import Result, Side
from engines.rules.history import History
from engines.rules.registry import find_game
from engines.timecontrol import TimeControl, parse_time_control
from workers.adjudication import Adjudicator
from workers.bundle_site import BundleSite
from workers.bundles import fetch_bundle
from workers.jobs import EngineSpec, GameJob, GameReport, JobError, JobGame, Progress, SideLog
from workers.launch import Launch, plan_launch
from workers.players import UgiPlayer
from workers.referee import Board, Match, PlayedGame, Void, play_game
from workers.sandbox.enclosure import Sandbox
from workers.sandbox.policy import Policy, Refused
from workers.seeds import derive_seed

PROGRESS_SECONDS = 2.0

log = logging.getLogger("workers.runner")


@dataclass(frozen=True, slots=True)
class Worker:
    """Who plays, and where it finds bundles (``store``) and keeps them unpacked (``cache``).

    ``policy`` says behind which walls, ``speed`` how fast it is, as ``workers.conditions`` has it. From
    ``site`` it fetches the bundles that its store has not, None: it has them all.
    """

    name: str
    store: Path
    cache: Path
    policy: Policy = field(default_factory=Policy)
    speed: str = ""
    site: BundleSite | None = None

    def walls_for(self, spec: EngineSpec) -> Sandbox | None:
        """The walls of an engine, None for none; raises ``Refused``."""
        return self.policy.walls_for(trusted=spec.trusted)

    def folder_of(self, spec: EngineSpec, on_wait: Callable[[], None] = lambda: None) -> Path | None:
        """Where an engine's files are on this machine, its bundle unpacked; None for one without files.

        ``on_wait`` is called while a site sends it. Raises ``BundleError`` for a bundle that is refused and
        ``OSError`` where it cannot be had, ``SiteAway`` if that is the site's doing.
        """
        if spec.bundle is not None:
            if self.site is not None and not (self.cache / spec.bundle).is_dir():
                self.site.fetch(spec.bundle, self.store, on_wait)
            return fetch_bundle(spec.bundle, store=self.store, cache=self.cache)
        return None if spec.directory is None else Path(spec.directory)


@dataclass(frozen=True, slots=True)
class Line:
    """To whoever gave the job out. ``is_stopping`` is asked often: once it says so the game is broken off."""

    on_report: Callable[[GameReport], None]
    on_progress: Callable[[Progress], None]
    is_stopping: Callable[[], bool] = lambda: False


class Stopped(Exception):
    """The worker was told to stop; the game is given back."""


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
        yield report_of(FinishedGame(game, played, now, now, SideLog, SideLog), worker)


class Seat:
    """One engine of a job, for one ladder. Whoever makes one must ``close`` or ``kill`` it.

    Its process starts with its first game and is kept from game to game, and from job to job.
    """

    def __init__(self, spec: EngineSpec, ladder: str, worker: Worker) -> None:
        self._spec = spec
        self._worker = worker
        self.on_wait: Callable[[], None] = lambda: None
        """Called now and then while the engine thinks; may raise to break the game off."""
        self.player = UgiPlayer(
            self._plan, variant=ladder, options=spec.options, on_wait=lambda: self.on_wait()
        )

    def log(self) -> Callable[[], SideLog]:
        """What was said in the game just played: kept by now, written out when it is called."""
        stderr, conversation = self.player.take_stderr(), self.player.conversation
        return lambda: SideLog(stderr=stderr, lines=conversation.text())

    def close(self) -> None:
        """End the engine, politely at first. It starts anew with its next game."""
        self.player.close()

    def kill(self) -> None:
        """End the engine at once. It starts anew with its next game."""
        self.player.kill()

    def _plan(self) -> Launch:
        spec = self._spec
        try:
            walls = self._worker.walls_for(spec)
        except Refused as refused:
            raise Void(str(refused)) from None
        try:
            folder = self._worker.folder_of(spec)
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else error  # no paths of ours in public
            raise Void(f"the bundle of {spec.name} cannot be had: {why}") from error
        return plan_launch(spec, folder, walls)


@dataclass(frozen=True, slots=True)
class FinishedGame:
    """A game that was played, or is void; times are UTC.

    ``white`` and ``black`` write out what was said.
    """

    game: JobGame
    played: PlayedGame
    started: datetime.datetime
    finished: datetime.datetime
    white: Callable[[], SideLog]
    black: Callable[[], SideLog]


@dataclass(slots=True)
class Desk:
    """A job being played: both seats, in the order of the job's engines, and the game that is under way."""

    job: GameJob
    seats: tuple[Seat, Seat]
    worker: Worker
    on_progress: Callable[[Progress], None] = lambda progress: None
    is_stopping: Callable[[], bool] = lambda: False
    _game: JobGame | None = field(default=None, init=False)
    _board: Board | None = field(default=None, init=False)
    _told: float = field(default=-math.inf, init=False)

    def play(self, game: JobGame) -> FinishedGame:
        """One game; raises ``Stopped`` and nothing else. An engine at fault is ended, both after a void."""
        self._game, self._board, self._told = game, None, -math.inf
        white, black = self.seats[game.white], self.seats[1 - game.white]
        white.on_wait = black.on_wait = self._look_up
        started = _now()
        try:
            self._look_up()
            played = self._played(game, white.player, black.player)
        except Stopped:
            raise
        except Exception as error:
            log.exception("game %s is void", game.key)
            played = self._broken(error)
        finished = FinishedGame(game, played, started, _now(), white.log(), black.log())
        _clear_up(played, white, black)
        return finished

    def _played(self, game: JobGame, white: UgiPlayer, black: UgiPlayer) -> PlayedGame:
        job = self.job
        rules = find_game(job.game)
        start = None if job.fen is None else rules.position.parse(job.fen)
        match = Match(
            rules,
            History(rules, start, job.ply_limit),
            self._controls(game),
            job.margin_ms,
            job.opening,
            Adjudicator(job.draw, job.resign) if job.draw or job.resign else None,
        )
        white.seed = black.seed = derive_seed(job.seed, game.key)
        return play_game(match, white, black, on_start=self._begin)

    def _controls(self, game: JobGame) -> tuple[TimeControl, TimeControl]:
        """White's and Black's."""
        one, two = (
            parse_time_control(spec.time_control or self.job.time_control) for spec in self.job.engines
        )
        return (two, one) if game.white else (one, two)

    def _broken(self, error: Exception) -> PlayedGame:
        """The void for an exception of ours; the moves so far are kept."""
        moves = self._board.moves if self._board is not None else ()
        return void_game(f"{type(error).__name__}: {error}", moves)

    def _begin(self, board: Board) -> None:
        self._board = board
        self._look_up()

    def _look_up(self) -> None:
        """See whether to stop, and say now and then how the game goes: that keeps its lease."""
        if self.is_stopping():
            raise Stopped
        now = time.monotonic()
        if self._board is None or now < self._told + PROGRESS_SECONDS:
            return
        self._told = now
        assert self._game is not None
        white, black = self._board.clocks
        self.on_progress(
            Progress(
                key=self._game.key,
                attempt=self._game.attempt,
                worker=self.worker.name,
                moves=_told_moves(self._board.moves),
                white_ms=white.left_ms,
                black_ms=black.left_ms,
            )
        )


def _clear_up(played: PlayedGame, white: Seat, black: Seat) -> None:
    """The next game starts anew whoever is ended here."""
    void = played.fault is Fault.INFRASTRUCTURE
    for side, seat in ((Side.WHITE, white), (Side.BLACK, black)):
        if void or played.fault is Fault.of(side):
            seat.kill()


def report_of(finished: FinishedGame, worker: Worker) -> GameReport:
    """A finished game as it travels to the site."""
    game, played = finished.game, finished.played
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
        started=finished.started.isoformat(timespec="milliseconds"),
        finished=finished.finished.isoformat(timespec="milliseconds"),
        white=finished.white(),
        black=finished.black(),
        walls=worker.policy.walls,
        speed=worker.speed,
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


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)
