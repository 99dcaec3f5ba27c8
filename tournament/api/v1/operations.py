"""The registry of the operations below ``/api/v1/``: addresses, parameters, bodies, answers and scopes.

URL patterns (``patterns``), the OpenAPI document (`openapi.py`) and the page for people are made from it, so
whatever is served is documented. An operation is a view with this decorator, in a module that `urls.py`
imports. Its docstring is its documentation, the first line its summary.

Reading one object, whose fields are documented in its ``Struct``::

    @operation("GET", "bots/<slug:slug>/", answer=BotRow)
    def bot(request: ApiRequest, slug: str) -> BotRow:
        '''A bot.'''

A list: ``rows`` instead of ``answer``; the view returns ``Rows(rows, cursor)`` for ``query.after`` and
``query.limit``. It is served as pages, and as a whole as lines of JSON, for which the view is called page by
page unless ``Rows`` has the whole list::

    class BotsQuery(PageQuery, frozen=True, kw_only=True):
        owner: Annotated[str, Meta(description="The name of an account.")] = ""

    @operation("GET", "bots/", rows=BotRow, query=BotsQuery)
    def bots(request: ApiRequest, query: BotsQuery) -> Rows:
        '''The bots that everybody sees, and yours.'''

``query`` is a ``Struct`` with the parameters; ``responses.part_of`` makes a page of a list that is ready.

Events: ``events`` is the type of an event; the view returns a complete response.

Writing: ``scopes`` demands a token with one of them, and ``cost`` is deducted from its user's allowance.
``body`` is the ``Struct`` of a body of JSON, passed as ``body``; ``form`` is the ``Struct`` that documents a
multipart form, which the view reads from ``request.POST`` and ``request.FILES``::

    @operation("POST", "tests/", answer=TestRow, status=201, body=NewTest, scopes=(Token.Scope.TESTS,))
    def start_test(request: ApiRequest, body: NewTest) -> TestRow:

Views raise ``ApiError`` with a status and a sentence (400 for a bad parameter), or ``Http404``, of which the
client sees no text.
``request.user`` is never from a cookie: it is the token's user if the token has a scope that reads for him,
else a visitor without an account; ``request.token`` is the token or None. A view may return a complete
response, of the type ``media``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, TypeVar, get_origin

import msgspec
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import RequestDataTooBig, SuspiciousOperation
from django.http import Http404, HttpRequest, UnreadablePostError
from django.http.multipartparser import MultiPartParserError
from django.http.response import HttpResponseBase
from django.urls import URLPattern, path
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt

from engines.visible import visible
from tournament.access import Visitor
from tournament.api.envelope import ApiError, find_token_of, given_token
from tournament.api.limits import LIMITS, client_of
from tournament.api.v1.responses import (
    JSON_TYPE,
    MAX_ROWS,
    Ending,
    Rows,
    error_answer,
    finished,
    lines_answer,
    object_answer,
    page_answer,
    part_of,
    preflight,
    set_headers,
    wants_lines,
)
from tournament.models import Token, User
from tournament.sentences import as_sentence
from tournament.services.accounts.tokens import REQUEST_COST, TooMuch, spend
from tournament.views.polling import is_of_stream

PREFIX = "api/v1/"
FORM_TYPE = "multipart/form-data"
SEES = (Token.Scope.LOGS, Token.Scope.UPLOAD)
"""With one of them, a token sees what its user sees; with others, what everybody sees."""
NOT_FOUND = "There is no such object, or you may not see it."
View = Callable[..., Any]
V = TypeVar("V", bound=View)


class ApiRequest(HttpRequest):
    """The request that views of operations get; used only in annotations."""

    user: User | AnonymousUser
    token: Token | None


@dataclass(frozen=True, slots=True)
class Operation:
    """A method of an address."""

    method: str
    path: str
    """As of ``django.urls.path``, below ``PREFIX``."""
    view: View
    answer: Any = None
    """The type of the object that it answers with."""
    rows: Any = None
    """Instead: the type of the rows of a list, or a tuple of types."""
    events: Any = None
    """Instead: the type of the events of a stream."""
    media: str = JSON_TYPE
    query: type[msgspec.Struct] | None = None
    body: type[msgspec.Struct] | None = None
    form: type[msgspec.Struct] | None = None
    scopes: tuple[str, ...] = ()
    """The token needs one of them; empty if none is needed."""
    cost: float = REQUEST_COST
    """What is deducted from the allowance of the token's user, if a scope is needed."""
    status: int = 200
    also: int | None = None
    """Another status of a complete answer, such as 200 after a dry run."""
    ending: Ending | None = None
    """It sends ``Deprecation`` and ``Sunset`` then."""

    @property
    def name(self) -> str:
        return self.view.__name__.replace("_", "-")

    @property
    def summary(self) -> str:
        return self.description.partition("\n")[0]

    @property
    def description(self) -> str:
        return re.sub(r"\n +", "\n", (self.view.__doc__ or "").strip())

    @property
    def takes_key(self) -> bool:
        """Whether it takes an ``Idempotency-Key``, as ``writing.once`` does."""
        return self.status == HTTPStatus.CREATED or hasattr(self.view, "takes_key")

    @property
    def errors(self) -> list[int]:
        """The statuses of the errors that it answers with; 405 is for undocumented methods."""
        is_given = any((self.query, self.body, self.form))
        possible = {
            HTTPStatus.BAD_REQUEST: True,
            HTTPStatus.UNAUTHORIZED: True,
            HTTPStatus.FORBIDDEN: self.scopes,
            HTTPStatus.NOT_FOUND: "<" in self.path,
            HTTPStatus.CONFLICT: self.method != "GET",
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE: self.body or self.form,
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE: self.body or self.form,
            HTTPStatus.UNPROCESSABLE_ENTITY: is_given or self.method != "GET",
            HTTPStatus.TOO_MANY_REQUESTS: True,
            HTTPStatus.SERVICE_UNAVAILABLE: True,
        }
        return [status for status, is_possible in possible.items() if is_possible]


