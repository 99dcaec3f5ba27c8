"""The list of all recorded games: filters from the address, sorted, as a page, CSV, JSON lines and PGN."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar
from urllib.parse import urlencode

import msgspec
from django.core.exceptions import NON_FIELD_ERRORS
from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.defaultfilters import pluralize
from django.utils import timezone
from django.utils.html import format_html_join
from django.views.decorators.http import require_safe

from tournament import access
from tournament.models import Game, GameRecord, Seat
from tournament.rows.games import GameRow, game_rows
from tournament.views.downloads import PGN_TYPE, attached
from tournament.views.exports import MAX_EXPORTED, origin_of, served_rows, with_next
from tournament.views.games.filters import MAX_PLIES, SORTS, GameSearchForm
from tournament.views.games.query_plans import Branch, branches_of, count_games, key_of
from tournament.views.games.time_limit import TookTooLong, limited_queries
from tournament.views.links import comparison_address, games_address
from tournament.views.paging import LAST_ID, Page, beyond, is_whole

PAGE_SIZE = 50
MAX_TEXT = 2_000_000
"""Characters after which a part of the records ends: compressing them takes most of its time."""
RECORDS_READ = 100
"""Records of one query."""
LONGEST_SECONDS = 5.0
"""The time of one search: filters that few games match may have all games read."""
TOO_LONG = "This search takes too long. Name a bot, a tournament or a ladder too, or sort by date."
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
MAX_COUNTED = 1000
"""Games of a search up to which they are counted."""
COUNTING_SECONDS = 0.03
MAX_SUGGESTED = 10
LONGEST_TYPED = 150
"""Characters of which suggestions are made; a database refuses much longer patterns."""
RECENT_DAYS = 7
"""The days of the link to the latest forfeits."""
_Row = tuple[Any, int]
"""The value by which games are sorted, and the id of a game."""
_T = TypeVar("_T")


@require_safe
def games(request: HttpRequest) -> HttpResponse:
    """The games that match the filters in the address."""
    form = GameSearchForm(request.GET)
    search = _in_time(form, lambda: _search(request, form))
    branches, found = search or ([], [])
    page = _games_of(_page(request, found, PAGE_SIZE))
    is_first = not _goes_back(request) and "after" not in request.GET
    filters = _filters(request)
    context = {
        "form": form,
        "nothing": "No games match." if form.data.keys() - {"sort", "boards"} else "",
        "comparison": _comparison(form) if page.rows else "",
        "page": page,
        "filters": urlencode(filters),
        "from_here": _from_here(request, found),
        "hits": _count(branches, found, is_first=is_first) if search and form.given else "",
        "most_exported": MAX_EXPORTED,
        "days": RECENT_DAYS,
        "forfeits": games_address(
            fault="either", since=timezone.now().date() - datetime.timedelta(RECENT_DAYS)
        ),
    }
    return render(request, "games/games.html", context, status=422 if took_too_long(form) else 200)


def _from_here(request: HttpRequest, found: Sequence[_Row]) -> str:
    """What the address of a file needs besides the filters to begin with the games of the page."""
    after = request.GET.get("after", "")
    if _goes_back(request):
        after = _cursor_of(found[0]) if len(found) > PAGE_SIZE else ""
    return f"&{urlencode({'after': after})}" if after else ""


@require_safe
def suggestions(request: HttpRequest) -> HttpResponse:
    """Options for a text filter of which a part is entered, for example ``?opponent=alp``."""
    name = next(iter(request.GET), "")
    typed = request.GET.get(name, "").replace("\0", "")[:LONGEST_TYPED]
    bots = access.visible_bots(request.user)
    found: QuerySet[Any, tuple[str, str]]
    if name == "tournament":
        events = access.visible_tournaments(request.user).order_by("-pk")
        found = events.filter(Q(name__icontains=typed) | Q(slug__contains=typed)).values_list("slug", "name")
    elif name == "owner":
        owned = bots.filter(owner__username__icontains=typed).order_by("owner__username")
        found = owned.values_list("owner__username", "owner__username").distinct()
    else:
        found = bots.filter(Q(name__icontains=typed) | Q(slug__contains=typed)).values_list("slug", "name")
    options = format_html_join("", '<option value="{}">{}</option>', found[:MAX_SUGGESTED])
    return HttpResponse(options, content_type="text/plain; charset=utf-8")  # a part of a page, and no page


@require_safe
def games_export(request: HttpRequest, kind: str) -> HttpResponse:
    """The same as ``csv``, ``jsonl`` or ``pgn``, at most ``MAX_EXPORTED`` games and ``MAX_TEXT`` at a time.

    The header ``Link`` names the address of the games after them, if there are more.
    """
    form = GameSearchForm(request.GET)
    if kind not in EXPORTS:
        raise Http404(f"no games as {kind!r}")
    found = _in_time(form, lambda: _found(request, form, _branches(request, form), MAX_EXPORTED))
    if found is None:
        return _refusal(form)
    return EXPORTS[kind](request, found)


def _refusal(form: GameSearchForm) -> HttpResponse:
    sentences = [
        f"{'' if name == NON_FIELD_ERRORS else f'{name}: '}{' '.join(map(str, errors))}\n"
        for name, errors in form.errors.items()
    ]
    status = 422 if took_too_long(form) else 400
    return HttpResponse("".join(sentences), content_type="text/plain; charset=utf-8", status=status)


def took_too_long(form: GameSearchForm) -> bool:
    """All other errors are those of a field."""
    return bool(form.has_error(NON_FIELD_ERRORS))


def _in_time(form: GameSearchForm, search: Callable[[], _T]) -> _T | None:
    """What a search returns; None, with errors in the form, if the form is wrong or it takes too long."""
    if not form.is_valid():
        return None
    try:
        with limited_queries(LONGEST_SECONDS):
            return search()
    except TookTooLong:
        form.add_error(None, TOO_LONG)
        return None


def _search(request: HttpRequest, form: GameSearchForm) -> tuple[Sequence[Branch], list[_Row]]:
    """The branches of the search, and the games of a page with one more if there are more."""
    branches = _branches(request, form)
    return branches, _found(request, form, branches, PAGE_SIZE)


def _count(branches: Sequence[Branch], found: Sequence[_Row], *, is_first: bool) -> str:
    """How many games match, in words; at least, if there are many or counting takes long."""
    number = len(found)
    if number > PAGE_SIZE or not is_first:
        try:
            with limited_queries(COUNTING_SECONDS):
                number = count_games(branches, MAX_COUNTED)
        except TookTooLong:
            return f"More than {PAGE_SIZE} games"
    return f"More than {MAX_COUNTED:,} games" if number > MAX_COUNTED else f"{number} game{pluralize(number)}"


def _branches(request: HttpRequest, form: GameSearchForm) -> Sequence[Branch]:
    # Recorded games are those with a result. By their state, SQLite would read and sort all of them.
    recorded = access.visible_games(request.user, Game.objects.filter(result__isnull=False))
    return branches_of(form, recorded, access.visible_games(request.user, Seat.objects.all()))


def find_rows(
    request: HttpRequest, form: GameSearchForm, size: int, after: str
) -> tuple[list[GameRow], str] | None:
    """At most ``size`` games after a cursor, "" for the first, and the cursor of those after them, or "".

    None as ``_in_time``; raises ``Http404`` for a text that is no cursor.
    """
    found = _in_time(form, lambda: _found(request, form, _branches(request, form), size, after))
    if found is None:
        return None
    rows = game_rows(origin_of(request), [pk for _, pk in found[:size]])
    return rows, _cursor_of(found[size - 1]) if len(found) > size else ""


def _found(
    request: HttpRequest,
    form: GameSearchForm,
    branches: Sequence[Branch],
    size: int,
    after: str | None = None,
) -> list[_Row]:
    """``size`` games in the order asked for, and one more if there are more, before them if it goes back.

    Without ``after`` the address says from where, and whether it goes back.
    """
    _, field, descends = SORTS[form.cleaned_data["sort"] or "newest"]
    field = "sequence" if form.is_by_sequence else field
    goes_back = after is None and _goes_back(request)
    sign, than = ("-", "lt") if descends != goes_back else ("", "gt")
    word = "before" if goes_back else "after"
    cursor = _cursor(request.GET.get(word, "") if after is None else after, word, field)
    found = set[_Row]()
    for branch in branches:
        key = key_of(branch)
        window = beyond({field: cursor[0], key: cursor[1]}, than) if cursor else Q()
        rows = branch.filter(window).order_by(f"{sign}{field}", f"{sign}{key}").values_list(field, key)
        most = 2 * (size + 1) if key == "game" else size + 1  # a game may have both seats there
        found.update(rows[:most])
    first = sorted(found, key=lambda row: (row[0] is not None, row), reverse=sign == "-")[: size + 1]
    return first[::-1] if goes_back else first


def _goes_back(request: HttpRequest) -> bool:
    return bool(request.GET.get("before"))


def _page(request: HttpRequest, found: Sequence[_Row], count: int) -> Page:
    """The ids of ``count`` games: the first ones, or the last ones of a page that goes back."""
    goes_back, has_more = _goes_back(request), len(found) > count
    shown = found[-count:] if goes_back else found[:count]
    has_previous = has_more if goes_back else bool(request.GET.get("after"))
    has_next = goes_back or has_more
    return Page(
        [pk for _, pk in shown],
        _query(_filters(request) | {"before": _cursor_of(shown[0])}) if has_previous and shown else "",
        _query(_filters(request) | {"after": _cursor_of(shown[-1])}) if has_next and shown else "",
    )


def _cursor_of(row: _Row) -> str:
    """The sort value and the id of a game, as addresses name it."""
    value, pk = row
    return f"{_micros(value) if isinstance(value, datetime.datetime) else value or 0}.{pk}"


def _games_of(page: Page) -> Page:
    """The page with the games of its ids."""
    games = Game.objects.listed().in_bulk(page.rows)
    return replace(page, rows=[games[key] for key in page.rows])


def _cursor(text: str, word: str, field: str) -> tuple[int | datetime.datetime, int] | None:
    """The sort value and the id of the game beside the page; raises ``Http404`` for other text."""
    if not text:
        return None
    value, _, pk = text.partition(".")
    if not (is_whole(value, LAST_ID) and is_whole(pk, LAST_ID)):
        raise Http404(f"no games {word} {text!r}")
    if field != "finished_at":
        return min(int(value), MAX_PLIES if field == "plies" else LAST_ID), int(pk)
    try:
        return EPOCH + datetime.timedelta(microseconds=int(value)), int(pk)
    except OverflowError:
        raise Http404(f"no games {word} {text!r}") from None


def _micros(moment: datetime.datetime) -> int:
    return (moment - EPOCH) // datetime.timedelta(microseconds=1)


def _comparison(form: GameSearchForm) -> str:
    """The address of the comparison of the bot with its opponent; empty without two bots."""
    values = form.cleaned_data
    bot, opponent = values["bot"], values["opponent"]
    if not opponent or bot == opponent:
        return ""
    shared = {name: values[name] for name in ("ladder", "version", "opponent_version")}
    return comparison_address(bot, opponent, **shared)


def _filters(request: HttpRequest) -> dict[str, str]:
    """The filters of the address that say something, in the form's order."""
    return {name: value for name in GameSearchForm.base_fields if (value := request.GET.get(name, ""))}


