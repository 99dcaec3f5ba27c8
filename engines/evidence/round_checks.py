"""Checks that the rounds of a Swiss or a knock-out follow from the results when each was drawn."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress, product, zip_longest
from typing import Final

from engines.evidence.format import (
    EventState,
    EvidenceCorrection,
    EvidenceGame,
    parse_moment,
)
from engines.evidence.report import EvidenceReport
from engines.evidence.schedule_checks import PairCheck, Players, SchedulePair, openings_of, scheduled
from engines.formats.meetings import ScheduledGame, column_of
from engines.formats.planning import (
    LadderRounds,
    PairingKey,
    PlannedPairing,
    Redrawing,
)
from engines.records import Record

CLOCKS_DIFFER: Final = datetime.timedelta(minutes=1)
"""So much may the workers' clocks, by which games begin and end, differ from the site's."""
MAX_UNDECIDED: Final = 6
"""Annulled games of one step of which it is tried whether they counted."""


@dataclass(frozen=True, slots=True)
class _RoundGame:
    """A game, and what decides how it counted when a round was drawn."""

    key: PairingKey
    counted: ScheduledGame
    annulled: ScheduledGame | None
    """None unless it is annulled now."""
    annulled_at: datetime.datetime | None
    started: datetime.datetime | None
    finished: datetime.datetime | None

    def ended_after(self, after: datetime.datetime | None) -> bool:
        """Whether it ended later: it was halted when a round was drawn before, and is played again."""
        return after is not None and self.finished is not None and self.finished >= after + CLOCKS_DIFFER

    def as_halted(self) -> ScheduledGame:
        return self.counted._replace(column=column_of(None, "", is_annulled=False))

    def was_annulled(self, before: datetime.datetime | None, after: datetime.datetime | None) -> bool | None:
        """Whether it was annulled when a round was drawn between two moments; None if these do not decide."""
        if self.annulled_at is None:
            return None
        was = before is not None and self.annulled_at <= before - CLOCKS_DIFFER
        was_not = after is not None and self.annulled_at >= after + CLOCKS_DIFFER
        return None if was == was_not else was


class RoundPairCheck(PairCheck):
    """Draws every round again, from the results as they counted then.

    A round was drawn after the games before it had ended, and before its own began. Where the moment of an
    annulment does not decide whether the game counted then, both are tried; also whether games that ended
    after those of a later round had begun were halted when that was drawn.
    """

    def __init__(
        self, report: EvidenceReport, players: Players, corrections: Iterator[EvidenceCorrection]
    ) -> None:
        super().__init__(report, {players.event.name: players.event})
        self._players = players
        self._made: list[SchedulePair] = []
        self._games: list[_RoundGame] = []
        self._corrected_at = {one.game: parse_moment(one.at, "corrections.jsonl: at") for one in corrections}
        finished = players.event.finished
        self._ended = None if finished is None else parse_moment(finished, "event.json: finished")

    def add(self, row: EvidenceGame, record: Record | None) -> None:
        super().add(row, record)
        annulled = scheduled(self._players, row, record, is_annulled=True) if row.annulled else None
        moments = (
            None if text is None else parse_moment(text, f"schedule.jsonl: {name}")
            for name, text in (("started", row.started), ("finished", row.finished))
        )
        self._games.append(
            _RoundGame(
                (row.ladder, row.round, row.pairing),
                scheduled(self._players, row, record, is_annulled=False),
                annulled,
                self._corrected_at.get(row.game),
                *moments,
            )
        )

    def add_pair(self, row: EvidenceGame, pair: SchedulePair) -> None:
        self._made.append(pair)

    def end(self) -> None:
        self.end_pairs()
        try:
            self._compare()
        except ImportError:
            self.check.skip("Swiss pairing needs the package networkx, which this Python does not have")
        super().end()

    def _compare(self) -> None:
        players, event = self._players, self._players.event
        ladders = {
            ladder: LadderRounds(players.entered[ladder], [], players.terms(ladder, extra=event.extra_pairs))
            for ladder in event.ladders
            if ladder in event.seeds
        }
        games = _counted(self._games, {})
        redrawing = Redrawing(players.form, event.seed, ladders, openings_of(event), games)
        done = 0
        while True:
            planned = self._check_step(redrawing, done)
            done += len(planned)
            if not redrawing.take(planned, games):
                break
        for pair in self._made[done + (not planned) :]:  # the first one is named by the step
            self.check.differs(f"{pair}; planned is nothing more")
        self.check.ok(f"{self._pairs} pairings, openings and seeds follow from terms, seeds and results")

    def _check_step(self, redrawing: Redrawing, done: int) -> list[PlannedPairing]:
        """Compare the pairings after the first ``done`` with a step; returns this."""
        then, undecided = self._counted_then(set(redrawing.taken))
        tried = undecided[:MAX_UNDECIDED]
        first: list[str] = []
        for choice in product((False, True), repeat=len(tried)):
            others = dict(then)
            for one in compress(tried, choice):
                others |= one
            planned = redrawing.plan(_counted(self._games, others))
            found = self._differences(planned, done)
            if not found:
                return planned
            first = first or found
        if len(undecided) > len(tried):
            why = f"which of {len(undecided)} annulled games counted when a round was drawn is not known"
            self.check.skip(f"{why}: {first[0]}")
        else:
            for difference in first:
                self.check.differs(difference)
        return redrawing.plan(_counted(self._games, then))

    def _counted_then(
        self, taken: set[PairingKey]
    ) -> tuple[dict[int, ScheduledGame], list[dict[int, ScheduledGame]]]:
        """The games that counted otherwise when the next step was drawn, and those that may have done so.

        A worker's wrong clock can make a game end after a later round, so all such games are tried together.
        """
        rounds = {number for _, number, _ in taken}
        ends = [one.finished for one in self._games if one.key in taken and one.finished is not None]
        begins = [
            (one.started, one.key[1] not in rounds)
            for one in self._games
            if one.key not in taken and one.started is not None
        ]
        before, after = max(ends, default=None), min((at for at, _ in begins), default=self._ended)
        later = min((at for at, is_later in begins if is_later), default=None)
        late = {
            number: one.as_halted()
            for number, one in enumerate(self._games)
            if one.key in taken and one.ended_after(later)
        }
        then, undecided = dict[int, ScheduledGame](), [late] if late else []
        for number, one in enumerate(self._games):
            if one.annulled is not None and one.key in taken:
                found = one.was_annulled(before, after)
                if found is None:
                    undecided.append({number: one.annulled})
                elif found:
                    then[number] = one.annulled
        return then, undecided

    def _differences(self, planned: Sequence[PlannedPairing], done: int) -> list[str]:
        made = self._made[done : done + len(planned)]
        found = []
        for one, expected in zip_longest(made, (SchedulePair.planned(one, self._players) for one in planned)):
            if one is None and self._players.event.state is EventState.CANCELLED:
                break
            if one != expected:
                found.append(f"{one or 'the schedule ends'}; planned is {expected}")
        if not planned and self._made[done:]:
            found.append(f"{self._made[done]}; planned is nothing more")
        return found


def _counted(
    games: Sequence[_RoundGame], others: Mapping[int, ScheduledGame]
) -> Mapping[PairingKey, Sequence[ScheduledGame]]:
    """How the games counted; those with the numbers of ``others`` otherwise."""
    found: dict[PairingKey, list[ScheduledGame]] = {}
    for number, one in enumerate(games):
        found.setdefault(one.key, []).append(others.get(number, one.counted))
    return found
