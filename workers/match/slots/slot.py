"""A slot of a match: a process that plays games one after the other, on one core.

It reads jobs from standard input and writes the finished games to standard output. Slow games
are written at once, quick ones together. After SIGTERM it finishes the running game and ends; after
SIGUSR1 it aborts that game. It also ends at the end of its input. All its engines end with it.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection

from engines.records import Fault
from workers.engine.child import REAPER, RUNNING
from workers.jobs import EngineSpec, GameJob, SideLog
from workers.match.results import GameResult, line_of
from workers.match.slots.messages import NO_LOG, IntroducedEngine, SlotGame, SlotNews, SlotSetup
from workers.match.slots.records import RecordWriter
from workers.play.environment import environment_headers
from workers.play.pool import EnginePool
from workers.play.runner import FinishedGame, GameRunner, Stopped, WorkerContext
from workers.sandbox.policy import policy_for_level
from workers.strays import adopting_orphans, reap_orphans

HELD_SECONDS = 0.05
"""The longest time that a finished game is held back, to be written together with the next ones."""
PAUSE_STEP_SECONDS = 0.1
LONG_SECONDS = 1.0
"""After this time the rest of a batch is returned: its games take longer than expected."""


class SlotWorker:
    """Plays the jobs that arrive until it has to end."""

    def __init__(self, setup: SlotSetup, news: Connection) -> None:
        policy = policy_for_level(setup.sandbox_level)
        self._setup = setup
        self._news = news
        self._worker = WorkerContext(f"slot/{os.getpid()}", setup.store, setup.store, policy)
        self._engines = EnginePool(self._worker, self._on_introduced)
        clock = self._worker.clock.source
        environment = environment_headers(policy.sandbox_description, "", clock)
        self._records = RecordWriter(setup.event, setup.site, environment)
        self._introduced: set[str] = set()
        self._is_finishing = False
        self._is_aborting = False

    def run(self, batches: Connection) -> None:
        signal.signal(signal.SIGTERM, self._finish)
        signal.signal(signal.SIGUSR1, self._abort)
        try:
            while not self._is_finishing:
                self._play(batches.recv())
        except (EOFError, Stopped):
            pass
        except BrokenPipeError:
            self._is_aborting = True
        finally:
            self._engines.clear(at_once=self._is_aborting)

    def _finish(self, *_: object) -> None:
        self._is_finishing = True

    def _abort(self, *_: object) -> None:
        self._is_finishing = self._is_aborting = True

    def _pause(self) -> bool:
        """Wait before a game; returns whether to play it, because a request to finish ends the pause."""
        end = time.monotonic() + self._setup.wait_ms / 1000
        while not self._is_finishing and (rest := end - time.monotonic()) > 0:
            time.sleep(min(rest, PAUSE_STEP_SECONDS))
        return not self._is_finishing

    def _on_introduced(self, spec: EngineSpec, unsuited: Sequence[str]) -> None:
        """Report the first start of an engine at once: its game may take long."""
        if spec.name in self._introduced:
            return
        self._introduced.add(spec.name)
        try:
            self._news.send(IntroducedEngine(spec.name, tuple(unsuited)))
        except BrokenPipeError:  # the match has gone: this is not a fault of the game
            self._abort()

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
                    now = time.monotonic()
                    if is_faulty or now > written + HELD_SECONDS:
                        written = now
                        self._write(held, is_over=False)
                        held = []
                if is_faulty or time.monotonic() > begun + LONG_SECONDS:
                    break
        finally:
            self._write(held, is_over=True)

    def _write(self, held: Sequence[tuple[GameJob, FinishedGame]], *, is_over: bool) -> None:
        """Write records and results. Many together, because their code is then in the processor's cache."""
        self._news.send(SlotNews(tuple(self._message(*game) for game in held), is_over))

    def _games(self, job: GameJob) -> Iterator[FinishedGame]:
        engines = self._engines.take(job)
        runner = GameRunner(job, engines, self._worker, is_stopped=lambda _: self._is_aborting)
        for game in job.games:
            if not self._pause():
                return
            finished = runner.play(game)
            # Held games with all their lines would be more than the processor's cache.
            finished.played.kept.comments()  # from here on without the output
            if not self._setup.keeps_lines and finished.played.fault is Fault.NONE:
                finished = finished._replace(white=_no_log, black=_no_log)
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


def _no_log() -> SideLog:
    return NO_LOG


def main() -> None:
    batches, news = Connection(0, writable=False), Connection(1, readable=False)
    setup = batches.recv()
    if setup.core is not None:
        os.sched_setaffinity(0, {setup.core})
    with adopting_orphans():
        try:
            SlotWorker(setup, news).run(batches)
        finally:
            REAPER.close()


if __name__ == "__main__":
    main()
