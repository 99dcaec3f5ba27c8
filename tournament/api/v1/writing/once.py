"""The answers of writing operations: to a repeat with the same key, and to a refused request."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps

import msgspec
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.http import Http404, HttpResponse

from tournament import access
from tournament.api.envelope import ApiError
from tournament.api.v1.operations import ApiRequest, viewer_of
from tournament.api.v1.responses import JSON_TYPE
from tournament.formats.base import TournamentError
from tournament.models import Bot, Tournament, User
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


def once(view: Callable[..., object], status: int = 201) -> Callable[..., HttpResponse]:
    """Decorate a view that stores something: a repeat with its ``Idempotency-Key`` gets the first answer.

    All that the view stores is one transaction, with what it returns. If it raises, nothing is stored.
    """

    @wraps(view)
    def answer(request: ApiRequest, **arguments: object) -> HttpResponse:
        key = request.headers.get(KEY)

        def create() -> tuple[int, bytes]:
            return status, msgspec.json.encode(view(request, **arguments))

        with refused():
            if key is None:
                with transaction.atomic():
                    return _created(*create())
            if not (0 < len(key) <= MAX_KEY and key.isascii() and key.isprintable()):
                raise ApiError(400, f"{KEY}: give it 1 to {MAX_KEY} printable ASCII characters.")
            try:
                code, body, is_repeat = answer_once(user_of(request), key, _digest(request), create)
            except AnotherRequest:
                raise ApiError(422, f"{KEY}: you used this key for another request.") from None
        response = _created(code, body)
        if is_repeat:
            response[REPLAYED] = "true"
        return response

    answer.takes_key = True  # type: ignore[attr-defined]
    return answer


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


def bot_of(request: ApiRequest) -> Bot | None:
    """The only bot for which the token may act; None for all of its user."""
    return request.token.bot if request.token else None


def check_bot(request: ApiRequest, bot: Bot | None) -> None:
    """Check that the token may act for a bot; None is what is not done for one bot. Raises ``ApiError``."""
    bound = bot_of(request)
    if bound is not None and bound != bot:
        raise ApiError(403, f"This token is for {bound.name!r} alone.")


def check_shown(request: ApiRequest, tournament: Tournament) -> None:
    """Check that the token shows a tournament and its games, not only that its user sees them.

    Raises ``Http404``.
    """
    if not access.may_see_tournament(viewer_of(request.token), tournament):
        raise Http404


def _created(status: int, body: bytes) -> HttpResponse:
    response = HttpResponse(body, JSON_TYPE, status)
    if status == 201 and (address := msgspec.json.decode(body).get("url")):
        response["Location"] = address
    return response


def _digest(request: ApiRequest) -> str:
    """A hash of method, address and values, and of the token's bot if it is for one.

    Not of a form's bytes, whose boundary is new each time.
    """
    digest = hashlib.sha256(f"{request.method} {request.get_full_path()}\n".encode())
    if bot := bot_of(request):
        digest.update(f"{bot.slug}\n".encode())
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
