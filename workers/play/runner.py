"""Plays the games of one job: two engines, several games between them, a report for each.

The engines' processes are kept from game to game and restarted after a fault. An error of the worker gives
a void report, never a lost game. Independent of Celery: reports and progress go to callbacks.
"""

from __future__ import annotations

import datetime
import logging
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from engines.bundles.store import fetch_bundle, read_manifest
from engines.records import Fault, Termination, clean_text
from engines.records.seeds import derive_seed
from engines.rules.base import Result, Side
from engines.rules.history import History
from engines.rules.registry import find_game
from engines.timecontrol import parse_time_control
from workers.engine.declared import Unsuited
from workers.engine.fair_clock import ClockMethod, find_clock_method, own_core
from workers.engine.launch import Launch, plan_launch
from workers.engine.players import UgiPlayer
from workers.game.adjudication import Adjudicator
from workers.game.fastpath.clock import NS_PER_MS
from workers.game.fastpath.kept import KeptMoves
from workers.game.referee import GameSetup, GameState, PlayedGame, Void, play_game
from workers.jobs import (
    UNTIMED_SECONDS,
    EngineSpec,
    GameJob,
    GameReport,
    JobError,
    JobGame,
    Progress,
    RestartMode,
    SideLog,
)
from workers.sandbox.policy import Policy, Refused
from workers.sandbox.sandbox import Sandbox

if TYPE_CHECKING:  # its HTTP client is a tenth of what a match loads
    from workers.bundles.bundle_site import BundleSite

PROGRESS_SECONDS = 2.0
"""The time between two messages of progress, unless somebody watches the game."""

log = logging.getLogger("workers.play.runner")


@dataclass(frozen=True, slots=True)
class WorkerContext:
    """The worker's name, its folder of bundles (``store``) and its folder of unpacked bundles (``cache``).

    ``policy`` chooses the sandbox; ``speed`` is a result of ``workers.play.environment.measure_speed``.
    Bundles that are not in the store are fetched from ``site``; None if the store has them all.
    ``on_introduced`` is called after each ``ugiok`` of an engine, with each option that does not suit it.
    """

    name: str
    store: Path
    cache: Path
    policy: Policy = field(default_factory=Policy)
    speed: str = ""
    site: BundleSite | None = None
    on_introduced: Callable[[EngineSpec, Sequence[Unsuited]], None] = lambda spec, unsuited: None

    @property
    def clock(self) -> ClockMethod:
        """How the clocks of this process's games run."""
        return find_clock_method(self.policy.sandbox, is_pinned=own_core() is not None)

    def sandbox_for(self, spec: EngineSpec) -> Sandbox | None:
        """The sandbox for an engine, None for no sandbox; raises ``Refused``."""
        return self.policy.sandbox_for(trusted=spec.trusted)

    def folder_of(self, spec: EngineSpec, on_wait: Callable[[], None] = lambda: None) -> Path | None:
        """The folder with an engine's files, its bundle unpacked; None for an engine without files.

        ``on_wait`` is called while the bundle is fetched from a site. Raises ``BundleError`` for a refused
        bundle, ``SiteAway`` if the site does not send it, and ``OSError`` if it is not available otherwise.
        """
        if spec.bundle is not None:
            if self.site is not None and not (self.cache / spec.bundle).is_dir():
                self.site.fetch(spec.bundle, self.store, on_wait)
            return fetch_bundle(spec.bundle, store=self.store, cache=self.cache)
        return None if spec.directory is None else Path(spec.directory)

    def plan(self, spec: EngineSpec, scratch: str | None = None) -> Launch:
        """Plan a start of an engine. A bundle is started by the command of its own manifest.

        ``scratch`` is its scratch folder of an earlier start, or None.
        Raises ``Refused`` if the policy does not run it, and the errors of ``folder_of``.
        """
        sandbox = self.sandbox_for(spec)
        folder = self.folder_of(spec)
        if spec.bundle is not None and folder is not None:
            spec = replace(spec, command=read_manifest(folder).command)
        return plan_launch(spec, folder, sandbox, scratch)


