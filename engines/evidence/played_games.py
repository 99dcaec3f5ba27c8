"""Checks of single games: the replay of each record, its headers against the schedule, and what counts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from engines.arithmetic.ratings import POINTS, fingerprint
from engines.evidence.format import (
    CorrectionEffect,
    EventState,
    EvidenceCorrection,
    EvidenceEvent,
    EvidenceGame,
    EvidenceKind,
    EvidenceState,
    EvidenceVersion,
    parse_version,
)
from engines.evidence.report import EvidenceReport
from engines.formats.rated import OwnedBot, Unrated, why_unrated
from engines.records import MARGIN_HEADERS, Fault, Record, find_disagreements, start_history
from engines.records.headers import SIDE_CONTROLS
from engines.records.seeds import SEED_HEADER, derive_seed
from engines.rules.base import RulesError, quote
from engines.rules.registry import GAMES

RULES_FIELD = "RulesVersion"
"""The field of a disagreement about a game that was played by other rules."""


class GameCheck(ABC):
    """A check that receives all games in the order of the schedule."""

    name: str
    """The first word of its line."""

    def __init__(self, report: EvidenceReport) -> None:
        self.check = report.begin(self.name)

    @abstractmethod
    def add(self, row: EvidenceGame, record: Record | None) -> None:
        """``record`` is None without one, of a finished game after it was reported as missing."""

    def end(self) -> None:
        """After the last game."""
        self.check.end()


class StateCheck(GameCheck):
    """Checks that games are over where their tournament is, and have what belongs to their state."""

    name = "games"

    def __init__(
        self, report: EvidenceReport, kind: EvidenceKind, events: Mapping[str, EvidenceEvent]
    ) -> None:
        super().__init__(report)
        self._is_ladder, self._events = kind is EvidenceKind.LADDER, events
        self._states: Counter[EvidenceState] = Counter()
        self._annulled = 0

    def add(self, row: EvidenceGame, record: Record | None) -> None:
        self._states[row.state] += 1
        self._annulled += row.annulled
        is_done, is_halted = row.state is EvidenceState.DONE, row.state is EvidenceState.HALTED
        may_be_open = self._events[row.event].state is EventState.CANCELLED
        if self._is_ladder and not is_done:
            self._differs(row, f"is {row.state}, and not recorded on the ladder")
        elif not (is_done or is_halted or may_be_open):
            self._differs(row, f"is {row.state}, but its tournament is {self._events[row.event].state}")
        if not is_halted and (row.fault or row.reason):
            self._differs(row, "has a fault or a reason, but is not halted")
        if row.fault not in ("", Fault.WHITE, Fault.BLACK):
            self._differs(row, f"has the fault {quote(row.fault)}")
        if [
            row.sequence is not None,
            bool(row.worker),
            row.started is not None,
            row.finished is not None,
        ] != [is_done] * 4:
            said = "lacks" if is_done else "has"
            self._differs(row, f"is {row.state}, and {said} a sequence, worker, start or end")

    def _differs(self, row: EvidenceGame, sentence: str) -> None:
        self.check.differs(f"game {quote(row.game)} {sentence}")

    def end(self) -> None:
        counts = ", ".join(f"{count} {state}" for state, count in sorted(self._states.items()))
        if counts:
            self.check.ok(f"{self._states.total()} games: {counts}, {self._annulled} annulled")
        else:
            self.check.skip("there are no games")
        super().end()


class ReplayCheck(GameCheck):
    """Replays every record: moves, end, scores, and clocks as far as the record has times.

    Records of older rules than those of the archive are not replayed; none can be of newer ones.
    """

    name = "records"

    def __init__(self, report: EvidenceReport, rules: Mapping[str, int]) -> None:
        super().__init__(report)
        self._rules = rules
        self._games = self._moves = self._others = 0
        self._why = ""

    def add(self, row: EvidenceGame, record: Record | None) -> None:
        if record is None:
            return
        assert record.source is not None
        for wrong in find_disagreements(record):
            stated = record.header(RULES_FIELD)
            if wrong.field == RULES_FIELD and stated in map(str, range(1, 1 + self._rules[row.ladder])):
                self._others += 1
                self._why = wrong.sentence
                return
            self.check.differs(f"{record.source.at(wrong.line)}: {quote(row.game)}: {wrong.sentence}")
        self._games += 1
        self._moves += len(record.moves)

    def end(self) -> None:
        if self._others:
            self.check.skip(f"{self._others} games are not replayed: {self._why}")
        self.check.ok(
            f"{self._games} games with {self._moves} moves are replayed: moves, ends, scores, clocks"
        )
        super().end()


class HeaderCheck(GameCheck):
    """Compares the headers and the opening of each record with the terms and the schedule."""

    name = "headers"

    def __init__(self, report: EvidenceReport, site: str, events: Mapping[str, EvidenceEvent]) -> None:
        super().__init__(report)
        self._site, self._events = site, events
        self._games = 0

    def add(self, row: EvidenceGame, record: Record | None) -> None:
        if record is None:
            return
        self._games += 1
        for name, expected in self._expected(row):
            found = record.header(name)
            if found != expected or (not expected and record.has(name)):
                said = f"{name} is {quote(found)}" if record.has(name) else f"there is no {name}"
                self._differs(record, row, f"{said}, the schedule has {quote(expected)}")
        opening = " ".join(move.token for move in record.moves if move.book)
        if opening != row.opening:
            self._differs(
                record, row, f"the opening is {quote(opening)}, the schedule has {quote(row.opening)}"
            )
        if record.result not in POINTS:
            self._differs(record, row, "the record of a finished game has no result")

    def _expected(self, row: EvidenceGame) -> Iterator[tuple[str, str]]:
        """The headers that the schedule tells; empty for one that must be missing."""
        event = self._events[row.event]
        limit = event.ply_limit
        is_usual = limit is None or (row.ladder in GAMES and limit == GAMES[row.ladder].ply_limit)
        yield "Event", event.title
        yield "Site", self._site
        yield "Round", str(row.round)
        for side, version in (("White", row.white), ("Black", row.black)):
            name, number = parse_version(version)
            yield side, name
            yield f"{side}Version", str(number)
        yield "Game", row.ladder
        yield "TimeControl", event.time_control
        yield "PlyLimit", "" if is_usual else str(limit)
        yield "FEN", row.position
        yield SEED_HEADER, str(derive_seed(row.seed, row.game))
        for name in (*SIDE_CONTROLS, *MARGIN_HEADERS):
            yield name, ""

    def _differs(self, record: Record, row: EvidenceGame, sentence: str) -> None:
        assert record.source is not None
        self.check.differs(f"{record.source.at()}: {quote(row.game)}: {sentence}")

    def end(self) -> None:
        self.check.ok(f"players, terms, opening and seed of {self._games} records are those of the schedule")
        super().end()


@dataclass(slots=True)
class _Effect:
    """A correction, and whether its game was in the schedule."""

    correction: EvidenceCorrection
    is_used: bool = False


class CorrectionCheck(GameCheck):
    """Checks that games count as their records and the published corrections say."""

    name = "corrections"

    def __init__(self, report: EvidenceReport, corrections: Iterator[EvidenceCorrection]) -> None:
        super().__init__(report)
        self._effects: dict[str, _Effect] = {}
        for one in corrections:
            if one.game in self._effects:
                self.check.differs(f"game {quote(one.game)} is corrected twice")
            self._effects[one.game] = _Effect(one)

    def add(self, row: EvidenceGame, record: Record | None) -> None:
        effect = self._effects.get(row.game)
        if effect is not None:
            effect.is_used = True
        if row.state is not EvidenceState.DONE:
            if effect is not None or row.rated:
                self.check.differs(f"game {quote(row.game)} has no record, and is corrected or rated")
            return
        if record is None:
            return
        was_rated = record.header("Rated") != "no"
        rated, annulled = _counted(was_rated, effect.correction.effect if effect else None)
        for name, found, expected in (("rated", row.rated, rated), ("annulled", row.annulled, annulled)):
            if found != expected:
                self.check.differs(
                    f"game {quote(row.game)}: {name} is {_yes(found)} in the schedule,"
                    f" {_yes(expected)} by its record and the corrections"
                )

    def end(self) -> None:
        for game, effect in self._effects.items():
            if not effect.is_used:
                self.check.differs(f"game {quote(game)} is corrected, but is not in the schedule")
        self.check.ok(f"{len(self._effects)} corrections, and what counts is as records and they say")
        super().end()


def _counted(was_rated: bool, effect: CorrectionEffect | None) -> tuple[bool, bool]:
    """Whether a recorded game is rated and annulled."""
    if effect is None:
        return was_rated, False
    return effect is CorrectionEffect.RATED, effect is CorrectionEffect.ANNULLED


def _yes(truth: bool) -> str:
    return "yes" if truth else "no"


class RatedCheck(GameCheck):
    """Checks that exactly the games are rated that the terms and the players' owners allow.

    Owners are those of now. What only other owners explain is not checked: staff may give a bot to another.
    """

    name = "rated"

    def __init__(
        self,
        report: EvidenceReport,
        events: Mapping[str, EvidenceEvent],
        versions: Mapping[str, EvidenceVersion],
    ) -> None:
        super().__init__(report)
        self._events, self._versions = events, versions
        self._games = self._by_others = 0

    def add(self, row: EvidenceGame, record: Record | None) -> None:
        if record is None or not {row.white, row.black} <= self._versions.keys():
            return
        self._games += 1
        found = record.header("Unrated") if record.header("Rated") == "no" else None
        owners = [self._versions[version].owner for version in (row.white, row.black)]
        why = self._why_unrated(row, owners)
        if found in _allowed(why):
            return
        if any(found in _allowed(self._why_unrated(row, others)) for others in (["a", "a"], ["a", "b"])):
            self._by_others += 1
        else:
            said = "is rated" if found is None else f"is unrated by {found!r}"
            self.check.differs(f"game {quote(row.game)} {said}, by the terms {why or 'it is rated'}")

    def _why_unrated(self, row: EvidenceGame, owners: Sequence[str | None]) -> Unrated | None:
        event = self._events[row.event]
        names = (parse_version(version)[0] for version in (row.white, row.black))
        return why_unrated(
            *map(OwnedBot, names, owners),
            is_event_rated=event.rated,
            off_terms=None if event.rated_off_terms else event.off_terms.get(row.ladder),
        )

    def end(self) -> None:
        if self._by_others:
            self.check.skip(
                f"{self._by_others} games, whose players would have had other owners then than now"
            )
        self.check.ok(f"{self._games} games are rated or not by the terms, the bots and their owners")
        super().end()


def _allowed(why: Unrated | None) -> tuple[str | None, ...]:
    """What a record may say; older ones do not say why a game is unrated."""
    return (None, Unrated.REPEAT) if why is None else (why, "")


class RepeatCheck(GameCheck):
    """Checks that of games that repeat each other only one is rated, and that repeats are some.

    The game that one of a tournament repeats may be elsewhere on its ladder.
    """

    name = "repeats"

    def __init__(self, report: EvidenceReport, kind: EvidenceKind) -> None:
        super().__init__(report)
        self._is_ladder = kind is EvidenceKind.LADDER
        self._rated: set[int] = set()
        """Hashes of 8 bytes, because there may be a million."""
        self._played: set[int] = set()
        self._keys: set[int] = set()
        self._elsewhere = 0

    def add(self, row: EvidenceGame, record: Record | None) -> None:
        if hash(row.game) in self._keys:
            self.check.differs(f"game {quote(row.game)} stands twice in the schedule")
        self._keys.add(hash(row.game))
        mark = None if record is None else _mark(row, record)
        if record is None or mark is None:
            return
        if record.header("Unrated") == Unrated.REPEAT and mark not in self._played:
            if self._is_ladder:
                self.check.differs(
                    f"game {quote(row.game)} is called a repeat, and repeats no game before it"
                )
            self._elsewhere += not self._is_ladder
        self._played.add(mark)
        if row.rated and mark in self._rated:
            self.check.differs(f"game {quote(row.game)} repeats another rated game, and is rated too")
        elif row.rated:
            self._rated.add(mark)

    def end(self) -> None:
        if self._elsewhere:
            self.check.skip(
                f"{self._elsewhere} games are called repeats of games of their ladder, not of this event"
            )
        self.check.ok(f"{len(self._keys)} games stand once, and no rated one repeats another move by move")
        super().end()


def _mark(row: EvidenceGame, record: Record) -> int | None:
    """Equal for games that repeat each other; None for a record whose start is invalid."""
    try:
        start = str(start_history(record).position)
    except RulesError:
        return None
    white, black = parse_version(row.white), parse_version(row.black)
    moves = (move.token for move in record.moves)
    return hash((row.ladder, fingerprint(white, black, start, moves)))
