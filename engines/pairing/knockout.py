"""Knock-outs: the loser of a match is eliminated; the last remaining player wins.

The bracket is the usual one: the two best seeds can meet only in the final, the four best not before the
semi-finals, and if the number of players is not a power of two, the best seeds have a bye in the first
round. A match has a fixed number of pairs of games; while it is level, another pair is played, up to a limit.
If it is still level then, the better seed wins (``by_last_resort``). Games that are annulled later have no
points and are not replayed; a winner who has been paired for the next round stays there.

If a player is withdrawn, the opponent wins a match that its games have not decided, without further games. If
both are, nobody wins it, and the opponent in the next round has a bye.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from engines.pairing.results import NO_ABSENCES, Absences, MeetingResult


@dataclass(frozen=True, slots=True)
class Length:
    """The length of a match, in pairs of games."""

    pairs: int
    """The pairs that are always played."""
    extra: int
    """The most further pairs, played one at a time while the match is level."""


@dataclass(frozen=True, slots=True)
class KnockoutMatch:
    """A match of the bracket; ``number`` counts from 1 in its round, from top to bottom.

    ``first`` is the player from the upper line. A player is None until the match that he must win is decided.
    A match with a winner and without ``second`` is a bye.
    """

    round: int
    number: int
    first: int | None
    second: int | None
    first_points: float = 0.0
    second_points: float = 0.0
    winner: int | None = None
    by_last_resort: bool = False
    annulled: int = 0
    """Games that are over and have no points."""
    by_withdrawal: bool = False
    """Decided because the loser was withdrawn; without a winner both were, and nobody goes on."""

    @property
    def is_over(self) -> bool:
        return self.winner is not None or self.by_withdrawal

    @property
    def players(self) -> list[int | None]:
        """Both players, None for one who is not known yet; of a bye only the one who has it."""
        both = [self.first, self.second]
        return [player for player in both if player is not None] if self.is_over else both

    @property
    def is_bye(self) -> bool:
        return self.winner is not None and self.second is None

    @property
    def pairs(self) -> int:
        """The number of finished pairs of games."""
        return (round(self.first_points + self.second_points) + self.annulled) // 2

    @property
    def note(self) -> str:
        """In words, if it was not decided by its points."""
        if self.by_withdrawal:
            is_of_both = self.winner is None and self.second is not None
            return "both are withdrawn" if is_of_both else "withdrawn"
        if self.is_bye:
            return "bye"
        return "level, so the better seed advances" if self.by_last_resort else ""


def seed_lines(players: int) -> list[int]:
    """The seeds from the top of the bracket to its bottom; numbers above ``players`` are byes.

    Raises ``ValueError`` for fewer than two players.
    """
    if players < 2:
        raise ValueError(f"a knock-out needs at least two players, not {players}")
    lines = [1]
    while len(lines) < players:
        lines = [seed for line in lines for seed in (line, 2 * len(lines) + 1 - line)]
    return lines


def draw_bracket(
    players: int, met: Iterable[MeetingResult], length: Length, absent: Absences = NO_ABSENCES
) -> list[list[KnockoutMatch]]:
    """All rounds of the bracket, with the results so far; players are given by their seeds, from 1."""
    played = {(one.round, one.players): one for one in met}
    paired = {(number, player) for number, both in played for player in both}
    lines: list[int | None] = list(seed_lines(players))
    rounds: list[list[KnockoutMatch]] = []
    while len(lines) > 1:
        number = len(rounds) + 1
        drawn = [
            _decide(
                KnockoutMatch(number, place // 2 + 1, lines[place], lines[place + 1]), players, played, length
            )
            for place in range(0, len(lines), 2)
        ]
        drawn = [_without(_confirmed(match, paired), absent.get(number, ())) for match in drawn]
        rounds.append(drawn)
        nobody = players + 1
        lines = [match.winner if match.winner or not match.is_over else nobody for match in drawn]
    return rounds


def note_withdrawn(
    players: int, met: Sequence[MeetingResult], length: Length, absent: Absences, withdrawn: Collection[int]
) -> dict[int, set[int]]:
    """The absences after some players were withdrawn: from matches still undecided, and from later rounds.

    None of the withdrawn has a game that is being played.
    """
    noted = {number: set(gone) for number, gone in absent.items()}
    begun = max((*noted, *(one.round for one in met)), default=0)
    for number in range(1, 1 + (players - 1).bit_length()):
        drawn = draw_bracket(players, met, length, noted)[number - 1]
        concerned = [match.players for match in drawn if number > begun or not match.is_over]
        known = {player for both in concerned if None not in both for player in both}
        if gone := {player for player in withdrawn if player in known}:
            noted[number] = noted.get(number, set()) | gone
    return noted


def pairs_due(match: KnockoutMatch, length: Length) -> int:
    """How many pairs of games to play next, if all earlier ones are finished; 0 if none can be played."""
    if match.is_over or match.first is None or match.second is None:
        return 0
    return 1 if match.pairs >= length.pairs else length.pairs - match.pairs


def rounds_survived(players: int, bracket: list[list[KnockoutMatch]]) -> dict[int, int]:
    """The matches won by each player, including byes; players with the same number share a place."""
    won = dict.fromkeys(range(1, players + 1), 0)
    for match in (match for drawn in bracket for match in drawn):
        if match.winner is not None:
            won[match.winner] = match.round
    return won


def _decide(
    match: KnockoutMatch,
    players: int,
    played: dict[tuple[int, frozenset[int]], MeetingResult],
    length: Length,
) -> KnockoutMatch:
    """The match with its points and its winner, if it is decided."""
    first, second = match.first, match.second
    if first is None or second is None:
        nobody = players + 1  # it comes from a match without a winner
        return replace(
            match, first=None if first == nobody else first, second=None if second == nobody else second
        )
    if first > players and second > players:
        return KnockoutMatch(match.round, match.number, None, None, by_withdrawal=True)
    if first > players or second > players:
        return KnockoutMatch(match.round, match.number, min(first, second), None, winner=min(first, second))
    met = played.get((match.round, frozenset((first, second))))
    if met is None:
        return match
    mine, theirs = met.first_points, met.second_points
    if met.first != first:
        mine, theirs = theirs, mine
    level = replace(match, first_points=mine, second_points=theirs, annulled=met.annulled)
    is_unfinished = met.games % 2 or level.pairs < length.pairs
    if is_unfinished or (mine == theirs and level.pairs < length.pairs + length.extra):
        return level
    winner = min(first, second) if mine == theirs else first if mine > theirs else second
    return replace(level, winner=winner, by_last_resort=mine == theirs)


def _confirmed(match: KnockoutMatch, paired: set[tuple[int, int]]) -> KnockoutMatch:
    """The match; if games of it are annulled, its winner is the player who is paired for the next round."""
    if match.annulled:
        for player in (match.first, match.second):
            if player != match.winner and player is not None and (match.round + 1, player) in paired:
                return replace(match, winner=player, by_last_resort=False)
    return match


def _without(match: KnockoutMatch, absent: Collection[int]) -> KnockoutMatch:
    """The match as its withdrawn players leave it, unless its games have decided it."""
    left = [player for player in match.players if player not in absent]
    is_decided = match.is_over and not match.is_bye
    if is_decided or None in left or len(left) == len(match.players):
        return match
    return replace(match, winner=left[0] if left else None, by_withdrawal=True)
