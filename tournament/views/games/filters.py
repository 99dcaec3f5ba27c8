"""The filters of the list of games, and the form that reads them from an address."""

from __future__ import annotations

import datetime
import functools
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Any

from django import forms
from django.db.models import Exists, Model, OuterRef, Q, QuerySet
from django.urls import reverse_lazy

from engines.records.model import MAX_TOKEN
from engines.rules.base import IllegalMove, Result, RulesError, Side
from engines.rules.registry import GAMES, find_game
from engines.terminations import Fault, Termination
from engines.visits import PLIES
from tournament.forms import BotField
from tournament.models import (
    Bot,
    BotVersion,
    CountedPair,
    ExplorerVisit,
    Game,
    Pairing,
    Seat,
    Tournament,
    User,
)
from tournament.models.games import Scanned
from tournament.sentences import as_sentence
from tournament.services.explorer.moves import visits_of
from tournament.views.games.endings import FORFEIT_WORDS, OTHER_WORDS, RULES_WORDS

MAX_PLIES = 2**31 - 1
LAST_NUMBER = 2**63 - 1
MAX_OPENING = 2000
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


PAIRED = ("opening", "pair", "round")
"""The filters that concern pairings, see ``find_pairings``."""
FIRST = ("bot", "opponent", "ladder", "result", "sort")
"""The filters of the first line."""
RESULTS = {"white": Result.WHITE_WINS, "black": Result.BLACK_WINS, "draw": Result.DRAW}
SIDES = (Fault.WHITE, Fault.BLACK)
FAULTS = {"none": [Fault.NONE], "either": SIDES, "white": [Fault.WHITE], "black": [Fault.BLACK]}


def _suggesting() -> forms.TextInput:
    """A text with suggestions while it is entered; see ``search.suggestions``."""
    return forms.TextInput({"data-suggest": reverse_lazy("games-suggestions"), "list": "suggested"})


@dataclass(frozen=True, slots=True)
class Filter:
    """A filter: its field of the form, what it selects, and the words that describe it.

    ``condition`` compares columns of the game with the value, and with ``on_seats`` columns that seats have
    too; other filters are applied where the form finds players, pairings and visits. ``words`` are the
    title's for the entered text. ``needs`` are another filter without which it is refused, and the sentence.
    A field that does not have ``selects`` only orders or shows games.
    """

    field: forms.Field
    condition: Callable[[Any], Q] | None = None
    on_seats: bool = False
    of_players: bool = False
    selects: bool = True
    words: Callable[[str], str] | None = None
    needs: tuple[str, str] | None = None


