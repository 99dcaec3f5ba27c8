"""People: signing up, their own page. Logging in and out is Django's."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth import views as auth_views
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse, reverse_lazy
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from tournament.forms import SignUpForm
from tournament.models import Bot, Tournament
from tournament.views.bots import listed
from tournament.views.paging import LAST_ID, by_id
from tournament.views.requests import AuthenticatedRequest

PAGE_SIZE = 25


@sensitive_post_parameters()
@require_http_methods(["GET", "HEAD", "POST"])
def sign_up(request: HttpRequest) -> HttpResponse:
    """A new account, logged in at once, and on to where the person was headed on this site."""
    form = SignUpForm(request.POST) if request.method == "POST" else SignUpForm()
    target = request.POST.get("next") or request.GET.get("next") or ""
    if request.method == "POST" and form.is_valid():
        login(request, form.save())
        return redirect(_safe(request, target))
    other = {"address": reverse("log-in"), "words": "I have an account"}
    context = {"title": "Sign up", "button": "Sign up", "form": form, "next": target, "other": other}
    return render(request, "form.html", context)


log_in = auth_views.LoginView.as_view(
    template_name="form.html",
    redirect_authenticated_user=True,
    extra_context={
        "title": "Log in",
        "button": "Log in",
        "other": {"address": reverse_lazy("sign-up"), "words": "I have no account yet"},
    },
)
log_out = auth_views.LogoutView.as_view()


class PasswordChange(auth_views.PasswordChangeView):
    """A new password; other sessions of the account end with it."""

    template_name = "form.html"
    success_url = reverse_lazy("account")
    extra_context = {"title": "Change the password", "button": "Change it"}  # noqa: RUF012

    def form_valid(self, form: object) -> HttpResponse:
        messages.success(self.request, "The password is changed.")
        return super().form_valid(form)  # type: ignore[arg-type]


password_change = PasswordChange.as_view()


@require_safe
@login_required
def account(request: AuthenticatedRequest) -> HttpResponse:
    """What one must hear, and one's own bots and tournaments."""
    bots = listed(Bot.objects.filter(owner=request.user))
    own = Tournament.objects.public().filter(owner=request.user).select_related("owner")
    context = {
        "notices": request.user.notices.unread(),
        "bots": bots,
        "page": by_id(request, own, PAGE_SIZE),
    }
    return render(request, "account.html", context)


@require_POST
@login_required
def notice_read(request: AuthenticatedRequest, pk: int) -> HttpResponse:
    """Put a notice of one's own away."""
    if pk > LAST_ID or not request.user.notices.filter(pk=pk).update(read_at=timezone.now()):
        raise Http404(f"no notice {pk}")
    return redirect("account")


def _safe(request: HttpRequest, target: str) -> str:
    """``target`` if it is an address of this site, else the account's page."""
    own = url_has_allowed_host_and_scheme(target, {request.get_host()}, require_https=request.is_secure())
    return target if own else reverse("account")
