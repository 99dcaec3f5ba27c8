"""Which games of a match are due, in the order of play. Pure.

All engines meet each other before any two meet again, and all meetings of a cycle on one ladder have the same
openings, so that the standings are fair also before the end. Knock-outs and Swiss events are paired round by
round, as on the site (``engines.pairing``); engines are seeded in the order in which they are given.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from engines.pairing.berger import Pair, berger_rounds
from engines.pairing.gauntlet import gauntlet_rounds
from engines.pairing.knockout import (
    KnockoutMatch,
    Length,
    draw_bracket,
    note_withdrawn,
    pairs_due,
    rounds_survived,
)
from engines.pairing.meetings import GAMES_A_PAIR, plan_meetings
from engines.pairing.results import Absences, MeetingResult
from engines.pairing.swiss import swiss_points, swiss_round
from workers.jobs import JobGame
from workers.match.options.options import Format, MatchTerms

EXTRA_PAIRS = 3
"""The most pairs that are added to a knock-out match that is level; then the engine given first wins."""

_KEY = re.compile("([^/]+(?:/[1-9][0-9]{0,8}){2})/([1-9][0-9]{0,8})")
"""The key of a game: ``ladder/round/meeting/game``."""


@dataclass(frozen=True, slots=True)
class PlannedPair:
    """One or two games with one opening, colours usually reversed.

    ``first`` and ``second`` are names of engines; ``opening`` is a number in the ladder's book.
    """

    key: str
    ladder: str
    first: str
    second: str
    opening: int
    games: tuple[JobGame, ...]

    @property
    def engines(self) -> frozenset[str]:
        return frozenset((self.first, self.second))

    def players(self, game: JobGame) -> tuple[str, str]:
        """The names of White and Black."""
        return (self.second, self.first) if game.white else (self.first, self.second)


def pair_key(key: str) -> str:
    """The key of a pair, from the key of either of its games; empty if it is not a game's key."""
    game = _KEY.fullmatch(key)
    return f"{game[1]}/{(int(game[2]) - 1) // GAMES_A_PAIR}" if game else ""