OPERATIONS: list[Operation] = []


def operation(method: str, path: str, **about: Any) -> Callable[[V], V]:
    """Register a view; ``about`` are other fields of ``Operation``."""

    def register(view: V) -> V:
        OPERATIONS.append(Operation(method, path, view, **about))
        return view

    return register


def patterns() -> list[URLPattern]:
    """A pattern for each address, named ``v1-`` and the name of the operation that reads it, or its first."""
    of_path: dict[str, list[Operation]] = {}
    for one in OPERATIONS:
        of_path.setdefault(one.path, []).append(one)
    return [
        path(PREFIX + route, _served(operations), name=f"v1-{_first(operations).name}")
        for route, operations in of_path.items()
    ]


def _first(operations: Iterable[Operation]) -> Operation:
    return min(operations, key=lambda one: one.method != "GET")


def _served(operations: Iterable[Operation]) -> Callable[..., HttpResponseBase]:
    """The view of an address with these operations."""
    by_method = {one.method: one for one in operations}
    if "GET" in by_method:
        by_method["HEAD"] = by_method["GET"]

    @csrf_exempt
    def serve(request: HttpRequest, **where: Any) -> HttpResponseBase:
        chosen = by_method.get(request.method or "")
        if chosen is not None:
            return _answer(chosen, request, where)
        if request.method == "OPTIONS" and "GET" in by_method:
            return preflight([*by_method, "OPTIONS"])
        allowed = ", ".join(sorted(by_method))
        sentence = f"Use {' or '.join(sorted(by_method))} for this address."
        return finished(request, error_answer(405, sentence, {"Allow": allowed}), has_token=False)

    return serve


def _answer(chosen: Operation, request: Any, where: dict[str, Any]) -> HttpResponseBase:
    """The response with what a view returns or raises."""
    request.token = None
    try:
        response = _respond(chosen, request, where)
    except ApiError as error:
        response = error_answer(error.status, str(error), error.headers)
    except Http404:  # whatever it says: nobody learns what there is that he may not see
        response = error_answer(404, NOT_FOUND)
    except TooMuch as error:
        response = error_answer(429, as_sentence(str(error)), {"Retry-After": str(error.seconds)})
    except RequestDataTooBig:
        response = error_answer(413, "The request is too large.")
    except (MultiPartParserError, SuspiciousOperation, UnreadablePostError):
        response = error_answer(400, "The request is incomplete or not of the right form.")
    if chosen.ending is not None:
        set_headers(response, chosen.ending.headers)
    return finished(request, response, has_token=request.token is not None)


