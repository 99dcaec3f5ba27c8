"""The estimate of each ladder's strengths: computed by the record keeper while games come, read by pages.

It is stored with the ladder's completion sequence, which changes with every recorded game, and kept in this
process's memory.
"""

from __future__ import annotations

import datetime
import json
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from django.db.models import Count, Exists, OuterRef, Q

from engines.estimation.estimates import ANCHOR, MAX_ESTIMATED, Estimate, Strength, estimate_columns
from engines.estimation.openings import OpeningScore, Widening
from engines.estimation.tallies import TallyColumns
from engines.rules.base import Result
from engines.rules.registry import GAMES
from tournament.caches import cache
from tournament.models import (
    ActiveVersion,
    BotVersion,
    Game,
    Ladder,
    LadderEstimate,
    LadderRating,
    PairOutcome,
    PairScore,
)

AT_ONCE = 60
"""Versions of a ladder for which a page computes an estimate that is missing or old: takes 0.02 s."""
LEAST_WAIT = datetime.timedelta(seconds=10)
WAIT_FACTOR = 60.0
"""The keeper waits this many times the cost before it computes an estimate again: 2 % of its time."""
GROWTH = 1.05
"""The openings of a ladder are counted again when its games have grown so much, and after a rebuild of the
ratings: it takes 5 s a million."""
CHUNK = 5_000
"""Games whose openings are counted at once."""


def ladder_estimate(ladder: str) -> Estimate | None:
    """Strengths with error bars from the rated games of a ladder, by version id.

    On a ladder with many versions some of the latest games may be missing, for at most a few minutes. None
    until the record keeper has computed its first one.
    """
    columns = ("sequence", "estimate__sequence", "estimate__computed_at")
    sequence, of, computed_at = Ladder.objects.values_list(*columns).get(pk=ladder)
    at_once = of != sequence and _count_versions(ladder) <= AT_ONCE
    if of is None and not at_once:
        return None
    if not at_once:
        return _stored(ladder, computed_at)
    key = f"estimate-{ladder}-{sequence}"
    known: Estimate | None = cache.get(key)
    if known is None:
        known = compute(ladder)
        cache.set(key, known)
    return known


@lru_cache(maxsize=len(GAMES))
def _stored(ladder: str, computed_at: datetime.datetime) -> Estimate:
    """The estimate of this moment, kept as it is: the cache copies megabytes for each page."""
    return _load(ladder) or compute(ladder)


def ladder_advantage(ladder: str) -> Strength | None:
    """White's advantage on a ladder as ``ladder_estimate`` has it, without reading the whole estimate."""
    if _count_versions(ladder) <= AT_ONCE:
        found = ladder_estimate(ladder)
        return found.advantage if found else None
    row = LadderEstimate.objects.filter(pk=ladder).only("advantage", "advantage_error").first()
    if row is None or row.advantage is None or row.advantage_error is None:
        return None
    return Strength(row.advantage, row.advantage_error)


def refresh_estimates(now: datetime.datetime) -> int:
    """Compute and store the estimates that are out of date and due; returns how many."""
    known = {row.pk: row for row in LadderEstimate.objects.defer("content")}
    refreshed = 0
    for ladder in Ladder.objects.filter(sequence__gt=0).order_by("code"):
        row = known.get(ladder.pk)
        if row is None or (row.sequence != ladder.sequence and _due_at(row) <= now):
            begun = time.process_time()
            found = compute(ladder.pk)
            content = _dump(found)
            LadderEstimate.objects.update_or_create(
                ladder=ladder,
                defaults={
                    "sequence": ladder.sequence,
                    "computed_at": now,
                    "cost_s": time.process_time() - begun,
                    "content": content,
                    "advantage": found.advantage.elo,
                    "advantage_error": found.advantage.error,
                },
            )
            refreshed += 1
    return refreshed


def _due_at(row: LadderEstimate) -> datetime.datetime:
    return row.computed_at + max(LEAST_WAIT, WAIT_FACTOR * datetime.timedelta(seconds=row.cost_s))


def _count_versions(ladder: str) -> int:
    return LadderRating.objects.filter(ladder_id=ladder).count()


