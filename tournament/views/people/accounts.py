"""Sign-up, log-in and the page of the user's own account, on top of Django's views."""

from __future__ import annotations

from urllib.parse import unquote, urlsplit

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth import views as auth_views
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import Resolver404, resolve, reverse, reverse_lazy
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_safe

from tournament import access
from tournament.forms import LogInForm, SignUpForm
from tournament.models import Bot, Tournament
from tournament.services.shares import used_today
from tournament.views.bots.bots import bot_rows
from tournament.views.paging import LAST_ID, by_id, is_whole
from tournament.views.requests import AuthenticatedRequest
from tournament.views.unsent import LOG_IN, keep, login_required, takes_form

PAGE_SIZE = 25
LATEST_TESTS = 10
ENTRY_PAGES = ("log-in", "sign-up", "log-out")
"""Names of URLs to which nobody is sent after a log-in."""


@sensitive_post_parameters()
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def sign_up(request: HttpRequest) -> HttpResponse:
    """Create an account, log in, and go to the page in ``next`` or to the account."""
    form = SignUpForm(request.POST) if request.method == "POST" else SignUpForm()
    target = next_page(request)
    if request.method == "POST" and form.is_valid():
        login(request, form.save())
        return HttpResponseRedirect(target or reverse("account"))
    other = {"address": reverse("log-in"), "label": "I have an account"}
    context = {"title": "Sign up", "button": "Sign up", "form": form, "next": target, "other": other}
    context["purpose"] = _purpose(target)
    return render(request, "form.html", context)


class LogIn(auth_views.LoginView):
    """Log in, then go to the page in ``next`` or to the account."""

    template_name = "log_in.html"
    authentication_form = LogInForm
    redirect_authenticated_user = True
    extra_context = {  # noqa: RUF012
        **LOG_IN,
        "other": {"address": reverse_lazy("sign-up"), "label": "I have no account yet"},
    }

    def dispatch(self, request: HttpRequest, *args: object, **kwargs: object) -> HttpResponseBase:
        response = super().dispatch(request, *args, **kwargs)
        if request.method == "POST" and request.user.is_authenticated:
            keep(request, next_page(request))
        return response

    def get_redirect_url(self, request: HttpRequest | None = None) -> str:
        return next_page(self.request)

    def get_context_data(self, **kwargs: object) -> dict[str, object]:
        context = {"encoded": self.request.POST.get("unsent"), "purpose": _purpose(next_page(self.request))}
        return {**super().get_context_data(**kwargs), **context}


log_in = never_cache(LogIn.as_view())
log_out = auth_views.LogoutView.as_view()


class PasswordChange(auth_views.PasswordChangeView):
    """Change the password; this ends all other sessions of the account."""

    template_name = "form.html"
    success_url = reverse_lazy("account")
    extra_context = {"title": "Change the password", "button": "Change it"}  # noqa: RUF012

    def form_valid(self, form: object) -> HttpResponse:
        messages.success(self.request, "The password is changed.")
        return super().form_valid(form)  # type: ignore[arg-type]


password_change = never_cache(PasswordChange.as_view())


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
        "slot_hours": used_today(request.user, timezone.now()),
        "most_slot_hours": 0 if request.user.is_staff else settings.SLOT_HOURS,
        "tests": list(tests.order_by("-id")[:LATEST_TESTS]),
    }
    return render(request, "account.html", context)


@takes_form("Mark the notice as read")
def notice_read(request: AuthenticatedRequest, pk: int) -> HttpResponse:
    """Mark a notice of the user as read."""
    if pk > LAST_ID or not request.user.notices.filter(pk=pk).update(read_at=timezone.now()):
        raise Http404(f"no notice {pk}")
    return redirect("account")


@takes_form("Mark all notices as read")
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
