"""The director: gives a match's games to slots, and their results to the record file and the ledger."""

from __future__ import annotations

import selectors
import signal
import socket
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from itertools import groupby
from types import FrameType

from engines.records import Fault, Termination
from workers.jobs import GameJob
from workers.match.book import Book
from workers.match.ledger import Ledger
from workers.match.options.options import MatchOptions
from workers.match.output.game_logs import GameLogs
from workers.match.output.recordfile import RecordFile
from workers.match.output.reports import MatchEnding, MatchReport
from workers.match.pace import GameDurations, MatchPace
from workers.match.plan import GAMES_A_PAIR, PlannedPair
from workers.match.slots.messages import Assignment, IntroducedEngine, SlotGame
from workers.match.slots.pool import SlotPool, SlotProcess
from workers.match.starts import EngineStarts

TICK_SECONDS = 0.5
BATCH_SECONDS = 0.25
"""The expected duration of a slot's batch; a batch has at least one pair."""
MOST_FAILED_STARTS = 10
"""An engine that fails so often in a row before its first move ends the match."""
ABORT_SECONDS = 3.0
"""Slots that have not aborted their games after this time are killed."""


class StopRequest:
    """The requests by signal to end the match: ``level`` 0 is none, 1 after the running games, 2 now."""

    def __init__(self) -> None:
        self.level = 0
        self._wake_up, self.signalled = socket.socketpair()
        self._wake_up.setblocking(False)
        self.signalled.setblocking(False)

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Handle SIGINT and SIGTERM: each one raises the level."""
        before = {
            number: signal.signal(number, self._on_signal) for number in (signal.SIGINT, signal.SIGTERM)
        }
        old = signal.set_wakeup_fd(self._wake_up.fileno(), warn_on_full_buffer=False)
        try:
            yield
        finally:
            signal.set_wakeup_fd(old)
            for number, handler in before.items():
                signal.signal(number, handler)
            self._wake_up.close()
            self.signalled.close()

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self.level += 1


class Director:
    """Plays one match, from its first game or from where an earlier run stopped."""

    def __init__(
        self,
        options: MatchOptions,
        ledger: Ledger,
        books: Mapping[str, Book],
        pool: SlotPool,
        file: RecordFile,
        report: MatchReport,
        game_logs: GameLogs,
        clock: str,
    ) -> None:
        """``clock`` is a sentence on how clocks run, for the report."""
        self._options = options
        self._ledger = ledger
        self._books = books
        self._pool = pool
        self._file = file
        self._report = report
        self._game_logs = game_logs
        self._clock = clock
        self._stop = StopRequest()
        self._applied_urgency = 0
        self._kill_at = float("inf")
        self._failure: MatchEnding | None = None
        """Why the match ends early through a fault of an engine."""
        self._aborts = False
        """Whether running games are aborted through it."""
        self._starts = EngineStarts(options.terms.entrants)
        self._jobs: dict[tuple[str, int, int], GameJob] = {}
        """By ladder and both engines; without games and a start."""
        self._pace = MatchPace(time.monotonic(), options.concurrency)
        self._durations = GameDurations()

    def run(self) -> MatchEnding:
        """Play the remaining games; all slots have ended when this returns."""
        self._report.started(self._ledger, self._pace)
        self._report.notice("clock", self._clock)
        with self._stop.listening():
            try:
                self._assign_games()
                while self._pool.busy:
                    self._wait()
                    self._apply_urgency()
                    self._assign_games()
                    self._report.tick()
            finally:
                self._pool.end()
        ending = self._ending()
        self._report.ended(ending)
        return ending

    def _ending(self) -> MatchEnding:
        if self._ledger.is_decided:
            return MatchEnding.DECIDED
        if self._failure is not None:
            return self._failure
        return MatchEnding.STOPPED if self._stop.level else MatchEnding.PLAYED

    @property
    def _urgency(self) -> int:
        """A level as in ``StopRequest``, also for a decided test and for a fault that ends the match."""
        return (
            2
            if self._ledger.is_decided or self._aborts
            else max(self._stop.level, int(self._failure is not None))
        )

    # Assigning games

    def _assign_games(self) -> None:
        while not self._urgency and (slot := self._pool.take()) is not None:
            pairs = self._next_pairs()
            if not pairs:
                self._pool.release(slot)
                return
            slot.give(pairs, list(map(self._assignment, pairs)))

    def _next_pairs(self) -> list[PlannedPair]:
        """The pairs of a slot's next batch, for ``BATCH_SECONDS``; at most half of its share of the rest."""
        pairs: list[PlannedPair] = []
        seconds = 0.0
        most = self._ledger.left // (2 * GAMES_A_PAIR * self._options.concurrency)
        while seconds < BATCH_SECONDS and len(pairs) < max(1, most):
            pair = self._ledger.next_pair()
            if pair is None:
                break
            pairs.append(pair)
            seconds += self._durations.expected(pair.ladder, (pair.first, pair.second)) * len(pair.games)
        return pairs

    def _assignment(self, pair: PlannedPair) -> Assignment:
        entrants, place = self._options.terms.entrants, (pair.ladder, pair.first, pair.second)
        if place not in self._jobs:
            self._jobs[place] = self._job_of(*place)
        start = self._books[pair.ladder].start(pair.opening)
        job = replace(self._jobs[place], games=pair.games, opening=start.moves, fen=start.fen)
        return Assignment(job, str(pair.round), (entrants[pair.first], entrants[pair.second]))

    def _job_of(self, ladder: str, first: int, second: int) -> GameJob:
        terms = self._options.terms
        return GameJob(
            job=str(uuid.uuid4()),
            game=ladder,
            engines=(terms.entrants[first].spec, terms.entrants[second].spec),
            games=(),
            time_control=terms.time_control,
            ply_limit=terms.ply_limit,
            seed=terms.seed,
            margin_ms=terms.margin_ms,
            draw=terms.draw,
            resign=terms.resign,
        )

    # Reading results

    def _wait(self) -> None:
        with selectors.PollSelector() as selector:  # created each time: that costs no system call
            selector.register(self._stop.signalled, selectors.EVENT_READ)
            for slot in self._pool.busy:
                selector.register(slot, selectors.EVENT_READ)
            for key, _ in selector.select(TICK_SECONDS):
                if isinstance(key.fileobj, SlotProcess):
                    self._read(key.fileobj)
                else:
                    self._stop.signalled.recv(64)

    def _read(self, slot: SlotProcess) -> None:
        news = slot.read()
        if news is None:
            self._lose(slot)
            return
        if isinstance(news, IntroducedEngine):
            self._welcome(news)
            return
        are_written = all(played.game.fault == Fault.NONE for played in news.games)
        if are_written:
            self._file.append(*(played.record for played in news.games))
        for played in news.games:
            self._add(slot, played, is_written=are_written)
        if news.is_over:
            self._give_back(slot, lost=False)
            self._pool.release(slot)

    def _add(self, slot: SlotProcess, played: SlotGame, *, is_written: bool) -> None:
        """Count a game; ``is_written``: it had no fault, and its record is in the file already."""
        pair, game = slot.games.popleft()
        result = played.game
        self._durations.add(pair.ladder, (pair.first, pair.second), played.ms / 1000)
        if failure := self._starts.explain_failure(played):
            self._ledger.give_back(pair, [game], lost=False)
            self._abort(MatchEnding.FAULT, failure)
            return
        self._pace.games += 1
        is_given_up = result.is_void and self._ledger.void(pair, game, played.evidence)
        if is_given_up or not (result.is_void or is_written):
            self._file.append(played.record)
        withdrawn = None if result.is_void else self._ledger.record(result)
        self._report.game(played)
        self._game_logs.write(played)
        if withdrawn is not None:
            self._report.notice("withdrawn", f"{withdrawn} is withdrawn after forfeits in a row")
        if result.culprit and self._ledger.failed_starts[result.culprit] >= MOST_FAILED_STARTS:
            why = f"{result.culprit} failed {MOST_FAILED_STARTS} times in a row before its first move"
            self._end_with(MatchEnding.FAULT, f"the match ends: {why}")
        if not self._options.recover and result.termination in (Termination.CRASH, Termination.STALL):
            why = f"{result.culprit} is at fault, and -recover is off"
            self._end_with(MatchEnding.FAULT, f"the match ends: {why}")

    def _end_with(self, ending: MatchEnding, sentence: str) -> None:
        """End the match through a fault; only the first one is reported."""
        if self._failure is None:
            self._failure = ending
            self._report.notice("fault", sentence)

    def _abort(self, ending: MatchEnding, sentence: str) -> None:
        """End the match through a fault, without finishing the running games."""
        self._aborts = True
        self._end_with(ending, sentence)

    def _welcome(self, engine: IntroducedEngine) -> None:
        """Warn of options that an engine does not take; a strict match ends."""
        for sentence in self._starts.add(engine):
            if self._options.strict:
                self._abort(MatchEnding.REFUSED, f"the match ends: -strict: {sentence}")
            else:
                self._report.notice("option", f"warning: {sentence}; it was set all the same")

    def _lose(self, slot: SlotProcess) -> None:
        """A slot has ended, unexpectedly or because the match stops it."""
        if slot.games and not self._applied_urgency:
            self._report.notice(
                "lost", f"a slot ended unexpectedly; game {slot.games[0][1].key} is played again"
            )
        self._give_back(slot, lost=not self._applied_urgency)
        self._pool.discard(slot)

    def _give_back(self, slot: SlotProcess, *, lost: bool) -> None:
        """Return a slot's unfinished games to the ledger; ``lost``: it ended while it played the first."""
        for pair, games in groupby(slot.games, lambda given: given[0]):
            self._ledger.give_back(pair, [game for _, game in games], lost=lost)
            lost = False
        slot.games.clear()

    # Stopping

    def _apply_urgency(self) -> None:
        """Tell the slots if the match must end sooner than before; kill slots that do not react in time."""
        urgency = self._urgency
        if urgency > self._applied_urgency:
            self._applied_urgency = urgency
            self._stop_slots(urgency)
        if time.monotonic() > self._kill_at:
            for slot in self._pool.busy:
                slot.kill()

    def _stop_slots(self, urgency: int) -> None:
        if urgency == 1:
            self._report.notice("stopping", "the running games are finished; interrupt again to abort them")
        elif not self._ledger.is_decided:
            self._report.notice("stopping", "the running games are aborted")
        for slot in self._pool.busy:
            if urgency == 1:
                slot.finish()
            else:
                slot.abort()
        if urgency > 1:
            self._kill_at = time.monotonic() + ABORT_SECONDS
