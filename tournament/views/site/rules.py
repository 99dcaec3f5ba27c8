"""The rules of the games: their pages, the examples' boards as SVG files, the hard positions as JSON."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import cache
from typing import Any, Final

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.safestring import mark_safe
from django.views.decorators.http import require_safe

from engines import svg
from engines.examples import Example, Topic, load_examples
from engines.positions import read_hard_positions
from engines.rules.registry import GAMES, Variant
from tournament.views.games.board import drawn_size
from tournament.views.ladders.drawings import start_board
from tournament.views.site.documents import render_markdown
from tournament.views.site.site import cached_by_digest

DIGEST_LENGTH: Final = 12


@require_safe
def rules_list(request: HttpRequest) -> HttpResponse:
    """All games with their initial positions."""
    games = [(game, start_board(code)) for code, game in GAMES.items()]
    return render(request, "rules_list.html", {"games": games})


@require_safe
def rules(request: HttpRequest, code: str) -> HttpResponse:
    """A game's rules from the docstring of its module, with its examples and hard positions."""
    game = _find(code)
    return render(request, "rules.html", {"game": game, "games": GAMES.values(), **_page(code)})


@require_safe
def example_svg(request: HttpRequest, code: str, name: str, ply: int) -> HttpResponse:
    """The board of an example as an SVG file; pages add the digest of the drawing as ``v``."""
    drawings = _drawings(_find(code).code).get(name, ())
    if ply >= len(drawings):
        raise Http404(f"no board {ply} of an example {name!r}")
    drawn = drawings[ply]
    response = HttpResponse(drawn, content_type="image/svg+xml")
    return cached_by_digest(response, is_current=request.GET.get("v") == _digest(drawn))


@require_safe
def hard_positions(request: HttpRequest, code: str) -> JsonResponse:
    """The hard positions of a game; ``perft`` counts from depth 1, ``result`` is "" before the end."""
    game = _find(code)
    rows = [
        {"position": row.position, "perft": row.counts, "result": row.result}
        for row in read_hard_positions(game.code)
    ]
    return JsonResponse({"game": game.code, "positions": rows})


def _find(code: str) -> Variant:
    if code not in GAMES:
        raise Http404(f"no game {code!r}")
    return GAMES[code]


@cache
def _page(code: str) -> dict[str, Any]:
    game = GAMES[code]
    start = game.position.initial()
    body = game.rules.strip().partition("\n")[2]  # the page's own heading names the ladder
    examples = load_examples(code)
    by_topic = {topic: [one for one in examples if one.topic is topic] for topic in Topic}
    return {
        "body": render_markdown(body),
        "board": start_board(code),
        "names": mark_safe(svg.draw_names(start)),  # safe: svg escapes all texts
        "is_wide": svg.is_wide(start),
        "topics": [
            (topic, [(one, list(_boards(game, one))) for one in shown])
            for topic, shown in by_topic.items()
            if shown
        ],
        "positions": read_hard_positions(code),
    }


def _boards(game: Variant, example: Example) -> Iterator[dict[str, object]]:
    """The boards before the first move and after each move, as images of the page."""
    positions = example.play(game)
    for ply, drawn in enumerate(_drawings(game.code)[example.name]):
        token = example.moves[ply - 1] if ply else ""
        address = reverse("example-svg", args=[game.code, example.name, ply])
        width, height = drawn_size(drawn)
        yield {
            "ply": ply,
            "label": f"{positions[ply - 1].side.name.title()} {token}" if ply else "Before",
            "address": f"{address}?v={_digest(drawn)}",
            "words": svg.describe(positions[ply], token),
            "width": width,
            "height": height,
        }


@cache
def _drawings(code: str) -> dict[str, list[str]]:
    """The boards of each example of a ladder, by its name."""
    return {example.name: list(_draw(GAMES[code], example)) for example in load_examples(code)}


def _draw(game: Variant, example: Example) -> Iterator[str]:
    before = None
    for token, position in zip(("", *example.moves), example.play(game), strict=False):
        yield svg.draw(position, last_move=token, before=before, style=svg.STYLE)
        before = position


def _digest(drawn: str) -> str:
    return hashlib.sha256(drawn.encode()).hexdigest()[:DIGEST_LENGTH]
