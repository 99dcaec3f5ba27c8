"""Sign-up, log-in and the page of the user's own account, on top of allauth's views."""

from __future__ import annotations

from urllib.parse import unquote, urlsplit

from allauth.account import views as account_views
from django.contrib.auth import views as auth_views
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import Resolver404, resolve, reverse, reverse_lazy
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from tournament import access
from tournament.models import Bot, Tournament, User
from tournament.services.accounts import throttles
from tournament.services.fair_share import hours_a_day, used_today
from tournament.views.bots.bots import bot_rows
from tournament.views.logged_in import login_required, takes_form
from tournament.views.paging import LAST_ID, by_id, is_whole
from tournament.views.people.adapters import THROTTLED
from tournament.views.people.forms import LogInForm, SignUpForm
from tournament.views.requests import AuthenticatedRequest, takes_get_and_post, too_many

PAGE_SIZE = 25
LATEST_TESTS = 10
ENTRY_PAGES = ("log-in", "sign-up", "log-out", "mfa_authenticate")
"""Names of URLs to which nobody is sent after a log-in."""


class _ToNextPage:
    """After the log-in, goes to the page in ``next`` or to the account."""

    request: HttpRequest

    def get_next_url(self) -> str:
        """Never None: allauth would then take ``next`` as it was sent."""
        return next_page(self.request) or reverse("account")


class SignUp(_ToNextPage, account_views.SignupView):
    """Create an account, log in, and go to the page in ``next`` or to the account."""

    template_name = "form.html"
    form_class = SignUpForm

    def form_valid(self, form: SignUpForm) -> HttpResponse:
        try:
            throttles.claim(self.request, throttles.sign_up_claims(self.request))
        except throttles.Throttled as refused:
            form.add_error(None, f"Too many new accounts come from your network address: {refused}.")
            return too_many(self.render_to_response(self.get_context_data(form=form)), refused.seconds)
        return super().form_valid(form)

    def get_context_data(self, **kwargs: object) -> dict[str, object]:
        target = next_page(self.request)
        other = {"address": reverse("log-in"), "label": "I have an account"}
        context = {"title": "Sign up", "button": "Sign up", "next": target, "other": other}
        return {**super().get_context_data(**kwargs), **context, "purpose": _purpose(target)}


class LogIn(_ToNextPage, account_views.LoginView):
    """Log in, then go to the page in ``next`` or to the account; before that to the second factor."""

    template_name = "log_in.html"
    form_class = LogInForm
    extra_context = {  # noqa: RUF012
        "title": "Log in",
        "button": "Log in",
        "action": reverse_lazy("log-in"),
        "other": {"address": reverse_lazy("sign-up"), "label": "I have no account yet"},
    }

    def form_invalid(self, form: LogInForm) -> HttpResponse:
        response = super().form_invalid(form)
        for error in form.errors.as_data().get("password", ()):
            if error.code == THROTTLED:
                return too_many(response, (error.params or {})["seconds"])
        return response

    def get_context_data(self, **kwargs: object) -> dict[str, object]:
        target = next_page(self.request)
        context = {"next": target, "purpose": _purpose(target)}
        return {**super().get_context_data(**kwargs), **context}


sign_up = never_cache(takes_get_and_post(SignUp.as_view()))
log_in = never_cache(takes_get_and_post(LogIn.as_view()))
log_out = auth_views.LogoutView.as_view()


@require_safe
@never_cache
@login_required
def account(request: AuthenticatedRequest) -> HttpResponse:
    """The user's unread notices, bots, tournaments and latest version tests."""
    bots = bot_rows(Bot.objects.filter(owner=request.user), request.user)
    tests = access.visible_version_tests().filter(owner=request.user).select_related("owner", "version_test")
    own = Tournament.objects.public().filter(owner=request.user).select_related("owner")
    context = {
        "notices": request.user.notices.unread(),
        "bots": bots,
        "page": by_id(request, own, PAGE_SIZE),
        "tournament_hours": _slot_hours(request.user, is_validation=False),
        "validation_hours": _slot_hours(request.user, is_validation=True),
        "sees_acts": access.may_see_acts(request.user),
        "tests": list(tests.order_by("-id")[:LATEST_TESTS]),
    }
    return render(request, "account.html", context)


def _slot_hours(user: User, *, is_validation: bool) -> tuple[float, float] | None:
    """The hours of slots that the user's tournaments, or validations, used today, and the most.

    None: no limit.
    """
    most = hours_a_day(is_validation=is_validation) if access.has_limits(user) else 0
    return (used_today(user, timezone.now(), is_validation=is_validation), most) if most else None


@takes_form
def notice_read(request: AuthenticatedRequest, pk: int) -> HttpResponse:
    """Mark a notice of the user as read."""
    if pk > LAST_ID or not request.user.notices.filter(pk=pk).update(read_at=timezone.now()):
        raise Http404(f"no notice {pk}")
    return redirect("account")


@takes_form
def notices_read(request: AuthenticatedRequest) -> HttpResponse:
    """Mark the user's notices as read; with ``last``, those up to its id: later ones have not been shown."""
    unread, last = request.user.notices.filter(read_at__isnull=True), request.POST.get("last", "")
    if is_whole(last, LAST_ID):
        unread = unread.filter(pk__lte=int(last))
    unread.update(read_at=timezone.now())
    return redirect("account")


def next_page(request: HttpRequest) -> str:
    """The path in ``next`` if it is a page of this site, else empty."""
    target = request.POST.get("next") or request.GET.get("next") or ""
    if not (
        target.startswith("/") and target.isprintable() and url_has_allowed_host_and_scheme(target, None)
    ):
        return ""
    return "" if _page_name(target) in {"", *ENTRY_PAGES} else target


def _page_name(target: str) -> str:
    """The name of the page at an address of this site; empty if there is none."""
    try:
        return resolve(unquote(urlsplit(target).path)).url_name or ""
    except Resolver404:
        return ""


def _purpose(target: str) -> str:
    """What the user wants to do with an account, as the name of the page after the log-in; often empty."""
    return _page_name(target) if target else ""
