"""The filters of the list of games: the form that reads them from an address, and the addresses with them."""

from __future__ import annotations

import datetime
import functools
import itertools
import operator
import re
from collections.abc import Callable, Iterable
from typing import Any, ClassVar
from urllib.parse import urlencode

from django import forms
from django.db.models import Q, QuerySet
from django.db.models.lookups import Exact
from django.urls import reverse

from engines.rules.base import Result, Side
from engines.rules.registry import GAMES
from engines.terminations import Fault, Termination
from tournament.models import BotVersion, CountedPair, Game, Pairing, Tournament
from tournament.models.games import Drawn, Forfeited, without_index
from tournament.views.games.endings import FORFEIT_WORDS, OTHER_WORDS, RULES_WORDS

MAX_PLIES = 2**31 - 1
LAST_NUMBER = 2**63 - 1
MAX_OPENING = 2000
MOST_LISTED = 5000
"""Ids that are given to the database one by one."""
MOST_SORTED = 20_000
"""Games of a tournament that are sorted for a page."""
NO_OPENING = "none"
"""The value of ``?opening=`` for games that begin without given moves."""

COUNTED = "counted"
PAIR_POINTS = ("0 points", "½ point", "1 point", "1½ points", "2 points")
"""What the candidate of a version test can score in a pair, by the number of half points."""
SORTS = {
    "newest": ("Newest first", "finished_at", True),
    "oldest": ("Oldest first", "finished_at", False),
    "longest": ("Longest first", "plies", True),
    "shortest": ("Shortest first", "plies", False),
}
"""Values of ``?sort=``: the label, the field, whether it descends. The id decides between equals."""


