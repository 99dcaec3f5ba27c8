"""Checks that pairings, openings and seeds follow from the terms, the seed and the results so far."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from engines.evidence.format import EventState, EvidenceEntry, EvidenceEvent, EvidenceGame, EvidenceState
from engines.evidence.played_games import GameCheck
from engines.evidence.report import EvidenceReport
from engines.evidence.strict_json import FormatError
from engines.formats import FORMATS, EventFormat
from engines.formats.base import RoundTerms
from engines.formats.meetings import ScheduledGame, column_of
from engines.formats.planning import (
    DrawOpenings,
    EventOpenings,
    PlannedPairing,
    pairing_seed,
    plan_cycles,
)
from engines.pairing.knockout import Length
from engines.pairing.meetings import GAMES_A_PAIR
from engines.pairing.openings import Opening, OpeningError
from engines.pairing.results import Absences
from engines.records import Record
from engines.rules.base import quote

MAX_GAMES = 1_000_000
"""Games of a tournament that are planned: more than a site allows."""
MAX_OPENING_PLIES = 1_000
PAIR_FORMATS = frozenset({"ladder", "version-test"})
"""The matchmaker's and version tests: the opening and the seed of each pair follow from its number."""
ENDED = frozenset({EventState.FINISHED, EventState.HALTED})
OVER = ENDED | {EventState.CANCELLED}


@dataclass(frozen=True, slots=True)
class Players:
    """The versions of a tournament as the arithmetic has them: numbers in the order of entry, and seeds."""

    form: EventFormat
    event: EvidenceEvent
    names: Sequence[str]
    """The version of each number, from 1."""
    numbers: Mapping[str, int]
    entered: Mapping[str, Sequence[int]]
    """By ladder the numbers of those that play it, in the order of entry, or of the seeds if it has some."""

    @classmethod
    def of(cls, event: EvidenceEvent, entries: Sequence[EvidenceEntry]) -> Players:
        """Raises ``FormatError`` for an unknown format or version."""
        if event.format not in FORMATS:
            raise FormatError(f"event.json: a tournament has not the format {quote(event.format)}")
        names = [entry.version for entry in entries]
        if len(set(names)) < len(names):
            raise FormatError("entries.jsonl has a version twice")
        check_size(event, len(entries))
        numbers = {name: number for number, name in enumerate(names, 1)}
        entered = {
            ladder: [numbers[entry.version] for entry in entries if ladder in entry.ladders]
            for ladder in event.ladders
        }
        if min(map(len, entered.values()), default=0) < 2:
            raise FormatError("entries.jsonl has fewer than two players on a ladder")
        for ladder, seeds in event.seeds.items():
            if not FORMATS[event.format].is_staged or sorted(_numbered(numbers, seeds)) != sorted(
                entered.get(ladder, ())
            ):
                raise FormatError(f"event.json: the seeds of {quote(ladder)} are not those who play it")
            entered[ladder] = _numbered(numbers, seeds)
        return cls(FORMATS[event.format], event, names, numbers, entered)

    def name(self, number: int) -> str:
        return self.names[number - 1]

    def absent(self, ladder: str) -> Absences:
        """By cycle the numbers, or by round the seeds of those who were absent; raises ``FormatError``."""
        rounds = self.event.absent.get(ladder, {})
        found = {}
        for key, gone in rounds.items():
            if not (key.isascii() and key.isdigit() and len(key) < 10):
                raise FormatError(f"event.json: absent has the round {quote(key)}")
            numbers = _numbered(self.numbers, gone)
            if not set(numbers) <= set(self.entered[ladder]):
                raise FormatError(f"event.json: absent on {quote(ladder)} is somebody who does not play it")
            if self.form.is_staged:
                numbers = [self.entered[ladder].index(number) + 1 for number in numbers]
            found[int(key)] = numbers
        return found

    def terms(self, ladder: str, *, extra: int) -> RoundTerms:
        """Of rounds that are drawn one after another, with so many extra pairs."""
        return RoundTerms(self.event.rounds, Length(self.event.pairs, extra), self.absent(ladder))

    def is_drawn(self, ladder: str) -> bool:
        """Whether its rounds are drawn one after another, and have begun."""
        return self.form.is_staged and ladder in self.event.seeds


def check_size(event: EvidenceEvent, players: int) -> None:
    """Refuse terms that only waste time; raises ``FormatError``."""
    numbers = event.pairs, event.rounds, event.extra_pairs, event.opening_plies
    is_planned = event.format in FORMATS
    meetings = FORMATS[event.format].meetings(players, event.rounds) if is_planned else 0
    games = GAMES_A_PAIR * event.pairs * meetings
    if min(numbers) < 0 or max(games, *numbers[:3]) > MAX_GAMES or event.opening_plies > MAX_OPENING_PLIES:
        raise FormatError("event.json: the tournament is larger than any that a site plays")


def openings_of(event: EvidenceEvent) -> DrawOpenings:
    """Draws the openings; raises ``FormatError`` where there are none."""
    openings = EventOpenings(event.opening_plies, event.book)

    def draw(ladder: str, seed: int, number: int) -> Sequence[Opening]:
        try:
            return openings.draw(ladder, seed, number)
        except OpeningError as error:
            raise FormatError(f"event.json: {error}") from None

    return draw


def _numbered(numbers: Mapping[str, int], versions: Sequence[str]) -> list[int]:
    try:
        return [numbers[version] for version in versions]
    except KeyError as error:
        raise FormatError(f"event.json names {quote(error.args[0])}, which is not entered") from None


