"""Authentication of API requests, and the common form of their responses."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from django.core.exceptions import RequestDataTooBig, SuspiciousOperation
from django.http import HttpRequest, JsonResponse
from django.http.multipartparser import MultiPartParserError
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.utils.cache import patch_cache_control
from django.views.decorators.csrf import csrf_exempt

from tournament.models import Token
from tournament.services.accounts.tokens import TooMuch, find_token, spend

Answer = dict[str, Any]
Response = TypeVar("Response", bound=HttpResponseBase)
CHALLENGE = {"WWW-Authenticate": "Bearer"}


class ApiError(Exception):
    """An error response: a status and one sentence."""

    def __init__(self, status: int, sentence: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(sentence)
        self.status = status
        self.headers = headers


def api(
    method: str, *scopes: str, cost: float
) -> Callable[[Callable[..., Answer | HttpResponseBase]], Callable[..., HttpResponseBase]]:
    """Decorate an API view: ``view(request, token, …)`` returns the values of the JSON object.

    It can also return a complete response, such as a file, or raise ``ApiError``.

    The token needs one of ``scopes``. The body is not read before the token has been checked.
    """

    def wrap(view: Callable[..., Answer | HttpResponseBase]) -> Callable[..., HttpResponseBase]:
        @csrf_exempt
        @wraps(view)
        def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            def act() -> Answer | HttpResponseBase:
                token = find_token_of(request, method, scopes)
                spend(token.user, cost, timezone.now())
                return view(request, token, *args, **kwargs)

            return answer_of(act)

        return answer

    return wrap


def answer_of(act: Callable[[], Answer | HttpResponseBase]) -> HttpResponseBase:
    """The response with what a view returns or raises."""
    try:
        found = act()
    except ApiError as error:
        return refusal(error.status, str(error), error.headers)
    except TooMuch as error:
        return refusal(429, f"{str(error).capitalize()}.", {"Retry-After": str(error.seconds)})
    except (MultiPartParserError, RequestDataTooBig, SuspiciousOperation):
        return refusal(400, "The request is incomplete, too large or not a form.")
    return _not_stored(found if isinstance(found, HttpResponseBase) else JsonResponse({"ok": True, **found}))


@csrf_exempt
def not_found(request: HttpRequest) -> JsonResponse:
    """Answer all other addresses below ``/api/``."""
    return refusal(404, "There is no such address.")


def _not_stored(response: Response) -> Response:
    """Forbid browsers and proxies to store the response."""
    patch_cache_control(response, no_store=True, private=True)
    return response


def find_token_of(request: HttpRequest, method: str, scopes: tuple[str, ...]) -> Token:
    """The token of a request with the right method; raises ``ApiError``."""
    if request.method != method:
        raise ApiError(405, f"Use {method} for this address.", {"Allow": method})
    token = given_token(request)
    if token is None:
        raise ApiError(401, "Send a token as the header 'Authorization: Bearer TOKEN'.", CHALLENGE)
    if not set(scopes) & set(token.scopes):
        raise ApiError(403, f"This token lacks the scope {' or '.join(scopes)}.")
    return token


def given_token(request: HttpRequest) -> Token | None:
    """The valid token of a request; None without any. Raises ``ApiError`` for another one."""
    kind, _, text = request.headers.get("Authorization", "").partition(" ")
    if kind.lower() != "bearer" or not text.strip():
        return None
    token = find_token(text.strip(), timezone.now())
    if token is None:
        raise ApiError(401, "This token is unknown or has been revoked.", CHALLENGE)
    return token


def refusal(status: int, sentence: str, headers: dict[str, str] | None = None) -> JsonResponse:
    """An error response."""
    answer = JsonResponse({"ok": False, "error": sentence}, status=status, headers=headers)
    return _not_stored(answer)
