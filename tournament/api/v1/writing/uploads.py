"""Uploads: a dry run of all checks, the upload, and what its validation has found."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from django.http import HttpResponse
from django.urls import reverse
from django.utils import timezone
from msgspec import Meta

from engines.visible import visible
from tournament.api.bots import find_own_version, version_values
from tournament.api.envelope import ApiError
from tournament.api.v1.operations import ApiRequest, operation
from tournament.api.v1.responses import object_answer
from tournament.api.v1.schemas import like
from tournament.api.v1.writing.once import bot_of, once, refused, user_of
from tournament.forms import TOO_LARGE, UploadForm
from tournament.models import BotVersion, Token
from tournament.services.accounts.tokens import REQUEST_COST, UPLOAD_COST, spend
from tournament.services.uploads.submission import ReadBundle, read_bundle, store_upload, try_upload

YES, NO = ("1", "true", "yes"), ("0", "false", "no")


class NewUpload(msgspec.Struct, frozen=True, kw_only=True):
    """A multipart form."""

    bundle: Annotated[
        str,
        Meta(description="The zip, as a file.", extra_json_schema={"contentMediaType": "application/zip"}),
    ]
    notes: Annotated[str, like(UploadForm.base_fields["notes"])] = ""
    dry_run: Annotated[
        str,
        Meta(
            description="1: check everything, and store nothing.", extra_json_schema={"enum": ["", *YES, *NO]}
        ),
    ] = ""


class Upload(msgspec.Struct, frozen=True, kw_only=True):
    """A version that was uploaded, or would be after a dry run."""

    bot: str
    slug: str
    number: int | None
    """Null after a dry run."""
    state: str
    reason: str
    """Why it waits, or was refused."""
    sha256: str
    games: list[str]
    page: str
    url: str
    """Where its validation is followed."""
    dry_run: bool


class UploadCheck(msgspec.Struct, frozen=True, kw_only=True):
    """The latest compliance check."""

    progress: str
    is_over: bool
    engine: str
    findings: list[dict[str, Any]]


class ValidationGame(msgspec.Struct, frozen=True, kw_only=True):
    """A game of the validation, with the log of the side at fault."""

    ladder: str
    state: str
    verdict: str
    plies: int | None
    evidence: str
    lines: str
    stderr: str


class ValidationAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The state of a version, and what its validation has found so far."""

    bot: str
    slug: str
    number: int
    state: str
    reason: str
    sha256: str | None
    page: str
    check: UploadCheck | None
    games: list[ValidationGame]


@operation(
    "POST",
    "bots/",
    answer=Upload,
    status=201,
    also=200,
    form=NewUpload,
    scopes=(Token.Scope.UPLOAD,),
    cost=REQUEST_COST,
)
def upload_bundle(request: ApiRequest) -> HttpResponse:
    """Upload a bundle as the next version of its bot, or of a new bot.

    With ``dry_run`` all checks are made that the site makes before it stores a bundle, and nothing is stored;
    the status is then 200.
    """
    dry_run = request.POST.get("dry_run", "")
    if dry_run not in {"", *YES, *NO}:
        raise ApiError(400, f"dry_run: {visible(dry_run, 40)!r} is not one of {', '.join([*YES, *NO])}.")
    if dry_run not in YES:
        return _store(request)
    with refused():
        bundle, _ = _read_form(request)
        tried = try_upload(user_of(request), bundle, only=bot_of(request))
    return object_answer(_upload(request, tried, is_trial=True))


@once
def _store(request: ApiRequest) -> Upload:
    bundle, notes = _read_form(request)
    user = user_of(request)
    spend(user, UPLOAD_COST - REQUEST_COST, timezone.now())
    stored = store_upload(user, bundle, notes=notes, only=bot_of(request))
    return _upload(request, stored, is_trial=False)


def _read_form(request: ApiRequest) -> tuple[ReadBundle, str]:
    """The bundle and the notes; raises ``ApiError`` and ``BundleError``."""
    form = UploadForm(request.POST, request.FILES)
    if not form.is_valid():
        errors = " ".join(f"{name}: {error}" for name, all_ in form.errors.items() for error in all_)
        raise ApiError(413 if form.has_error("bundle", TOO_LARGE) else 400, errors)
    return read_bundle(form.cleaned_data["bundle"]), form.cleaned_data["notes"]


@operation(
    "GET",
    "bots/<slug:slug>/<int:number>/validation/",
    answer=ValidationAnswer,
    scopes=(Token.Scope.UPLOAD, Token.Scope.LOGS),
)
def version_validation(request: ApiRequest, slug: str, number: int) -> ValidationAnswer:
    """The state of one of your versions, and what its compliance check and its games have found so far."""
    assert request.token is not None
    version = find_own_version(request.token, slug, number)
    return msgspec.convert(version_values(request, version), ValidationAnswer)


def _upload(request: ApiRequest, version: BotVersion, *, is_trial: bool) -> Upload:
    where = [version.bot.slug, version.number]
    address = request.build_absolute_uri(
        reverse("v1-version-validation", kwargs={"slug": where[0], "number": where[1]})
    )
    return Upload(
        bot=version.bot.name,
        slug=version.bot.slug,
        number=None if is_trial else version.number,
        state="" if is_trial else version.state,
        reason="" if is_trial else version.state_reason,
        sha256=str(version.bundle_id),
        games=list(version.games),
        page="" if is_trial else request.build_absolute_uri(version.get_absolute_url()),
        url="" if is_trial else address,
        dry_run=is_trial,
    )