@dataclass(frozen=True, slots=True)
class Callbacks:
    """Callbacks of a job.

    ``is_stopping`` and ``is_stopped`` are called often. When the first one returns true, the game is aborted
    and no other begins; when the second one returns true for an attempt, only its game is not played. While
    ``is_watched`` returns true, there is progress soon after each move.
    """

    on_report: Callable[[GameReport], None]
    on_progress: Callable[[Progress], None]
    is_stopping: Callable[[], bool] = lambda: False
    is_stopped: Callable[[str], bool] = lambda attempt: False
    is_watched: Callable[[], bool] = lambda: False


class Stopped(Exception):
    """The worker, or the attempt, is stopped; the game is aborted."""


def refuse_job(job: GameJob, worker: WorkerContext, error: JobError) -> Iterator[GameReport]:
    """A void report for each game of a job that this worker does not play."""
    for game in job.games:
        played, now = void_game(f"the worker does not play this job: {error}"), _now()
        yield report_of(FinishedGame(game, played, now, now, SideLog, SideLog), worker)


class PooledEngine:
    """One engine of a job, for one ladder. The caller must ``close`` or ``kill`` its player.

    Its process starts with its first game and is kept from game to game and from job to job.
    """

    def __init__(self, spec: EngineSpec, ladder: str, worker: WorkerContext) -> None:
        self.spec = spec
        self.ladder = ladder
        self._worker = worker
        self.player = UgiPlayer(
            self._plan,
            variant=ladder,
            options=spec.options,
            ready_seconds=spec.startup_seconds,
            on_introduced=lambda unsuited: worker.on_introduced(spec, unsuited),
        )

    def log(self) -> Callable[[], SideLog]:
        """A function that formats the log of the game just played; the log is captured now."""
        stderr, conversation = self.player.take_stderr(), self.player.conversation
        return lambda: SideLog(stderr=stderr, lines=conversation.text())

    def _plan(self) -> Launch:
        try:
            return self._worker.plan(self.spec, self.player.scratch)
        except Refused as refused:
            raise Void(str(refused)) from None
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else error  # the evidence is public: no paths
            raise Void(f"the bundle of {self.spec.name} is not available: {why}") from error


class FinishedGame(NamedTuple):
    """A game that was played, or is void; times are UTC.

    ``white`` and ``black`` format the engines' logs.
    """

    game: JobGame
    played: PlayedGame
    started: datetime.datetime
    finished: datetime.datetime
    white: Callable[[], SideLog]
    black: Callable[[], SideLog]


