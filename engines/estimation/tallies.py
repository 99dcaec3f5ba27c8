"""Counts of pairs of games and of single games with the same results, in arrays.

A million of them are joined in a part of a second.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from engines.estimation.likelihood import Cells, Numbers
from engines.rules.base import Result

RESULTS: Final = (Result.WHITE_WINS, Result.DRAW, Result.BLACK_WINS)
"""Their places are the codes of results in columns."""
NO_GAME: Final = len(RESULTS)
"""The code of the second result of single games."""
_UNDECIDED: Final = NO_GAME + 1
_CODES: Final[dict[str, int]] = {
    **{result: code for code, result in enumerate(RESULTS)},
    Result.UNDECIDED: _UNDECIDED,
}


@dataclass(frozen=True, slots=True)
class TallyColumns:
    """How many pairs of games had the same two results, and how many single games the same one.

    ``one`` is White in the game with the result ``first``, ``other`` in that with the result ``second``,
    which is ``NO_GAME`` for single games. Rows may be equal but for their counts, which are added; negative
    counts take games away.
    """

    one: Numbers
    other: Numbers
    first: Numbers
    second: Numbers
    count: Numbers

    @classmethod
    def of_pairs(cls, rows: Iterable[tuple[int, int, str, str, int]]) -> TallyColumns:
        """From the fields in their order."""
        one, other, first, second, count = _transposed(rows)
        return cls(_numbers(one), _numbers(other), _coded(first), _coded(second), _numbers(count))

    @classmethod
    def of_scores(cls, rows: Iterable[tuple[int, int, int, int, int]]) -> TallyColumns:
        """From White, Black, and the counts of White's wins, of draws and of White's losses."""
        white, black, *counts = map(_numbers, _transposed(rows))
        none = np.full(len(white), NO_GAME)
        return cls.joined(
            cls(white, black, np.full(len(white), code), none, count) for code, count in enumerate(counts)
        )

    @classmethod
    def of_games(cls, scores: TallyColumns, pairs: TallyColumns) -> TallyColumns:
        """All games once: those of ``scores``, of which some are also in ``pairs``."""
        return cls.joined([scores, pairs.taken_out(), pairs])

    @classmethod
    def joined(cls, parts: Iterable[TallyColumns]) -> TallyColumns:
        """The rows of all parts."""
        columns = ((part.one, part.other, part.first, part.second, part.count) for part in parts)
        return cls(*(np.concatenate(arrays) for arrays in zip(*columns, strict=True)))

    def taken_out(self) -> TallyColumns:
        """Minus the games of these pairs: with all games they leave those that are in no pair."""
        none = np.full(len(self.one), NO_GAME)
        return self.joined(
            [
                TallyColumns(self.one, self.other, self.first, none, -self.count),
                TallyColumns(self.other, self.one, self.second, none, -self.count),
            ]
        )

    def cells(self, players: Sequence[int]) -> list[Cells]:
        """The sums of equal rows with a positive count, in a fixed order; players as indices in ``players``.

        Pairs have ``one`` before ``other``. Rows with other players or without a result are left out.
        """
        one, other = _indices(players, self.one), _indices(players, self.other)
        counts = (one >= 0) & (other >= 0) & (one != other)
        counts &= (self.first != _UNDECIDED) & (self.second != _UNDECIDED)
        turns = (one > other) & (self.second != NO_GAME)
        one, other = np.where(turns, other, one), np.where(turns, one, other)
        first, second = np.where(turns, self.second, self.first), np.where(turns, self.first, self.second)
        size = max(len(players), 1)
        key = ((first * _UNDECIDED + second) * size + one) * size + other
        key, count = _summed(key[counts], self.count[counts])
        results, meeting = np.divmod(key[count > 0], size * size)
        one, other = np.divmod(meeting, size)
        codes, starts = np.unique(results, return_index=True)
        columns = (
            np.split(column, starts[1:]) for column in (one, other, count[count > 0].astype(np.float64))
        )
        return [
            Cells(RESULTS[code // _UNDECIDED], (*RESULTS, None)[code % _UNDECIDED], *arrays)
            for code, *arrays in zip(codes.tolist(), *columns, strict=False)
        ]


def _indices(players: Sequence[int], ids: Numbers) -> Numbers:
    """The index of each id in ``players``, -1 for others."""
    if not len(players):
        return np.full(len(ids), -1)
    known = np.array(players)
    order = np.argsort(known)
    found = order[np.searchsorted(known, ids, sorter=order).clip(max=len(known) - 1)]
    return np.where(known[found] == ids, found, -1)


def _summed(keys: Numbers, counts: Numbers) -> tuple[Numbers, Numbers]:
    """The different keys in their order, and the sum of the counts of each."""
    order = np.argsort(keys)
    keys = keys[order]
    starts = np.flatnonzero(np.diff(keys, prepend=-1))
    return keys[starts], np.add.reduceat(counts[order], starts) if len(starts) else counts[:0]


def _transposed(rows: Iterable[tuple[Any, ...]]) -> list[list[Any]]:
    """The five columns of rows."""
    rows = list(rows)
    return [[row[column] for row in rows] for column in range(5)]


def _numbers(values: Sequence[int]) -> Numbers:
    return np.array(values, dtype=np.int64)


def _coded(results: Sequence[str]) -> Numbers:
    return np.array([_CODES[result] for result in results], dtype=np.int64)
