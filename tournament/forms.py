"""The forms of the pages, with the error sentence of each field."""

from __future__ import annotations

import math
import re
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache, partial
from typing import Any, cast

from django import forms
from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.db.models import Q, QuerySet
from django.forms.boundfield import BoundField, BoundWidget
from django.forms.utils import flatatt
from django.http import QueryDict
from django.template.defaultfilters import filesizeformat
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe

from engines.formats.rated import MAX_TIMES
from engines.rules.registry import GAMES
from engines.timecontrol import TimeControlError, format_time_control, parse_time_control
from engines.visible import visible_lines
from tournament import access
from tournament.formats import FORMATS, PARAMETERS
from tournament.formats.round_robin import RoundRobin
from tournament.models import Bot, BotVersion, LadderRating, User
from tournament.models.names import name_key
from tournament.sentences import as_sentence, isolate, isolated, isolated_number
from tournament.services.schedule.terms import MAX_BOOK, MAX_PAIRS, MAX_PRIORITY, TournamentTerms
from workers.jobs import MAX_OPENING_PLIES

MAX_SEED = 2**31 - 1
MAX_NOTES = 2000
MAX_DIGITS = 18
"""The most digits of an id."""
TOO_LARGE = "too_large"
"""The code of the error of a bundle over the limit."""


class TextField(forms.CharField):
    """Several lines of text. A longer text is refused with a sentence; a browser would cut it silently."""

    widget = forms.Textarea

    def widget_attrs(self, widget: forms.Widget) -> dict[str, Any]:
        return {}


class UploadForm(forms.Form):
    """A bot's bundle; the upload service checks its content."""

    bundle = forms.FileField(
        label="Bundle",
        help_text="A zip with bot.toml at its top.",
        widget=forms.FileInput(attrs={"accept": ".zip,application/zip"}),
        error_messages={"required": "Choose a zip file.", "empty": "The file is empty."},
    )
    notes = TextField(
        label="Notes",
        required=False,
        max_length=MAX_NOTES,
        help_text="What is new in this version; shown on its page.",
        widget=forms.Textarea(attrs={"rows": 3}),
    )

    def clean_bundle(self) -> UploadedFile[bytes]:
        bundle: UploadedFile[bytes] = self.cleaned_data["bundle"]
        if (bundle.size or 0) > settings.MAX_BUNDLE_BYTES:
            most = filesizeformat(settings.MAX_BUNDLE_BYTES)
            raise forms.ValidationError(
                f"The file has {filesizeformat(bundle.size or 0)}, a bundle at most {most}.", code=TOO_LARGE
            )
        return bundle

    def clean_notes(self) -> str:
        return visible_lines(self.cleaned_data["notes"])


@dataclass(frozen=True, slots=True)
class VersionLabel:
    """A version in a list to choose from, with its owner, "" for the site, and its ratings by ladder."""

    text: str
    owner: str
    ratings: Mapping[str, float]

    @property
    def rating(self) -> float | None:
        """The best one."""
        return max(self.ratings.values(), default=None)

    def __str__(self) -> str:
        return self.text


class VersionChoices(forms.ModelMultipleChoiceField):  # type: ignore[type-arg]  # generic only in stubs
    """Versions that may play, by bot and number."""

    def clean(self, value: Any) -> QuerySet[BotVersion]:
        """Also refuses numbers that no row can have: a database raises for them in a list."""
        for number in value or ():
            if str(number).isdecimal() and len(str(number)) > MAX_DIGITS:
                raise forms.ValidationError(
                    self.error_messages["invalid_choice"],
                    code="invalid_choice",
                    params={"value": str(number)[:20]},
                )
        if gone := _ended_among(value or (), cast(Any, self.queryset)):
            entering = set(BotVersion.objects.entering().values_list("bot", flat=True))
            why = {True: "its owner does not let you", False: "no version of its bot is active"}
            raise forms.ValidationError(
                [f"{isolated(one)} can no longer be chosen: {why[one.bot_id in entering]}." for one in gone]
            )
        return super().clean(value)

    def label_from_instance(self, version: BotVersion) -> str:
        return isolated(version)


def _numbers_in(values: Iterable[Any]) -> list[int]:
    """The ids that a row can have."""
    return [int(one) for one in map(str, values) if one.isdecimal() and len(one) <= MAX_DIGITS]


