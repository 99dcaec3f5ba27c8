"""The page of a bot version, where its owner can follow the validation."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.db import transaction
from django.db.models import Prefetch
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.template.defaultfilters import pluralize
from django.utils import timezone
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from tournament import access
from tournament.models import BotVersion, ComplianceCheck, Game, GameLog
from tournament.queues import ANY_GAME
from tournament.services.accounts.acts import record_act
from tournament.services.bots.publishing import BY_OWNER, BY_STAFF
from tournament.services.results.withdrawal import delete_program, reinstate, withdraw
from tournament.services.schedule.walkovers import end_games_of_withdrawn
from tournament.services.uploads import availability as uploads
from tournament.services.uploads.stopping import stop_validation
from tournament.services.uploads.validation import begin, is_delayed
from tournament.views.bots.bots import games_of, ratings_of
from tournament.views.bots.next_steps import checks_before, next_steps_of
from tournament.views.bots.results import rated_of, results_of
from tournament.views.downloads import FileDownload, served_file
from tournament.views.links import games_address
from tournament.views.logged_in import takes_form
from tournament.views.polling import PART, LivePart, is_part, reload, shows_other
from tournament.views.requests import AuthenticatedRequest, fresh_buttons

State = BotVersion.State


@require_safe
@fresh_buttons
@vary_on_headers(PART)
def version(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """A version's state, ratings and games; its owner also sees the validation.

    A script gets the part that changes during the validation, or 204. At its end the page is loaded
    again, because its buttons change with the state.
    """
    try:
        version = find_version(request, slug, number)
    except Http404:
        if not is_part(request):
            raise
        return reload()  # refused since the page was loaded
    manages = access.may_edit_bot(request.user, version.bot)
    check = version.checks.order_by("-sent_at").first() if manages else None
    seen = _seen(version, check)
    polls = version.state == State.VALIDATING
    part = LivePart(request, seen, (ANY_GAME,) if polls else (), again_s=2.0)
    if part.is_shown:
        return part.unchanged()
    if shows_other(request, version.state):
        return reload()
    context = _state_context(request, version, check, manages=manages)
    context["polls"] = polls
    if is_part(request):
        return part.render("bots/pieces/version_state.html", context)
    context |= {
        "is_published": BotVersion.objects.published().filter(pk=version.pk).exists(),
        "options": sorted(version.options.items()),
        "ratings": ratings_of([version]),
        "results": results_of(
            request, version.bot, rated_of(BotVersion.objects.filter(pk=version.pk)), version
        ),
        "page": games_of(request, version=version),
        "all_games": games_address(bot=slug, version=number),
    }
    return part.render("bots/version.html", context)


def _state_context(
    request: HttpRequest, version: BotVersion, check: ComplianceCheck | None, *, manages: bool
) -> dict[str, Any]:
    """What changes during the validation, and what the user may do."""
    is_withdrawn = version.state == State.WITHDRAWN
    context = {
        "version": version,
        "manages": manages,
        "validation": validation_games(version) if manages else [],
        "next_steps": next_steps_of(version, manages, check, timezone.now()),
        "can_validate": manages and version.state == State.WAITING and uploads.current_state().are_run,
        "can_test": manages and version.state == State.VALID,
        "can_withdraw": manages and version.state == State.VALID,
        "can_delete": manages and is_withdrawn and version.has_program and not version.has_games_to_end,
        "can_publish": manages and (version.licence or access.may_publish(request.user, version)),
        "can_stop": manages and version.state in {State.WAITING, State.VALIDATING},
        "can_reinstate": access.may_reinstate(request.user) and is_withdrawn and version.has_program,
    }
    if check is not None:
        found = check.findings
        faults = sorted((one for one in found if one.fault), key=lambda one: not one.is_grave)
        context |= {"check": check, "progress": progress_of(check), "findings": found, "faults": faults}
    return context


@require_safe
def bundle(request: HttpRequest, slug: str, number: int) -> HttpResponseBase:
    """The version's zip, for its owner and staff; everybody may download published ones and the samples."""
    version = find_version(request, slug, number)
    if not access.may_download_bundle(request.user, version):
        raise Http404(f"no bundle of {slug} {number} for this user")
    path = version.bundle.path
    try:
        stored = FileDownload(path, path.stat().st_size, version.bundle_id)
        return served_file(request, stored, f"{slug}-{number}.zip", "application/zip")
    except FileNotFoundError:
        raise Http404(f"the file of {version.bundle_id} is missing") from None


