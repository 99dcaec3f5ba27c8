"""The rows of the pairings of a Swiss or a knock-out, as evidence has them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engines.evidence.format import EvidencePairing
from engines.pairing.knockout import KnockoutMatch
from engines.pairing.results import Absences, MeetingResult, find_byes

_Side = tuple[int | None, str | None, float | None]
"""The seed, the version and the points of a player; Nones for nobody, and where no game has points."""


def pairing_rows(
    ladder: str,
    versions: Sequence[str],
    met: Sequence[MeetingResult],
    absent: Absences,
    bracket: Sequence[Sequence[KnockoutMatch]],
) -> Iterator[EvidencePairing]:
    """Round by round; nothing of other formats. ``versions`` are in the order of their seeds."""

    def side(seed: int | None, points: float | None = None) -> _Side:
        return (None, None, None) if seed is None else (seed, versions[seed - 1], points)

    for match in (match for drawn in bracket for match in drawn):
        first, second = _points(match)
        winner = match.winner if match.is_over else None
        sides = side(match.first, first), side(match.second, second)
        won = None if winner is None else versions[winner - 1]
        yield EvidencePairing(ladder, match.round, *sides[0], *sides[1], won, match.note)
    if bracket or not met:
        return
    byes = find_byes(len(versions), met, absent)
    for number in sorted({one.round for one in met}):
        for one in sorted((one for one in met if one.round == number), key=lambda one: one.first):
            first, second = _points(one)
            sides = side(one.first, first), side(one.second, second)
            yield EvidencePairing(ladder, number, *sides[0], *sides[1], None, "")
        for seed in (seed for seed, rounds in byes.items() if number in rounds):
            yield EvidencePairing(ladder, number, *side(seed), *side(None), None, "bye")


def _points(one: KnockoutMatch | MeetingResult) -> tuple[float | None, float | None]:
    both = one.first_points, one.second_points
    return both if sum(both) else (None, None)
