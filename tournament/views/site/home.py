"""The home page: what this site is, the games being played now, and the news.

These are the same for all visitors, so that one of them can be answered with what was computed for another.
Above them a logged-in user sees what is new since the last visit.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.safestring import mark_safe
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from engines.rules.registry import GAMES, Variant
from tournament import access
from tournament.caches import cache
from tournament.formats import kinds
from tournament.models import Game, Tournament, User
from tournament.queues import ANY_GAME, game_topic
from tournament.services.accounts.digests import PlayedLine, make_digest
from tournament.services.accounts.visits import away_since
from tournament.services.uploads import availability as uploads
from tournament.views.analysis.persons import own_open_games
from tournament.views.games.scores import ScoreRow
from tournament.views.ladders.drawings import draw_curve
from tournament.views.polling import PART, LivePart, is_part
from tournament.views.site.featured import feature, feature_finished, list_running, shown_boards
from tournament.views.site.news import News, look_up_news

TOURNAMENTS = 6
KEPT_SECONDS = 0.9
"""Seconds for which what is played is not looked up again for new pages."""


@require_safe
@vary_on_headers(PART)
def home(request: HttpRequest) -> HttpResponse:
    """The home page; a script gets what is being played, or 204.

    There ``?boards=1,2`` names the games on the boards of the page: each stays a little beyond its end.
    """
    if is_part(request):
        return _poll(request, shown_boards(request.GET.get("boards", "")))
    news = look_up_news()
    part: str | None = cache.get("home-playing")
    if part is None:
        playing = _playing([], news)
        address = _part(request, playing["shown"], playing["seen"]).address
        part = render_to_string("site/pieces/playing.html", {"playing": playing, "follow": address})
        cache.set("home-playing", part, KEPT_SECONDS)
    context = {
        "playing": mark_safe(part),  # safe: the template that rendered it has escaped all values
        "news": news.html,
        "families": _families(),
        "uploads": uploads.current_state(),
        "mine": own_open_games(request),
    }
    if isinstance(request.user, User):
        context |= _digest(request.user)
    return render(request, "site/home.html", context)


def _digest(user: User) -> dict[str, Any]:
    """What is new for a logged-in user since the last visit."""
    digest = make_digest(user, away_since(user, timezone.now()))
    lines = [(line, ScoreRow(line.score, _filters(line)), draw_curve(line.ratings)) for line in digest.lines]
    return {"digest": digest, "lines": lines, "has_bots": user.bots.exists()}


def _filters(line: PlayedLine) -> dict[str, object]:
    version = line.version
    return {
        "bot": version.bot.slug,
        "version": version.number,
        "ladder": line.ladder,
        "min_sequence": line.first,
    }


def _poll(request: HttpRequest, shown: Sequence[int]) -> HttpResponse:
    playing = _playing(shown, look_up_news())
    part = _part(request, playing["shown"], playing["seen"])
    return (
        part.unchanged() if part.is_shown else part.render("site/pieces/playing.html", {"playing": playing})
    )


def _part(request: HttpRequest, shown: str, seen: str) -> LivePart:
    topics = (ANY_GAME, *(game_topic(game) for game in shown_boards(shown)))
    return LivePart(request, seen, topics, again_s=3.0, parameters={"boards": shown})


def _playing(shown: Sequence[int], news: News) -> dict[str, Any]:
    """What is being played; without a running game, ``final_title`` says which finished game is shown."""
    running = list_running()
    by_ladder = Counter(game.ladder_id for game in running)
    ladders = [(game, by_ladder[code]) for code, game in GAMES.items()]
    tournaments = _tournaments(running)
    boards, title = feature(running, shown), ""
    if not boards and news.final is not None:
        boards, title = [feature_finished(news.final)], news.final_title
    # Changes whenever this looks different, the clocks aside.
    state = (
        [board.key for board in boards],
        [(game.code, count) for game, count in ladders],
        [(one.pk, one.games_done, count) for one, count in tournaments],
    )
    return {
        "count": len(running),
        "boards": boards,
        "ladders": ladders,
        "tournaments": tournaments,
        "final_title": title,
        "shown": _joined([board.game.pk for board in boards]),
        "seen": hashlib.sha256(repr(state).encode()).hexdigest()[:16],
    }


def _tournaments(running: Sequence[Game]) -> list[tuple[Tournament, int]]:
    """The newest running tournaments, each with the number of its games that are being played.

    Without those of ladders, which always run.
    """
    playing = Counter(game.tournament_id for game in running)
    found = access.visible_tournaments(access.PUBLIC).running()
    found = found.exclude(kind__in=kinds(lambda one: one.is_endless))
    return [(one, playing[one.pk]) for one in found.order_by("-id")[:TOURNAMENTS]]


def _joined(games: Sequence[int]) -> str:
    return ",".join(map(str, games))


def _families() -> list[Variant]:
    """One game of each family, in the order of the ladders."""
    return list({game.family: game for game in reversed(GAMES.values())}.values())[::-1]