def scheduled(
    players: Players, row: EvidenceGame, record: Record | None, *, is_annulled: bool
) -> ScheduledGame:
    """A game as tables and pairings count it."""
    column = ""
    if row.state is EvidenceState.HALTED or record is not None:
        result = None if record is None else record.result
        column = column_of(result, row.fault, is_annulled=is_annulled)
    white, black = players.numbers[row.white], players.numbers[row.black]
    return ScheduledGame(row.round, white, black, column)


@dataclass(frozen=True, slots=True)
class SchedulePair:
    """A pairing of the schedule, as it is planned."""

    ladder: str
    round: int
    number: int
    first: str
    second: str
    opening: str
    position: str
    seed: int

    @classmethod
    def of(cls, row: EvidenceGame) -> SchedulePair:
        """The pairing of one of its games."""
        both = (row.white, row.black) if row.number == 1 else (row.black, row.white)
        return cls(row.ladder, row.round, row.pairing, *both, row.opening, row.position, row.seed)

    @classmethod
    def planned(cls, plan: PlannedPairing, players: Players) -> SchedulePair:
        both = players.name(plan.first), players.name(plan.second)
        return cls(plan.ladder, plan.round, plan.number, *both, " ".join(plan.opening), "", plan.seed)

    def __str__(self) -> str:
        start = quote(self.opening) if not self.position else f"{quote(self.position)} {quote(self.opening)}"
        where = f"{self.ladder} {self.round}/{self.number}"
        return f"{where} {quote(self.first)} against {quote(self.second)}, opening {start}, seed {self.seed}"


class PairCheck(GameCheck):
    """Checks that pairs are two games with both colours. Subclasses compare them with the plan."""

    name = "schedule"

    def __init__(self, report: EvidenceReport, events: Mapping[str, EvidenceEvent]) -> None:
        super().__init__(report)
        self.events = events
        self._open: dict[tuple[str, int, int], SchedulePair] = {}
        """Pairs of which one game was added."""
        self._pairs = 0

    def add(self, row: EvidenceGame, record: Record | None) -> None:
        pair, place = SchedulePair.of(row), (row.event, row.round, row.pairing)
        expected = f"{row.event}/{row.round}/{row.pairing}/{row.number}"
        if row.game != expected or row.number not in (1, GAMES_A_PAIR):
            self.check.differs(f"game {quote(row.game)} is that of the schedule's {quote(expected)}")
        first = self._open.pop(place, None)
        if first is None:
            self._open[place] = pair
            self._pairs += 1
            self.add_pair(row, pair)
        elif first != pair:
            self.check.differs(f"game {quote(row.game)} is {pair}; the other game of its pair is {first}")

    def end_pairs(self) -> None:
        """Name the pairs of which one game is missing."""
        for pair in self._open.values():
            self.check.differs(f"{pair}: one of its games is missing")

    def add_pair(self, row: EvidenceGame, pair: SchedulePair) -> None:
        """Compare a pair with the plan, when its first game is added."""


class UnplannedPairCheck(PairCheck):
    """The pairs where the rules of a ladder are not those of this program: a plan needs those of all."""

    def end(self) -> None:
        self.check.skip(f"{self._pairs} pairings, openings and seeds need the rules of all ladders")
        super().end()


class LadderPairCheck(PairCheck):
    """The pairs of a ladder and of version tests; those of tournaments are planned in their own evidence."""

    def __init__(self, report: EvidenceReport, events: Mapping[str, EvidenceEvent]) -> None:
        super().__init__(report, events)
        self._planned = 0

    def add_pair(self, row: EvidenceGame, pair: SchedulePair) -> None:
        event = self.events[row.event]
        if event.format not in PAIR_FORMATS:
            return
        self._planned += 1
        seed = pairing_seed(event.seed, row.ladder, row.round, 1)
        (opening,) = openings_of(event)(row.ladder, seed, 1)
        found = (pair.number, pair.opening, pair.position, pair.seed)
        if found != (1, " ".join(opening), "", seed):
            self.check.differs(f"{pair}; computed are the opening {quote(' '.join(opening))} and seed {seed}")

    def end(self) -> None:
        others = self._pairs - self._planned
        self.check.ok(
            f"openings and seeds of {self._planned} pairs follow from their numbers;"
            f" the evidence of tournaments has those of {others} others"
        )
        super().end()


class CyclePairCheck(PairCheck):
    """A round robin or gauntlet: all of its pairings follow from the terms."""

    def __init__(self, report: EvidenceReport, players: Players) -> None:
        super().__init__(report, {players.event.name: players.event})
        self._players = players
        self._plan = self._planned()

    def _planned(self) -> Iterator[SchedulePair]:
        players, event = self._players, self._players.event
        plan = plan_cycles(
            players.form,
            event.seed,
            players.entered,
            range(event.pairs),
            openings_of(event),
            {ladder: players.absent(ladder) for ladder in event.ladders},
        )
        return (SchedulePair.planned(one, players) for one in plan)

    def add_pair(self, row: EvidenceGame, pair: SchedulePair) -> None:
        expected = next(self._plan, None)
        if expected != pair:
            self.check.differs(f"{pair}; planned is {expected or 'nothing more'}")

    def end(self) -> None:
        if (
            self._players.event.state is not EventState.CANCELLED
            and (more := next(self._plan, None)) is not None
        ):
            self.check.differs(f"the schedule ends; planned is {more}")
        self.end_pairs()
        self.check.ok(f"{self._pairs} pairings, openings and seeds follow from the terms")
        super().end()
