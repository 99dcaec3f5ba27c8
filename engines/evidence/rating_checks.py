"""Recomputes ratings: a tournament's own ones, and those of a ladder, to the bit."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from engines.arithmetic.ratings import (
    BETA,
    MU,
    NEW_VERSION_SIGMA,
    POINTS,
    SIGMA,
    Fold,
    Player,
    Scale,
    ladder_scale,
    tournament_scale,
)
from engines.evidence.archive import EvidenceArchive
from engines.evidence.compare import compare_rows
from engines.evidence.format import (
    EvidenceGame,
    EvidenceKind,
    EvidenceRating,
    LadderConstants,
    format_version,
    parse_version,
)
from engines.evidence.played_games import GameCheck
from engines.evidence.report import EvidenceReport
from engines.records import Record
from engines.rules.base import quote
from engines.rules.registry import GAMES

RATINGS = "tables/ratings.jsonl"


def scale_of(kind: EvidenceKind, ladder: str) -> Scale:
    """A tournament's own ratings have no drift."""
    return ladder_scale(ladder) if kind is EvidenceKind.LADDER else tournament_scale(ladder)


def constants_of(ladder: str, scale: Scale) -> LadderConstants:
    """The rules and constants of this program, with which the games of an archive are rated by a scale."""
    game = GAMES[ladder]
    return LadderConstants(
        code=ladder,
        rules_version=game.rules_version,
        ply_limit=game.ply_limit,
        mu=MU,
        sigma=SIGMA,
        beta=BETA,
        tau=scale.tau,
        new_version_sigma=NEW_VERSION_SIGMA,
        draw_probability=scale.draw_probability,
        draw_margin=scale.margin,
    )


def check_constants(
    ladders: Sequence[LadderConstants], kind: EvidenceKind, report: EvidenceReport
) -> dict[str, Scale]:
    """The scales of the ladders whose rules and constants are those of this program."""
    usable: dict[str, Scale] = {}
    with report.check("constants") as check:
        for one in ladders:
            if one.code not in GAMES:
                check.skip(
                    f"this program does not know the ladder {quote(one.code)}: it is not checked further"
                )
                continue
            scale = scale_of(kind, one.code)
            expected = constants_of(one.code, scale)
            if one == expected:
                usable[one.code] = scale
            else:
                check.skip(f"{one.code} has {one}, this program {expected}: it is not checked further")
        check.ok(f"rules and ratings of {', '.join(usable)} are those of this program")
    return usable


class RatingCheck(GameCheck):
    """Rates all games that count in their order."""

    name = "ratings"

    def __init__(
        self,
        report: EvidenceReport,
        archive: EvidenceArchive,
        scales: Mapping[str, Scale],
        listed: Collection[str],
    ) -> None:
        """``listed`` are the ladders of the archive, ``scales`` those of the ones that are rated here."""
        super().__init__(report)
        self._listed = set(listed)
        self._archive = archive
        self._is_ladder = archive.manifest.kind is EvidenceKind.LADDER
        self._folds = {ladder: Fold(scale) for ladder, scale in scales.items()}
        self._games = 0
        self._last: dict[str, int] = {}
        """The last sequence of each ladder."""

    def add(self, row: EvidenceGame, record: Record | None) -> None:
        if record is None or row.ladder not in self._folds:
            return
        if self._is_ladder:
            self._follow(row)
        counts = row.rated if self._is_ladder else not row.annulled
        if counts and row.white != row.black and record.result in POINTS:
            self._games += 1
            self._folds[row.ladder].step(self._player(row.white), self._player(row.black), record.result)

    def _follow(self, row: EvidenceGame) -> None:
        last = self._last.get(row.ladder, 0)
        if row.sequence is None or row.sequence <= last:
            self.check.differs(f"game {quote(row.game)} has the sequence {row.sequence} after {last}")
        else:
            self._last[row.ladder] = row.sequence

    def _player(self, version: str) -> Player:
        """On a ladder a new version begins with the rating of the one before; in a tournament it does not."""
        return parse_version(version) if self._is_ladder else (version, 1)

    def knows(self, ladder: str) -> bool:
        """Whether rules and constants of the ladder are those of this program."""
        return ladder in self._folds

    @property
    def unknown(self) -> set[str]:
        """The other ladders, of which neither ratings nor pairings nor tables are computed."""
        return self._listed - self._folds.keys()

    def published(self, ladder: str) -> dict[str, float]:
        """The published number of each version, from the games so far."""
        standings = self._folds[ladder].standings
        return {self._version(player): one.rating.conservative for player, one in standings.items()}

    def end(self) -> None:
        rows = compare_rows(self.check, self._archive, RATINGS, self.computed(), unchecked=self.unknown)
        self.check.ok(f"{rows} ratings are the same to the bit, computed from {self._games} games")
        super().end()

    def computed(self) -> Iterator[EvidenceRating]:
        """The rows of the file."""
        for ladder, fold in self._folds.items():
            named = {self._version(player): one for player, one in fold.standings.items()}
            for version, one in sorted(named.items(), key=lambda item: parse_version(item[0])):
                rating = one.rating
                yield EvidenceRating(
                    ladder,
                    version,
                    rating.mu,
                    rating.sigma,
                    one.wins,
                    one.draws,
                    one.losses,
                    rating.conservative,
                )

    def _version(self, player: Player) -> str:
        return format_version(*player) if self._is_ladder else player[0]