def _ended_among(values: Iterable[Any], offered: QuerySet[BotVersion]) -> list[BotVersion]:
    """The versions with these ids that were valid once and may not be chosen now."""
    known = BotVersion.objects.filter(pk__in=_numbers_in(values), state__in=BotVersion.VALIDATED)
    return list(known.exclude(pk__in=offered.order_by().values("pk")).select_related("bot"))


def _with_successors(data: QueryDict, offered: QuerySet[BotVersion]) -> QueryDict:
    """The same values of ``TournamentForm`` with the active version of each bot in place of an earlier one.

    A version may have been replaced after the form was drawn.
    """
    names = ("bots", "challenger")
    replaced = _ended_among((value for name in names for value in data.getlist(name)), offered)
    if not replaced:
        return data
    active: dict[int, int] = {}
    for pk, bot in BotVersion.objects.entering().values_list("pk", "bot"):
        active.setdefault(bot, pk)  # the newest
    now = {str(one.pk): str(active.get(one.bot_id, one.pk)) for one in replaced}
    data = data.copy()
    for name in names:
        data.setlist(name, list(dict.fromkeys(now.get(value, value) for value in data.getlist(name))))
    return data


class LongSelect(forms.Select):
    """A menu without groups, drawn without a template for each of hundreds of options."""

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        given = flatatt(self.build_attrs(self.attrs, attrs))
        chosen = set(self.format_value(value))
        options = (
            f'<option value="{escape(one)}"{selected}>{escape(label)}</option>'
            for one, label in self.choices
            for selected in [" selected" if str(one) in chosen else ""]
        )
        drawn = mark_safe("\n".join(options))  # safe: escaped
        return format_html('<select name="{}"{}>\n{}\n</select>', name, given, drawn)


class VersionChoice(forms.ModelChoiceField):  # type: ignore[type-arg]
    """One of the versions that may play."""

    widget = LongSelect

    def label_from_instance(self, version: BotVersion) -> str:
        return isolated(version)


class BotChoice(forms.ModelChoiceField):  # type: ignore[type-arg]
    """One bot by its name."""

    def label_from_instance(self, bot: Bot) -> str:
        return isolate(bot.name)


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


CHOICES = [(code, one.choice) for code, one in FORMATS.items() if one.choice]


def moment_field(label: str, help_text: str = "") -> forms.DateTimeField:
    """A date and time in UTC, to the minute; empty for none. A script shows it in the visitor's zone."""
    attributes = {"type": "datetime-local", "data-utc": "", "autocomplete": "off"}
    return forms.DateTimeField(
        label=f"{label} (UTC)",
        required=False,
        help_text=help_text,
        widget=forms.DateTimeInput(attrs=attributes, format="%Y-%m-%dT%H:%M"),
    )


