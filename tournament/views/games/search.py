"""The list of all recorded games: filters from the address, sorted, as a page, CSV, JSON lines and PGN."""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar
from urllib.parse import urlencode

from django import forms
from django.db.models import F, Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from engines.records import Fault, Termination
from engines.rules.base import Result, Side
from engines.rules.registry import GAMES
from tournament import access
from tournament.models import Game, GameRecord
from tournament.views.games.downloads import PGN_TYPE, attached, csv_file
from tournament.views.paging import LAST_ID, Page, is_whole

PAGE_SIZE = 50
MOST_EXPORTED = 1000
MAX_PLIES = 2**31 - 1
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)

RESULTS = {
    "white": Q(result=Result.WHITE_WINS),
    "black": Q(result=Result.BLACK_WINS),
    "draw": Q(result=Result.DRAW),
}
FAULTS = {
    "none": [Fault.NONE],
    "either": [Fault.WHITE, Fault.BLACK],
    "white": [Fault.WHITE],
    "black": [Fault.BLACK],
}
FIELDS = {
    "ladder": "ladder",
    "termination": "termination",
    "min_plies": "plies__gte",
    "max_plies": "plies__lte",
    "tournament": "tournament__slug",
    "round": "pairing__round",
}
"""Filters that compare one column."""
SORTS = {
    "newest": ("Newest first", "finished_at", True),
    "oldest": ("Oldest first", "finished_at", False),
    "longest": ("Longest first", "plies", True),
    "shortest": ("Shortest first", "plies", False),
}
"""Values of ``?sort=``: the label, the field, whether it descends. The id decides between equals."""
COLUMNS = (
    "id", "ladder", "tournament", "round", "white", "white_version", "black", "black_version", "result",
    "termination", "reason", "fault", "plies", "rated", "finished", "page",
)  # fmt: skip
"""Of the CSV, and the keys of the JSON lines."""