def plan_pairs(terms: MatchTerms) -> Iterator[PlannedPair]:
    """All pairs of a match whose pairs do not depend on results."""
    table = _table(terms)
    pairs_each = -(-terms.games // GAMES_A_PAIR)
    for meeting in plan_meetings(dict.fromkeys(terms.ladders, table), terms.rounds):
        key = (meeting.ladder, meeting.round, meeting.number)
        for pair in range(pairs_each):
            opening = meeting.cycle * pairs_each + pair
            yield _make_pair(terms, key, (meeting.first, meeting.second), pair, opening)


def count_games(terms: MatchTerms) -> Counter[frozenset[str]]:
    """The number of games for each two engines in ``plan_pairs``."""
    each = len(terms.ladders) * terms.rounds * terms.games
    meetings = Counter(
        frozenset(terms.entrants[player - 1].name for player in pair)
        for cycle in _table(terms)
        for pair in cycle
    )
    return Counter({two: met * each for two, met in meetings.items()})


def _table(terms: MatchTerms) -> list[list[Pair]]:
    players = len(terms.entrants)
    return gauntlet_rounds(players) if terms.format is Format.GAUNTLET else berger_rounds(players)


MeetingKey = tuple[str, int, int]
"""A meeting: its ladder, round and number in the round."""


def _make_pair(terms: MatchTerms, key: MeetingKey, players: Pair, number: int, opening: int) -> PlannedPair:
    """Pair ``number`` (from 0) of a meeting; only the last one may have a single game.

    The first player is White in the first game, unless reversed.
    """
    begun, meeting = number * GAMES_A_PAIR, "/".join(map(str, key))
    games = tuple(
        JobGame(
            f"{meeting}/{begun + game + 1}",
            attempt="",
            white=(game * terms.swaps + terms.reverse) % GAMES_A_PAIR,
        )
        for game in range(1 if begun + 1 == terms.games else GAMES_A_PAIR)
    )
    first, second = (terms.entrants[player - 1].name for player in players)
    return PlannedPair(f"{meeting}/{number}", key[0], first, second, opening, games)


@dataclass(slots=True)
class _Meeting:
    """Points are in half points; ``pairs`` were handed out, ``games`` of their games have finished."""

    players: Pair
    points: list[int] = field(default_factory=lambda: [0, 0])
    pairs: int = 0
    games: int = 0

    @property
    def is_finished(self) -> bool:
        """Whether all games that were handed out have finished."""
        return self.games == self.pairs * GAMES_A_PAIR

    @property
    def is_level(self) -> bool:
        return self.is_finished and self.points[0] == self.points[1]


class Event:
    """A knock-out or a Swiss event: its later rounds depend on the results of the earlier ones.

    ``withdrawn`` are the names of engines in the order of their withdrawal, added by the caller. They have
    no opponent and no bye in what is drawn from then on.
    """

    def __init__(self, terms: MatchTerms, withdrawn: Sequence[str] = ()) -> None:
        self._terms = terms
        self._withdrawn = withdrawn
        self._numbers = {engine.name: number for number, engine in enumerate(terms.entrants, 1)}
        self._absent: dict[str, Absences] = {code: {} for code in terms.ladders}
        self._expected: dict[str, frozenset[str]] = {}
        self._known: dict[str, frozenset[str]] = {}
        self._players = len(terms.entrants)
        self._length = Length(terms.games // GAMES_A_PAIR, EXTRA_PAIRS)
        self._meetings: dict[MeetingKey, _Meeting] = {}
        self._is_swiss = terms.format is Format.SWISS

    @property
    def total(self) -> int:
        """The games of the whole event, as far as they are known: extra pairs are added when they are due."""
        terms = self._terms
        if self._is_swiss:
            drawn = sum(one.pairs for one in self._meetings.values()) * GAMES_A_PAIR
            rounds = len({key[:2] for key in self._meetings})
            left = (self._players - len(self._withdrawn)) // 2
            return drawn + (len(terms.ladders) * terms.rounds - rounds) * left * terms.games
        added = [
            one.pairs + (one.is_level and not self._has_absent(key)) - self._length.pairs
            for key, one in self._meetings.items()
        ]
        extra = sum(min(max(0, pairs), self._length.extra) for pairs in added)
        matches = len(terms.ladders) * (self._players - 1) - sum(map(self._count_walkovers, terms.ladders))
        return matches * terms.games + extra * GAMES_A_PAIR

    def expect(self, games: Iterable[tuple[str, frozenset[str]]]) -> None:
        """The keys and players of all games that will be added from an earlier run.

        Rounds that an engine of theirs is in were drawn before its withdrawal.
        """
        self._expected = dict(games)
        self._known = {key.rpartition("/")[0]: players for key, players in self._expected.items()}

    def pairs(self) -> Iterator[PlannedPair | None]:
        """The pairs in the order of play; None as long as the next ones depend on unfinished games."""
        due = self._swiss_due if self._is_swiss else self._knockout_due
        while True:
            pairs = [pair for ladder in self._terms.ladders for pair in due(ladder)]
            yield from pairs or (None,)

    def add(self, key: str, points: int) -> None:
        """Add a game that has finished: the half points of the meeting's first player."""
        meeting = self._meeting_of(key)
        self._expected.pop(key, None)
        meeting.games += 1
        meeting.points[0] += points
        meeting.points[1] += 2 - points

    def first_of(self, key: str) -> str:
        """The name of the first player of a game's meeting."""
        return self._name(self._meeting_of(key).players[0])

    def lines(self) -> Iterator[str]:
        """The bracket, or the points with byes, as lines of text."""
        for ladder in self._terms.ladders:
            yield from self._swiss_lines(ladder) if self._is_swiss else self._knockout_lines(ladder)

    def earned(self, ladders: Sequence[str]) -> dict[str, float]:
        """What orders the engines: their points in a Swiss, byes included, or the matches won."""
        earned = dict.fromkeys(self._numbers, 0.0)
        for ladder in ladders:
            won = self._swiss_points(ladder) if self._is_swiss else self._matches_won(ladder)
            for player, number in won.items():
                earned[self._name(player)] += number
        return earned

    def points(self, ladders: Sequence[str]) -> dict[str, float]:
        """The points in a Swiss with those of byes and of games not played; empty for a knock-out."""
        return self.earned(ladders) if self._is_swiss else {}

    # Knock-out

    def _bracket(self, ladder: str) -> list[list[KnockoutMatch]]:
        return draw_bracket(self._players, self._results(ladder), self._length, self._absent[ladder])

    def _has_absent(self, key: MeetingKey) -> bool:
        """Whether a player of a meeting was withdrawn before it was decided."""
        return not set(self._meetings[key].players).isdisjoint(self._absent[key[0]].get(key[1], ()))

    def _matches_won(self, ladder: str) -> Mapping[int, float]:
        return rounds_survived(self._players, self._bracket(ladder))

    def _count_walkovers(self, ladder: str) -> int:
        """The matches of a knock-out that were decided without a game, beside the byes of its first round."""
        if not self._absent[ladder]:
            return 0
        matches = [match for drawn in self._bracket(ladder) for match in drawn if match.is_over]
        unplayed = [one for one in matches if (ladder, one.round, one.number) not in self._meetings]
        return len(unplayed) - ((1 << (self._players - 1).bit_length()) - self._players)

    def _note_withdrawn(self, ladder: str) -> None:
        """Leave the withdrawn engines out of what is not decided, unless games of theirs will end."""
        busy = {
            self._name(player)
            for key, one in self._meetings.items()
            for player in one.players
            if key[0] == ladder and not one.is_finished
        }
        for key, players in self._expected.items():
            busy |= players if key.startswith(f"{ladder}/") else set()
        if gone := {self._numbers[name] for name in self._withdrawn if name not in busy}:
            known = self._absent[ladder]
            self._absent[ladder] = note_withdrawn(
                self._players, self._results(ladder), self._length, known, gone
            )

    def _knockout_due(self, ladder: str) -> Iterator[PlannedPair]:
        self._note_withdrawn(ladder)
        for match in (match for drawn in self._bracket(ladder) for match in drawn):
            pairs = pairs_due(match, self._length)
            if pairs and match.first is not None and match.second is not None:
                key = (ladder, match.round, match.number)
                yield from self._hand_out(key, (match.first, match.second), pairs)

    def _knockout_lines(self, ladder: str) -> Iterator[str]:
        bracket = self._bracket(ladder)
        for match in (match for drawn in bracket for match in drawn):
            if match.first is not None and match.second is not None:
                score = f"{match.first_points:g}-{match.second_points:g}"
                players = f"{self._name(match.first)} {score} {self._name(match.second)}"
                yield f"{ladder}, round {match.round} of {len(bracket)}: {players}{self._note_of(match)}"
        (final,) = bracket[-1]
        if final.is_over:
            yield f"{ladder}: {self._name(final.winner) if final.winner else 'nobody'} wins the knock-out."

    def _note_of(self, match: KnockoutMatch) -> str:
        if match.by_last_resort:
            return " (level: the engine given first goes on)"
        gone = [self._name(player) for player in match.players if player and player != match.winner]
        return f" ({' and '.join(gone)} withdrawn)" if match.by_withdrawal else ""

    # Swiss

    def _swiss_due(self, ladder: str) -> Iterator[PlannedPair]:
        meetings = [(key, one) for key, one in self._meetings.items() if key[0] == ladder]
        number = 1 + max((key[1] for key, _ in meetings), default=0)
        if number > self._terms.rounds or not all(one.is_finished for _, one in meetings):
            return
        for in_round, players in enumerate(self._draw_swiss(ladder, number), 1):
            yield from self._hand_out((ladder, number, in_round), players, self._length.pairs)

    def _draw_swiss(self, ladder: str, number: int) -> list[Pair]:
        """The round without the withdrawn engines: without as many of them as agree with the expected games.

        An earlier run may have drawn it before the last ones were withdrawn.
        """
        before, drawn = self._absent[ladder], list[Pair]()
        played = {key: both for key, both in self._known.items() if key.startswith(f"{ladder}/{number}/")}
        for count in range(len(self._withdrawn), -1, -1):
            gone = {self._numbers[name] for name in self._withdrawn[:count]}
            self._absent[ladder] = {**before, number: gone}
            drawn = swiss_round(self._players, self._results(ladder), self._terms.games, self._absent[ladder])
            names = {
                f"{ladder}/{number}/{in_round}": frozenset(map(self._name, both))
                for in_round, both in enumerate(drawn, 1)
            }
            if played.items() <= names.items():
                break
        return drawn

    def _swiss_points(self, ladder: str) -> Mapping[int, float]:
        return swiss_points(self._players, self._results(ladder), self._terms.games, self._absent[ladder])

    def _swiss_lines(self, ladder: str) -> Iterator[str]:
        points = self._swiss_points(ladder)
        ranked = sorted(points, key=lambda player: (-points[player], player))
        shown = ", ".join(f"{self._name(player)} {points[player]:g}" for player in ranked)
        yield f"{ladder}, points with byes: {shown}"

    # Meetings

    def _results(self, ladder: str) -> list[MeetingResult]:
        return [
            MeetingResult(key[1], *one.players, one.points[0] / 2, one.points[1] / 2)
            for key, one in self._meetings.items()
            if key[0] == ladder and one.games
        ]

    def _hand_out(self, key: MeetingKey, players: Pair, pairs: int) -> Iterator[PlannedPair]:
        """The next pairs of a meeting; none while earlier ones of it have not finished."""
        meeting = self._meetings.setdefault(key, _Meeting(players))
        if not meeting.is_finished:
            return
        begun, meeting.pairs = meeting.pairs, meeting.pairs + pairs
        openings = (key[1] - 1) * (self._length.pairs + self._length.extra)
        for pair in range(begun, meeting.pairs):
            yield _make_pair(self._terms, key, meeting.players, pair, openings + pair)

    def _meeting_of(self, key: str) -> _Meeting:
        ladder, number, in_round, _ = key.split("/")
        return self._meetings[ladder, int(number), int(in_round)]

    def _name(self, player: int) -> str:
        return self._terms.entrants[player - 1].name
