"""A slot of a match: a process that plays games one after the other, on one core.

It reads jobs from one pipe and writes the finished games to another. Slow games
are written at once, quick ones together. After SIGTERM it finishes the running game and ends; after
SIGUSR1 it aborts that game. It also ends at the end of its input. All its engines end with it.
"""

from __future__ import annotations

import os
import signal
import tempfile
import time
import traceback
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection
from typing import NoReturn

from engines.records import (
    MARGIN_HEADERS,
    MARGIN_MS,
    SIDE_CONTROLS,
    Fault,
    Record,
    RecordEvent,
    RecordOutcome,
    RecordPlayers,
    RecordSettings,
    build_headers,
    format_headers,
    format_moves,
    format_record,
)
from engines.records.seeds import seed_header
from workers.engine.child import REAPER, RUNNING
from workers.engine.declared import Unsuited
from workers.jobs import EngineSpec, GameJob
from workers.match.results import GameResult, line_of
from workers.match.slots.messages import NO_LOG, IntroducedEngine, SlotGame, SlotNews, SlotSetup
from workers.play.batch import EnginePool
from workers.play.environment import environment_headers
from workers.play.runner import FinishedGame, GameRunner, Stopped, WorkerContext
from workers.sandbox.policy import policy_for_level
from workers.strays import adopting_orphans, reap_orphans

HELD_SECONDS = 0.05
"""The longest time that a finished game is held back, to be written together with the next ones."""
PAUSE_STEP_SECONDS = 0.1
LONG_SECONDS = 1.0
"""The time after which the rest of a batch is returned: its games take longer than expected."""


class RecordWriter:
    """Writes records. ``environment`` are the headers for the sandbox and the clock of the slot."""

    def __init__(self, event: str, site: str, environment: tuple[tuple[str, str], ...] = ()) -> None:
        self._event = event
        self._site = site
        self._environment = environment
        self._checked: set[tuple[str, int]] = set()
        """The job and the index of White's engine."""

    def text(self, job: GameJob, finished: FinishedGame) -> str:
        """The record of a game.

        ``format_record`` checks the first ordinary game of a job. The next ones differ from it in their
        moves, which the rules have checked, and in headers with values of our own.
        """
        played = finished.played
        headers = self._headers(job, finished)
        colours = job.job, finished.game.white
        is_ordinary = played.fault is Fault.NONE and not played.evidence and job.fen is None
        if is_ordinary and colours in self._checked:
            moves = format_moves(played.kept.tokens, played.kept.comments(), played.result)
            return f"{format_headers(headers)}\n{moves}"
        if is_ordinary:
            self._checked.add(colours)
        return format_record(Record(headers, played.moves, played.result))

    def _headers(self, job: GameJob, finished: FinishedGame) -> tuple[tuple[str, str], ...]:
        game, played = finished.game, finished.played
        white, black = players = job.players(game)
        controls = [*map(job.control_of, players)]
        is_even = controls[0] == controls[1]
        odds = () if is_even else zip(SIDE_CONTROLS, controls, strict=True)
        margins = zip(MARGIN_HEADERS, map(job.margin_of, players), strict=True)
        return build_headers(
            len(played.kept),
            len(played.kept) - played.kept.count_chosen(),
            players=RecordPlayers(white.name, black.name, white.version, black.version),
            settings=RecordSettings(
                job.game, controls[0] if is_even else job.time_control, job.fen, job.ply_limit
            ),
            outcome=RecordOutcome(
                result=played.result,
                termination=played.termination,
                fault=played.fault,
                reason=played.reason,
                white_score=played.white_score,
                black_score=played.black_score,
                evidence=played.evidence,
            ),
            event=RecordEvent(
                event=self._event,
                site=self._site,
                date=f"{finished.started:%Y.%m.%d}",
                round_name=game.key.split("/")[1],
                game_id=game.key,
            ),
            more=(
                *odds,
                *((name, str(ms)) for name, ms in margins if ms != MARGIN_MS),  # to verify the times
                *self._environment,
                seed_header(job.seed, game.key),
            ),
        )


