"""The director: gives a match's games to slots, and their results to the record file and the ledger."""

from __future__ import annotations

import selectors
import shlex
import signal
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from types import FrameType

from engines.pairing.meetings import GAMES_A_PAIR
from engines.protocol import VARIANT_OPTION
from engines.records import Fault
from workers.engine.declared import Unsuited
from workers.jobs import BOTH_UNABLE, EngineSpec, GameJob
from workers.match.book import Book
from workers.match.game_logs import GameLogs, evidence_lines
from workers.match.ledger import Ledger
from workers.match.options.options import MatchOptions
from workers.match.plan import PlannedPair
from workers.match.recordfile import RecordFile
from workers.match.reports import MatchEnding, MatchReport
from workers.match.slots.messages import IntroducedEngine, SlotGame
from workers.match.slots.pool import SlotPool, SlotProcess

TICK_SECONDS = 0.2
"""The longest time until a signal is noticed."""
MAX_FAILED_STARTS = 10
"""An engine that fails so often in a row before its first move ends the match."""
ABORT_SECONDS = 3.0
"""Slots that have not aborted their games after this time are killed."""


@dataclass(slots=True)
class EngineStarts:
    """The starts of a match's engines, as far as slots have reported them."""

    _introduced: set[str] = field(default_factory=set)
    _known: set[tuple[str, Unsuited]] = field(default_factory=set)

    def add(self, engine: IntroducedEngine) -> list[Unsuited]:
        """Note that an engine can be started; returns each option that it does not take, if that is new."""
        self._introduced.add(engine.name)
        new = [each for each in engine.unsuited if (engine.name, each) not in self._known]
        self._known.update((engine.name, each) for each in new)
        return new

    def explain_failure(self, played: SlotGame, engines: Sequence[EngineSpec]) -> str:
        """A report on the engines that cannot be started: their commands, the exit code, standard error.

        Empty unless a game could not begin because of engines that never answered ``ugiok`` in this run.
        """
        result = played.game
        if result.is_void and played.evidence.startswith(BOTH_UNABLE):
            failed = [result.white, result.black]
        else:
            failed = [result.culprit] if result.culprit is not None and result.is_failed_start else []
        if not failed or self._introduced & set(failed):
            return ""
        commands = [_command_line(one) for one in engines if one.name in failed]
        reason = f"the match ends: {' and '.join(failed)} never answered ugiok"
        return "\n".join((reason, *commands, *evidence_lines(played)))


def _command_line(spec: EngineSpec) -> str:
    where = f" (in {spec.directory})" if spec.directory else ""
    return f"  the command of {spec.name}: {shlex.join(spec.command)}{where}"


