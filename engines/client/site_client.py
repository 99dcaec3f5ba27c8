"""Asks a site: each request is tried again while the site does not answer or asks to wait.

A request that creates something has one ``Idempotency-Key`` for all its tries, so that the site creates once.
"""

from __future__ import annotations

import datetime
import json
import os
import random
import secrets
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from email.message import Message
from email.utils import parsedate_to_datetime
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlencode, urlsplit

from engines.http_client import (
    NO_HEADERS,
    AddressError,
    AnswerTooLong,
    BadAnswer,
    ErrorAnswer,
    HttpClient,
    NoAnswer,
    NothingFollows,
    is_safe_for_tokens,
    parse_site_address,
)
from engines.visible import visible

SITE, TOKEN, TOKEN_FILE = "DUARENA_SITE", "DUARENA_TOKEN", "DUARENA_TOKEN_FILE"
"""The variables of the environment with a site's address, a token, and the path of a file with a token."""
TIMEOUT_SECONDS = 60.0
PAUSES = (1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 30.0)
"""Seconds before each further try; each is lengthened at random by up to a quarter."""
FIRST_PAUSES = 2
"""How often a site is asked again that has not answered yet: its address may be wrong."""
MAX_WAIT_SECONDS = 600.0
"""A site that asks to wait for longer, in all for one request, is not asked again."""
NOTED_SECONDS = 5.0
"""A pause from this length on is told on standard error."""
MAX_ANSWER_BYTES = 16 * 1024 * 1024
MAX_LINE_BYTES = 1024 * 1024
MAX_FILE_BYTES = 64 * 1024 * 1024
PAGE_ROWS = 1000
"""The most rows that a site gives at once."""
MAX_WORDS = 2000
MAX_TOKEN_BYTES = 1000
BUSY = frozenset({429, 502, 503, 504})
"""The statuses after which a request is sent again."""

KEY = "Idempotency-Key"
JSON_LINES = "application/x-ndjson"
NO_SITE = "the server at this address is not a Duarena site"

Json = dict[str, Any]
Body = Callable[[], Iterable[bytes]]
"""Begins a request's body, again for each try."""
T = TypeVar("T")


class CannotAsk(Exception):
    """The site was not asked, or did not answer as a site does; the text is a sentence."""


class Refusal(CannotAsk):
    """The site answered with an error; the text is its sentence."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


class SiteClient:
    """The API of a site. Every method raises ``CannotAsk``; paths begin with a slash."""

    def __init__(self, address: str, token: str = "", *, sleep: Callable[[float], None] = time.sleep) -> None:
        if not address:
            raise CannotAsk(f"no site was named: give --site https://… or set {SITE}")
        try:
            self.address = parse_site_address(address)
            self._client = HttpClient(timeout=TIMEOUT_SECONDS, token=token)
        except AddressError as error:
            raise CannotAsk(str(error)) from None
        if token and not is_safe_for_tokens(address):
            note("The token is sent unencrypted: use https:// if the site offers it.")
        self._sleep = sleep
        self._has_answered = False

    def get(self, path: str, **query: object) -> Json:
        """The object at an address; values of the query that are None or empty are left out."""
        return self._ask(with_query(path, query))

    def rows(self, path: str, query: Mapping[str, object], most: int | None = None) -> Iterator[Json]:
        """The rows of a list, from as many pages as needed; at most ``most``."""
        asked = with_query(path, {**query, "limit": min(most or PAGE_ROWS, PAGE_ROWS)})
        left = sys.maxsize if most is None else most
        while asked and left > 0:
            page = self._ask(asked)
            rows, following = page.get("rows"), page.get("next")
            if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
                raise CannotAsk(NO_SITE)
            yield from rows[:left]
            left -= len(rows)
            asked = _path_of(following) if isinstance(following, str) else ""

    def events(self, path: str) -> Iterator[Json]:
        """The events of a stream until nothing follows; a new connection continues after the last one."""
        after, pauses = "", list[float]()
        while True:
            url = self.address + with_query(path, {"after": after})
            try:
                for line in self._client.lines(url, MAX_LINE_BYTES, headers={"Accept": JSON_LINES}):
                    self._has_answered = True
                    if line.strip():  # an empty line shows that the stream is alive
                        event = _event_in(line)
                        after, pauses = str(event["id"]), []
                        yield event
                raise NoAnswer("the stream ended")
            except NothingFollows:
                return
            except (NoAnswer, ErrorAnswer, BadAnswer) as error:
                pauses.append(self._wait_after(error, pauses))

    def create(self, path: str, value: Mapping[str, object]) -> Json:
        """Have the site create what ``value`` describes, once however often the request is sent."""
        body = json.dumps(value).encode()
        headers = {"Content-Type": "application/json", "Content-Length": str(len(body))}
        return self.send(path, lambda: [body], headers)

    def send(self, path: str, body: Body, headers: Mapping[str, str]) -> Json:
        """The answer to a POST that creates something, once however often it is sent."""
        return self._ask(path, body, {**headers, KEY: secrets.token_hex(16)})

    def parts(self, path: str) -> Iterator[bytes]:
        """The parts of a file that a site gives one after the other, each as a whole."""
        while path:
            url = self.address + path
            data, following = self._tried(partial(self._client.read_part, url, MAX_FILE_BYTES))
            yield data
            path = _path_of(following) if following else ""

    def _ask(self, path: str, body: Body | None = None, headers: Mapping[str, str] = NO_HEADERS) -> Json:
        url = self.address + path

        def read() -> Any:
            data = None if body is None else body()
            return self._client.read_json(url, MAX_ANSWER_BYTES, body=data, headers=headers)

        answer = self._tried(read)
        if not isinstance(answer, dict) or answer.get("ok", True) is not True:
            raise CannotAsk(NO_SITE)
        return answer

    def _tried(self, request: Callable[[], T]) -> T:
        """The answer to a request that may be repeated; raises ``CannotAsk``."""
        pauses: list[float] = []
        while True:
            try:
                answer = request()
            except (NoAnswer, ErrorAnswer, BadAnswer) as error:
                pauses.append(self._wait_after(error, pauses))
            else:
                self._has_answered = True
                return answer

    def _wait_after(self, error: Exception, pauses: Sequence[float]) -> float:
        """Wait before the next try, and return for how long; raises ``CannotAsk`` if there is none.

        ``pauses`` are those before the tries so far.
        """
        asked = 0.0
        most = len(PAUSES)
        if isinstance(error, ErrorAnswer):
            self._has_answered = True
            failure, asked = _refusal(error), retry_after(error.headers)
            most = most if error.status in BUSY else 0
        elif isinstance(error, NoAnswer):
            failure = CannotAsk(f"{self.address} does not answer: {error}")
            most = most if self._has_answered else FIRST_PAUSES
        else:
            failure, most = CannotAsk(str(error) if isinstance(error, AnswerTooLong) else NO_SITE), 0
        if len(pauses) >= most:
            raise failure from None
        seconds = max(asked, PAUSES[len(pauses)] * random.uniform(1, 1.25))
        if sum(pauses) + seconds > MAX_WAIT_SECONDS:
            raise failure from None
        if seconds >= NOTED_SECONDS:
            note(f"{failure} Trying again in {round(seconds)} s.")
        self._sleep(seconds)
        return seconds


def site_of(named: str | None) -> str:
    """The site's address: the named one, or that of the environment."""
    return named or os.environ.get(SITE, "")


