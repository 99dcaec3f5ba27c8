"""The answers of writing operations: to a repeat with the same key, and to a refused request."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import msgspec
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.http import HttpRequest, HttpResponse

from tournament.api.envelope import ApiError
from tournament.api.v1.operations import ApiRequest
from tournament.api.v1.responses import JSON_TYPE
from tournament.formats.base import TournamentError
from tournament.models import Bot, User
from tournament.sentences import as_sentence
from tournament.services.accounts.answers import AnotherRequest, answer_once
from tournament.services.accounts.follows import FollowError
from tournament.services.accounts.tokens import TooMuch
from tournament.services.searches.asking import SearchRefused
from tournament.services.uploads.submission import AnotherBotError, BundleError

KEY, REPLAYED = "Idempotency-Key", "Idempotent-Replayed"
MAX_KEY = 200
CONFLICTS = {"state", "entry"}
"""What errors of tournaments name first if the tournament's state does not permit the action."""


def once(request: ApiRequest, create: Callable[[], object], status: int = 201) -> HttpResponse:
    """The response with what ``create`` returns; a repeat with the same ``Idempotency-Key`` gets the first.

    All that ``create`` stores is one transaction, with the answer. If it raises, nothing is stored.
    """
    user, key = user_of(request), request.headers.get(KEY)

    def answer() -> tuple[int, bytes]:
        return status, msgspec.json.encode(create())

    with refused():
        if key is None:
            with transaction.atomic():
                return _created(*answer())
        if not (0 < len(key) <= MAX_KEY and key.isascii() and key.isprintable()):
            raise ApiError(400, f"{KEY}: give it 1 to {MAX_KEY} printable ASCII characters.")
        try:
            status, body, is_repeat = answer_once(user, key, _digest(request), answer)
        except AnotherRequest:
            raise ApiError(422, f"{KEY}: you used this key for another request.") from None
    response = _created(status, body)
    if is_repeat:
        response[REPLAYED] = "true"
    return response


@contextmanager
def refused() -> Iterator[None]:
    """Turns what services raise into errors of the interface."""
    try:
        yield
    except TournamentError as error:
        field, _, sentence = str(error).partition(": ")
        if field in CONFLICTS:
            raise ApiError(409, as_sentence(sentence)) from None
        named = f"{field.replace(' ', '_')}: {sentence}" if sentence else field
        raise ApiError(422, named if named.endswith(".") else f"{named}.") from None
    except SearchRefused as error:
        wait = error.__cause__
        status = 429 if isinstance(wait, TooMuch) else 422
        headers = {"Retry-After": str(wait.seconds)} if isinstance(wait, TooMuch) else None
        raise ApiError(status, str(error), headers) from None
    except BundleError as error:
        raise ApiError(403 if isinstance(error, AnotherBotError) else 422, as_sentence(str(error))) from None
    except FollowError as error:
        raise ApiError(422, as_sentence(str(error))) from None


def user_of(request: ApiRequest) -> User:
    """The user of the token that the operation demands."""
    assert isinstance(request.user, User)
    return request.user


def check_bot(request: ApiRequest, bot: Bot | None) -> None:
    """Check that the token may act for a bot; None is what is not done for one bot. Raises ``ApiError``."""
    bound = request.token.bot if request.token else None
    if bound is not None and bound != bot:
        raise ApiError(403, f"This token is for {bound.name!r} alone.")


def _created(status: int, body: bytes) -> HttpResponse:
    response = HttpResponse(body, JSON_TYPE, status)
    if status == 201 and (address := msgspec.json.decode(body).get("url")):
        response["Location"] = address
    return response


def _digest(request: HttpRequest) -> str:
    """A hash of method, address and values; not of a form's bytes, whose boundary is new each time."""
    digest = hashlib.sha256(f"{request.method} {request.get_full_path()}\n".encode())
    if request.content_type != "multipart/form-data":
        digest.update(request.body)
        return digest.hexdigest()
    for name, values in sorted(request.POST.lists()):
        digest.update(repr((name, values)).encode())
    for name, file in sorted(request.FILES.items()):
        assert isinstance(file, UploadedFile)
        digest.update(repr((name, file.size)).encode())
        for chunk in file.chunks():
            digest.update(chunk)
        file.seek(0)
    return digest.hexdigest()