def _choices(values: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    return [("", "any"), *values]


def _yes_or_no() -> forms.TypedChoiceField:
    choices = _choices([("yes", "yes"), ("no", "no")])
    return forms.TypedChoiceField(
        required=False, choices=choices, coerce=lambda word: word == "yes", empty_value=None
    )


class GameSearchForm(forms.Form):
    """The filters. All are optional, and a game must match all that are given."""

    ladder = forms.ChoiceField(
        required=False, choices=lambda: _choices(((code, game.name) for code, game in GAMES.items()))
    )
    bot = forms.SlugField(required=False, help_text="As in the bot's address.")
    version = forms.IntegerField(required=False, min_value=1, max_value=MAX_PLIES)
    opponent = forms.SlugField(required=False)
    opponent_version = forms.IntegerField(required=False, min_value=1, max_value=MAX_PLIES)
    colour = forms.ChoiceField(
        required=False, label="Bot plays", choices=_choices([("white", "White"), ("black", "Black")])
    )
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
        required=False,
        label="Ending",
        choices=[
            *_choices(OTHER_WORDS.items()),
            ("by the rules", [(Termination.RULES, "any of these"), *RULES_WORDS.items()]),
            ("forfeits", list(FORFEIT_WORDS.items())),
        ],
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
    opening = forms.CharField(
        required=False,
        max_length=MAX_OPENING,
        help_text=f"All given moves with spaces between them, or “{NO_OPENING}”.",
    )
    tournament = forms.SlugField(required=False, max_length=200, help_text="As in its address.")
    round = forms.IntegerField(required=False, min_value=1, max_value=MAX_PLIES)
    pair = forms.ChoiceField(
        required=False,
        label="Pair",
        choices=_choices(
            [
                (COUNTED, "counted"),
                *((str(number), f"{points} for the candidate") for number, points in enumerate(PAIR_POINTS)),
            ]
        ),
        help_text="Of a version test, named as the tournament.",
    )
    rated = _yes_or_no()
    annulled = _yes_or_no()
    min_sequence = forms.IntegerField(
        required=False,
        label="From number",
        min_value=1,
        max_value=LAST_NUMBER,
        help_text="The games of a ladder are numbered in the order in which they ended.",
    )
    since = forms.DateField(
        required=False, label="Played from", widget=forms.DateInput(attrs={"type": "date"})
    )
    until = forms.DateField(required=False, label="Played to", widget=forms.DateInput(attrs={"type": "date"}))
    sort = forms.ChoiceField(required=False, choices=[(key, label) for key, (label, *_) in SORTS.items()])

    NEED_A_BOT: ClassVar = {
        "version": "A version needs a bot: name the bot too.",
        "opponent": "An opponent needs a bot: name the bot too.",
        "colour": "A colour needs a bot: name the bot too.",
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
        if values.get("pair") and not values.get("tournament"):
            self.add_error("pair", "A pair needs a version test: name it as the tournament too.")
        if values.get("min_sequence") and not values.get("ladder"):
            self.add_error("min_sequence", "A number needs a ladder: choose the ladder too.")
        return values

    def find(self, games: QuerySet[Game]) -> QuerySet[Game]:
        """Those of ``games`` that match; the form must be valid."""
        return self._find_any_players(games).filter(
            functools.reduce(operator.or_, self._players(split=False))
        )

    def find_in_parts(self, games: QuerySet[Game]) -> list[QuerySet[Game]]:
        """The same games, one part for each version, opponent's version and colour that are asked for.

        See ``is_in_parts``.
        """
        games = self._find_any_players(games)
        return [games.filter(condition) for condition in self._players(split=True)]

    def _find_any_players(self, games: QuerySet[Game]) -> QuerySet[Game]:
        """Those that match all filters but that of the bot, or of the owner if no bot is named."""
        values = self.cleaned_data
        if values["bot"] and values["owner"]:
            own = _versions(bot__owner__username=values["owner"])
            games = games.filter(Q(white__in=own) | Q(black__in=own))
        for name, condition in CONDITIONS.items():
            if values[name] not in {"", None}:
                games = games.filter(condition(values[name]))
        if values["ladder"]:
            games = games.filter(self._on_ladder())
        if values["tournament"]:
            games = games.filter(tournament=self._tournament[0])
        if values["fault"] in {"either", *SIDES, "bot"} or values["termination"] in FORFEIT_WORDS:
            games = games.filter(Forfeited())
        if values["pair"]:
            games = games.filter(pairing__in=_counted_pairs(values["tournament"], values["pair"]))
        return games

    def _on_ladder(self) -> Q | Exact:
        """The condition for the ladder; without its index where that of days finds games faster."""
        code = self.cleaned_data["ladder"]
        is_by_day = self.is_by_time and self._is_of_some_days()
        return without_index("ladder", code) if is_by_day else Q(ladder=code)

    @property
    def is_by_time(self) -> bool:
        """Whether the games are asked for in the order in which they ended."""
        return SORTS[self.cleaned_data["sort"] or "newest"][1] == "finished_at"

    @property
    def is_by_sequence(self) -> bool:
        """Whether that order is the one of a ladder's numbers, which is also that of its index."""
        values = self.cleaned_data
        is_of_ladder = values["ladder"] and not (values["bot"] or values["owner"])
        return bool(self.is_by_time and is_of_ladder and not (self._is_of_some_days() or self.is_of_few))

    @property
    def is_in_parts(self) -> bool:
        """Whether indexes have the order of each part, and none that of all together."""
        values = self.cleaned_data
        return bool(values["opponent"] or (self.is_by_time and (values["bot"] or values["owner"])))

    @functools.cached_property
    def _tournament(self) -> tuple[int, int]:
        """The id of the tournament and how many of its games are over; zeros if there is none."""
        found = Tournament.objects.filter(slug=self.cleaned_data["tournament"])
        return found.values_list("pk", "games_done").first() or (0, 0)

    @property
    def is_of_few(self) -> bool:
        """Whether sorting all games that can match takes less time than reading an index in their order."""
        return bool(self.cleaned_data["tournament"]) and self._tournament[1] <= MOST_SORTED

    def _is_of_some_days(self) -> bool:
        """Whether an index of times has the games that match, and few others."""
        return bool(self.cleaned_data["until"] or self.cleaned_data["annulled"])

    def _players(self, *, split: bool) -> list[Q]:
        """Conditions; a game must match one of them: the bot, or else an owner's bot, played White or Black.

        With ``split``, one for each version, and for each version of the opponent if one is named. They name
        the ids of versions, because indexes have them.
        """
        values = self.cleaned_data
        if not (values["bot"] or values["owner"]):
            return [Q()]
        if values["bot"]:
            own = _versions(bot__slug=values["bot"], number=values["version"])
        else:
            own = _versions(bot__owner__username=values["owner"])
        others: list[int] | None = None
        if values["opponent"]:
            others = _versions(bot__slug=values["opponent"], number=values["opponent_version"])
        pairs = [(own, others)]
        if split:
            pairs = [
                ([one], None if other is None else [other])
                for one, other in itertools.product(own, [None] if others is None else others)
            ]
        sides = [side for side in Side if values["colour"] in {"", side.name.lower()}]
        return [self._as(side, *pair) for pair in pairs for side in sides] or [Q(pk__in=[])]

    def _as(self, side: Side, versions: list[int], opponents: list[int] | None) -> Q:
        """The condition for games in which one of ``versions`` played ``side``; None: any opponent."""
        values, own, other = self.cleaned_data, side.name.lower(), side.other.name.lower()
        found = Q(**{f"{own}__in": versions})
        if opponents is not None:
            found &= Q(**{f"{other}__in": opponents})
        if values["result"] == "won":
            found &= Q(result=Result.win_for(side))
        elif values["result"] == "lost":
            found &= Q(result=Result.win_for(side.other))
        if values["fault"] == "bot":
            found &= Q(fault=own)
        return found


def _versions(**filters: object) -> list[int]:
    """The ids of the versions; None leaves a filter out."""
    given = {name: value for name, value in filters.items() if value is not None}
    return list(BotVersion.objects.filter(**given).values_list("pk", flat=True))


def _pairings(opening: str) -> QuerySet[Pairing] | list[int]:
    """The pairings with exactly these given moves."""
    moves = "" if opening == NO_OPENING else " ".join(opening.split())
    return _ids_if_few(Pairing.objects.filter(opening=moves))


def _counted_pairs(tournament: str, pair: str) -> QuerySet[Pairing] | list[int]:
    """The counted pairs of a version test, with ``pair`` a number those of so many half points."""
    counted = CountedPair.objects.filter(test__tournament__slug=tournament)
    if pair != COUNTED:
        counted = counted.filter(half_points=int(pair))
    return _ids_if_few(
        Pairing.objects.filter(tournament__slug=tournament, round__in=counted.values("number"))
    )


def _ids_if_few(found: QuerySet[Pairing]) -> QuerySet[Pairing] | list[int]:
    """The ids of the pairings, or the pairings themselves above ``MOST_PAIRINGS``.

    SQLite finds games by a list of ids in an index, but reads all games in their order for a subquery.
    """
    few = list(found.values_list("pk", flat=True)[: MOST_LISTED + 1])
    return few if len(few) <= MOST_LISTED else found


def _midnight(day: datetime.date) -> datetime.datetime:
    return datetime.datetime.combine(day, datetime.time(), tzinfo=datetime.UTC)


RESULTS = {
    "white": Q(result=Result.WHITE_WINS),
    "black": Q(result=Result.BLACK_WINS),
    "draw": Q(Drawn()),
}
SIDES = (Fault.WHITE, Fault.BLACK)
FAULTS = {"none": [Fault.NONE], "either": SIDES, "white": [Fault.WHITE], "black": [Fault.BLACK]}
CONDITIONS: dict[str, Callable[[Any], Q]] = {
    "min_plies": lambda plies: Q(plies__gte=plies),
    "max_plies": lambda plies: Q(plies__lte=plies),
    "min_sequence": lambda number: Q(sequence__gte=number),
    "round": lambda number: Q(pairing__round=number),
    "until": lambda day: Q(finished_at__lt=_midnight(day + datetime.timedelta(days=1))),
    "since": lambda day: Q(finished_at__gte=_midnight(day)),
    "result": lambda word: RESULTS.get(word, Q()),
    "termination": lambda code: (
        Q(termination=Termination.RULES, reason=code) if code in RULES_WORDS else Q(termination=code)
    ),
    "fault": lambda word: Q(fault__in=FAULTS[word]) if word in FAULTS else Q(),
    "rated": lambda is_rated: Q(rated=is_rated),
    "annulled": lambda is_annulled: Q(annulled=is_annulled),
    "opening": lambda moves: Q(pairing__in=_pairings(moves)),
}
"""Filters whose condition depends on nothing but their value."""


def comparison_address(bot: str, other: str, **filters: object) -> str:
    """The address of the comparison of two bots, given by their slugs, with these filters."""
    query = urlencode({name: value for name, value in filters.items() if value})
    begin, middle, end = _comparison_parts()
    address = f"{begin}{bot}{middle}{other}{end}"
    return f"{address}?{query}" if query else address


@functools.cache
def _comparison_parts() -> list[str]:
    """The address before, between and after the slugs; a page has hundreds of them."""
    return re.split("bot-1|bot-2", reverse("bot-comparison", args=["bot-1", "bot-2"]))


def games_address(**filters: object) -> str:
    """The address of the list with these filters; None leaves one out."""
    given = {name: value for name, value in filters.items() if value is not None}
    return f"{_list_address()}?{urlencode(given)}"


@functools.cache
def _list_address() -> str:
    return reverse("games")  # tables have hundreds of addresses of lists