class SlotWorker:
    """Plays the jobs that arrive until it has to end."""

    def __init__(self, setup: SlotSetup, news: Connection) -> None:
        policy = policy_for_level(setup.sandbox_level, is_for_all=setup.options.sandbox)
        self._options = setup.options
        self._news = news
        name, store = f"slot/{os.getpid()}", setup.store
        worker = WorkerContext(name, store, store, policy, on_introduced=self._on_introduced)
        self._engines = EnginePool(worker)
        environment = environment_headers(policy.sandbox_description, "", worker.clock.source)
        self._records = RecordWriter(setup.options.event, setup.options.site, environment)
        self._introduced: set[IntroducedEngine] = set()
        self._is_finishing = False
        self._is_aborting = False

    def run(self, batches: Connection) -> None:
        signal.signal(signal.SIGTERM, self._stop)
        signal.signal(signal.SIGUSR1, self._stop)
        try:
            while not self._is_finishing:
                self._play(batches.recv())
        except (EOFError, Stopped):
            pass
        except BrokenPipeError:
            self._is_aborting = True
        finally:
            self._engines.clear(at_once=self._is_aborting)

    def _stop(self, number: int, *_: object) -> None:
        self._is_finishing = True
        self._is_aborting = self._is_aborting or number == signal.SIGUSR1

    def _pause(self) -> bool:
        """Wait before a game; returns whether to play it, because a request to finish ends the pause."""
        end = time.monotonic() + self._options.wait / 1000
        while not self._is_finishing and (rest := end - time.monotonic()) > 0:
            time.sleep(min(rest, PAUSE_STEP_SECONDS))
        return not self._is_finishing

    def _on_introduced(self, spec: EngineSpec, unsuited: Sequence[Unsuited]) -> None:
        """Report the first start of an engine on a ladder at once: its game may take long."""
        introduced = IntroducedEngine(spec.name, tuple(unsuited))
        if introduced in self._introduced:
            return
        self._introduced.add(introduced)
        try:
            self._news.send(introduced)
        except BrokenPipeError:  # the match has gone: this is not a fault of the game
            self._stop(signal.SIGUSR1)

    def _play(self, jobs: Sequence[GameJob]) -> None:
        """Play a batch. A fault is written at once and ends the batch: the match may withdraw the engine."""
        reap_orphans({*RUNNING, REAPER.pid or 0})
        begun = written = time.monotonic()
        held: list[tuple[GameJob, FinishedGame]] = []
        try:
            for job in jobs:
                is_faulty = False
                for finished in self._games(job):
                    held.append((job, finished))
                    is_faulty = is_faulty or finished.played.fault is not Fault.NONE
                    is_last = self._options.ends_match(finished.played.termination)
                    now = time.monotonic()
                    if is_faulty or now > written + HELD_SECONDS:
                        written = now
                        self._write(held, is_over=False)
                        held = []
                    if is_last:
                        break
                if is_faulty or time.monotonic() > begun + LONG_SECONDS:
                    break
        finally:
            self._write(held, is_over=True)

    def _write(self, held: Sequence[tuple[GameJob, FinishedGame]], *, is_over: bool) -> None:
        """Write records and results. Many together, because their code is then in the processor's cache."""
        self._news.send(SlotNews(tuple(self._message(*game) for game in held), is_over))

    def _games(self, job: GameJob) -> Iterator[FinishedGame]:
        engines = self._engines.take(job)
        runner = GameRunner(job, engines, is_stopped=lambda _: self._is_aborting)
        for game in job.games:
            if not self._pause():
                return
            finished = runner.play(game)
            # Held games with all their lines would be more than the processor's cache.
            finished.played.kept.comments()  # from here on without the output
            if self._options.log is None and finished.played.fault is Fault.NONE:
                finished = finished._replace(white=lambda: NO_LOG, black=lambda: NO_LOG)
            yield finished

    def _message(self, job: GameJob, finished: FinishedGame) -> SlotGame:
        played = finished.played
        white, black = job.players(finished.game)
        game = GameResult(
            key=finished.game.key,
            ladder=job.game,
            white=white.name,
            black=black.name,
            result=played.result,
            termination=played.termination,
            fault=played.fault,
            has_moves=played.kept.count_chosen() > 0,
            line=line_of(job.fen, played.kept.tokens),
        )
        record = self._records.text(job, finished)
        return SlotGame(game, record, played.evidence, finished.white(), finished.black())


def run_forked(setup: SlotSetup, scratch: str, batches: Connection, news: Connection) -> NoReturn:
    """Run a slot in a fork of the match, and end it. Its temporary files are below ``scratch``.

    It keeps none of the other descriptors of the match, and nothing of what the match does at its end.
    """
    status = 1
    try:
        os.setsid()  # Ctrl-C goes to the match only, which then stops its slots
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        REAPER.close()
        _close_all_but(batches.fileno(), news.fileno())
        os.environ["TMPDIR"], tempfile.tempdir = scratch, None
        run_slot(setup, batches, news)
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def _close_all_but(*kept: int) -> None:
    """Close all descriptors after those of standard input and output."""
    low = 3
    for descriptor in sorted(kept):
        os.closerange(low, descriptor)
        low = descriptor + 1
    os.closerange(low, os.sysconf("SC_OPEN_MAX"))


def run_slot(setup: SlotSetup, batches: Connection, news: Connection) -> None:
    """Play what arrives until the end of ``batches``, with the engines of this process."""
    if setup.core is not None:
        os.sched_setaffinity(0, {setup.core})
    with adopting_orphans():
        try:
            SlotWorker(setup, news).run(batches)
        finally:
            REAPER.close()
