"""The analysis board: any legal line of a game, entered on the board, and its positions for scripts.

The rules are asked, nowhere else: a script gets the legal moves of a position as tokens, and only takes them
apart into the cells to click.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.cache import patch_cache_control
from django.utils.safestring import SafeString, mark_safe
from django.views.decorators.http import require_safe

from engines import svg
from engines.rules.base import Outcome, Position, RulesError
from engines.rules.history import History
from engines.rules.registry import ENDINGS, GAMES, Variant
from tournament.views.games.board import is_flipped

KEPT_S = 3600
"""How long caches may keep a position: its moves do not change, the drawing may with a release."""
MOST_MOVES = 1000
"""Of a line; no game has so many plies by default."""
MOST_LISTED = 400
"""Legal moves that the page lists as links; a longer list is left to the board."""


class BadLine(Exception):
    """A position or move that cannot be shown; the text is a sentence for users."""


@dataclass(frozen=True, slots=True)
class Line:
    """Moves from a start position; ``start`` is empty for that of the game."""

    game: Variant
    start: str
    moves: tuple[str, ...]
    positions: tuple[Position, ...]

    @property
    def position(self) -> Position:
        return self.positions[-1]

    def address(self, *moves: str, **more: str) -> str:
        """The query of the line with these moves instead, and ``more`` parameters."""
        start = {"position": self.start} if self.start else {}
        return urlencode({**start, "moves": " ".join(moves), **more})


@require_safe
def analysis(request: HttpRequest, code: str) -> HttpResponse:
    """The board after ``?moves=`` from ``?position=``; without scripts each legal move is a link."""
    return show_line(request, find_ladder(code), lambda line: {})


def show_line(
    request: HttpRequest, game: Variant, more: Callable[[Line], Mapping[str, object]]
) -> HttpResponse:
    """The page of the line that the address names, with ``more`` in its context."""
    trouble = ""
    try:
        line = read_line(request, game)
    except BadLine as error:
        trouble, line = str(error), Line(game, "", (), (game.position.initial(),))
    position, flip = line.position, is_flipped(request)
    tokens = [] if position.count_moves() > MOST_LISTED else list(position.legal_moves())
    context = {
        "game": game,
        "line": line,
        "trouble": trouble,
        "random": request.GET.get("random", ""),
        "board": _draw(line, flip=flip, targets=False),
        "shown": _values(line, flip=flip),
        "spoken": svg.summarize(position, line.moves[-1] if line.moves else ""),
        "played": [(token, line.address(*line.moves[:ply])) for ply, token in enumerate(line.moves, 1)],
        "next_moves": [(token, line.address(*line.moves, token)) for token in tokens],
        "back": line.address(*line.moves[:-1]) if line.moves else "",
        "here": line.address(*line.moves),
        **more(line),
    }
    return render(request, "analysis.html", context, status=400 if trouble else 200)


@require_safe
def analysis_position(request: HttpRequest, code: str) -> JsonResponse:
    """The same position for scripts: its board, its legal moves and its end."""
    try:
        values = _values(read_line(request, find_ladder(code)), flip=is_flipped(request))
    except BadLine as error:
        return JsonResponse({"error": str(error)}, status=400)
    response = JsonResponse(values)
    patch_cache_control(response, public=True, max_age=KEPT_S)
    return response


def read_line(request: HttpRequest, game: Variant) -> Line:
    """The line that the address names, with one more ``token`` of the form; raises ``BadLine``."""
    start = request.GET.get("position", "")
    tokens = f"{request.GET.get('moves', '')} {request.GET.get('token', '')}".split()
    if len(tokens) > MOST_MOVES:
        raise BadLine(f"moves: {len(tokens)} are too many, a line holds {MOST_MOVES}.")
    try:
        position: Position = game.position.parse(start) if start else game.position.initial()
        positions = [position]
        for token in tokens:
            position = position.play(token)
            positions.append(position)
    except RulesError as error:
        raise BadLine(f"{str(error)[0].upper()}{str(error)[1:]}.") from None
    return Line(game, start, tuple(tokens), tuple(positions))


def _values(line: Line, *, flip: bool) -> dict[str, Any]:
    """What a script needs of the last position; ``moves`` are tokens with spaces between them."""
    position = line.position
    outcome = position.outcome()
    in_a_match = _judge(line)
    return {
        "position": str(position),
        "side": position.side.name.lower(),
        "ply": position.ply,
        "moves": " ".join(position.legal_moves()),
        "result": str(outcome.result),
        "ending": ENDINGS.get(outcome.reason, ""),
        "match_result": str(in_a_match.result),
        "match_ending": ENDINGS.get(in_a_match.reason, ""),
        "board": _draw(line, flip=flip, targets=True),
        "spoken": svg.summarize(position, line.moves[-1] if line.moves else ""),
    }


def _judge(line: Line) -> Outcome:
    """The outcome with the match rules, which end games and not lines of an analysis."""
    history = History(line.game, line.positions[0])
    for token in line.moves:
        if history.outcome.decided:
            break
        history.play(token)
    return history.outcome


def _draw(line: Line, *, flip: bool, targets: bool) -> SafeString:
    before = line.positions[-2] if line.moves else None
    last = line.moves[-1] if line.moves else ""
    drawn = svg.draw(line.position, last_move=last, before=before, flip=flip, targets=targets)
    return mark_safe(drawn)  # safe: drawn from a parsed position, and svg escapes all texts


def find_ladder(code: str) -> Variant:
    if code not in GAMES:
        raise Http404(f"no ladder {code!r}")
    return GAMES[code]