def _respond(chosen: Operation, request: Any, where: dict[str, Any]) -> HttpResponseBase:
    token = find_token_of(request, request.method, chosen.scopes) if chosen.scopes else given_token(request)
    request.token = token
    if chosen.scopes and token is not None:
        request.user = token.user
        if not is_of_stream(request):
            spend(token.user, chosen.cost, timezone.now())
    else:
        is_of_bot = chosen.path.startswith("bots/") and "other" not in where
        request.user = viewer_of(token, where["slug"] if is_of_bot and "slug" in where else None)
    client = client_of(request, token)
    if not is_of_stream(request) and (wait := LIMITS.wait_s(client)) > 0:
        seconds = int(wait) + 1
        sentence = f"You may read {client[1]} rows a second: try again in {seconds} s."
        raise ApiError(429, sentence, {"Retry-After": str(seconds)})
    arguments, count = dict(where), 0
    try:
        if chosen.query is not None:
            arguments["query"] = _read_query(chosen.query, request)
        if chosen.body is not None:
            arguments["body"] = _read_body(chosen.body, request)
        if chosen.form is not None:
            _check_type(request, FORM_TYPE)
        found = chosen.view(request, **arguments)
        count = len(found.rows) if isinstance(found, Rows) else getattr(found, "row_count", 1)
    finally:
        if not is_of_stream(request):
            LIMITS.count(client, count)
    if isinstance(found, HttpResponseBase):
        return found
    if not isinstance(found, Rows):
        return object_answer(found, chosen.status)
    if not wants_lines(request):
        return page_answer(request, found)

    def more(after: str) -> Rows:
        given_token(request)  # raises if it was revoked, or is over
        query = msgspec.structs.replace(arguments["query"], after=after, limit=MAX_ROWS)
        if found.whole is not None:
            return part_of(found.whole, query)
        rows: Rows = chosen.view(request, **{**arguments, "query": query})
        return rows

    return lines_answer(found, more, client)


def viewer_of(token: Token | None, bot: str | None = None) -> Visitor:
    """As whom the holder of a token sees the bot with this slug, or another object without one.

    A token that is bound to a bot sees of other objects what everybody sees.
    """
    if token is None or not set(SEES) & set(token.scopes):
        return AnonymousUser()
    return token.user if token.bot is None or token.bot.slug == bot else AnonymousUser()


def _read_query(kind: type[msgspec.Struct], request: HttpRequest) -> msgspec.Struct:
    """The parameters; raises ``ApiError`` for one that is unknown or bad."""
    fields = {field.encode_name: field for field in msgspec.structs.fields(kind)}
    values = {}
    for name in request.GET:
        if name not in fields:
            known = ", ".join(sorted(fields))
            raise ApiError(400, f"There is no parameter {visible(name, 40)!r}: there are {known}.")
        is_many = get_origin(fields[name].type) in {list, tuple}
        if not is_many and len(request.GET.getlist(name)) > 1:
            raise ApiError(400, f"The parameter {name} is given more than once.")
        given: Any = request.GET.getlist(name) if is_many else request.GET[name]
        try:
            values[name] = msgspec.convert(given, fields[name].type, strict=False)
        except msgspec.ValidationError as error:
            why = str(error).partition(" - at ")[0].replace("`", "")
            sentence = f"The parameter {name} is {visible(str(given), 60)!r}: {why[:1].lower()}{why[1:]}"
            raise ApiError(400, as_sentence(sentence)) from None
    missing = [name for name, field in fields.items() if field.required and name not in values]
    if missing:
        raise ApiError(400, f"The parameter {missing[0]} is missing.")
    return kind(**values)


def _check_type(request: HttpRequest, media: str) -> None:
    if request.content_type != media:
        raise ApiError(415, f"Send the body as {media}.")


def _read_body(kind: type[msgspec.Struct], request: HttpRequest) -> msgspec.Struct:
    """The body of JSON; raises ``ApiError`` for one that is not a ``kind``."""
    _check_type(request, JSON_TYPE)
    try:
        return msgspec.json.decode(request.body, type=kind)
    except msgspec.ValidationError as error:
        raise ApiError(400, as_sentence(f"The body is wrong: {error}")) from None
    except (msgspec.DecodeError, RecursionError):
        raise ApiError(400, "The body is not JSON.") from None
