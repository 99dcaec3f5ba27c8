"""The user's webhooks: add, change, test, turn on and off, remove; and what was sent to each."""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods
from django.views.decorators.vary import vary_on_headers

from tournament.models import Webhook, WebhookDelivery
from tournament.models.webhooks import MAX_URL, DeliveryQuerySet, EventType
from tournament.queues import webhook_topic
from tournament.sentences import as_sentence
from tournament.services.webhooks import owning
from tournament.services.webhooks.envelope import content_of, readable
from tournament.services.webhooks.events import MAX_A_DAY, left_today
from tournament.services.webhooks.examples import examples
from tournament.services.webhooks.owning import WebhookError, check_url
from tournament.views.logged_in import login_required, takes_form
from tournament.views.paging import by_id
from tournament.views.polling import PART, LivePart, given_parameters, is_part, reload, shows_other
from tournament.views.requests import AuthenticatedRequest

PAGE_SIZE = 25
LATE = datetime.timedelta(minutes=1)
"""After so long the pages say that an event which is due has not been sent."""


class WebhookForm(forms.Form):
    """A webhook to add or change."""

    url = forms.CharField(
        label="Address",
        max_length=MAX_URL,
        help_text="An https:// address on the internet, with port 443 or 8443.",
        widget=forms.URLInput(attrs={"autocomplete": "off"}),
    )
    kind = forms.ChoiceField(label="What receives them", choices=Webhook.Kind.choices)
    events = forms.MultipleChoiceField(
        label="What it is told",
        choices=EventType.choices,
        initial=[EventType.VERSION_CHECKED, EventType.TOURNAMENT_FINISHED],
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose what the webhook is told."},
    )

    def clean_url(self) -> str:
        url: str = self.cleaned_data["url"]
        try:
            check_url(url)
        except WebhookError as error:
            raise forms.ValidationError(as_sentence(str(error))) from None
        return url


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@login_required
def webhooks(request: AuthenticatedRequest) -> HttpResponse:
    """The user's webhooks, and the form of a new one."""
    form = WebhookForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        try:
            made = owning.create(request.user, **form.cleaned_data)
        except WebhookError as refused:
            form.add_error(None, as_sentence(str(refused)))
        else:
            messages.success(request, "The webhook is added. Send a test, to see whether it works.")
            return redirect(made)
    own = list(request.user.webhooks.order_by("-id"))
    deliveries = WebhookDelivery.objects.filter(webhook__in=own)
    context = {
        "late_since": _late_since(deliveries, timezone.now()),
        "examples": examples(),
        "form": form,
        "webhooks": own,
        "most": MAX_A_DAY,
        "is_full": bool(own) and not left_today(request.user, timezone.now()),
    }
    return render(request, "people/webhooks.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@login_required
@vary_on_headers(PART)
def webhook(request: AuthenticatedRequest, pk: int) -> HttpResponse:
    """A webhook of the user with its secret and its deliveries; the form changes it.

    A script gets the part with the deliveries, or 204. When the webhook is turned off the page is loaded
    again, because its buttons change.
    """
    one = get_object_or_404(request.user.webhooks, pk=pk)
    sent = _sent(request, one)
    state = "on" if one.is_on else "off"
    part = LivePart(
        request,
        f"{state}-{_seen(sent)}",
        (webhook_topic(one.pk),) if one.is_on else (),
        parameters=given_parameters(request, "before", "after"),
    )
    if part.is_shown:
        return part.unchanged()
    if shows_other(request, state):
        return reload()
    if is_part(request):
        return part.render("people/pieces/webhook_sent.html", sent)
    initial = {"url": one.url, "kind": one.kind, "events": one.events}
    form = WebhookForm(request.POST if request.method == "POST" else None, initial=initial)
    if request.method == "POST" and form.is_valid():
        try:
            owning.change(one, **form.cleaned_data)
        except WebhookError as refused:
            form.add_error(None, as_sentence(str(refused)))
        else:
            messages.success(request, "The webhook is changed.")
            return redirect(one)
    until = one.old_secret_until
    context = {
        **sent,
        "form": form,
        "old_until": until if until and until > sent["now"] else None,
        "code": example_code(),
    }
    return part.render("people/webhook.html", context)


def _sent(request: AuthenticatedRequest, one: Webhook) -> dict[str, Any]:
    """What the part shows."""
    now = timezone.now()
    page = by_id(request, one.deliveries.select_related("webhook"), PAGE_SIZE)
    return {
        "webhook": one,
        "rests": one.is_on and one.failures > 0 and one.next_at > now,
        "late_since": _late_since(one.deliveries.all(), now),
        "now": now,
        "page": page,
        "rows": [(row, readable(content_of(row))) for row in page.rows],
    }


def _late_since(deliveries: DeliveryQuerySet, now: datetime.datetime) -> datetime.datetime | None:
    """Since when one of them should have been sent, if that is so long ago that nobody seems to send."""
    since: datetime.datetime | None = deliveries.late_since(now)
    return since if since is not None and now - since > LATE else None


def _seen(sent: Mapping[str, Any]) -> str:
    """The state of what the part shows."""
    shown = [(one.pk, one.state, one.attempts, one.tried_at, one.next_at) for one in sent["page"].rows]
    state = f"{shown} {sent['rests']} {sent['webhook'].next_at} {sent['late_since']}"
    return hashlib.sha256(state.encode()).hexdigest()[:12]


@cache
def example_code() -> str:
    """How a receiver checks a signature, from the document about webhooks."""
    text = (settings.ROOT / "docs" / "webhooks.md").read_text(encoding="utf-8")
    return text.partition("```python\n")[2].partition("```")[0]


def _remove(one: Webhook) -> None:
    one.delete()


ACTS: Mapping[str, tuple[Callable[[Webhook], object], str]] = {
    "test": (owning.send_test, "A test is sent: its answer is below in a moment."),
    "off": (owning.turn_off, "The webhook is off."),
    "on": (owning.turn_on, "The webhook is on. What still waits for it is sent first."),
    "rotate": (owning.rotate, "The webhook has a new secret. The one before is valid for 24 hours more."),
    "remove": (_remove, "The webhook is removed."),
}
"""What each form of a webhook's page does, and what is said then."""


@takes_form
def act(request: AuthenticatedRequest, pk: int, act: str) -> HttpResponse:
    """Do something with a webhook of the user."""
    one = get_object_or_404(request.user.webhooks, pk=pk)
    if act not in ACTS:
        raise Http404("no such act")
    do, text = ACTS[act]
    try:
        do(one)
    except WebhookError as refused:
        messages.error(request, as_sentence(str(refused)))
    else:
        messages.success(request, text)
    return redirect("webhooks" if act == "remove" else one)


@takes_form
def again(request: AuthenticatedRequest, pk: int, delivery: int) -> HttpResponse:
    """Send an event to a webhook of the user once more."""
    one = get_object_or_404(request.user.webhooks, pk=pk)
    sent = get_object_or_404(one.deliveries.select_related("webhook"), pk=delivery)
    try:
        owning.send_again(sent)
    except WebhookError as refused:
        messages.error(request, as_sentence(str(refused)))
    else:
        messages.success(request, "The event is sent again: its answer is below in a moment.")
    return redirect(one)