@dataclass(slots=True)
class GameRunner:
    """Plays the games of one job with ``engines``, which are in the order of the job's engines."""

    job: GameJob
    engines: tuple[PooledEngine, PooledEngine]
    on_progress: Callable[[Progress], None] = lambda progress: None
    is_stopped: Callable[[str], bool] = lambda attempt: False
    """Whether to abort the game of this attempt."""
    is_watched: Callable[[], bool] = lambda: False
    _game: JobGame | None = field(default=None, init=False)
    _players: tuple[PooledEngine, PooledEngine] = field(init=False)
    """White's and Black's engine."""
    _state: GameState | None = field(default=None, init=False)
    _last_progress: float = field(default=-math.inf, init=False)
    _last_shown: tuple[int, bool] = field(default=(-1, False), init=False)
    """The plies then, and whether the clocks ran."""

    def play(self, game: JobGame) -> FinishedGame:
        """Play one game; raises only ``Stopped``. Kills an engine at fault, and both after a void."""
        self._game, self._state, self._last_progress, self._last_shown = game, None, -math.inf, (-1, False)
        white, black = self._players = self.engines[game.white], self.engines[1 - game.white]
        white.player.on_wait = black.player.on_wait = self._check_in
        started = _now()
        try:
            self._check_in()
            for engine in self.engines:
                if engine.spec.restart is RestartMode.ON:
                    engine.player.close(restarts=True)
            white.player.seed = black.player.seed = derive_seed(self.job.seed, game.key)
            played = play_game(self._setup(game), white.player, black.player, on_start=self._begin)
        except Stopped:
            raise
        except Exception as error:
            log.exception("game %s is void", game.key)
            kept = None if self._state is None else self._state.kept  # the moves so far
            played = void_game(f"{type(error).__name__}: {error}", kept)
        finished = FinishedGame(game, played, started, _now(), white.log(), black.log())
        _kill_faulty(played, white, black)
        return finished

    def _setup(self, game: JobGame) -> GameSetup:
        job = self.job
        rules = find_game(job.game)
        start = None if job.fen is None else rules.position.parse(job.fen)
        white, black = job.players(game)
        return GameSetup(
            rules,
            History(rules, start, job.ply_limit),
            (parse_time_control(job.control_of(white)), parse_time_control(job.control_of(black))),
            (job.margin_of(white), job.margin_of(black)),
            job.opening,
            Adjudicator(job.draw, job.resign) if job.draw or job.resign else None,
        )

    def _begin(self, state: GameState) -> None:
        self._state = state
        self._check_in()

    def _check_in(self) -> None:
        """Raise ``Stopped`` if the game must end; at intervals send progress."""
        assert self._game is not None
        if self.is_stopped(self._game.attempt):
            raise Stopped
        if self._state is None:
            return
        now, shown = time.monotonic(), (len(self._state.kept), self._state.is_begun)
        is_new = shown != self._last_shown and self.is_watched()
        if now < self._last_progress + PROGRESS_SECONDS and not is_new:
            return
        self._last_progress, self._last_shown = now, shown
        self.on_progress(
            Progress(
                key=self._game.key,
                attempt=self._game.attempt,
                from_ply=0,
                moves=_moves_with_comments(self._state.kept),
                white_ms=self._left_ms(self._state, Side.WHITE),
                black_ms=self._left_ms(self._state, Side.BLACK),
            )
        )

    def _left_ms(self, state: GameState, side: Side) -> int | None:
        """The time left to ``side``, as ``Progress`` has it."""
        left_ms = state.clocks[side].left_ms
        if not state.is_begun:
            return None
        if side is not state.history.position.side:
            return left_ms
        if left_ms is None:
            left_ms = state.setup.controls[side].move_ms or UNTIMED_SECONDS * 1000
        now_ns = time.monotonic_ns()
        asked_ns = self._players[side].player.asked_ns or now_ns
        return max(0, left_ms - (now_ns - asked_ns) // NS_PER_MS)


def _kill_faulty(played: PlayedGame, white: PooledEngine, black: PooledEngine) -> None:
    """Kill an engine at fault, and both after a void; the next game starts them again."""
    void = played.fault is Fault.INFRASTRUCTURE
    for side, engine in ((Side.WHITE, white), (Side.BLACK, black)):
        if void or played.fault is Fault.of(side):
            engine.player.kill()


def report_of(finished: FinishedGame, worker: WorkerContext) -> GameReport:
    """The report of a finished game."""
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
        moves=_moves_with_comments(played.kept),
        started=finished.started.isoformat(timespec="milliseconds"),
        finished=finished.finished.isoformat(timespec="milliseconds"),
        white=finished.white(),
        black=finished.black(),
        walls=worker.policy.sandbox_description,
        speed=worker.speed,
        clock=worker.clock.source,
    )


def void_game(evidence: str, kept: KeptMoves | None = None) -> PlayedGame:
    """A game that could not be played through a fault of the worker."""
    moves = KeptMoves() if kept is None else kept
    return PlayedGame(moves, Result.UNDECIDED, Termination.VOID, Fault.INFRASTRUCTURE, evidence=evidence)


def _moves_with_comments(kept: KeptMoves) -> tuple[tuple[str, str], ...]:
    return tuple(zip(kept.tokens, kept.comments(), strict=True))


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)
