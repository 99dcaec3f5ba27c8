"""A version of a bot: its page, on which its owner watches the validation step by step."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib import messages
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from engines.records import Fault
from tournament import access
from tournament.models import BotVersion, Exam, Game, GameLog, Tournament
from tournament.services.results.forfeits import reinstate
from tournament.services.uploads import availability as uploads
from tournament.services.uploads.validation import begin
from tournament.views.bots.bots import games_of, ratings_of
from tournament.views.bots.verdict import verdict
from tournament.views.paging import LAST_ID
from tournament.views.polling import unchanged
from tournament.views.requests import AuthenticatedRequest
from tournament.views.unsent import takes_form
from workers.service.compliance import Found


@dataclass(frozen=True, slots=True)
class ValidationGame:
    """One game of a validation, told so that its author can mend the bot."""

    game: Game
    words: str
    opened: str
    """The side whose log is shown at once: the one at fault; empty where the game went well."""
    logs: list[GameLog]


@dataclass(frozen=True, slots=True)
class ValidationReport:
    """An examination as its bot's author reads it."""

    exam: Exam
    words: str
    """How far it has come."""
    found: list[Found]
    faults: list[Found]
    """Those of them that say what is wrong, the grave ones first."""


@require_safe
@vary_on_headers("HX-Request")
def version(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """A version: its state, its ratings and games; to its owner also how it came to its state.

    To htmx only what changes while it is validated, or 204.
    """
    version = _find(slug, number)
    manages = access.may_edit_bot(request.user, version.bot)
    exam = version.exams.order_by("-sent_at").first() if manages else None
    seen = _seen(version, exam)
    if unchanged(request, seen):
        return HttpResponse(status=204)
    validation = version.validation
    context = {
        "version": version,
        "manages": manages,
        "polls": version.state == BotVersion.State.VALIDATING,
        "seen": seen,
        "report": report_of(exam) if exam else None,
        "validation": _validation_games(validation) if validation and manages else [],
        "can_validate": manages and version.state == BotVersion.State.WAITING and uploads.look().are_run,
        "can_reinstate": request.user.is_staff and version.state == BotVersion.State.WITHDRAWN,
    }
    if "HX-Request" in request.headers:
        return render(request, "pieces/version_state.html", context | {"out_of_band": True})
    context |= {
        "options": sorted(version.options.items()),
        "ratings": ratings_of([version]),
        "page": games_of(request, [version]),
    }
    return render(request, "version.html", context)


@require_safe
def bundle(request: HttpRequest, slug: str, number: int) -> FileResponse:
    """The version's zip, for its owner and staff; a sample's for everybody."""
    version = _find(slug, number)
    if not access.may_download_bundle(request.user, version):
        raise Http404(f"no bundle of {slug} {number} to be had")
    try:
        file = version.bundle.path.open("rb")
    except FileNotFoundError:
        raise Http404(f"the bytes of {version.bundle_id} are not here") from None
    return FileResponse(
        file, as_attachment=True, filename=f"{slug}-{number}.zip", content_type="application/zip"
    )


@takes_form("Validate the version")
def version_validate(request: AuthenticatedRequest, slug: str, number: int) -> HttpResponse:
    """Examine a version that waits, where uploads are run."""
    version = _find(slug, number)
    if not access.may_edit_bot(request.user, version.bot):
        raise Http404(f"no version {number} of one's own")
    if uploads.look().are_run and begin(version, timezone.now()):
        messages.success(request, "Its validation has begun.")
    else:
        messages.error(request, "Only a version that waits can be validated, and only where uploads are run.")
    return redirect(version)


@takes_form("Let the version play again")
def version_reinstate(request: AuthenticatedRequest, slug: str, number: int) -> HttpResponse:
    """Let a withdrawn version play again: staff's to decide."""
    version = _find(slug, number)
    if not request.user.is_staff:
        raise Http404("staff only")
    if reinstate(version):
        messages.success(request, "It plays again.")
    else:
        messages.error(request, "Only a withdrawn version can be let in again.")
    return redirect(version)


def report_of(exam: Exam) -> ValidationReport:
    found = exam.findings
    faults = sorted((one for one in found if one.fault), key=lambda one: not one.is_grave)
    return ValidationReport(exam, _progress(exam, found, len(faults)), found, faults)


def _progress(exam: Exam, found: list[Found], faults: int) -> str:
    if exam.end in {Exam.End.REFUSED, Exam.End.FAILED, Exam.End.LOST}:
        return exam.why
    if exam.heard_at is None:
        return "waits for a worker"
    if not exam.unpacked:
        return "is being unpacked"
    tried = sum(one.was_tried for one in found)
    so_far = "" if exam.ended_at else " so far"
    wrong = "nothing wrong" if not faults else "1 fault" if faults == 1 else f"{faults} faults"
    return f"{tried} check{'' if tried == 1 else 's'}{so_far}, {wrong}"


def _seen(version: BotVersion, exam: Exam | None) -> str:
    """What a poll compares: it differs as soon as the page would."""
    done = version.validation.games_done if version.validation else 0
    if exam is None:
        return f"{version.state}-{done}"
    heard = int(exam.heard_at is not None) + exam.unpacked
    return f"{version.state}-{done}-{exam.pk.hex[:8]}-{heard}-{len(exam.found)}-{exam.end}"


def _find(slug: str, number: int) -> BotVersion:
    if number > LAST_ID:
        raise Http404(f"no version {number}")
    versions = BotVersion.objects.select_related("bot__owner", "bundle", "validation")
    return get_object_or_404(versions, bot__slug=slug, number=number)


def _validation_games(validation: Tournament) -> list[ValidationGame]:
    games = list(validation.games.with_players().order_by("id"))
    logs: dict[int, list[GameLog]] = {}
    for log in GameLog.objects.filter(game__in=games).order_by("game", "-side"):
        logs.setdefault(log.game_id, []).append(log)
    return [ValidationGame(game, verdict(game), at_fault(game), logs.get(game.pk, [])) for game in games]


def at_fault(game: Game) -> str:
    """The side whose log tells what went wrong; of two engines that would not start either does."""
    if game.fault in {Fault.WHITE, Fault.BLACK}:
        return game.fault
    return GameLog.Side.WHITE if game.state == Game.State.HALTED else ""
