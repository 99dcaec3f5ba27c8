"""What people may send, and the sentence each bad field gets."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any

from django import forms
from django.conf import settings
from django.contrib.auth.forms import UserCreationForm, UsernameField
from django.core.files.uploadedfile import UploadedFile
from django.db.models import QuerySet
from django.template.defaultfilters import filesizeformat

from engines.rules.registry import GAMES
from engines.timecontrol import TimeControlError, format_time_control, parse_time_control
from tournament.models import BotVersion, User
from workers.openings import MAX_PLIES

if TYPE_CHECKING:
    _UserCreationForm = UserCreationForm[User]
    _VersionChoiceField = forms.ModelMultipleChoiceField[BotVersion]
else:  # generic for the type checker alone
    _UserCreationForm = UserCreationForm
    _VersionChoiceField = forms.ModelMultipleChoiceField

MAX_PAIRS = 1000
MAX_SEED = 2**31 - 1
MAX_NOTES = 2000
MAX_USERNAME = 40
"""Of new accounts: a name stands in tables beside others."""
LAST_ID = 2**63 - 1


class SignUpForm(_UserCreationForm):
    """A name and a password; nothing else is asked for."""

    username = UsernameField(
        label="Name",
        max_length=MAX_USERNAME,
        help_text=f"Everybody sees it: at most {MAX_USERNAME} letters, digits and @ . + - _",
    )

    class Meta:
        model = User
        fields = ("username",)


class UploadForm(forms.Form):
    """A bot's bundle; what is in it is the upload service's to judge."""

    bundle = forms.FileField(
        label="Bundle",
        help_text="A zip with bot.toml at its top.",
        widget=forms.FileInput(attrs={"accept": ".zip,application/zip"}),
        error_messages={"required": "Choose a zip file.", "empty": "The file is empty."},
    )
    notes = forms.CharField(
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
                f"The file has {filesizeformat(bundle.size or 0)}, a bundle at most {most}."
            )
        return bundle


def as_sentence(complaint: str) -> str:
    """A complaint of a service set as a sentence; a name it begins with (``bot.toml``) keeps its spelling."""
    first = complaint.partition(" ")[0]
    return f"{complaint[:1].upper() if first.isalpha() else complaint[:1]}{complaint[1:]}."


def isolated(version: BotVersion) -> str:
    """A version's name for texts without markup: its author's directions end where it ends."""
    return f"\u2068{version.bot.name}\u2069 v{version.number}"


class VersionChoices(_VersionChoiceField):
    """Versions that may play, by bot and number."""

    def clean(self, value: Any) -> QuerySet[BotVersion]:
        """Also refuses numbers that no row can have and that a database chokes on."""
        for number in value or ():
            if str(number).isdecimal() and int(str(number)[:20]) > LAST_ID:
                raise forms.ValidationError(
                    self.error_messages["invalid_choice"],
                    code="invalid_choice",
                    params={"value": str(number)[:20]},
                )
        return super().clean(value)

    def label_from_instance(self, version: BotVersion) -> str:
        return isolated(version)


class TournamentForm(forms.Form):
    """A round robin to be; ``cleaned_data`` holds what the service takes, ready for use."""

    name = forms.CharField(label="Name", max_length=80)
    bots = VersionChoices(
        BotVersion.objects.none(),
        label="Bots",
        help_text="Each bot's newest valid version. A bot plays on those of the ladders it can.",
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
        help_text="Every two bots meet on each.",
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
        help_text="Of games between every two bots: one opening, both colours.",
    )
    time_control = forms.CharField(
        label="Time control",
        max_length=80,
        initial="5+0.1",
        help_text="60+0.5 is a minute a game and half a second more a move; "
        "or 0.1/move, nodes=5000, depth=4. Join several with ;",
        widget=forms.TextInput(attrs={"autocapitalize": "off", "spellcheck": "false"}),
    )
    opening_plies = forms.IntegerField(
        label="Opening plies",
        min_value=0,
        max_value=MAX_PLIES,
        initial=4,
        help_text="Drawn at random before the bots take over.",
    )
    seed = forms.IntegerField(
        label="Seed",
        required=False,
        min_value=0,
        max_value=MAX_SEED,
        help_text="Of the openings; empty for a random one.",
    )
    rated = forms.BooleanField(label="Rated: the games count on the ladders", required=False, initial=True)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        bots: Any = self.fields["bots"]
        bots.queryset = BotVersion.objects.newest_valid()

    def clean_time_control(self) -> str:
        try:
            return format_time_control(parse_time_control(self.cleaned_data["time_control"].strip()))
        except TimeControlError as unreadable:
            raise forms.ValidationError(as_sentence(str(unreadable))) from None

    def clean_seed(self) -> int:
        seed: int | None = self.cleaned_data["seed"]
        return secrets.randbelow(MAX_SEED) if seed is None else seed

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        versions, ladders = list(data.get("bots") or ()), data.get("ladders") or []
        if versions and len(versions) < 2:
            self.add_error("bots", "Choose at least two bots.")
        elif versions:
            for ladder in ladders:
                if sum(version.plays(ladder) for version in versions) < 2:
                    self.add_error("ladders", f"Fewer than two of these bots play {GAMES[ladder].name}.")
        return data