@dataclass(slots=True)
class Director:
    """Plays one match, from its first game or from where an earlier run stopped.

    ``clock`` is a sentence on how clocks run, for the report.
    """

    options: MatchOptions
    ledger: Ledger
    books: Mapping[str, Book]
    pool: SlotPool
    file: RecordFile
    report: MatchReport
    game_logs: GameLogs
    clock: str
    _starts: EngineStarts = field(default_factory=EngineStarts, init=False)
    _jobs: dict[tuple[str, str, str], GameJob] = field(default_factory=dict, init=False)
    """The jobs by ladder and both engines; without games and a start."""
    _signals: int = field(default=0, init=False)
    """Each signal to end the match raises the urgency."""
    _failure: MatchEnding | None = field(default=None, init=False)
    """Why the match ends early through a fault of an engine."""
    _fault_urgency: int = field(default=0, init=False)
    _applied_urgency: int = field(default=0, init=False)
    _kill_at: float = field(default=float("inf"), init=False)

    def run(self) -> MatchEnding:
        """Play the remaining games; all slots have ended when this returns."""
        self.report.started()
        self.report.notice("clock", self.clock)
        numbers = (signal.SIGINT, signal.SIGTERM)
        handlers = [signal.signal(number, self._on_signal) for number in numbers]
        try:
            self._assign_games()
            while self.pool.busy:
                self._wait()
                self._apply_urgency()
                self._assign_games()
                self.report.tick()
        finally:
            self.pool.end()
            for number, handler in zip(numbers, handlers, strict=True):
                signal.signal(number, handler)
        ending = self._failure or (MatchEnding.STOPPED if self._signals else MatchEnding.PLAYED)
        if self.ledger.is_decided:
            ending = MatchEnding.DECIDED
        self.report.ended(ending)
        return ending

    # Assigning games

    def _assign_games(self) -> None:
        while not self._urgency and (slot := self.pool.find_idle()) is not None:
            pairs = self._next_pairs(slot.next_pairs)
            if not pairs:
                return
            slot.give(pairs, list(map(self._job_of, pairs)))

    def _next_pairs(self, number: int) -> list[PlannedPair]:
        """A slot's next batch: so many pairs, but at most half of its share of the rest."""
        share = self.ledger.left // (2 * GAMES_A_PAIR * self.options.concurrency)
        pairs: list[PlannedPair] = []
        while len(pairs) < max(1, min(number, share)) and (pair := self.ledger.next_pair()) is not None:
            pairs.append(pair)
        return pairs

    def _job_of(self, pair: PlannedPair) -> GameJob:
        engines = (pair.ladder, pair.first, pair.second)
        if engines not in self._jobs:
            self._jobs[engines] = self._new_job(*engines)
        start = self.books[pair.ladder].start(pair.opening)
        return replace(self._jobs[engines], games=pair.games, opening=start.moves, fen=start.fen)

    def _new_job(self, ladder: str, first: str, second: str) -> GameJob:
        terms = self.options.terms
        specs = {spec.name: spec for spec in terms.entrants}
        return GameJob(
            job=str(uuid.uuid4()),
            game=ladder,
            engines=(specs[first], specs[second]),
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
            for slot in self.pool.busy:
                selector.register(slot, selectors.EVENT_READ, slot)
            for key, _ in selector.select(TICK_SECONDS):
                self._read(key.data)

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
            self.file.append(*(played.record for played in news.games))
        for played in news.games:
            self._add(slot, played, is_written=are_written)
        if news.is_over:
            self._take_back(slot, lost=False)

    def _add(self, slot: SlotProcess, played: SlotGame, *, is_written: bool) -> None:
        """Count a game; ``is_written``: it had no fault, and its record is in the file already."""
        pair, game = slot.games.popleft()
        result = played.game
        if failure := self._starts.explain_failure(played, self.options.terms.entrants):
            self.ledger.give_back(pair, [game], lost=False)
            self._fail(MatchEnding.FAULT, failure, urgency=2)
            return
        is_given_up = result.is_void and self.ledger.void(pair, game, played.evidence)
        if is_given_up or not (result.is_void or is_written):
            self.file.append(played.record)
        withdrawn = None if result.is_void else self.ledger.record(result)
        self.report.game(played)
        self.game_logs.write(played)
        if withdrawn is not None:
            self.report.notice("withdrawn", f"{withdrawn} is withdrawn after forfeits in a row")
        if result.culprit and self.ledger.failed_starts[result.culprit] >= MAX_FAILED_STARTS:
            why = f"{result.culprit} failed {MAX_FAILED_STARTS} times in a row before its first move"
            self._fail(MatchEnding.FAULT, f"the match ends: {why}")
        if self.options.ends_match(result.termination):
            why = f"{result.culprit} is at fault, and -recover is off"
            self._fail(MatchEnding.FAULT, f"the match ends: {why}")

    def _welcome(self, engine: IntroducedEngine) -> None:
        """Warn of options that an engine does not take; a strict match ends, and one of a ladder it lacks."""
        for option, why in self._starts.add(engine):
            is_ladder = option == VARIANT_OPTION
            if is_ladder or self.options.strict:
                cause = "" if is_ladder else "-strict: "
                self._fail(MatchEnding.REFUSED, f"the match ends: {cause}{engine.name}: {why}", urgency=2)
            else:
                self.report.notice("option", f"warning: {engine.name}: {why}; it was set all the same")

    def _lose(self, slot: SlotProcess) -> None:
        """A slot has ended, unexpectedly or because the match stops it."""
        is_unexpected = not self._applied_urgency
        if slot.games and is_unexpected:
            again = f"game {slot.games[0][1].key} is played again"
            self.report.notice("lost", f"a slot ended unexpectedly; {again}")
        self._take_back(slot, lost=is_unexpected)
        self.pool.discard(slot)

    def _take_back(self, slot: SlotProcess, *, lost: bool) -> None:
        """Return a slot's unfinished games to the ledger; ``lost``: it ended while it played the first."""
        for pair, games in groupby(slot.take_back(), lambda given: given[0]):
            self.ledger.give_back(pair, [game for _, game in games], lost=lost)
            lost = False

    # Stopping

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self._signals += 1

    @property
    def _urgency(self) -> int:
        """How soon the match must end: 0 is not at all, 1 after the running games, 2 now."""
        return 2 if self.ledger.is_decided else max(self._signals, self._fault_urgency)

    def _fail(self, ending: MatchEnding, sentence: str, urgency: int = 1) -> None:
        """End the match through a fault; only the first one is reported."""
        self._fault_urgency = max(self._fault_urgency, urgency)
        if self._failure is None:
            self._failure = ending
            self.report.notice("fault", sentence)

    def _apply_urgency(self) -> None:
        """Tell the slots if the match must end sooner than before; kill slots that do not react in time."""
        urgency = self._urgency
        if urgency > self._applied_urgency:
            self._applied_urgency = urgency
            if urgency == 1:
                self.report.notice(
                    "stopping", "the running games are finished; interrupt again to abort them"
                )
            else:
                self._kill_at = time.monotonic() + ABORT_SECONDS
                if not self.ledger.is_decided:
                    self.report.notice("stopping", "the running games are aborted")
            for slot in self.pool.busy:
                slot.stop(at_once=urgency > 1)
        if time.monotonic() > self._kill_at:
            for slot in self.pool.busy:
                slot.kill()
