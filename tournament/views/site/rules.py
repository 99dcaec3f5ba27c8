"""The rules of the games: their pages, the examples' boards as SVG files, the hard positions as JSON."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.cache import patch_cache_control
from django.utils.safestring import SafeString, mark_safe
from django.views.decorators.http import require_safe

from engines import svg
from engines.examples import Example, Topic, load_examples
from engines.positions import read_hard_positions
from engines.rules.base import Position
from engines.rules.registry import GAMES, Variant
from tournament.views.ladders.drawings import start_board
from tournament.views.site.documents import render_markdown

A_YEAR_S: Final = 365 * 24 * 3600
AN_HOUR_S: Final = 3600
DIGEST_LENGTH: Final = 12

_HEADINGS: Final = {Topic.MOVES: "Moves", Topic.CAPTURES: "Captures", Topic.ENDINGS: "Endings"}
_SIZE: Final = re.compile(r' width="(\d+)" height="(\d+)"')


@dataclass(frozen=True, slots=True)
class ExampleBoard:
    """The board of an example after ``ply`` moves, as an image of the page."""

    ply: int
    label: str
    address: str
    words: str
    width: str
    height: str


@dataclass(frozen=True, slots=True)
class ShownExample:
    """An example with the boards before its first move and after each move."""

    example: Example
    boards: Sequence[ExampleBoard]


@require_safe
def rules_list(request: HttpRequest) -> HttpResponse:
    """All games with their initial positions."""
    games = [(game, _page(code)["board"]) for code, game in GAMES.items()]
    return render(request, "rules_list.html", {"games": games})


@require_safe
def rules(request: HttpRequest, code: str) -> HttpResponse:
    """A game's rules from the docstring of its module, with its examples and hard positions."""
    game = _find(code)
    return render(request, "rules.html", {"game": game, "games": GAMES.values(), **_page(code)})


@require_safe
def example_svg(request: HttpRequest, code: str, name: str, ply: int) -> HttpResponse:
    """The board of an example as an SVG file.

    Pages add the digest of the drawing, and such an address is cached for a year; any other for an hour.
    """
    drawings = _drawings(_find(code).code).get(name, ())
    if ply >= len(drawings):
        raise Http404(f"no board {ply} of an example {name!r}")
    drawn = drawings[ply]
    response = HttpResponse(drawn, content_type="image/svg+xml")
    lasting = request.GET.get("v") == _digest(drawn)
    patch_cache_control(response, public=True, max_age=A_YEAR_S if lasting else AN_HOUR_S)
    if lasting:
        patch_cache_control(response, immutable=True)
    return response


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
    return {
        "body": render_markdown(body),
        "board": start_board(code),
        "names": _safe(svg.draw_names(start)),
        "is_wide": svg.is_wide(start),
        "topics": [
            (_HEADINGS[topic], shown) for topic in Topic if (shown := list(_show_examples(game, topic)))
        ],
        "positions": read_hard_positions(code),
    }


def _safe(drawn: str) -> SafeString:
    return mark_safe(drawn)  # safe: drawn from positions of the rules, and svg escapes all texts


def _show_examples(game: Variant, topic: Topic) -> list[ShownExample]:
    return [
        ShownExample(example, _boards(game, example))
        for example in load_examples(game.code)
        if example.topic is topic
    ]


def _boards(game: Variant, example: Example) -> list[ExampleBoard]:
    positions, tokens = example.play(game), ("", *example.moves)
    return [_board(game, example, ply, positions, token) for ply, token in enumerate(tokens)]


def _board(
    game: Variant, example: Example, ply: int, positions: Sequence[Position], token: str
) -> ExampleBoard:
    drawn = _drawings(game.code)[example.name][ply]
    size = _SIZE.search(drawn)
    assert size is not None
    address = reverse("example-svg", args=[game.code, example.name, ply])
    return ExampleBoard(
        ply=ply,
        label=f"{positions[ply - 1].side.name.title()} {token}" if token else "Before",
        address=f"{address}?v={_digest(drawn)}",
        words=svg.describe(positions[ply], token),
        width=size[1],
        height=size[2],
    )


@cache
def _drawings(code: str) -> dict[str, tuple[str, ...]]:
    """The boards of each example of a ladder, by its name."""
    return {example.name: _draw(GAMES[code], example) for example in load_examples(code)}


def _draw(game: Variant, example: Example) -> tuple[str, ...]:
    positions = example.play(game)
    first = svg.draw(positions[0], style=svg.STYLE)
    moves = zip(example.moves, positions, positions[1:], strict=False)
    return (
        first,
        *(svg.draw(after, last_move=token, before=before, style=svg.STYLE) for token, before, after in moves),
    )


def _digest(drawn: str) -> str:
    return hashlib.sha256(drawn.encode()).hexdigest()[:DIGEST_LENGTH]
