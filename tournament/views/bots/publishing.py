"""Published versions: their owners choose a licence, and everybody may download their bundles."""

from __future__ import annotations

from urllib.parse import urlsplit

from django import forms
from django.contrib import messages
from django.core.validators import URLValidator
from django.db import transaction
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render

from tournament import access
from tournament.models import BotVersion
from tournament.models.bots import MAX_LICENCE, MAX_SOURCE
from tournament.services.accounts.acts import record_act
from tournament.views.bots.versions import find_version
from tournament.views.logged_in import login_required
from tournament.views.requests import AuthenticatedRequest, takes_get_and_post

LICENCES = (
    "0BSD",
    "AGPL-3.0-only",
    "AGPL-3.0-or-later",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC-BY-4.0",
    "CC-BY-SA-4.0",
    "CC0-1.0",
    "EUPL-1.2",
    "GPL-2.0-only",
    "GPL-2.0-or-later",
    "GPL-3.0-only",
    "GPL-3.0-or-later",
    "ISC",
    "LGPL-2.1-or-later",
    "LGPL-3.0-only",
    "LGPL-3.0-or-later",
    "MIT",
    "MIT-0",
    "MPL-2.0",
    "Unlicense",
    "Zlib",
)
"""SPDX identifiers that the form suggests (https://spdx.org/licenses/); any other words are accepted."""


class PublishForm(forms.Form):
    """The licence of a published version, and where its source is."""

    licence = forms.CharField(
        label="Licence",
        max_length=MAX_LICENCE,
        help_text="An identifier of the SPDX list, such as MIT, or what others may do in your words.",
        widget=forms.TextInput(attrs={"list": "licences", "autocomplete": "off"}),
        error_messages={"required": "Choose a licence: without one nobody may use your bot."},
    )
    source = forms.CharField(
        label="Address of its source",
        required=False,
        max_length=MAX_SOURCE,
        help_text="Optional; begins with https:// or http://.",
        widget=forms.URLInput(attrs={"autocomplete": "off"}),
        validators=[
            URLValidator(["http", "https"], message="Write an address that begins with https:// or http://.")
        ],
    )

    def clean_licence(self) -> str:
        return self._printable("licence")

    def clean_source(self) -> str:
        source = self._printable("source")
        if "@" in urlsplit(source).netloc:
            raise forms.ValidationError("The address names a user, which hides where it leads.")
        return source

    def _printable(self, name: str) -> str:
        text: str = self.cleaned_data[name]
        if not text.isprintable():
            raise forms.ValidationError(f"The {name} contains an invisible character.")
        return text


@takes_get_and_post
@login_required
def version_publish(request: AuthenticatedRequest, slug: str, number: int) -> HttpResponse:
    """Publish a version under a licence, or end its downloads; staff may only do the latter."""
    version = find_version(request, slug, number)
    may_publish = access.may_publish(request.user, version)
    if not (may_publish or (version.licence and access.may_edit_bot(request.user, version.bot))):
        raise Http404(f"no version {number} that this user may publish")
    if "unpublish" in request.POST:
        _license(request, version, "ended its downloads", licence="", source="")
        messages.success(request, "The version is no longer published. Copies that were taken stay.")
        return redirect(version)
    given = {"licence": version.licence, "source": version.source}
    form = PublishForm(request.POST if may_publish and request.method == "POST" else None, initial=given)
    if form.is_valid():
        _license(request, version, f"published it under {form.cleaned_data['licence']}", **form.cleaned_data)
        messages.success(request, "The version is published: everybody may download it.")
        return redirect(version)
    context = {"version": version, "form": form, "may_publish": may_publish, "licences": LICENCES}
    return render(request, "bots/publish.html", context)


@transaction.atomic
def _license(request: AuthenticatedRequest, version: BotVersion, deed: str, **given: str) -> None:
    """Set the licence and source, and note the act."""
    BotVersion.objects.filter(pk=version.pk).update(**given)
    record_act(request.user, deed, f"version {version}", version.get_absolute_url())