FILTERS = {
    "bot": Filter(
        BotField(required=False, max_length=60, widget=_suggesting()),
        of_players=True,
        words="of {}".format,
    ),
    "owner": Filter(
        forms.CharField(
            required=False, max_length=150, widget=_suggesting(), help_text="Of one of the bots."
        ),
        of_players=True,
        words="of bots of {}".format,
    ),
    "version": Filter(
        forms.IntegerField(required=False, min_value=1, max_value=MAX_PLIES),
        of_players=True,
        needs=("bot", "A version needs a bot: name the bot too."),
    ),
    "opponent": Filter(
        BotField(required=False, max_length=60, widget=_suggesting()),
        of_players=True,
        words="against {}".format,
        needs=("bot", "An opponent needs a bot: name the bot too."),
    ),
    "opponent_version": Filter(
        forms.IntegerField(required=False, min_value=1, max_value=MAX_PLIES),
        of_players=True,
        needs=("opponent", "A version needs an opponent: name the opponent too."),
    ),
    "ladder": Filter(
        forms.ChoiceField(
            required=False, choices=lambda: _choices(((code, game.name) for code, game in GAMES.items()))
        ),
        lambda code: Q(ladder=code),
        on_seats=True,
        words=lambda code: f"on {GAMES[code].name}" if code in GAMES else "",
    ),
    "colour": Filter(
        forms.ChoiceField(
            required=False, label="Bot plays", choices=_choices([("white", "White"), ("black", "Black")])
        ),
        of_players=True,
        needs=("bot", "A colour needs a bot: name the bot too."),
    ),
    "result": Filter(
        forms.ChoiceField(
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
        ),
        lambda word: Q(result=RESULTS[word]) if word in RESULTS else Q(),
        on_seats=True,
    ),
    "termination": Filter(
        forms.ChoiceField(
            required=False,
            label="Ending",
            choices=[
                *_choices(OTHER_WORDS.items()),
                ("by the rules", [(Termination.RULES, "any of these"), *RULES_WORDS.items()]),
                ("forfeits", list(FORFEIT_WORDS.items())),
            ],
        ),
        lambda code: (
            Q(termination=Termination.RULES, reason=code) if code in RULES_WORDS else Q(termination=code)
        ),
    ),
    "fault": Filter(
        forms.ChoiceField(
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
        ),
        lambda word: Q(fault__in=FAULTS[word]) if word in FAULTS else Q(),
    ),
    "min_plies": Filter(
        forms.IntegerField(required=False, label="Plies from", min_value=0, max_value=MAX_PLIES),
        lambda plies: Q(plies__gte=plies),
        on_seats=True,
    ),
    "max_plies": Filter(
        forms.IntegerField(required=False, label="Plies to", min_value=0, max_value=MAX_PLIES),
        lambda plies: Q(plies__lte=plies),
        on_seats=True,
    ),
    "opening": Filter(
        forms.CharField(
            required=False,
            max_length=MAX_OPENING,
            help_text=f"All given moves with spaces between them, or “{NO_OPENING}”.",
        ),
    ),
    "tournament": Filter(
        forms.SlugField(required=False, max_length=200, widget=_suggesting()),
        lambda pk: Q(tournament=pk),
        on_seats=True,
    ),
    "round": Filter(
        forms.IntegerField(required=False, min_value=1, max_value=MAX_PLIES),
        needs=("tournament", "A round needs a tournament: name it too."),
    ),
    "pair": Filter(
        forms.ChoiceField(
            required=False,
            label="Pair",
            choices=_choices(
                [
                    (COUNTED, "counted"),
                    *(
                        (str(number), f"{points} for the candidate")
                        for number, points in enumerate(PAIR_POINTS)
                    ),
                ]
            ),
            help_text="Of a version test, named as the tournament.",
        ),
        needs=("tournament", "A pair needs a version test: name it as the tournament too."),
    ),
    "rated": Filter(
        _yes_or_no(),
        lambda is_rated: Q(rated=is_rated),
    ),
    "annulled": Filter(
        _yes_or_no(),
        lambda is_annulled: Q(annulled=is_annulled),
    ),
    "min_sequence": Filter(
        forms.IntegerField(
            required=False,
            label="From number",
            min_value=1,
            max_value=LAST_NUMBER,
            help_text="The games of a ladder are numbered in the order in which they ended.",
        ),
        lambda number: Q(sequence__gte=number),
        needs=("ladder", "A number needs a ladder: choose the ladder too."),
    ),
    "since": Filter(
        forms.DateField(required=False, label="Played from", widget=forms.DateInput(attrs={"type": "date"})),
        lambda day: Q(finished_at__gte=_midnight(day)),
        on_seats=True,
    ),
    "until": Filter(
        forms.DateField(required=False, label="Played to", widget=forms.DateInput(attrs={"type": "date"})),
        lambda day: Q(finished_at__lt=_midnight(day + datetime.timedelta(days=1))),
        on_seats=True,
    ),
    "sort": Filter(
        forms.ChoiceField(required=False, choices=[(key, label) for key, (label, *_) in SORTS.items()]),
        selects=False,
    ),
    "position": Filter(
        forms.CharField(
            required=False,
            max_length=MAX_OPENING,
            help_text=f"A position string of the ladder that the game reached within {PLIES} plies.",
        ),
    ),
    "move": Filter(
        forms.CharField(required=False, max_length=MAX_TOKEN, help_text="Played in this position."),
    ),
    "boards": Filter(
        forms.BooleanField(required=False),
        selects=False,
    ),
}
"""The filters by their names in the address, in the order of the title's words and of the form."""