def _choices(values: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    return [("", "any"), *values]


class GameSearchForm(forms.Form):
    """The filters. All are optional, and a game must match all that are given."""

    ladder = forms.ChoiceField(
        required=False, choices=lambda: _choices(((code, game.name) for code, game in GAMES.items()))
    )
    bot = forms.SlugField(required=False, help_text="As in the bot's address.")
    version = forms.IntegerField(required=False, min_value=1, max_value=MAX_PLIES)
    opponent = forms.SlugField(required=False)
    opponent_version = forms.IntegerField(required=False, min_value=1, max_value=MAX_PLIES)
    owner = forms.CharField(required=False, max_length=150, help_text="Of one of the bots.")
    result = forms.ChoiceField(
        required=False,
        choices=_choices(
            [
                ("white", "White won"),
                ("black", "Black won"),
                ("draw", "drawn"),
                ("won", "won by the bot"),
                ("lost", "lost by the bot"),
            ],
        ),
    )
    termination = forms.ChoiceField(
        required=False, choices=_choices((str(value), str(value)) for value in Termination if value)
    )
    fault = forms.ChoiceField(
        required=False,
        label="Forfeit",
        choices=_choices(
            [
                ("none", "no"),
                ("either", "yes"),
                ("white", "by White"),
                ("black", "by Black"),
                ("bot", "by the bot"),
            ],
        ),
    )
    min_plies = forms.IntegerField(required=False, label="Plies from", min_value=0, max_value=MAX_PLIES)
    max_plies = forms.IntegerField(required=False, label="Plies to", min_value=0, max_value=MAX_PLIES)
    tournament = forms.SlugField(required=False, max_length=200, help_text="As in its address.")
    round = forms.IntegerField(required=False, min_value=1, max_value=MAX_PLIES)
    since = forms.DateField(
        required=False, label="Played from", widget=forms.DateInput(attrs={"type": "date"})
    )
    until = forms.DateField(required=False, label="Played to", widget=forms.DateInput(attrs={"type": "date"}))
    sort = forms.ChoiceField(required=False, choices=[(key, label) for key, (label, *_) in SORTS.items()])

    NEED_A_BOT: ClassVar = {
        "version": "A version needs a bot: name the bot too.",
        "opponent": "An opponent needs a bot: name the bot too.",
    }

    def clean(self) -> dict[str, Any]:
        values = self.cleaned_data
        if not values.get("bot"):
            for name, sentence in self.NEED_A_BOT.items():
                if values.get(name):
                    self.add_error(name, sentence)
            for name, own in (("result", {"won", "lost"}), ("fault", {"bot"})):
                if values.get(name) in own:
                    self.add_error(name, "This needs a bot: name the bot too.")
        if values.get("opponent_version") and not values.get("opponent"):
            self.add_error("opponent_version", "A version needs an opponent: name the opponent too.")
        return values

    def find(self, games: QuerySet[Game]) -> QuerySet[Game]:
        """Those of ``games`` that match; the form must be valid."""
        values = self.cleaned_data
        for name, field in FIELDS.items():
            if values[name] not in {"", None}:
                games = games.filter(**{field: values[name]})
        if values["until"]:
            games = games.filter(finished_at__lt=_midnight(values["until"] + datetime.timedelta(days=1)))
        if values["since"]:
            games = games.filter(finished_at__gte=_midnight(values["since"]))
        if values["owner"]:
            owner = values["owner"]
            games = games.filter(Q(white__bot__owner__username=owner) | Q(black__bot__owner__username=owner))
        if values["result"] in RESULTS:
            games = games.filter(RESULTS[values["result"]])
        if values["fault"] in FAULTS:
            games = games.filter(fault__in=FAULTS[values["fault"]])
        if values["bot"]:
            games = games.filter(self._as(Side.WHITE) | self._as(Side.BLACK))
        return games

    def _as(self, side: Side) -> Q:
        """The condition for games in which the bot played ``side``."""
        values, own, other = self.cleaned_data, side.name.lower(), side.other.name.lower()
        found = Q(**{f"{own}__bot__slug": values["bot"]})
        for name, field in (
            ("version", f"{own}__number"),
            ("opponent", f"{other}__bot__slug"),
            ("opponent_version", f"{other}__number"),
        ):
            if values[name]:
                found &= Q(**{field: values[name]})
        if values["result"] == "won":
            found &= Q(result=Result.win_for(side))
        elif values["result"] == "lost":
            found &= Q(result=Result.win_for(side.other))
        if values["fault"] == "bot":
            found &= Q(fault=own)
        return found


@require_safe
def games(request: HttpRequest) -> HttpResponse:
    """The games that match the filters in the address."""
    form = GameSearchForm(request.GET)
    page = _found(request, form, PAGE_SIZE) if form.is_valid() else Page([], "", "")
    filters = _filters(request)
    context = {
        "form": form,
        "page": page,
        "filters": urlencode(filters),
        "is_filtered": any(name != "sort" for name in filters),
        "most_exported": MOST_EXPORTED,
    }
    return render(request, "games.html", context)


@require_safe
def games_export(request: HttpRequest, kind: str) -> HttpResponse:
    """The same as ``csv``, ``jsonl`` or ``pgn``, at most ``MOST_EXPORTED`` games at a time.

    The header ``Link`` names the address of the games after them, if there are more.
    """
    form = GameSearchForm(request.GET)
    if kind not in EXPORTS:
        raise Http404(f"no games as {kind!r}")
    if not form.is_valid():
        sentences = "\n".join(f"{name}: {' '.join(map(str, errors))}" for name, errors in form.errors.items())
        return HttpResponse(f"{sentences}\n", content_type="text/plain; charset=utf-8", status=400)
    found = _found(request, form, MOST_EXPORTED)
    response = EXPORTS[kind](request, found.rows)
    if found.next:
        address = request.build_absolute_uri(f"{request.path}{found.next}")
        response["Link"] = f'<{address}>; rel="next"'
    return response


def games_address(**filters: object) -> str:
    """The address of the list with these filters; None leaves one out."""
    given = {name: value for name, value in filters.items() if value is not None}
    return f"{reverse('games')}?{urlencode(given)}"


def _found(request: HttpRequest, form: GameSearchForm, size: int) -> Page:
    """A page of games in the order asked for; its previous page is the first one."""
    _, field, descends = SORTS[form.cleaned_data["sort"] or "newest"]
    sign, beyond = ("-", "lt") if descends else ("", "gt")
    rows = form.find(access.visible_games(request.user, Game.objects.done())).order_by(
        f"{sign}{field}", f"{sign}pk"
    )
    if after := _cursor(request, field):
        value, pk = after
        rows = rows.filter(Q(**{f"{field}__{beyond}": value}) | Q(**{field: value, f"pk__{beyond}": pk}))
    found = list(rows.with_players().annotate(round=F("pairing__round"))[: size + 1])  # type: ignore[attr-defined]
    filters = _filters(request)
    first = _query(filters) if "after" in request.GET else ""
    if len(found) <= size:
        return Page(found, first, "")
    last = found[size - 1]
    value = last.plies if field == "plies" else _micros(last.finished_at)
    return Page(found[:size], first, _query(filters | {"after": f"{value}.{last.pk}"}))


def _cursor(request: HttpRequest, field: str) -> tuple[int | datetime.datetime, int] | None:
    """The sort value and the id of the last game of the previous page; raises ``Http404`` for other text."""
    text = request.GET.get("after", "")
    if not text:
        return None
    value, _, pk = text.partition(".")
    if not (is_whole(value, LAST_ID) and is_whole(pk, LAST_ID)):
        raise Http404(f"no games after {text!r}")
    if field == "plies":
        return min(int(value), MAX_PLIES), int(pk)
    try:
        return EPOCH + datetime.timedelta(microseconds=int(value)), int(pk)
    except OverflowError:
        raise Http404(f"no games after {text!r}") from None


def _micros(moment: datetime.datetime | None) -> int:
    return ((moment or EPOCH) - EPOCH) // datetime.timedelta(microseconds=1)


def _midnight(day: datetime.date) -> datetime.datetime:
    return datetime.datetime.combine(day, datetime.time(), tzinfo=datetime.UTC)


def _filters(request: HttpRequest) -> dict[str, str]:
    """The filters of the address that say something, in the form's order."""
    return {name: value for name in GameSearchForm.base_fields if (value := request.GET.get(name, ""))}


def _query(filters: dict[str, str]) -> str:
    return f"?{urlencode(filters)}" if filters else "?"


def _values(request: HttpRequest, game: Game) -> dict[str, Any]:
    values = (
        game.pk,
        game.ladder_id,
        game.tournament.slug,
        game.round,  # type: ignore[attr-defined]
        game.white.bot.name,
        game.white.number,
        game.black.bot.name,
        game.black.number,
        game.result,
        game.termination,
        game.reason,
        game.fault,
        game.plies,
        game.rated,
        game.finished_at.isoformat() if game.finished_at else None,
        request.build_absolute_uri(game.get_absolute_url()),
    )
    return dict(zip(COLUMNS, values, strict=True))


def _csv(request: HttpRequest, games: list[Game]) -> HttpResponse:
    return csv_file(COLUMNS, (_values(request, game) for game in games), "games.csv")


def _json_lines(request: HttpRequest, games: list[Game]) -> HttpResponse:
    lines: Iterator[str] = (f"{json.dumps(_values(request, game), ensure_ascii=False)}\n" for game in games)
    return attached("".join(lines), "games.jsonl", "application/jsonl; charset=utf-8")


def _pgn(request: HttpRequest, games: list[Game]) -> HttpResponse:
    texts = GameRecord.objects.in_bulk([game.pk for game in games])
    return attached(
        "\n".join(texts[game.pk].text for game in games if game.pk in texts), "games.pgn", PGN_TYPE
    )


EXPORTS = {"csv": _csv, "jsonl": _json_lines, "pgn": _pgn}
