"""The page of the user's own account, with its notices."""

from __future__ import annotations

from collections.abc import Sequence

from allauth.account.decorators import reauthentication_required
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import logout
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from tournament import access
from tournament.models import Act, Bot, Notice, Tournament, User
from tournament.services.accounts.follows import followed
from tournament.services.closing import close_account
from tournament.services.fair_share import hours_a_day, used_today
from tournament.services.searches.playing import list_open
from tournament.views.bots.lists import with_newest
from tournament.views.feeds import feed_link
from tournament.views.logged_in import login_required, takes_form
from tournament.views.paging import LAST_ID, by_id, is_whole
from tournament.views.requests import AuthenticatedRequest
from tournament.views.tournaments.lists import listed_page

PAGE_SIZE = 25
ACTS_A_PAGE = 50
LATEST_TESTS = 10


@require_safe
@never_cache
@login_required
def account(request: AuthenticatedRequest) -> HttpResponse:
    """The user's unread notices, bots, tournaments, tests and analyses, and what the user follows."""
    bots = with_newest(Bot.objects.filter(owner=request.user), request.user)
    tests = access.visible_version_tests().filter(owner=request.user).select_related("owner", "version_test")
    own = Tournament.objects.public().filter(owner=request.user)
    notices = list(request.user.notices.unread())
    context = {
        "notices": notices,
        "groups": _grouped(notices),
        "read_notices": list(request.user.notices.latest_read()),
        "followed": [feed_link(subject) for subject in followed(request.user)],
        "periods": User.DigestPeriod.choices if settings.EMAIL_HOST else [],
        "mine": list_open(request.user),
        "bots": bots,
        "page": listed_page(request, own, PAGE_SIZE),
        "tournament_hours": _slot_hours(request.user, is_validation=False),
        "validation_hours": _slot_hours(request.user, is_validation=True),
        "may_close": access.may_close_account(request.user),
        "sees_acts": access.may_run_site(request.user),
        "tests": list(tests.order_by("-id")[:LATEST_TESTS]),
        "analyses": list(request.user.analyses.defer("text").select_related("ladder")),
    }
    return render(request, "people/account.html", context)


def _grouped(notices: Sequence[Notice]) -> list[tuple[Bot | Tournament | None, list[Notice]]]:
    """The notices about each bot and each tournament, and about something else."""
    groups: dict[Bot | Tournament | None, list[Notice]] = {}
    for notice in notices:
        subject = notice.version.bot if notice.version else notice.tournament
        groups.setdefault(subject, []).append(notice)
    return list(groups.items())


def _slot_hours(user: User, *, is_validation: bool) -> tuple[float, float] | None:
    """The hours of slots that the user's tournaments, or validations, used today, and the most.

    None if there is no limit, or more than half is left.
    """
    most = hours_a_day(is_validation=is_validation) if access.has_limits(user) else 0
    used = used_today(user, timezone.now(), is_validation=is_validation) if most else 0
    return (used, most) if most and used >= most / 2 else None


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
@reauthentication_required  # type: ignore[untyped-decorator]
def account_close(request: AuthenticatedRequest) -> HttpResponse:
    """Say what is deleted and what stays, and close the account; those of staff are not closed here."""
    if not access.may_close_account(request.user):
        raise Http404("an account of staff")
    if request.method != "POST":
        return render(request, "people/account_close.html")
    close_account(request.user, timezone.now())
    logout(request)
    messages.success(request, "Your account is closed.")
    return redirect("home")


@takes_form
def notice_read(request: AuthenticatedRequest, pk: int) -> HttpResponse:
    """Mark a notice of the user as read."""
    if not request.user.notices.filter(pk=pk).update(read_at=timezone.now()):
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


@require_safe
@login_required
def staff_log(request: AuthenticatedRequest) -> HttpResponse:
    """What staff did with the rights of staff, the newest first; only for staff."""
    if not access.may_run_site(request.user):
        raise Http404("staff only")
    page = by_id(request, Act.objects.select_related("actor"), ACTS_A_PAGE)
    return render(request, "people/staff_log.html", {"page": page})
