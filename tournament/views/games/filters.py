"""The filters of the list of games: the form that reads them from an address, and the addresses with them."""

from __future__ import annotations

import datetime
import functools
import re
from collections.abc import Callable, Collection, Iterable
from typing import Any, ClassVar
from urllib.parse import urlencode

from django import forms
from django.db.models import Exists, Model, OuterRef, Q, QuerySet
from django.urls import reverse, reverse_lazy

from engines.records.model import MAX_TOKEN
from engines.rules.base import IllegalMove, Result, RulesError, Side
from engines.rules.registry import GAMES, find_game
from engines.terminations import Fault, Termination
from engines.visits import PLIES
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
from tournament.models.games import FILTERED, Scanned
from tournament.models.names import name_key
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


FIRST = ("bot", "opponent", "ladder", "result", "sort")
"""The filters of the first line."""
DISPLAY = {"sort", "boards"}
"""Fields that select no games."""


def _suggesting() -> forms.TextInput:
    """A text with suggestions while it is entered; see ``search.suggestions``."""
    return forms.TextInput({"data-suggest": reverse_lazy("games-suggestions"), "list": "suggested"})


class BotField(forms.CharField):
    """A bot by its name or its slug; the value is the slug."""

    def clean(self, value: Any) -> str:
        text: str = super().clean(value)
        if not text:
            return ""
        found = (
            Bot.objects.filter(Q(slug=text) | Q(name_key=name_key(text)))
            .values_list("slug", flat=True)
            .first()
        )
        if found is None and not re.fullmatch(r"[-\w]+", text, re.ASCII):
            raise forms.ValidationError(f"No bot has the name “{text}”.")
        return found or text


class GameSearchForm(forms.Form):
    """The filters. All are optional, and a game must match all that are given."""

    ladder = forms.ChoiceField(
        required=False, choices=lambda: _choices(((code, game.name) for code, game in GAMES.items()))
    )
    bot = BotField(required=False, max_length=60, widget=_suggesting())
    version = forms.IntegerField(required=False, min_value=1, max_value=MAX_PLIES)
    opponent = BotField(required=False, max_length=60, widget=_suggesting())
    opponent_version = forms.IntegerField(required=False, min_value=1, max_value=MAX_PLIES)
    colour = forms.ChoiceField(
        required=False, label="Bot plays", choices=_choices([("white", "White"), ("black", "Black")])
    )
    owner = forms.CharField(
        required=False, max_length=150, widget=_suggesting(), help_text="Of one of the bots."
    )
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
    tournament = forms.SlugField(required=False, max_length=200, widget=_suggesting())
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
    position = forms.CharField(
        required=False,
        max_length=MAX_OPENING,
        help_text=f"A position string of the ladder that the game reached within {PLIES} plies.",
    )
    move = forms.CharField(required=False, max_length=MAX_TOKEN, help_text="Played in this position.")
    boards = forms.BooleanField(required=False)

    visits: QuerySet[ExplorerVisit] | None = None
    """Of the position and the move; None without a position."""

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
        if values.get("round") and not values.get("tournament"):
            self.add_error("round", "A round needs a tournament: name it too.")
        if values.get("min_sequence") and not values.get("ladder"):
            self.add_error("min_sequence", "A number needs a ladder: choose the ladder too.")
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
        named = {"bot": "of", "owner": "of bots of", "opponent": "against"}
        given = {name: self.data.get(name, "") for name in (*named, "ladder")}
        words = [f"{word} {given[name]}" for name, word in named.items() if given[name]]
        if given["ladder"] in GAMES:
            words.append(f"on {GAMES[given['ladder']].name}")
        others = not words and any(self.data.get(field.name) for field in self if field.name not in DISPLAY)
        return " ".join(["Games", *words, *(["that match filters"] if others else [])])

    def first(self) -> list[forms.BoundField]:
        return [self[name] for name in FIRST]

    def more(self) -> list[forms.BoundField]:
        return [field for field in self if field.name not in {*FIRST, "boards"}]

    def shows_more(self) -> bool:
        """Whether one of the other fields says something, or is wrong."""
        return any(field.errors or self.data.get(field.name) for field in self.more())

    def find(self, games: QuerySet[Game]) -> QuerySet[Game]:
        """Those of ``games`` that match; the form must be valid. SQLite uses no index for the filters."""
        games = games.alias(**{f"scanned_{name}": Scanned(name) for name in COLUMNS})
        games = self._find_related(games.filter(*map(_scanned, self.conditions(self.given))))
        if self.has_players:
            both = Seat.objects.filter(game=OuterRef("pk"), is_white__in=[True, False])  # the primary key
            games = games.filter(Exists(self._find_players(both)))
        return games

    def find_seats(self, seats: QuerySet[Seat]) -> QuerySet[Seat]:
        """Those of ``seats`` of the bot, or else of the owner's bots, whose games match: of some both."""
        others = self.given - ON_SEATS
        seats = self._find_players(seats).filter(*self.conditions(self.given & ON_SEATS))
        if others - PLAYERS or {"bot", "owner"} <= others:
            games = Game.objects.filter(*self.conditions(others), pk=OuterRef("game"))
            seats = seats.filter(Exists(self._find_related(games)))
        return seats

    def conditions(self, names: Collection[str]) -> list[Q]:
        """Those of the filters with these names whose condition is one of the game's columns."""
        values = {**self.cleaned_data, "tournament": self.tournament_id}
        return [condition(values[name]) for name, condition in CONDITIONS.items() if name in names]

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
        return {name for name, value in self.cleaned_data.items() if value not in {"", None}} - DISPLAY

    @property
    def has_players(self) -> bool:
        return bool(self.cleaned_data["bot"] or self.cleaned_data["owner"])

    @property
    def has_pairings(self) -> bool:
        """Whether a filter concerns pairings."""
        return any(self.cleaned_data[name] for name in ("opening", "pair", "round"))

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


