"""The analysis board: moves entered on the board, with variations and comments, and positions for scripts.

Every control is a button of one form, so the page works without scripts. A script gets the legal moves of a
position with the parts that are chosen one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.cache import patch_cache_control
from django.utils.safestring import SafeString, mark_safe
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe

from engines import svg
from engines.records import MoveTree
from engines.rules.history import replay_until_end
from engines.rules.registry import ENDINGS, GAMES, Variant
from tournament.models import Analysis
from tournament.services.searches.asking import SECONDS
from tournament.views.analysis.choosing import offered_bots
from tournament.views.analysis.entry import entry_of, spell_moves
from tournament.views.analysis.trees import (
    BadLine,
    Line,
    ShownTree,
    change_tree,
    read_line,
    read_tree,
    show_tree,
    tree_query,
)
from tournament.views.downloads import PGN_TYPE, TEXT_TYPE, attached
from tournament.views.games.board import is_flipped
from tournament.views.polling import is_part
from tournament.views.requests import fresh_buttons, takes_get_and_post

KEPT_SECONDS = 3600
"""How long caches may keep a position: its moves do not change, the drawing may with a release."""
MAX_LISTED = 400
"""Legal moves that the page lists as buttons; a longer list is left to the board."""


More = Callable[[ShownTree], Mapping[str, object]]
"""What a page shows beside the analysis board."""


@csrf_exempt  # a form changes what it shows, and nothing on the site
@fresh_buttons
@takes_get_and_post
def analysis(request: HttpRequest, code: str, key: str = "") -> HttpResponse:
    """The tree of the address, or a saved one, at ``?at=``; a form is answered with the changed tree."""
    return answer_page(request, code, key)


def answer_page(
    request: HttpRequest,
    code: str,
    key: str = "",
    *,
    name: str = "analysis",
    more: More = lambda shown: {},
    part: str = "",
) -> HttpResponse:
    """The answer of the page with this name, which shows ``more``; ``part`` is the template of that alone."""
    game, saved = find_ladder(code), None
    is_form = request.method == "POST"
    if key:
        saved = Analysis.objects.select_related("owner", "ladder").filter(ladder=code, key=key).first()
        if saved is None and not is_form:  # a form still has the tree of a deleted one
            raise Http404(f"no analysis {key!r} of {code!r}")
    values = request.POST if is_form else request.GET
    shown = show_tree(game, "", MoveTree())
    try:
        shown = read_tree(values, game, saved.text if saved else "")
        shown = change_tree(shown, values) if is_form else shown
    except BadLine as error:
        if is_part(request):
            return HttpResponse(str(error), status=400, content_type=TEXT_TYPE)
        return show_page(request, shown, saved, more(shown), trouble=str(error), status=400)
    if part and not is_form and is_part(request):
        return render(request, part, dict(more(shown)))
    found = _answer_form(request, shown, saved, name) if is_form else None
    return found or show_page(request, shown, saved, more(shown))


def _answer_form(
    request: HttpRequest, shown: ShownTree, saved: Analysis | None, name: str
) -> HttpResponse | None:
    """None if the tree is too long for an address, so that its page is the answer."""
    if request.POST.get("action") == "download":
        record = shown.record(request.POST.get("title", saved.title if saved else ""))
        return attached(record, f"analysis-{shown.game.code}.pgn", PGN_TYPE)
    if saved and shown.game.code != saved.ladder_id:  # a record of another ladder is imported
        saved = None
    context = _tree_context(request, shown, saved)
    if is_part(request):
        return render(request, "analysis/pieces/move_tree.html", context)
    if context["address"] is None:
        return None
    for sentence in shown.tree.losses:
        messages.warning(request, sentence)
    chosen = {name: request.POST.get(name, "") for name in ("flip", "random", "games")}
    more = urlencode({"at": shown.at, **{name: value for name, value in chosen.items() if value}})
    page = saved.get_absolute_url() if saved else reverse(name, args=[shown.game.code])
    return redirect(f"{page}?{'&'.join(filter(None, (context['address'], more)))}")


def show_page(
    request: HttpRequest,
    shown: ShownTree,
    saved: Analysis | None,
    more: Mapping[str, object] = MappingProxyType({}),
    *,
    trouble: str = "",
    status: int = 200,
) -> HttpResponse:
    """The page of a tree; ``trouble`` is a sentence about what was not done."""
    values = request.POST if request.method == "POST" else request.GET
    line, flip = shown.line, values.get("flip") == "1"
    position = line.position
    context = {
        **_tree_context(request, shown, saved),
        "trouble": trouble,
        "random": values.get("random", ""),
        "flip": flip,
        "title": values.get("title", saved.title if saved else shown.event),
        "is_own": saved is not None and saved.owner == request.user,
        "board": draw_line(line, flip=flip, targets=False),
        "entry": entry_of(shown.game),
        "bots": offered_bots(request, shown.game.code),
        "seconds": SECONDS,
        "values": _values(line, flip=flip),
        **more,
        "next_moves": [] if position.count_moves() > MAX_LISTED else list(position.legal_moves()),
    }
    return render(request, "analysis/analysis.html", context, status=status)


def _tree_context(request: HttpRequest, shown: ShownTree, saved: Analysis | None) -> dict[str, Any]:
    """What the list of moves shows; ``address`` is None for a tree that is too long for one."""
    values = request.POST if request.method == "POST" else request.GET
    revision = values.get("revision", saved.revision if saved else "")
    record = shown.record(saved.title if saved else "")
    if saved is None:
        address = tree_query(shown)
    else:
        address = "" if record == saved.text else tree_query(shown, moves=shown.moves, revision=revision)
    return {
        "game": shown.game,
        "shown": shown,
        "saved": saved,
        "revision": revision,
        "address": address,
        "record": record,
    }


@require_safe
def analysis_position(request: HttpRequest, code: str) -> JsonResponse:
    """The position after ``?moves=`` from ``?position=``: its board, its legal moves and its end."""
    try:
        line = read_line(find_ladder(code), request.GET.get("position", ""), request.GET.get("moves", ""))
    except BadLine as error:
        return JsonResponse({"error": str(error)}, status=400)
    response = JsonResponse(_values(line, flip=is_flipped(request)))
    patch_cache_control(response, public=True, max_age=KEPT_SECONDS)
    return response


def _values(line: Line, *, flip: bool) -> dict[str, Any]:
    """What a script needs of the last position; see ``spell_moves`` for ``moves``."""
    position = line.position
    outcome = position.outcome()
    in_a_match = replay_until_end(line.game, line.moves, line.positions[0]).outcome  # of the match rules
    return {
        "position": str(position),
        "side": position.side.name.lower(),
        "ply": position.ply,
        "moves": spell_moves(position),
        "result": str(outcome.result),
        "ending": ENDINGS.get(outcome.reason, ""),
        "match_result": str(in_a_match.result),
        "match_ending": ENDINGS.get(in_a_match.reason, ""),
        "board": draw_line(line, flip=flip, targets=True),
        "spoken": svg.summarize(position, line.moves[-1] if line.moves else ""),
    }


def draw_line(
    line: Line, *, flip: bool = False, players: bool = True, targets: bool = False, over: bool = False
) -> SafeString:
    """The last position of a line, with its last move; see ``svg.draw`` for the rest."""
    drawn = svg.draw(
        line.position,
        last_move=line.moves[-1] if line.moves else "",
        before=line.positions[-2] if line.moves else None,
        flip=flip,
        players=players,
        targets=targets,
        over=over,
    )
    return mark_safe(drawn)  # safe: drawn from a parsed position, and svg escapes all texts


def find_ladder(code: str) -> Variant:
    """The game of an address; raises ``Http404``."""
    if code not in GAMES:
        raise Http404(f"no ladder {code!r}")
    return GAMES[code]
