"""How the database reads the games of a search: few of them are sorted, of many an index has the order.

SQLite knows no counts of the values in its indexes, so each part of a search names the index to read it by.
The indexes whose names are here have all columns of the filters, or find at most ``MOST_FOUND`` games.
"""

from __future__ import annotations

from collections.abc import Iterator

from django.db.models import Q, QuerySet

from tournament.models import Game
from tournament.models.games import UNRATED, Forfeited
from tournament.models.parts import MOST_PARTS, PRIMARY_KEY, some_ids
from tournament.views.games.endings import RULES_WORDS
from tournament.views.games.filters import CONDITIONS, FAULTS, RESULTS, SIDES, GameSearchForm

MOST_FOUND = 2000
"""Games that are looked up one by one and sorted; an index in order reads 25,000 of a million instead."""
MOST_SORTED = 20_000
"""Games that are sorted from an index which has all columns: takes 7 ms."""

Part = tuple[QuerySet[Game], str]
"""Games, and the index by which SQLite reads them; its own choice if empty."""


def parts_of(form: GameSearchForm, recorded: QuerySet[Game]) -> list[Part]:
    """Those of ``recorded`` that match the filters of a valid form, in parts."""
    if form.is_by_sequence:
        return [(form.find(recorded), "")]
    for games, index in _rare(form):
        few = some_ids(games, index, MOST_FOUND + 1)
        if len(few) <= MOST_FOUND:
            return [(form.find(recorded).filter(pk__in=few), PRIMARY_KEY)]
    if form.has_players:
        parts = form.find_in_parts(recorded)
        return parts if len(parts) <= MOST_PARTS else [(form.find(recorded), "")]
    for games, index in _ranges(form, recorded):
        if games[: MOST_SORTED + 1].count() <= MOST_SORTED:
            return [(form.find(games), index)]
    if form.is_by_time:
        return [(form.find(recorded), "game_of_event" if "tournament" in form.given else "game_finished")]
    index = "game_length"
    for name, condition, own in _kinds(form):
        if form.given <= {name, "ladder"}:
            recorded, index = recorded.filter(condition), own
    return [(form.find(recorded.filter(ladder=ladder)), index) for ladder in form.ladders]


def _rare(form: GameSearchForm) -> Iterator[Part]:
    """For each filter that few games may match, the games that match it, and its index."""
    values, games = form.cleaned_data, Game.objects.all()
    if values["annulled"]:
        yield games.filter(annulled=True), "game_annulled"
    if form.visits is not None:
        some = form.visits.values("sequence")[: MOST_FOUND + 1]
        yield games.filter(ladder=values["ladder"], sequence__in=some), ""
    if form.has_pairings:
        yield games.filter(pairing__in=form.find_pairings()), ""
    if values["min_sequence"]:
        yield games.filter(ladder=values["ladder"], sequence__gte=values["min_sequence"]), ""
    for _, condition, index in _kinds(form):
        yield games.filter(condition, ladder__in=form.ladders), index


def _kinds(form: GameSearchForm) -> Iterator[tuple[str, Q, str]]:
    """The filters whose games an index of their own has for each ladder, by their length.

    For each its name, the condition that the index needs, and the name of the index.
    """
    values = form.cleaned_data
    if code := values["termination"]:
        by_rules = code in RULES_WORDS
        found = Q(reason=code) if by_rules else Q(termination=code)
        yield "termination", found, "game_reason" if by_rules else "game_termination"
    if values["fault"] in {"either", *SIDES, "bot"}:
        sides = FAULTS.get(values["fault"], SIDES)
        yield "fault", Q(Forfeited(), fault__in=sides), "forfeit_length"
    if values["result"] in RESULTS:
        yield "result", Q(result=RESULTS[values["result"]]), "game_result"
    if values["rated"] is False:
        yield "rated", UNRATED, "unrated_length"


def _ranges(form: GameSearchForm, recorded: QuerySet[Game]) -> Iterator[Part]:
    """For each filter of another order than the one asked for, the games that match it, and its index."""

    def between(*names: str) -> list[Q]:
        return [CONDITIONS[name](form.cleaned_data[name]) for name in names if name in form.given]

    if form.is_by_time:
        if plies := between("min_plies", "max_plies"):
            yield recorded.filter(*plies, ladder__in=form.ladders), "game_length"
        return
    if "tournament" in form.given:
        yield recorded.filter(tournament=form.tournament_id), "game_of_event"
    if days := between("since", "until"):
        yield recorded.filter(*days), "game_finished"
