"""Recomputes the estimate of a ladder's strengths, which needs NumPy."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from engines.arithmetic.ratings import POINTS
from engines.evidence.archive import EvidenceArchive
from engines.evidence.compare import compare_rows
from engines.evidence.format import (
    EvidenceGame,
    EvidenceStrength,
    EvidenceVersion,
    format_version,
    parse_version,
)
from engines.evidence.played_games import GameCheck
from engines.evidence.report import EvidenceReport
from engines.records import Record
from engines.rules.base import Result

if TYPE_CHECKING:
    from engines.estimation.estimates import Estimate

ESTIMATE: Final = "tables/estimate.jsonl"
CLOSE_ELO: Final = 1e-6
"""The most that sums in another order change the estimate."""
_WHITE_WINS, _DRAW, _BLACK_WINS = Result.WHITE_WINS, Result.DRAW, Result.BLACK_WINS


class Results:
    """Results of rated games, counted as an estimate needs them."""

    def __init__(self) -> None:
        self._scores: dict[tuple[str, str], Counter[Result]] = {}
        self._pairs: Counter[tuple[str, str, str, str]] = Counter()
        self._open: dict[tuple[str, int, int], tuple[str, str, Result]] = {}
        """The first game of each pair whose second game is not counted yet."""
        self._openings: dict[tuple[str, str], Counter[Result]] = {}

    def add(self, row: EvidenceGame, white: str, black: str, result: Result) -> None:
        """Count a rated game of these players."""
        self._scores.setdefault((white, black), Counter())[result] += 1
        if row.opening or row.position:
            self._openings.setdefault((row.opening, row.position), Counter())[result] += 1
        key = row.event, row.round, row.pairing
        first = self._open.pop(key, None)
        if first is None:
            self._open[key] = white, black, result
        elif first[:2] == (black, white):
            self._pairs[(*first[:2], str(first[2]), str(result))] += 1

    @property
    def games(self) -> int:
        return sum(counts.total() for counts in self._scores.values())

    @property
    def players(self) -> list[str]:
        return sorted({player for both in self._scores for player in both}, key=parse_version)

    def estimate(self, anchor: str | None) -> tuple[Estimate, list[str]]:
        """The estimate, and its players in the order of their numbers there; raises ``ImportError``."""
        from engines.estimation.estimates import estimate_columns
        from engines.estimation.openings import OpeningScore
        from engines.estimation.tallies import TallyColumns

        players = self.players
        ids = {player: number for number, player in enumerate(players)}
        scores = TallyColumns.of_scores(
            (ids[white], ids[black], counts[_WHITE_WINS], counts[_DRAW], counts[_BLACK_WINS])
            for (white, black), counts in self._scores.items()
        )
        pairs = TallyColumns.of_pairs(
            (ids[one], ids[other], first, second, count)
            for (one, other, first, second), count in self._pairs.items()
        )
        openings = [
            OpeningScore(counts.total(), 2 * counts[_WHITE_WINS] + counts[_DRAW])
            for counts in self._openings.values()
        ]
        found = estimate_columns(range(len(players)), TallyColumns.of_games(scores, pairs), openings)
        return (found if anchor is None else found.anchored(ids[anchor])), players


def find_anchor(versions: Iterator[EvidenceVersion], players: list[str]) -> str | None:
    """The first version of the sample that has 0 Elo, of those that played; raises ``ImportError``."""
    from engines.estimation.estimates import ANCHOR

    known = set(players)
    named = (parse_version(one.version) for one in versions if one.owner is None and one.version in known)
    found = [format_version(bot, number) for bot, number in sorted(named) if bot == ANCHOR]
    return found[0] if found else None


class EstimateCheck(GameCheck):
    """Estimates the strengths from all rated games of a ladder."""

    name = "estimate"

    def __init__(self, report: EvidenceReport, archive: EvidenceArchive) -> None:
        super().__init__(report)
        self._archive = archive
        self._results = Results()

    def add(self, row: EvidenceGame, record: Record | None) -> None:
        if record is not None and row.rated and record.result in POINTS:
            self._results.add(row, row.white, row.black, record.result)

    def end(self) -> None:
        try:
            self._compare()
        except ImportError:
            self.check.skip("it needs the package numpy, which this Python does not have")
        super().end()

    def _compare(self) -> None:
        from engines.estimation.estimates import MAX_ESTIMATED

        players = self._results.players
        if len(players) > MAX_ESTIMATED:
            self.check.skip(
                f"it leaves out some of the {len(players)} versions, which depend on what was active"
            )
            return
        count = compare_rows(self.check, self._archive, ESTIMATE, self.computed(), close=CLOSE_ELO)
        self.check.ok(f"{count} strengths agree, estimated from {self._results.games} games")

    def computed(self) -> list[EvidenceStrength]:
        """The rows of the file; raises ``ImportError``."""
        versions = self._archive.rows("versions.jsonl", EvidenceVersion)
        found, players = self._results.estimate(find_anchor(versions, self._results.players))
        ladder = self._archive.manifest.name
        return [
            EvidenceStrength(ladder, None, found.advantage.elo, _finite(found.advantage.error)),
            *(
                EvidenceStrength(ladder, player, one.elo, _finite(one.error))
                for player, one in zip(players, found.strengths.values(), strict=True)
            ),
        ]


def _finite(error: float) -> float | None:
    return error if math.isfinite(error) else None