def compute(ladder: str) -> Estimate:
    """The estimate from the counts of results as they are now."""
    results = LadderResults.of(ladder)
    known = _load(ladder, sequence__gt=0)
    if known is not None and results.games <= GROWTH * known.widening.games:
        return results.estimate(known.widening)
    last = Ladder.objects.values_list("sequence", flat=True).get(pk=ladder)
    openings: dict[Opening, OpeningScore] = {}
    for _ in add_openings(openings, ladder, last):
        pass
    return results.estimate(openings.values())


@dataclass(frozen=True, slots=True)
class LadderResults:
    """The counts of the results of a ladder's rated games at one moment."""

    players: Sequence[int]
    """Versions; of more than ``MAX_ESTIMATED`` those that are neither active nor the newest are left out."""
    columns: TallyColumns
    """All games of the players, in pairs where they were."""
    games: int
    anchor: int | None

    @classmethod
    def of(cls, ladder: str) -> LadderResults:
        scores = PairScore.objects.filter(ladder_id=ladder)
        played = Q(pk__in=scores.values("white")) | Q(pk__in=scores.values("black"))
        active = Exists(ActiveVersion.objects.filter(version=OuterRef("pk"), ladder=ladder, enabled=True))
        newest = BotVersion.objects.filter(played).order_by(active.desc(), "-pk").values_list("pk", flat=True)
        players = sorted(newest[:MAX_ESTIMATED])
        outcomes = PairOutcome.objects.filter(ladder_id=ladder)
        if len(players) == MAX_ESTIMATED:
            scores = scores.filter(white__in=players, black__in=players)
            outcomes = outcomes.filter(one__in=players, other__in=players)
        pairs = TallyColumns.of_pairs(outcomes.values_list("one_id", "other_id", "first", "second", "count"))
        counts = TallyColumns.of_scores(scores.values_list("white_id", "black_id", "wins", "draws", "losses"))
        anchors = BotVersion.objects.filter(bot__owner=None, bot__name=ANCHOR, pk__in=players)
        anchor = anchors.order_by("pk").first()  # the first version: a later one has fewer games
        columns = TallyColumns.of_games(counts, pairs)
        return cls(players, columns, int(counts.count.sum()), anchor.pk if anchor else None)

    def estimate(self, openings: Iterable[OpeningScore] | Widening) -> Estimate:
        """Reads no database."""
        found = estimate_columns(self.players, self.columns, openings)
        return found if self.anchor is None else found.anchored(self.anchor)


Opening = tuple[str, str]
"""Its moves and its position, one of them empty."""


def add_openings(openings: dict[Opening, OpeningScore], ladder: str, last: int) -> Iterator[None]:
    """Add the scores of all openings but the start position, in rated games up to a sequence number.

    Pauses after each ``CHUNK`` of games.
    """
    wins, draws = (Count("id", filter=Q(result=str(result))) for result in (Result.WHITE_WINS, Result.DRAW))
    games = Game.objects.filter(ladder_id=ladder, rated=True).exclude(pairing__opening="", pairing__fen="")
    for begin in range(0, last, CHUNK):
        part = games.filter(sequence__gt=begin, sequence__lte=min(begin + CHUNK, last))
        scored = part.order_by().values("pairing__opening", "pairing__fen")
        counted = scored.annotate(games=Count("id"), wins=wins, draws=draws)
        for opening, position, count, won, drawn in counted.values_list(
            "pairing__opening", "pairing__fen", "games", "wins", "draws"
        ):
            known = openings.get((opening, position), OpeningScore(0, 0))
            half_points = known.half_points + 2 * won + drawn
            openings[opening, position] = OpeningScore(known.games + count, half_points)
        yield


def _dump(found: Estimate) -> bytes:
    """A line of JSON, then the covariance as numbers of four bytes."""
    return json.dumps(found.to_json()).encode() + b"\n" + found.covariance.astype("<f4").tobytes()


def _load(ladder: str, **filters: object) -> Estimate | None:
    """None if there is none, or if its stored form is of another version of this program."""
    stored = LadderEstimate.objects.filter(pk=ladder, **filters).values_list("content", flat=True).first()
    content = bytes(stored or b"")
    end = content.find(b"\n")
    try:
        return Estimate.from_json(json.loads(content[:end]), np.frombuffer(content, "<f4", offset=end + 1))
    except (KeyError, TypeError, ValueError):
        return None
