"""Asks a site: each request is tried again while the site does not answer or asks to wait."""

from __future__ import annotations

import datetime
import os
import random
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from email.message import Message
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any, TypeVar

from engines.http_client import (
    NO_HEADERS,
    AddressError,
    BadAnswer,
    ErrorAnswer,
    HttpClient,
    NoAnswer,
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
MAX_PAUSE_SECONDS = 600.0
"""A site that asks to wait for longer is not asked again."""
NOTED_SECONDS = 5.0
"""A pause from this length on is told on standard error."""
MAX_ANSWER_BYTES = 16 * 1024 * 1024
MAX_WORDS = 2000
MAX_TOKEN_BYTES = 1000
BUSY = frozenset({429, 502, 503, 504})
"""The statuses after which a request is sent again."""

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
            _note("The token is sent unencrypted: use https:// if the site offers it.")
        self._sleep = sleep
        self._has_answered = False

    def get(self, path: str) -> Json:
        """The object at an address."""
        return self._ask(path)

    def send(self, path: str, body: Body, headers: Mapping[str, str]) -> Json:
        """The answer to a POST, which is sent again only if the site asked to wait."""
        return self._ask(path, body, headers)

    def _ask(self, path: str, body: Body | None = None, headers: Mapping[str, str] = NO_HEADERS) -> Json:
        url = self.address + path

        def read() -> Any:
            data = None if body is None else body()
            return self._client.read_json(url, MAX_ANSWER_BYTES, body=data, headers=headers)

        answer = self._tried(read, may_repeat=body is None)
        if not isinstance(answer, dict) or answer.get("ok", True) is not True:
            raise CannotAsk(NO_SITE)
        return answer

    def _tried(self, request: Callable[[], T], *, may_repeat: bool) -> T:
        """The answer to a request, which is sent again after pauses; raises ``CannotAsk``."""
        for pause in (*PAUSES, None):
            try:
                answer = request()
            except NoAnswer as error:
                failure = CannotAsk(f"{self.address} does not answer: {error}")
                asked = 0.0
                is_last = not may_repeat or not (self._has_answered or pause in PAUSES[:FIRST_PAUSES])
            except ErrorAnswer as error:
                self._has_answered = True
                failure = _refusal(error)
                asked = retry_after(error.headers)
                is_last = error.status not in BUSY or not (may_repeat or error.status == 429)
            except BadAnswer:
                raise CannotAsk(NO_SITE) from None
            else:
                self._has_answered = True
                return answer
            if pause is None or is_last or asked > MAX_PAUSE_SECONDS:
                raise failure
            self._wait(max(asked, pause * random.uniform(1, 1.25)), failure)
        raise AssertionError("the last try returns or raises")

    def _wait(self, seconds: float, failure: CannotAsk) -> None:
        if seconds >= NOTED_SECONDS:
            _note(f"{failure} Trying again in {round(seconds)} s.")
        self._sleep(seconds)


def site_of(named: str | None) -> str:
    """The site's address: the named one, or that of the environment."""
    return named or os.environ.get(SITE, "")


def find_token() -> str:
    """The token of the environment or of its file; raises ``CannotAsk`` without one."""
    if (token := os.environ.get(TOKEN, "")) or not (name := os.environ.get(TOKEN_FILE, "")):
        if not token:
            raise CannotAsk(f"no token was given: set {TOKEN}; the site makes one at /account/tokens/")
        return token
    try:
        with Path(name).open(encoding="utf-8") as file:
            return file.read(MAX_TOKEN_BYTES).strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise CannotAsk(f"cannot read the token in {name!r}: {reason}") from None


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


def _note(sentence: str) -> None:
    if sys.stderr is not None:
        print(sentence, file=sys.stderr)
