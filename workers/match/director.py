"""The director: gives a match's games to slots, and what they hand back to the record file and the ledger."""

from __future__ import annotations

import selectors
import signal
import socket
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import groupby
from types import FrameType

from engines.records import Termination
from workers.jobs import GameJob, JobGame
from workers.match.book import Book
from workers.match.ledger import Ledger
from workers.match.options.options import MatchOptions
from workers.match.output.game_logs import GameLogs
from workers.match.output.recordfile import RecordFile
from workers.match.output.reports import MatchEnding, MatchReport
from workers.match.pace import MatchPace, Tempo
from workers.match.plan import GAMES_A_PAIR, PlannedPair
from workers.match.results import GameResult
from workers.match.slots.messages import Assignment, Batch, SlotGame
from workers.match.slots.pool import SlotPool, SlotProcess

TICK_SECONDS = 0.5
BATCH_SECONDS = 0.25
"""What a slot is given to play at a time lasts about so long, or is one pair."""
PATIENCE_SECONDS = 3.0
"""How long slots that were told to break off may take before they are ended."""


class StopRequest:
    """How urgently the match was asked to end: not, after the games under way (1), or now (2)."""

    def __init__(self) -> None:
        self.level = 0
        self._wake_up, self.signalled = socket.socketpair()
        self._wake_up.setblocking(False)
        self.signalled.setblocking(False)

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Take SIGINT and SIGTERM for requests; each one more is more urgent."""
        before = {number: signal.signal(number, self._ask) for number in (signal.SIGINT, signal.SIGTERM)}
        old = signal.set_wakeup_fd(self._wake_up.fileno(), warn_on_full_buffer=False)
        try:
            yield
        finally:
            signal.set_wakeup_fd(old)
            for number, handler in before.items():
                signal.signal(number, handler)
            self._wake_up.close()
            self.signalled.close()

    def _ask(self, number: int, frame: FrameType | None) -> None:
        self.level += 1


class Director:
    """One match, from its first game or where it was left to its end."""

    def __init__(
        self,
        options: MatchOptions,
        ledger: Ledger,
        books: Mapping[str, Book],
        pool: SlotPool,
        file: RecordFile,
        report: MatchReport,
        game_logs: GameLogs,
    ) -> None:
        self._options = options
        self._ledger = ledger
        self._books = books
        self._pool = pool
        self._file = file
        self._report = report
        self._game_logs = game_logs
        self._stop = StopRequest()
        self._obeyed = 0
        self._kill_at = float("inf")
        self._fault = False
        self._pace = MatchPace(time.monotonic(), options.concurrency)
        self._tempo = Tempo()

    def run(self) -> MatchEnding:
        """Play what is left; every slot has ended when this returns."""
        self._report.started(self._ledger, self._pace)
        with self._stop.listening():
            try:
                self._give_out()
                while self._pool.busy:
                    self._wait()
                    self._obey()
                    self._give_out()
                    self._report.tick()
            finally:
                self._pool.end()
        ending = self._ending()
        self._report.ended(ending)
        return ending

    def _ending(self) -> MatchEnding:
        if self._ledger.is_decided:
            return MatchEnding.DECIDED
        if self._fault:
            return MatchEnding.FAULT
        return MatchEnding.STOPPED if self._stop.level else MatchEnding.PLAYED

    @property
    def _urgency(self) -> int:
        """As of a ``StopRequest``: how soon the match is to end, whoever wants it."""
        return 2 if self._ledger.is_decided else max(self._stop.level, int(self._fault))

    # Giving out

    def _give_out(self) -> None:
        while not self._urgency and (slot := self._pool.take()) is not None:
            pairs = self._next_pairs()
            if not pairs:
                self._pool.release(slot)
                return
            slot.give(pairs, Batch(tuple(map(self._assignment, pairs))))

    def _next_pairs(self) -> list[PlannedPair]:
        """A slot's next games: as many quick ones as last a moment, while there is enough for every slot."""
        pairs: list[PlannedPair] = []
        seconds = 0.0
        most = self._ledger.left // (2 * GAMES_A_PAIR * self._options.concurrency)
        while seconds < BATCH_SECONDS and len(pairs) < max(1, most):
            pair = self._ledger.next_pair()
            if pair is None:
                break
            pairs.append(pair)
            seconds += self._tempo.expected(pair.ladder, (pair.first, pair.second)) * len(pair.games)
        return pairs

    def _assignment(self, pair: PlannedPair) -> Assignment:
        options, terms = self._options, self._options.terms
        one, two = terms.entrants[pair.first], terms.entrants[pair.second]
        start = self._books[pair.ladder].start(pair.opening)
        job = GameJob(
            job=str(uuid.uuid4()),
            game=pair.ladder,
            engines=(one.spec, two.spec),
            games=pair.games,
            time_control=terms.time_control,
            opening=start.moves,
            fen=start.fen,
            ply_limit=terms.ply_limit,
            seed=terms.seed,
            margin_ms=terms.margin_ms,
            draw=terms.draw,
            resign=terms.resign,
        )
        return Assignment(
            job=job,
            restart=(one.restart, two.restart),
            event=options.event,
            site=options.site,
            round=str(pair.round),
            keeps_lines=options.log is not None,
        )

    # Taking in

    def _wait(self) -> None:
        with selectors.PollSelector() as selector:  # made anew each time: it costs no call of the system
            selector.register(self._stop.signalled, selectors.EVENT_READ)
            for slot in self._pool.busy:
                selector.register(slot, selectors.EVENT_READ)
            for key, _ in selector.select(TICK_SECONDS):
                if isinstance(key.fileobj, SlotProcess):
                    self._hear(key.fileobj)
                else:
                    self._stop.signalled.recv(64)

    def _hear(self, slot: SlotProcess) -> None:
        news = slot.read()
        if news is None:
            self._lose(slot)
            return
        for told in news:
            for game in told.games:
                self._take(slot, game)
            if told.is_over:
                self._give_back(slot, lost=False)
                self._pool.release(slot)

    def _take(self, slot: SlotProcess, told: SlotGame) -> None:
        pair, game = slot.games.popleft()
        self._tempo.learn(pair.ladder, (pair.first, pair.second), told.ms / 1000)
        white, black = self._ledger.players(pair, game)
        result = GameResult(told.key, pair.ladder, white, black, told.result, told.termination, told.fault)
        self._pace.games += 1
        if result.is_void:
            self._take_void(pair, game, result, told)
            return
        self._file.append(told.record)
        withdrawn = self._ledger.record(result)
        self._tell(result, told)
        if withdrawn is not None:
            self._report.notice("withdrawn", f"{withdrawn} is withdrawn after forfeits in a row")
        if not self._options.recover and result.termination in (Termination.CRASH, Termination.STALL):
            self._fault = True
            self._report.notice("fault", f"the match ends: {result.culprit} is at fault, and -recover is off")

    def _take_void(self, pair: PlannedPair, game: JobGame, result: GameResult, told: SlotGame) -> None:
        if self._ledger.void(pair, game, told.evidence):
            self._file.append(told.record)
        self._tell(result, told)

    def _tell(self, result: GameResult, told: SlotGame) -> None:
        self._report.game(result, told)
        self._game_logs.keep(result, told)

    def _lose(self, slot: SlotProcess) -> None:
        """A slot has ended: by itself, which is not supposed to happen, or because it was told to."""
        if slot.games and not self._obeyed:
            self._report.notice("lost", f"a slot has ended, game {slot.games[0][1].key} is played again")
        self._give_back(slot, lost=not self._obeyed)
        self._pool.discard(slot)

    def _give_back(self, slot: SlotProcess, *, lost: bool) -> None:
        """The games a slot has not handed back; ``lost`` if it was playing the first of them."""
        for pair, games in groupby(slot.games, lambda given: given[0]):
            self._ledger.give_back(pair, [game for _, game in games], lost=lost)
            lost = False
        slot.games.clear()

    # Stopping

    def _obey(self) -> None:
        """Pass on to the slots what became more urgent; one that is deaf is ended."""
        urgency = self._urgency
        if urgency > self._obeyed:
            self._obeyed = urgency
            self._tell_slots(urgency)
        if time.monotonic() > self._kill_at:
            for slot in self._pool.busy:
                slot.kill()

    def _tell_slots(self, urgency: int) -> None:
        if urgency == 1:
            self._report.notice("stopping", "the games under way are finished; once more breaks them off")
        elif not self._ledger.is_decided:
            self._report.notice("stopping", "the games under way are broken off")
        for slot in self._pool.busy:
            if urgency == 1:
                slot.finish()
            else:
                slot.abort()
        if urgency > 1:
            self._kill_at = time.monotonic() + PATIENCE_SECONDS
