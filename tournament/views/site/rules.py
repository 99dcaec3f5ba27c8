"""The rules of the games: their pages, the examples' boards as SVG files, the hard positions as JSON.

A page is made from the docstring of the game's module. Each example stands below the paragraph that it
explains, drawn boards take the place of the first one in letters, and what a paragraph says after
**[reading]** is a footnote.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, Final

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe
from django.views.decorators.http import require_safe
from markdown_it.token import Token

from engines import svg
from engines.examples import Example, load_examples
from engines.positions import read_hard_positions
from engines.rules.base import Position
from engines.rules.registry import GAMES, Variant
from tournament.services.results.estimates import ladder_advantage
from tournament.views.analysis.tasks import list_tasks
from tournament.views.games.board import drawn_size
from tournament.views.ladders.drawings import draw_picture
from tournament.views.ladders.ladders import first_advantage
from tournament.views.site.documents import FOOTNOTE, html_token, render_markdown
from tournament.views.site.site import cached_by_digest

DIGEST_LENGTH: Final = 12
KNOWN_ELO: Final = 50.0
"""The least error of the first move's advantage with which it is not shown yet."""
READING: Final = "**[reading]**"
"""Marks, to the end of its paragraph, how this site reads a source that is unclear."""


@require_safe
def rules_list(request: HttpRequest) -> HttpResponse:
    """All games with their pictures, and a table that compares them."""
    games = []
    for code, game in GAMES.items():
        advantage = ladder_advantage(code)
        known = advantage if advantage and advantage.error < KNOWN_ELO else None
        games.append((game, draw_picture(code), known, known and first_advantage(game, known)))
    return render(request, "site/rules_list.html", {"games": games})


@require_safe
def rules(request: HttpRequest, code: str) -> HttpResponse:
    """A game's rules from the docstring of its module, with its examples and hard positions."""
    game = _find(code)
    return render(request, "site/rules.html", {"game": game, "games": GAMES.values(), **_page(code)})


@require_safe
def example_svg(request: HttpRequest, code: str, name: str, ply: int) -> HttpResponse:
    """The board of an example as an SVG file; pages add the digest of the drawing as ``v``.

    With ``?small=1`` it is the picture of "How to play in a minute".
    """
    drawings = _drawings(_find(code).code, small=request.GET.get("small") == "1").get(name, ())
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
    text, readings = split_readings(
        game.rules.strip().partition("\n")[2]
    )  # the page has a heading of its own
    examples = [(one, list(_boards(game, one))) for one in load_examples(code)]

    def placed(tokens: Sequence[Token]) -> Iterator[Token]:
        """The board in place of the first one in letters, and the examples of each paragraph below it."""
        is_drawn = False
        said = ""
        for token in tokens:
            if token.type == "fence" and not is_drawn:
                is_drawn = True
                yield html_token(_drawn_board(start))
                continue
            yield token
            if token.type == "inline":
                said = " ".join(token.content.split())
            elif token.type == "paragraph_close":
                shown = [(one, boards) for one, boards in examples if one.rule in said]
                if shown:
                    context = {"first": shown[:1], "others": shown[1:]}
                    yield html_token(render_to_string("site/pieces/examples.html", context))

    return {
        "body": render_markdown(text, placed),
        "readings": [(f"{FOOTNOTE}{number}", render_markdown(one)) for number, one in enumerate(readings, 1)],
        "steps": [
            (one.minute, list(_boards(game, one, small=True))[:2]) for one, _ in examples if one.minute
        ],
        "headings": re.findall(r"^## (.+)$", text, re.MULTILINE),
        "positions": read_hard_positions(code),
        "tasks": list_tasks(code),
    }


def split_readings(rules: str) -> tuple[str, list[str]]:
    """The rules with links to footnotes, and the text of each footnote."""
    paragraphs: list[str] = []
    notes: list[str] = []
    for paragraph in rules.split("\n\n"):
        said, mark, note = paragraph.partition(READING)
        if not mark:
            paragraphs.append(paragraph)
            continue
        notes.append(" ".join(note.split()))
        link = f" [{len(notes)}](#{FOOTNOTE}{len(notes)})"
        if said.strip():
            paragraphs.append(said.rstrip() + link)
        else:
            paragraphs[-1] += link
    return "\n\n".join(paragraphs), notes


def _drawn_board(start: Position) -> SafeString:
    drawn = {"Start": svg.draw(start, players=False), "The names of the cells": svg.draw_names(start)}
    boards = {title: mark_safe(board) for title, board in drawn.items()}  # safe: svg escapes all texts
    return render_to_string("site/pieces/start.html", {"boards": boards})


def _boards(game: Variant, example: Example, *, small: bool = False) -> Iterator[dict[str, object]]:
    """The boards before the first move and after each move, as images of the page."""
    positions = example.play(game)
    for ply, drawn in enumerate(_drawings(game.code, small=small)[example.name]):
        token = example.moves[ply - 1] if ply else ""
        address = reverse("example-svg", args=[game.code, example.name, ply])
        width, height = drawn_size(drawn)
        yield {
            "ply": ply,
            "label": f"{positions[ply - 1].side.name.title()} {token}" if ply else "Before",
            "address": f"{address}?{'small=1&' if small else ''}v={_digest(drawn)}",
            "words": svg.describe(positions[ply], token),
            "width": width,
            "height": height,
        }


@cache
def _drawings(code: str, *, small: bool) -> dict[str, list[str]]:
    """The boards of each example of a ladder, by its name."""
    return {example.name: list(_draw(GAMES[code], example, small=small)) for example in load_examples(code)}


def _draw(game: Variant, example: Example, *, small: bool) -> Iterator[str]:
    before = None
    for token, position in zip(("", *example.moves), example.play(game), strict=False):
        if small:
            yield svg.draw_small(position, last_move=token, alone=True)
            continue
        yield svg.draw(position, last_move=token, before=before, style=svg.STYLE)
        before = position


def _digest(drawn: str) -> str:
    return hashlib.sha256(drawn.encode()).hexdigest()[:DIGEST_LENGTH]
