"""A slot: one process that plays a match's games one after the other, on a core of its own.

Reads batches of games on standard input and writes those that have ended on standard output: at once,
but quick ones together. SIGTERM: the game under way is finished and nothing after it; SIGUSR1: it is
broken off. The end of its input is its own, and no engine survives it.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from engines.records import SIDE_CONTROLS, Fault, build_record, format_record
from workers.game.seeds import seed_header
from workers.jobs import EngineSpec, GameJob, JobGame, SideLog
from workers.match.slots.messages import Assignment, Batch, SlotGame, SlotNews, SlotSetup
from workers.play.environment import condition_headers
from workers.play.pool import EnginePool
from workers.play.runner import FinishedGame, GameRunner, Stopped, WorkerContext
from workers.sandbox.policy import policy_for_level

NO_LOG = SideLog()
HELD_SECONDS = 0.05
"""How long a game may be kept back, to be told of together with the next ones."""
LONG_SECONDS = 1.0
"""After so long the rest of a batch is handed back: its games were not as quick as was thought."""


class SlotWorker:
    """The engines, and how the slot was told to end."""

    def __init__(self, setup: SlotSetup) -> None:
        policy = policy_for_level(setup.sandbox_level)
        self._worker = WorkerContext(f"slot/{os.getpid()}", Path(setup.store), Path(setup.cache), policy)
        self._engines = EnginePool(self._worker)
        self._is_finishing = False
        self._is_breaking_off = False

    def listen(self) -> None:
        signal.signal(signal.SIGTERM, self._finish)
        signal.signal(signal.SIGUSR1, self._break_off)
        try:
            for line in sys.stdin.buffer:
                self._play(Batch.from_json(json.loads(line)))
                if self._is_finishing:
                    break
        except Stopped:
            pass
        except BrokenPipeError:
            self._is_breaking_off = True
            _fall_silent()
        finally:
            self._engines.clear(at_once=self._is_breaking_off)

    def _finish(self, *_: object) -> None:
        self._is_finishing = True

    def _break_off(self, *_: object) -> None:
        self._is_finishing = self._is_breaking_off = True

    def _play(self, batch: Batch) -> None:
        """A fault is told at once and ends the batch: it may be the one that has an engine withdrawn."""
        begun = told = time.monotonic()
        held: list[SlotGame] = []
        try:
            for assignment in batch.assignments:
                is_faulty = False
                for game in self._games(assignment):
                    held.append(game)
                    is_faulty = is_faulty or game.fault != Fault.NONE
                    now = time.monotonic()
                    if is_faulty or now > told + HELD_SECONDS:
                        told = now
                        _tell(held, is_over=False)
                        held = []
                if is_faulty or time.monotonic() > begun + LONG_SECONDS:
                    break
        finally:
            _tell(held, is_over=True)

    def _games(self, assignment: Assignment) -> Iterator[SlotGame]:
        job = assignment.job
        engines = self._engines.take(job, assignment.restart)
        runner = GameRunner(job, engines, self._worker, is_stopping=lambda: self._is_breaking_off)
        for game in job.games:
            if self._is_finishing:
                return
            begun = time.monotonic()
            self._engines.begin_game()
            finished = runner.play(game)
            yield _told(
                assignment, finished, self._worker.policy.sandbox_description, time.monotonic() - begun
            )


def _told(assignment: Assignment, finished: FinishedGame, walls: str, seconds: float) -> SlotGame:
    played = finished.played
    tells_all = assignment.keeps_lines or played.fault is not Fault.NONE
    return SlotGame(
        key=finished.game.key,
        record=_record_text(assignment, finished, walls),
        result=played.result,
        termination=played.termination,
        fault=played.fault,
        evidence=played.evidence,
        white=finished.white() if tells_all else NO_LOG,
        black=finished.black() if tells_all else NO_LOG,
        ms=round(seconds * 1000),
    )


def _record_text(assignment: Assignment, finished: FinishedGame, walls: str) -> str:
    job, played = assignment.job, finished.played
    white, black = _sides(job, finished.game)
    controls = [spec.time_control or job.time_control for spec in (white, black)]
    is_even = controls[0] == controls[1]
    odds = () if is_even else zip(SIDE_CONTROLS, controls, strict=True)
    record = build_record(
        game=job.game,
        white=white.name,
        black=black.name,
        moves=played.moves,
        result=played.result,
        termination=played.termination,
        fault=played.fault,
        time_control=controls[0] if is_even else job.time_control,
        reason=played.reason,
        white_version=white.version,
        black_version=black.version,
        game_id=finished.game.key,
        event=assignment.event,
        site=assignment.site,
        date=f"{finished.started:%Y.%m.%d}",
        round_name=assignment.round,
        fen=job.fen,
        ply_limit=job.ply_limit,
        white_score=played.white_score,
        black_score=played.black_score,
        evidence=played.evidence,
        more=(*odds, *condition_headers(walls, ""), seed_header(job.seed, finished.game.key)),
    )
    return format_record(record)


def _sides(job: GameJob, game: JobGame) -> tuple[EngineSpec, EngineSpec]:
    one, two = job.engines
    return (two, one) if game.white else (one, two)


def _tell(games: list[SlotGame], *, is_over: bool) -> None:
    news = SlotNews(tuple(games), is_over)
    sys.stdout.write(json.dumps(news.to_json(), ensure_ascii=False) + "\n")
    sys.stdout.flush()


def _fall_silent() -> None:
    """The match has vanished: to go on speaking to it would end in a complaint."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def main() -> None:
    setup = SlotSetup.from_json(json.loads(sys.argv[1]))
    if setup.core is not None:
        os.sched_setaffinity(0, {setup.core})
    sys.stdout.reconfigure(encoding="utf-8", errors="surrogatepass")  # type: ignore[union-attr]
    SlotWorker(setup).listen()


if __name__ == "__main__":
    main()
