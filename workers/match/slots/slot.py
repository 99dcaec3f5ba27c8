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
from pathlib import Path

from engines.records import (
    MARGIN_HEADERS,
    MARGIN_MS,
    SIDE_CONTROLS,
    Fault,
    RecordEvent,
    RecordOutcome,
    RecordPlayers,
    RecordSettings,
    build_record,
    format_record,
)
from workers.engine.process import REAPER, RUNNING
from workers.game.seeds import seed_header
from workers.jobs import EngineSpec, GameJob, JobGame, SideLog
from workers.match.slots.messages import Assignment, Batch, IntroducedEngine, SlotGame, SlotNews, SlotSetup
from workers.play.environment import environment_headers
from workers.play.pool import EnginePool
from workers.play.runner import FinishedGame, GameRunner, Stopped, WorkerContext
from workers.sandbox.policy import policy_for_level
from workers.strays import adopting_orphans, reap_orphans

NO_LOG = SideLog()
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
        self._introduced: set[str] = set()
        self._is_finishing = False
        self._is_aborting = False

    def run(self) -> None:
        signal.signal(signal.SIGTERM, self._finish)
        signal.signal(signal.SIGUSR1, self._abort)
        try:
            for line in sys.stdin.buffer:
                self._play(Batch.from_json(json.loads(line)))
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

    def _play(self, batch: Batch) -> None:
        """Play a batch. A fault is written at once and ends the batch: the match may withdraw the engine."""
        reap_orphans({*RUNNING, REAPER.pid or 0})
        begun = written = time.monotonic()
        held: list[SlotGame] = []
        try:
            for assignment in batch.assignments:
                is_faulty = False
                for game in self._games(assignment):
                    held.append(game)
                    is_faulty = is_faulty or game.fault != Fault.NONE
                    now = time.monotonic()
                    if is_faulty or now > written + HELD_SECONDS:
                        written = now
                        _write(held, is_over=False)
                        held = []
                if is_faulty or time.monotonic() > begun + LONG_SECONDS:
                    break
        finally:
            _write(held, is_over=True)

    def _games(self, assignment: Assignment) -> Iterator[SlotGame]:
        job = assignment.job
        engines = self._engines.take(job, assignment.restart, assignment.ready_seconds)
        runner = GameRunner(
            job,
            engines,
            self._worker,
            is_stopping=lambda: self._is_aborting,
            margins_ms=assignment.margins_ms,
        )
        for game in job.games:
            if not self._pause(assignment.wait_ms / 1000):
                return
            begun = time.monotonic()
            self._engines.begin_game()
            finished = runner.play(game)
            description, seconds = self._worker.policy.sandbox_description, time.monotonic() - begun
            yield _slot_game(assignment, finished, description, seconds)


def _slot_game(assignment: Assignment, finished: FinishedGame, sandbox: str, seconds: float) -> SlotGame:
    played = finished.played
    has_logs = assignment.keeps_lines or played.fault is not Fault.NONE
    return SlotGame(
        key=finished.game.key,
        record=_record_text(assignment, finished, sandbox),
        result=played.result,
        termination=played.termination,
        fault=played.fault,
        evidence=played.evidence,
        chosen=sum(not move.book for move in played.moves),
        white=finished.white() if has_logs else NO_LOG,
        black=finished.black() if has_logs else NO_LOG,
        ms=round(seconds * 1000),
    )


def _record_text(assignment: Assignment, finished: FinishedGame, sandbox: str) -> str:
    job, played = assignment.job, finished.played
    white, black = _sides(job, finished.game)
    controls = [spec.time_control or job.time_control for spec in (white, black)]
    is_even = controls[0] == controls[1]
    odds = () if is_even else zip(SIDE_CONTROLS, controls, strict=True)
    record = build_record(
        played.moves,
        players=RecordPlayers(white.name, black.name, white.version, black.version),
        settings=RecordSettings(
            game=job.game,
            time_control=controls[0] if is_even else job.time_control,
            fen=job.fen,
            ply_limit=job.ply_limit,
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
            event=assignment.event,
            site=assignment.site,
            date=f"{finished.started:%Y.%m.%d}",
            round_name=assignment.round,
            game_id=finished.game.key,
        ),
        more=(
            *odds,
            *_margins(assignment, finished.game),
            *environment_headers(sandbox, ""),
            seed_header(job.seed, finished.game.key),
        ),
    )
    return format_record(record)


def _margins(assignment: Assignment, game: JobGame) -> Iterator[tuple[str, str]]:
    """Headers for margins other than the usual one, so that the times can be verified."""
    one, two = assignment.margins_ms
    for name, margin_ms in zip(MARGIN_HEADERS, (two, one) if game.white else (one, two), strict=True):
        if margin_ms != MARGIN_MS:
            yield name, str(margin_ms)


def _sides(job: GameJob, game: JobGame) -> tuple[EngineSpec, EngineSpec]:
    one, two = job.engines
    return (two, one) if game.white else (one, two)


def _write(games: list[SlotGame], *, is_over: bool, introduced: tuple[IntroducedEngine, ...] = ()) -> None:
    news = SlotNews(tuple(games), is_over, introduced)
    sys.stdout.write(json.dumps(news.to_json(), ensure_ascii=False) + "\n")
    sys.stdout.flush()


def _discard_output() -> None:
    """Send further output nowhere. The match has gone, and Python would report a broken pipe at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def main() -> None:
    setup = SlotSetup.from_json(json.loads(sys.argv[1]))
    if setup.core is not None:
        os.sched_setaffinity(0, {setup.core})
    sys.stdout.reconfigure(encoding="utf-8", errors="surrogatepass")  # type: ignore[union-attr]
    with adopting_orphans():
        try:
            SlotWorker(setup).run()
        finally:
            REAPER.close()


if __name__ == "__main__":
    main()
