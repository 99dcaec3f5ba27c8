"""The user's webhooks: add, change, test, turn on and off, remove; and what was sent to each."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from tournament.models import Webhook
from tournament.models.webhooks import MAX_URL, EventType
from tournament.sentences import as_sentence
from tournament.services.webhooks import owning
from tournament.services.webhooks.events import MAX_A_DAY, left_today
from tournament.services.webhooks.owning import WebhookError, check_url
from tournament.views.logged_in import login_required, takes_form
from tournament.views.paging import by_id
from tournament.views.requests import AuthenticatedRequest

PAGE_SIZE = 25


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
    context = {
        "form": form,
        "webhooks": own,
        "most": MAX_A_DAY,
        "is_full": bool(own) and not left_today(request.user, timezone.now()),
    }
    return render(request, "people/webhooks.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@login_required
def webhook(request: AuthenticatedRequest, pk: int) -> HttpResponse:
    """A webhook of the user with its secret and its deliveries; the form changes it."""
    one = get_object_or_404(request.user.webhooks, pk=pk)
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
    now = timezone.now()
    context = {
        "form": form,
        "webhook": one,
        "rests": one.is_on and one.failures > 0 and one.next_at > now,
        "old_until": one.old_secret_until if one.old_secret_until and one.old_secret_until > now else None,
        "page": by_id(request, one.deliveries.all(), PAGE_SIZE),
    }
    return render(request, "people/webhook.html", context)


def _remove(one: Webhook) -> None:
    one.delete()


ACTS: Mapping[str, tuple[Callable[[Webhook], object], str]] = {
    "test": (owning.send_test, "A test is sent: its answer is below in a moment. Load the page again."),
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