@takes_form
def version_validate(request: AuthenticatedRequest, slug: str, number: int) -> HttpResponse:
    """Start the validation of a waiting version; fails if uploads are not run on this site."""
    version = find_version(request, slug, number)
    if not access.may_edit_bot(request.user, version.bot):
        raise Http404(f"no version {number} of this user")
    if uploads.current_state().are_run and begin(version, timezone.now()):
        if version.bot.owner_id != request.user.pk:
            record_act(request.user, "began its validation", f"version {version}", version.get_absolute_url())
        messages.success(request, "The validation has begun.")
    else:
        messages.error(
            request, "Only a waiting version can be validated, and only if this site runs uploads."
        )
    return redirect(version)


@takes_form
def version_withdraw(request: AuthenticatedRequest, slug: str, number: int) -> HttpResponse:
    """Withdraw a valid version or stop a validation; with ``act=delete`` delete a withdrawn one's program."""
    version = find_version(request, slug, number)
    if not access.may_edit_bot(request.user, version.bot):
        raise Http404(f"no version {number} of this user")
    is_owner = version.bot.owner_id == request.user.pk
    who = "its owner" if is_owner else "the site's staff"
    deletes = request.POST.get("act") == "delete"  # so that withdrawing twice deletes nothing
    with transaction.atomic():
        if deletes and delete_program(version):
            done, deed = "The program is deleted. Results and records stay.", "deleted its program"
        elif deletes:
            done = deed = ""
        elif withdraw(version, f"{who} withdrew it", BY_OWNER if is_owner else BY_STAFF):
            done, deed = "The version is withdrawn. Its games are stopped.", "withdrew it"
        elif stop_validation(version, f"{who} stopped its validation", timezone.now()):
            done, deed = "The validation is stopped, and the version refused.", "stopped its validation"
        else:
            done = deed = ""
        if deed and not is_owner:
            record_act(request.user, deed, f"version {version}", version.get_absolute_url())
    if done:
        end_games_of_withdrawn()
        messages.success(request, done)
    else:
        messages.error(
            request, "The version is refused or withdrawn already, or its games have not ended yet."
        )
    return redirect(version)


@takes_form
def version_reinstate(request: AuthenticatedRequest, slug: str, number: int) -> HttpResponse:
    """Let a withdrawn version play again; only for staff."""
    version = find_version(request, slug, number)
    if not access.may_reinstate(request.user):
        raise Http404("staff only")
    if reinstate(version):
        record_act(request.user, "let it play again", f"version {version}", version.get_absolute_url())
        messages.success(request, "The version can play again.")
    else:
        messages.error(request, "Only a withdrawn version of an active account can play again.")
    return redirect(version)


def progress_of(check: ComplianceCheck) -> str:
    """How far a compliance check has come, or why it ended without findings."""
    if check.end in {ComplianceCheck.End.REFUSED, ComplianceCheck.End.FAILED, ComplianceCheck.End.LOST}:
        return check.why
    if check.heard_at is None:
        return "waiting for a worker"
    if not check.unpacked:
        return "unpacking the bundle"
    tried = sum(one.was_tried for one in check.findings)
    faults = sum(bool(one.fault) for one in check.findings)
    checks, wrong = f"{tried} check{pluralize(tried)}", f"{faults or 'no'} fault{pluralize(faults)}"
    return f"{checks}, {wrong}" if check.ended_at else f"{checks} so far, {wrong}"


def _seen(version: BotVersion, check: ComplianceCheck | None) -> str:
    """A text that changes whenever the page changes; polls compare it."""
    done = version.validation.games_done if version.validation else 0
    if check is None:
        return f"{version.state}-{done}"
    progress = int(check.heard_at is not None) + check.unpacked
    before = checks_before(check)
    delayed = int(is_delayed(version, timezone.now()))
    found = f"{check.pk.hex[:8]}-{progress}-{len(check.found)}-{check.end}"
    return f"{version.state}-{done}-{found}-{before}-{delayed}"


def find_version(request: HttpRequest, slug: str, number: int) -> BotVersion:
    """The version, if it exists and this user may see it."""
    versions = BotVersion.objects.select_related("bot__owner", "bundle", "validation")
    visible = access.visible_versions(request.user, versions)
    return get_object_or_404(visible, bot__slug=slug, number=number)


def validation_games(version: BotVersion) -> list[Game]:
    """With their logs, the newest first: the log of the latest game is the one to read."""
    if version.validation is None:
        return []
    logs = Prefetch("logs", GameLog.objects.order_by("-side"))
    return list(version.validation.games.with_players().order_by("-id").prefetch_related(logs))