def _id_of(model: type[Model], **filters: object) -> int:
    """The id of the row; zero if there is none."""
    return model._default_manager.filter(**filters).values_list("pk", flat=True).first() or 0


def _scanned(condition: Q) -> Q:
    """The condition of the aliases that ``find`` gives to columns."""
    children: list[Any] = condition.children
    parts = [_scanned(part) if isinstance(part, Q) else (f"scanned_{part[0]}", part[1]) for part in children]
    return Q(*parts, _connector=condition.connector, _negated=condition.negated)


def _midnight(day: datetime.date) -> datetime.datetime:
    return datetime.datetime.combine(day, datetime.time(), tzinfo=datetime.UTC)


RESULTS = {"white": Result.WHITE_WINS, "black": Result.BLACK_WINS, "draw": Result.DRAW}
SIDES = (Fault.WHITE, Fault.BLACK)
FAULTS = {"none": [Fault.NONE], "either": SIDES, "white": [Fault.WHITE], "black": [Fault.BLACK]}
CONDITIONS: dict[str, Callable[[Any], Q]] = {
    "tournament": lambda pk: Q(tournament=pk),
    "ladder": lambda code: Q(ladder=code),
    "min_plies": lambda plies: Q(plies__gte=plies),
    "max_plies": lambda plies: Q(plies__lte=plies),
    "min_sequence": lambda number: Q(sequence__gte=number),
    "until": lambda day: Q(finished_at__lt=_midnight(day + datetime.timedelta(days=1))),
    "since": lambda day: Q(finished_at__gte=_midnight(day)),
    "result": lambda word: Q(result=RESULTS[word]) if word in RESULTS else Q(),
    "termination": lambda code: (
        Q(termination=Termination.RULES, reason=code) if code in RULES_WORDS else Q(termination=code)
    ),
    "fault": lambda word: Q(fault__in=FAULTS[word]) if word in FAULTS else Q(),
    "rated": lambda is_rated: Q(rated=is_rated),
    "annulled": lambda is_annulled: Q(annulled=is_annulled),
}
"""Filters whose condition depends on nothing but their value; that of a tournament is its id."""
COLUMNS = ("ladder", "plies", "sequence", "finished_at", *FILTERED)
"""Of the conditions."""
PLAYERS = {"bot", "version", "opponent", "opponent_version", "colour", "owner"}
ON_SEATS = {"ladder", "tournament", "result", "min_plies", "max_plies", "since", "until"}
"""Filters whose columns seats have too."""


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
