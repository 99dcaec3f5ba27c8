"""How the database reads the games of a search: few of them are sorted, of many an index has the order.

SQLite knows no counts of the values in its indexes, so each search has only the conditions for which it is to
use one; the others are checked in that index, which has all columns of the filters, or finds at most
``MAX_FOUND`` games.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from django.db.models import Q, QuerySet

from tournament.models import Game, Seat
from tournament.models.games import UNRATED, Forfeited
from tournament.views.games.endings import RULES_WORDS
from tournament.views.games.filters import FAULTS, RESULTS, SIDES, GameSearchForm

MAX_FOUND = 7000
"""Games that are looked up one by one and sorted; of more, an index in order reads 7,300 of a million at most
for a page, if they are spread evenly."""
MAX_SORTED = 20_000
"""Games that are sorted from an index which has all columns: takes 7 ms."""

Branch = QuerySet[Game] | QuerySet[Seat]


def key_of(branch: Branch) -> str:
    """The column with the id of the game."""
    return "game" if branch.model is Seat else "pk"


def count_games(branches: Sequence[Branch], most: int) -> int:
    """How many games all branches have together; stops a little above ``most``, so that it stays cheap."""
    found = set[int]()
    for branch in branches:
        if len(found) <= most:  # both seats of a game may be among them
            found.update(branch.order_by().values_list(key_of(branch), flat=True)[: 2 * (most + 1)])
    return len(found)


def branches_of(form: GameSearchForm, recorded: QuerySet[Game], seats: QuerySet[Seat]) -> Sequence[Branch]:
    """Those of ``recorded``, or of their ``seats``, that match the filters of a valid form, in branches."""
    if form.is_by_sequence:
        return [recorded.filter(*form.conditions(form.given))]
    for games in _rare(form):
        few = list(games.order_by().values_list("pk", flat=True)[: MAX_FOUND + 1])
        if len(few) <= MAX_FOUND:
            return [form.find(recorded).filter(pk__in=few)]
    if form.has_players:
        return [form.find_seats(seats)]
    for games in _ranges(form, recorded):
        if games[: MAX_SORTED + 1].count() <= MAX_SORTED:
            return [form.find(games)]
    if form.is_by_time:
        return [form.find(recorded.filter(*form.conditions(form.given & {"tournament"})))]
    kind = Q()
    for name, condition in _kinds(form):
        if form.given <= {name, "ladder"}:
            kind = condition
    return [form.find(recorded.filter(kind, ladder=ladder)) for ladder in form.ladders]


def _rare(form: GameSearchForm) -> Iterator[QuerySet[Game]]:
    """For each filter that few games may match, the games that match it."""
    values, games = form.cleaned_data, Game.objects.all()
    if values["annulled"]:
        yield games.filter(annulled=True)
    if form.visits is not None:
        some = form.visits.values("sequence")[: MAX_FOUND + 1]
        yield games.filter(ladder=values["ladder"], sequence__in=some)
    if form.has_pairings:
        yield games.filter(pairing__in=form.find_pairings())
    if values["min_sequence"]:
        yield games.filter(ladder=values["ladder"], sequence__gte=values["min_sequence"])
    if values["rated"] is False:
        yield games.filter(UNRATED)  # with a ladder, SQLite would read all of its games
    for _, condition in _kinds(form):
        yield games.filter(condition, ladder__in=form.ladders)


def _kinds(form: GameSearchForm) -> Iterator[tuple[str, Q]]:
    """The filters whose games an index of their own has for each ladder, by their length.

    For each its name, and the condition that the index needs.
    """
    values = form.cleaned_data
    if code := values["termination"]:
        yield "termination", Q(reason=code) if code in RULES_WORDS else Q(termination=code)
    if values["fault"] in {"either", *SIDES, "bot"}:
        yield "fault", Q(Forfeited(), fault__in=FAULTS.get(values["fault"], SIDES))
    if values["result"] in RESULTS:
        yield "result", Q(result=RESULTS[values["result"]])


def _ranges(form: GameSearchForm, recorded: QuerySet[Game]) -> Iterator[QuerySet[Game]]:
    """For each filter of another order than the one asked for, the games that match it."""
    if form.is_by_time:
        if plies := form.conditions(form.given & {"min_plies", "max_plies"}):
            yield recorded.filter(*plies, ladder__in=form.ladders)
        return
    for names in ({"tournament"}, {"since", "until"}):
        if conditions := form.conditions(form.given & names):
            yield recorded.filter(*conditions)