class TimeControlField(forms.CharField):
    """A time control, in the form in which it is stored."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(
            label="Time control",
            max_length=80,
            help_text="60+0.5 is a minute a game and half a second more a move; "
            "or 0.1/move, nodes=5000, depth=4. Join several with ;",
            widget=forms.TextInput(attrs={"autocapitalize": "off", "spellcheck": "false"}),
            **kwargs,
        )

    def clean(self, value: Any) -> str:
        try:
            return format_time_control(parse_time_control(super().clean(value)))
        except TimeControlError as unreadable:
            raise forms.ValidationError(as_sentence(str(unreadable))) from None


def own_workers_field() -> forms.BooleanField:
    return forms.BooleanField(
        label="Played by my own workers",
        required=False,
        help_text="On your machine, with a token of the scope worker: own, and only among your bots and"
        " published ones. It takes none of your slot-hours; the games are unrated and in no list.",
    )


class TournamentForm(forms.Form):
    """A new tournament, or ``terms`` to change; ``cleaned_data`` holds the values that the service takes.

    ``versions`` are the bots in the order of the tables, a gauntlet's challenger first. If ``has_entries``,
    owners enter bots: nobody chooses them here, and versions are those of the terms.
    """

    name = forms.CharField(label="Name", max_length=80)
    kind = forms.ChoiceField(
        label="Format", choices=CHOICES, required=False, initial=RoundRobin.code, widget=forms.RadioSelect
    )
    challenger = VersionChoice(
        BotVersion.objects.none(),
        label="Challenger",
        required=False,
        error_messages={"invalid_choice": "No version of this bot is active. Choose another."},
        help_text="The bot that meets all others.",
    )
    starts_at = moment_field("Starts", "Once announced, it starts at this time. Empty: when you start it.")
    entry_until = moment_field(
        "Entry until", "Owners can enter their bots until then. Empty: only the bots chosen here play."
    )
    bots = VersionChoices(
        BotVersion.objects.none(),
        label="Bots",
        required=False,
        help_text="The active versions of each bot. A version plays only on the ladders it supports.",
        widget=forms.CheckboxSelectMultiple,
        error_messages={
            "required": "Choose at least two bots.",
            "invalid_choice": "Bot %(value)s is not among those offered.",
        },
    )
    ladders = forms.MultipleChoiceField(
        label="Ladders",
        choices=[(code, game.name) for code, game in GAMES.items()],
        initial=list(GAMES),
        widget=forms.CheckboxSelectMultiple,
        help_text="All are played at the same time, each with its own table.",
        error_messages={
            "required": "Choose at least one ladder.",
            "invalid_choice": "There is no ladder %(value)s.",
        },
    )
    pairs = forms.IntegerField(
        label="Pairs",
        min_value=1,
        max_value=MAX_PAIRS,
        initial=2,
        help_text="Pairs of games whenever two bots meet: one opening, both colours.",
    )
    time_control = TimeControlField(initial="5+0.1")
    opening_plies = forms.IntegerField(
        label="Opening plies",
        min_value=0,
        max_value=MAX_OPENING_PLIES,
        initial=4,
        help_text="Drawn at random before the bots take over.",
    )
    book = TextField(
        label="Book of openings",
        required=False,
        max_length=MAX_BOOK,
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false"}),
        help_text="Instead of random ones: an opening a line, as its moves, for several ladders under"
        " headings with their codes in brackets. The explorer of each ladder has a book of even openings.",
    )
    seed = forms.IntegerField(
        label="Seed",
        required=False,
        min_value=0,
        max_value=MAX_SEED,
        help_text="Seed of the openings. Empty: a random one.",
    )
    rated = forms.BooleanField(
        label="Rated: the games count on the ladders",
        required=False,
        initial=True,
        help_text="Where they are played on the ladder's terms: its time control or up to"
        f" {MAX_TIMES} times as much, and its number of random opening plies.",
    )
    rated_off_terms = forms.BooleanField(
        label="Rated on other terms too",
        required=False,
        help_text="Only staff can choose it; the tournament's page and the pages of its games say so.",
    )
    own_workers = own_workers_field()

    def __init__(
        self,
        data: QueryDict | None = None,
        terms: TournamentTerms | None = None,
        *,
        user: User,
        organizer: User | None,
        has_entries: bool = False,
    ) -> None:
        super().__init__(data, initial=None if terms is None else _values_of(terms))
        if not access.may_rate_off_terms(user):
            del self.fields["rated_off_terms"]
        self.entered = [] if terms is None else list(terms.versions)
        chosen = Q(pk__in=[version.pk for version in self.entered], state=BotVersion.State.VALID)
        versions = BotVersion.objects.entering() | BotVersion.objects.filter(chosen)
        self.kept = _kept_from(organizer, versions)
        versions = versions.filter(access.may_choose(organizer, "bot__"))
        if self.is_bound:
            self.data = _with_successors(cast(QueryDict, self.data), versions)
        for one in FORMATS.values():
            for own in one.parameters:
                self.fields[own.name] = forms.IntegerField(
                    label=own.label,
                    required=False,
                    min_value=own.least,
                    max_value=own.most,
                    initial=own.initial,
                    help_text=own.help_text,
                )
        offered = cache(partial(_offered, versions))  # read once for both fields, and only if they are drawn
        bots, challenger = cast(Any, self.fields["bots"]), cast(Any, self.fields["challenger"])
        bots.queryset = challenger.queryset = versions
        bots.choices = lambda: _best_first(offered())
        challenger.choices = lambda: [("", "---------"), *offered()]
        self.has_entries = has_entries
        if has_entries:
            del self.fields["bots"], self.fields["challenger"]

    @property
    def terms(self) -> TournamentTerms:
        """The values of a valid form."""
        data = self.cleaned_data
        taken = {one.name for one in fields(TournamentTerms)} & data.keys()
        return TournamentTerms(**{name: data[name] for name in taken})

    @property
    def formats(self) -> Iterator[tuple[BoundWidget, list[BoundField]]]:
        """The choices of the format, each with the fields that only it has."""
        for choice in self["kind"]:
            one = FORMATS[choice.data["value"]]
            yield choice, [self[name] for name in one.own_fields if name in self.fields]

    def clean_kind(self) -> str:
        return self.cleaned_data["kind"] or RoundRobin.code

    def clean_seed(self) -> int:
        seed: int | None = self.cleaned_data["seed"]
        return secrets.randbelow(MAX_SEED) if seed is None else seed

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        chosen, entry = FORMATS[data.get("kind") or RoundRobin.code], data.get("entry_until")
        versions, ladders = list(data.get("bots") or ()), data.get("ladders") or []
        if self.has_entries:
            versions = self.entered
        for name in {name for one in FORMATS.values() for name in one.own_fields} - set(chosen.own_fields):
            self.errors.pop(name, None)
        if chosen.has_challenger and "challenger" in self.fields and "challenger" not in self.errors:
            versions = self._with_challenger(data.get("challenger"), versions)
        for own in chosen.parameters:
            if own.missing and own.name not in self.errors and data[own.name] is None:
                self.add_error(own.name, own.missing)
        data |= {name: data.get(name) or 0 for name in PARAMETERS}
        is_open = entry or self.has_entries
        if len(versions) < 2 and not is_open and not self.errors.keys() & {"bots", "challenger"}:
            self.add_error("bots", "Choose at least two bots.")
        elif versions and not is_open:
            for ladder in ladders:
                if sum(version.plays(ladder) for version in versions) < 2:
                    self.add_error("ladders", f"Fewer than two of these bots play {GAMES[ladder].name}.")
        data["versions"] = versions
        return data

    def _with_challenger(self, challenger: BotVersion | None, versions: list[BotVersion]) -> list[BotVersion]:
        if challenger is None:
            self.add_error("challenger", "Choose the bot that meets all others.")
            return versions
        return [challenger, *(version for version in versions if version.pk != challenger.pk)]


def _kept_from(organizer: User | None, versions: QuerySet[BotVersion]) -> QuerySet[Bot]:
    """The bots of these versions that are not offered because their owners do not want it."""
    playing = versions.exclude(access.may_choose(organizer, "bot__")).order_by()
    return Bot.objects.filter(pk__in=playing.values("bot"))


def _values_of(terms: TournamentTerms) -> dict[str, Any]:
    """The initial values of a form that changes these terms."""
    first = {"challenger": terms.versions[0].pk} if terms.format.has_challenger and terms.versions else {}
    values = {one.name: getattr(terms, one.name) for one in fields(terms) if one.name != "versions"}
    own = {name: values[name] for name in PARAMETERS if name in terms.format.own_fields}
    others = {name: value for name, value in values.items() if name not in PARAMETERS}
    return {**others, **own, **first, "bots": [version.pk for version in terms.versions]}


def _offered(versions: QuerySet[BotVersion]) -> list[tuple[int, VersionLabel]]:
    """The ids and labels of the versions to choose from: whole rows take three times as long."""
    ratings: dict[int, dict[str, float]] = {}
    for pk, ladder, rating in LadderRating.objects.values_list("version", "ladder", "conservative"):
        ratings.setdefault(pk, {})[ladder] = round(rating, 2)
    rows = versions.values_list("pk", "bot__name", "number", "bot__owner__username")
    return [
        (pk, VersionLabel(isolated_number(name, number), owner or "", ratings.get(pk, {})))
        for pk, name, number, owner in rows
    ]


def _best_first(offered: Sequence[tuple[int, VersionLabel]]) -> list[tuple[int, VersionLabel]]:
    return sorted(offered, key=lambda one: max(one[1].ratings.values(), default=-math.inf), reverse=True)


class ControlForm(forms.Form):
    """The settings of a running tournament that can be changed."""

    more = forms.IntegerField(label="More", required=False, min_value=1, max_value=MAX_PAIRS)
    shown = forms.IntegerField(required=False, widget=forms.HiddenInput)
    """How many there were when the page was shown."""
    priority = forms.IntegerField(
        label="Priority", required=False, min_value=-MAX_PRIORITY, max_value=MAX_PRIORITY
    )


class EnterForm(forms.Form):
    """One of the user's own bots."""

    bot = BotChoice(Bot.objects.none(), label="Your bot")

    def __init__(self, *args: Any, user: User, without: Sequence[int] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        bots: Any = self.fields["bot"]
        bots.queryset = access.enterable_bots(user).exclude(pk__in=without)