def _query(filters: dict[str, str]) -> str:
    return f"?{urlencode(filters)}" if filters else "?"


def _csv(request: HttpRequest, found: Sequence[_Row]) -> HttpResponse:
    page = _page(request, found, MAX_EXPORTED)
    answer = served_rows("csv", "games", GameRow, game_rows(origin_of(request), page.rows), file="games")
    return with_next(request, answer, page)


def _json_lines(request: HttpRequest, found: Sequence[_Row]) -> HttpResponse:
    page = _page(request, found, MAX_EXPORTED)
    lines = msgspec.json.Encoder().encode_lines(game_rows(origin_of(request), page.rows))
    response = attached(lines, "games.jsonl", "application/jsonl; charset=utf-8")
    return with_next(request, response, page)


def _pgn(request: HttpRequest, found: Sequence[_Row]) -> HttpResponse:
    texts = _texts_of([pk for _, pk in found[:MAX_EXPORTED]])
    response = attached("\n".join(filter(None, texts)), "games.pgn", PGN_TYPE)
    return with_next(request, response, _page(request, found, len(texts)))


def _texts_of(keys: Sequence[int]) -> list[str]:
    """The records of the first of these games, until they have ``MAX_TEXT``; "" for a game without one."""
    texts: list[str] = []
    length = 0
    for start in range(0, len(keys), RECORDS_READ):
        some = keys[start : start + RECORDS_READ]
        found = dict(GameRecord.objects.filter(pk__in=some).values_list("pk", "text"))
        for key in some:
            texts.append(found.get(key, ""))
            length += len(texts[-1])
            if length >= MAX_TEXT:
                return texts
    return texts


EXPORTS = {"csv": _csv, "jsonl": _json_lines, "pgn": _pgn}