def find_token(*, is_needed: bool = True) -> str:
    """The token of the environment or of its file; raises ``CannotAsk`` without one that is needed."""
    if (token := os.environ.get(TOKEN, "")) or not (name := os.environ.get(TOKEN_FILE, "")):
        if is_needed and not token:
            raise CannotAsk(f"no token was given: set {TOKEN}; the site makes one at /account/tokens/")
        return token
    try:
        with Path(name).open(encoding="utf-8") as file:
            return file.read(MAX_TOKEN_BYTES).strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise CannotAsk(f"cannot read the token in {name!r}: {reason}") from None


def with_query(path: str, query: Mapping[str, object]) -> str:
    """The address with those values of the query that are given: None and empty ones are left out."""
    given = {name: value for name, value in query.items() if value not in (None, "")}
    return f"{path}?{urlencode(given)}" if given else path


def _path_of(url: str) -> str:
    """The path and query of an address of the site, whatever host it names: a token goes nowhere else."""
    try:
        parts = urlsplit(url)
    except ValueError:
        raise CannotAsk(NO_SITE) from None
    if not parts.path.startswith("/"):  # after the site's address it would name another host
        raise CannotAsk(NO_SITE)
    return f"{parts.path}?{parts.query}"


def _event_in(line: bytes) -> Json:
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        raise BadAnswer("the event is not JSON") from None
    if isinstance(event, dict) and {"id", "type", "data"} <= event.keys() and isinstance(event["data"], dict):
        return event
    raise BadAnswer("an event of another form")


def retry_after(headers: Message) -> float:
    """The seconds of a header ``Retry-After``, a number or a date; 0 without one that can be read."""
    text = str(headers.get("Retry-After") or "").strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        until = parsedate_to_datetime(text)
        return max(0.0, (until - datetime.datetime.now(datetime.UTC)).total_seconds())
    except (ValueError, TypeError):
        return 0.0


def _refusal(answer: ErrorAnswer) -> CannotAsk:
    """The exception for an answer with an error status."""
    sentence = visible(answer.sentence, MAX_WORDS)
    if 300 <= answer.status < 400:
        return CannotAsk(f"the site redirects to {visible(answer.location, 200)}: give that address")
    if answer.status == 413 and not sentence:
        sentence = "the request is larger than the site accepts"
    if sentence:
        return Refusal(answer.status, sentence)
    question = "" if answer.status in BUSY else ": is this a Duarena site?"
    return CannotAsk(f"the site answered {answer.status}{question}")


def note(sentence: str) -> None:
    """Tell something on standard error, where there is one."""
    if sys.stderr is not None:
        print(sentence, file=sys.stderr)