class GameSearchForm(forms.Form):
    """The filters. All are optional, and a game must match all that are given."""

    visits: QuerySet[ExplorerVisit] | None = None
    """The visits of the position and the move; None without a position."""

    def clean(self) -> dict[str, Any]:
        values = self.cleaned_data
        for name, one in FILTERS.items():
            if one.needs and values.get(name) and not values.get(one.needs[0]):
                self.add_error(name, one.needs[1])
        for name, own in (("result", {"won", "lost"}), ("fault", {"bot"})):
            if values.get(name) in own and not values.get("bot"):
                self.add_error(name, "This needs a bot: name the bot too.")
        self._clean_position(values)
        return values

    def _clean_position(self, values: dict[str, Any]) -> None:
        """Have ``visits`` find the games of the position and the move."""
        text, move = values.get("position"), values.get("move")
        if move and not text:
            self.add_error("move", "A move needs a position: enter the position too.")
        if not text:
            return
        if not move:
            self.add_error("move", "A position needs a move: enter the move too.")
            return
        if not values.get("ladder"):
            self.add_error("position", "A position needs a ladder: choose the ladder too.")
            return
        try:
            position = find_game(values["ladder"]).position.parse(text)
            position.play(move)
        except RulesError as error:
            self.add_error("move" if isinstance(error, IllegalMove) else "position", as_sentence(str(error)))
            return
        self.visits = visits_of(values["ladder"], position, move)

    @property
    def words(self) -> str:
        """What is listed, for the title: the filters of bots and ladder, or that there are others."""
        given = {name: text for name in FILTERS if (text := self.data.get(name)) and FILTERS[name].selects}
        words = [of(text) for name, text in given.items() if (of := FILTERS[name].words) and of(text)]
        return " ".join(["Games", *(words or ["that match filters"] * bool(given))])

    def first(self) -> list[forms.BoundField]:
        return [self[name] for name in FIRST]

    def more(self) -> list[forms.BoundField]:
        return [field for field in self if field.name not in {*FIRST, "boards"}]

    def shows_more(self) -> bool:
        """Whether one of the other fields says something, or is wrong."""
        return any(field.errors or self.data.get(field.name) for field in self.more())

    def find(self, games: QuerySet[Game]) -> QuerySet[Game]:
        """Those of ``games`` that match; the form must be valid. SQLite uses no index for the filters."""
        conditions = self.conditions(self.given)
        names = {name for condition in conditions for name in _columns(condition)}
        games = games.alias(**{f"scanned_{name}": Scanned(name) for name in names})
        games = self._find_related(games.filter(*map(_scanned, conditions)))
        if self.has_players:
            both = Seat.objects.filter(game=OuterRef("pk"), is_white__in=[True, False])  # the primary key
            games = games.filter(Exists(self._find_players(both)))
        return games

    def find_seats(self, seats: QuerySet[Seat]) -> QuerySet[Seat]:
        """Those of ``seats`` of the bot, or else of the owner's bots, whose games match: of some both."""
        own = {name for name in self.given if FILTERS[name].on_seats}
        others = self.given - own
        seats = self._find_players(seats).filter(*self.conditions(own))
        if any(not FILTERS[name].of_players for name in others) or {"bot", "owner"} <= others:
            games = Game.objects.filter(*self.conditions(others), pk=OuterRef("game"))
            seats = seats.filter(Exists(self._find_related(games)))
        return seats

    def conditions(self, names: Collection[str]) -> list[Q]:
        """Those of the filters with these names whose condition is one of the game's columns."""
        values = {**self.cleaned_data, "tournament": self.tournament_id}
        return [of(values[name]) for name in FILTERS if name in names and (of := FILTERS[name].condition)]

    def _find_related(self, games: QuerySet[Game]) -> QuerySet[Game]:
        """Those that match the filters of other tables; of players only that of the owner beside a bot."""
        values = self.cleaned_data
        if values["bot"] and values["owner"]:
            own = Seat.objects.filter(game=OuterRef("pk"), owner=_id_of(User, username=values["owner"]))
            games = games.filter(Exists(own))
        if self.has_pairings:
            games = games.filter(Exists(self.find_pairings().filter(pk=OuterRef("pairing"))))
        if self.visits is not None:
            games = games.filter(Exists(self.visits.filter(sequence=OuterRef("sequence"))))
        return games

    @property
    def is_by_time(self) -> bool:
        """Whether the games are asked for in the order in which they ended."""
        return SORTS[self.cleaned_data["sort"] or "newest"][1] == "finished_at"

    @property
    def is_by_sequence(self) -> bool:
        """Whether that order is the one of a ladder's numbers: no other filter is given."""
        return self.is_by_time and "ladder" in self.given <= {"ladder", "min_sequence"}

    @functools.cached_property
    def given(self) -> set[str]:
        """The filters that say something."""
        values = self.cleaned_data.items()
        return {name for name, value in values if value not in {"", None} and FILTERS[name].selects}

    @property
    def has_players(self) -> bool:
        return bool(self.cleaned_data["bot"] or self.cleaned_data["owner"])

    @property
    def has_pairings(self) -> bool:
        """Whether a filter concerns pairings."""
        return any(self.cleaned_data[name] for name in PAIRED)

    @functools.cached_property
    def ladders(self) -> list[str]:
        """Those whose games can match."""
        values, ladders = self.cleaned_data, list(GAMES)
        if values["tournament"]:
            found = Tournament.objects.filter(pk=self.tournament_id)
            ladders = found.values_list("ladders", flat=True).first() or []
        return [code for code in ladders if values["ladder"] in {"", code}]

    @functools.cached_property
    def tournament_id(self) -> int:
        """The id of the tournament; zero if there is none."""
        return _id_of(Tournament, slug=self.cleaned_data["tournament"])

    def find_pairings(self) -> QuerySet[Pairing]:
        """The pairings that match the filters of pairings."""
        values, found = self.cleaned_data, Pairing.objects.all()
        if opening := values["opening"]:
            found = found.filter(opening="" if opening == NO_OPENING else " ".join(opening.split()))
        if values["tournament"]:
            found = found.filter(tournament=self.tournament_id)
        if values["round"]:
            found = found.filter(round=values["round"], ladder__in=self.ladders)
        if pair := values["pair"]:
            counted = CountedPair.objects.filter(test__tournament=self.tournament_id)
            if pair != COUNTED:
                counted = counted.filter(half_points=int(pair))
            found = found.filter(round__in=counted.values("number"))
        return found

    def _find_players(self, seats: QuerySet[Seat]) -> QuerySet[Seat]:
        """Those of ``seats`` of the bot, or else of the owner's bots, that match the filters of players.

        The conditions name ids, because indexes have them.
        """
        values = self.cleaned_data
        slug, number, opponent = values["bot"], values["version"], values["opponent"]
        if number:
            seats = seats.filter(version=_id_of(BotVersion, bot__slug=slug, number=number))
        elif slug:
            seats = seats.filter(bot=_id_of(Bot, slug=slug))
        else:
            seats = seats.filter(owner=_id_of(User, username=values["owner"]))
        if opponent:
            versions = BotVersion.objects.filter(bot__slug=opponent)
            if values["opponent_version"]:
                versions = versions.filter(number=values["opponent_version"])
            seats = seats.filter(opponent__in=list(versions.values_list("pk", flat=True)))
        if values["colour"]:
            seats = seats.filter(is_white=values["colour"] == "white")
        for is_it, column, of_side in (
            (values["result"] == "won", "result", Result.win_for),
            (values["result"] == "lost", "result", lambda side: Result.win_for(side.other)),
            (values["fault"] == "bot", "game__fault", lambda side: SIDES[side is Side.BLACK]),
        ):
            if is_it:
                white, black = map(of_side, (Side.WHITE, Side.BLACK))
                seats = seats.filter(
                    Q(is_white=True, **{column: white}) | Q(is_white=False, **{column: black})
                )
        return seats


GameSearchForm.base_fields = {name: one.field for name, one in FILTERS.items()}


def _id_of(model: type[Model], **filters: object) -> int:
    """The id of the row; zero if there is none."""
    return model._default_manager.filter(**filters).values_list("pk", flat=True).first() or 0


def _scanned(condition: Q) -> Q:
    """The condition of the aliases that ``find`` gives to columns."""
    children: list[Any] = condition.children
    parts = [_scanned(part) if isinstance(part, Q) else (f"scanned_{part[0]}", part[1]) for part in children]
    return Q(*parts, _connector=condition.connector, _negated=condition.negated)


def _columns(condition: Q) -> set[str]:
    """The names of the columns that the condition compares."""
    parts: list[Any] = condition.children
    return set().union(
        *(_columns(part) if isinstance(part, Q) else {part[0].split("__")[0]} for part in parts)
    )


def _midnight(day: datetime.date) -> datetime.datetime:
    return datetime.datetime.combine(day, datetime.time(), tzinfo=datetime.UTC)
