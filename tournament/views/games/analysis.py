"""The computer analysis on a game's page: which one is shown, and what the page shows of it."""

from __future__ import annotations

import datetime
import uuid
from dataclasses import replace
from functools import lru_cache
from typing import Any

from django.db.models import FloatField, OuterRef, Q, Subquery, Value
from django.db.models.functions import Coalesce
from django.http import HttpRequest
from django.utils import timezone

from engines.rules.base import Side
from tournament.access import Visitor, everybody_may_ask
from tournament.arithmetic.mistakes import MARKS
from tournament.models import BotSearch, Game, LadderRating
from tournament.models.searches import ANALYSES
from tournament.services.searches.asking import TIMES_MS
from tournament.services.work.analyses import GameAnalysis, read_analysis
from tournament.views.analysis.choosing import offered_bots
from tournament.views.games.replay import Replay

RECENT = datetime.timedelta(days=1)
"""The time after a request in which its user is told what has become of it."""
_CACHED = 32


def find_analysis(game: Game, user: Visitor) -> BotSearch | None:
    """The complete analysis that is shown: by the strongest bot, then with the most time, then the latest.

    Everybody sees those of bots that all may ask, users their own as well.
    """
    is_shown = everybody_may_ask("version__bot__")
    if user.is_authenticated:
        is_shown |= Q(owner=user)
    rating = LadderRating.objects.filter(ladder=game.ladder_id, version=OuterRef("version")).values(
        "conservative"
    )
    strength = Coalesce(Subquery(rating), Value(0.0), output_field=FloatField())
    analyses = game.searches.filter(ANALYSES, is_shown).select_related("version__bot")
    return analyses.order_by(strength.desc(), "-ms", "-asked_at").first()


def with_analysis(replay: Replay, shown: BotSearch) -> Replay:
    """The replay with the mistakes that the analysis found."""
    mistakes = _read(shown.pk, replay.opening_plies).mistakes
    moves = [
        replace(one, mark=mistakes[one.ply].mark) if one.ply in mistakes else one for one in replay.moves
    ]
    return replace(replay, moves=tuple(moves), mistakes=mistakes)


@lru_cache(maxsize=_CACHED)
def _read(pk: uuid.UUID, given: int) -> GameAnalysis:
    """Cached, because a complete analysis never changes."""
    return read_analysis(BotSearch.objects.get(pk=pk), given)


def analysis_context(game: Game, shown: BotSearch | None, replay: Replay) -> dict[str, Any]:
    """What the panel of the analysis shows, and in ``found`` what scripts draw; None without an analysis."""
    context: dict[str, Any] = {
        "marks": [(mark, f"{least:.2f}") for mark, least in reversed(MARKS.items())],
        "scale": replay.rules.score_scale / 100,
        "analysis": None,
        "found": None,
    }
    if shown is not None:
        read = _read(shown.pk, replay.opening_plies)
        players = ((Side.WHITE, game.white), (Side.BLACK, game.black))
        context["analysis"] = {
            "search": shown,
            "counts": [
                (side, version, [read.count(side, mark) for mark in reversed(MARKS)])
                for side, version in players
            ],
        }
        marks = {ply: one.mark for ply, one in read.mistakes.items()}
        context["found"] = {"curve": _curve(read, replay.plies), "marks": marks}
    return context


def _curve(read: GameAnalysis, plies: int) -> list[int | None]:
    """White's expected points in hundredths from the start on; None where they are not known."""
    points = [read.points.get(ply) for ply in range(plies + 1)]
    return [None if one is None else round(100 * one) for one in points]


def request_context(request: HttpRequest, game: Game) -> dict[str, Any]:
    """What a user may request, and what has become of the latest request; guests request nothing."""
    if not request.user.is_authenticated:
        return {}
    mine = game.searches.filter(owner=request.user, asked_at__gt=timezone.now() - RECENT)
    return {
        "asked": mine.select_related("version__bot").order_by("-asked_at").first(),
        "bots": offered_bots(request, game.ladder_id),
        "times": [(ms, f"{ms / 1000:g} s a position") for ms in TIMES_MS],
    }
