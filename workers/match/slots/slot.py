"""A slot of a match: a process that plays games one after the other, on one core.

It reads batches of games from standard input and writes the finished games to standard output. Slow games
are written at once, quick ones together. After SIGTERM it finishes the running game and ends; after
SIGUSR1 it aborts that game. It also ends at the end of its input. All its engines end with it.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from engines.records import Fault
from workers.engine.process import REAPER, RUNNING
from workers.jobs import EngineSpec, SideLog
from workers.match.results import line_of
from workers.match.slots.messages import (
    NO_LOG,
    Assignment,
    BatchReader,
    IntroducedEngine,
    MessageReader,
    SlotGame,
    SlotNews,
    SlotSetup,
    write_news,
)
from workers.match.slots.records import RecordWriter
from workers.play.environment import environment_headers
from workers.play.pool import EnginePool
from workers.play.runner import FinishedGame, GameRunner, Stopped, WorkerContext
from workers.sandbox.policy import policy_for_level
from workers.strays import adopting_orphans, reap_orphans

READ_BYTES = 64 * 1024
HELD_SECONDS = 0.05
"""The longest time that a finished game is held back, to be written together with the next ones."""
PAUSE_STEP_SECONDS = 0.1
LONG_SECONDS = 1.0
"""After this time the rest of a batch is returned: its games take longer than expected."""


class SlotWorker:
    """Plays the batches of its standard input until it has to end."""

    def __init__(self, setup: SlotSetup) -> None:
        policy = policy_for_level(setup.sandbox_level)
        self._worker = WorkerContext(f"slot/{os.getpid()}", Path(setup.store), Path(setup.cache), policy)
        self._engines = EnginePool(self._worker, self._on_introduced)
        clock = self._worker.clock.source
        self._records = RecordWriter(environment_headers(policy.sandbox_description, "", clock))
        self._introduced: set[str] = set()
        self._is_finishing = False
        self._is_aborting = False

    def run(self) -> None:
        signal.signal(signal.SIGTERM, self._finish)
        signal.signal(signal.SIGUSR1, self._abort)
        try:
            for batch in _read_batches():
                self._play(batch)
                if self._is_finishing:
                    break
        except Stopped:
            pass
        except BrokenPipeError:
            self._is_aborting = True
            _discard_output()
        finally:
            self._engines.clear(at_once=self._is_aborting)

    def _finish(self, *_: object) -> None:
        self._is_finishing = True

    def _abort(self, *_: object) -> None:
        self._is_finishing = self._is_aborting = True

    def _pause(self, seconds: float) -> bool:
        """Wait before a game; returns whether to play it, because a request to finish ends the pause."""
        end = time.monotonic() + seconds
        while not self._is_finishing and (rest := end - time.monotonic()) > 0:
            time.sleep(min(rest, PAUSE_STEP_SECONDS))
        return not self._is_finishing

    def _on_introduced(self, spec: EngineSpec, unsuited: Sequence[str]) -> None:
        """Report the first start of an engine at once: its game may take long."""
        if spec.name in self._introduced:
            return
        self._introduced.add(spec.name)
        try:
            _write([], is_over=False, introduced=(IntroducedEngine(spec.name, tuple(unsuited)),))
        except BrokenPipeError:  # the match has gone: this is not a fault of the game
            self._abort()
            _discard_output()

    def _play(self, batch: Sequence[Assignment]) -> None:
        """Play a batch. A fault is written at once and ends the batch: the match may withdraw the engine."""
        reap_orphans({*RUNNING, REAPER.pid or 0})
        begun = written = time.monotonic()
        held: list[_PlayedGame] = []
        try:
            for assignment in batch:
                is_faulty = False
                for game in self._games(assignment):
                    held.append(game)
                    is_faulty = is_faulty or game.finished.played.fault is not Fault.NONE
                    now = time.monotonic()
                    if is_faulty or now > written + HELD_SECONDS:
                        written = now
                        self._write_games(held, is_over=False)
                        held = []
                if is_faulty or time.monotonic() > begun + LONG_SECONDS:
                    break
        finally:
            self._write_games(held, is_over=True)

    def _write_games(self, held: Sequence[_PlayedGame], *, is_over: bool) -> None:
        """Write records and results. Many together, because their code is then in the processor's cache."""
        _write([game.message(self._records) for game in held], is_over=is_over)

    def _games(self, assignment: Assignment) -> Iterator[_PlayedGame]:
        job, terms = assignment.job, assignment.terms
        engines = self._engines.take(job, terms.restart, terms.ready_seconds)
        runner = GameRunner(
            job,
            engines,
            self._worker,
            is_stopped=lambda _: self._is_aborting,
            margins_ms=terms.margins_ms,
        )
        for game in job.games:
            if not self._pause(terms.wait_ms / 1000):
                return
            begun = time.monotonic()
            self._engines.begin_game()
            finished = runner.play(game)
            # Held games with all their lines would be more than the processor's cache.
            finished.played.kept.comments()  # from here on without the output
            if not _has_logs(assignment, finished):
                finished = replace(finished, white=SideLog, black=SideLog)
            yield _PlayedGame(assignment, finished, time.monotonic() - begun)


@dataclass(frozen=True, slots=True)
class _PlayedGame:
    """A finished game that was not written yet."""

    assignment: Assignment
    finished: FinishedGame
    seconds: float

    def message(self, records: RecordWriter) -> SlotGame:
        assignment, finished = self.assignment, self.finished
        played = finished.played
        has_logs = _has_logs(assignment, finished)
        return SlotGame(
            key=finished.game.key,
            record=records.text(assignment, finished),
            result=played.result,
            termination=played.termination,
            fault=played.fault,
            evidence=played.evidence,
            chosen=played.kept.count_chosen(),
            white=finished.white() if has_logs else NO_LOG,
            black=finished.black() if has_logs else NO_LOG,
            ms=round(self.seconds * 1000),
            line=line_of(assignment.fen, played.kept.tokens),
        )


def _has_logs(assignment: Assignment, finished: FinishedGame) -> bool:
    """Whether the match gets the lines and the standard error of the game's engines."""
    return assignment.terms.keeps_lines or finished.played.fault is not Fault.NONE


def _read_batches() -> Iterator[Sequence[Assignment]]:
    """The batches of standard input, until it ends."""
    messages, batches = MessageReader(), BatchReader()
    while chunk := os.read(sys.stdin.fileno(), READ_BYTES):
        for values in messages.read(chunk):
            yield tuple(batches.read(values))


def _write(
    games: Sequence[SlotGame], *, is_over: bool, introduced: tuple[IntroducedEngine, ...] = ()
) -> None:
    news = SlotNews(tuple(games), is_over, introduced)
    data = write_news(news)
    while data:
        data = data[os.write(sys.stdout.fileno(), data) :]


def _discard_output() -> None:
    """Send further output nowhere. The match has gone, and Python would report a broken pipe at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def main() -> None:
    setup = SlotSetup.from_json(json.loads(sys.argv[1]))
    if setup.core is not None:
        os.sched_setaffinity(0, {setup.core})
    with adopting_orphans():
        try:
            SlotWorker(setup).run()
        finally:
            REAPER.close()


if __name__ == "__main__":
    main()
