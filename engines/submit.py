"""``python -m engines submit``: uploads a bot's zip to a site and follows its validation to the end.

Standard library only. Text from the site is printed escaped, so that it cannot act on a terminal.
"""

from __future__ import annotations

import os
import secrets
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from engines.console import complain
from engines.http_client import (
    CHUNK_BYTES,
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

REFUSED = 1
POLL_SECONDS = 1.0
TIMEOUT_SECONDS = 60.0
MAX_ANSWER_BYTES = 4 * 1024 * 1024
SHOWN_LINES = 14
SHOWN_WIDTH = 150
MAX_FAILURES = 10
"""The most polls in a row that may fail."""
TOKEN, SITE = "DUARENA_TOKEN", "DUARENA_SITE"

NO_SITE = "the server at this address is not a Duarena site"

_FORM = (
    '--{boundary}\r\nContent-Disposition: form-data; name="notes"\r\n\r\n{notes}\r\n'
    '--{boundary}\r\nContent-Disposition: form-data; name="bundle"; filename="bot.zip"\r\n'
    "Content-Type: application/zip\r\n\r\n"
)
"""The form up to the content of the zip."""

Json = dict[str, Any]


class CannotSubmit(Exception):
    """The upload failed, or its result is unknown; the text is a sentence."""


class RefusedBundle(Exception):
    """The site refused the bundle; the text is the site's sentence."""


class _Unavailable(CannotSubmit):
    """The site does not answer at the moment; a retry may succeed."""


def submit(bundle: Path, *, site: str | None, token: str | None, notes: str, seconds: float) -> int:
    """Upload a bundle, and print its validation for at most ``seconds``.

    Returns 0 for a valid version, 1 for a refused one, 2 if the result is unknown. ``site`` and ``token``
    default to the environment.
    """
    try:
        connection = _Site(site or os.environ.get(SITE, ""), token or os.environ.get(TOKEN, ""))
        version = connection.upload(bundle, notes)
        print(f"{_name(version)} is uploaded: {visible(str(version['page']))}", flush=True)
        return _verdict(_follow(connection, version, time.monotonic() + seconds))
    except RefusedBundle as refusal:
        print(f"refused: {refusal}")
        return REFUSED
    except CannotSubmit as trouble:
        return complain(str(trouble))


def _follow(site: _Site, version: Json, deadline: float) -> Json:
    """Print each step of the validation as it happens; returns the version when its state is final."""
    printer = _StepPrinter()
    failures = 0
    while True:
        printer.print_new(version)
        if version["state"] != "validating":
            return version
        if time.monotonic() > deadline:
            raise CannotSubmit(
                f"{_name(version)} is still being validated: see {visible(str(version['page']))}"
            )
        time.sleep(POLL_SECONDS)
        try:
            version = site.version(str(version["slug"]), int(version["number"]))
            failures = 0
        except _Unavailable:
            failures += 1
            if failures > MAX_FAILURES:
                raise


class _StepPrinter:
    """Prints the steps of a validation, each once."""

    def __init__(self) -> None:
        self._findings = 0
        self._games: set[str] = set()
        self._has_announced_check = False

    def print_new(self, version: Json) -> None:
        check = version.get("check") or {}
        findings = list(check.get("findings") or [])
        if len(findings) < self._findings:  # the check runs again
            self._findings = 0
        for finding in findings[self._findings :]:
            _print(*_finding_lines(finding))
        self._findings = len(findings)
        if not findings and not self._has_announced_check and version["state"] == "validating":
            self._has_announced_check = True
            _print("A worker checks it first, as soon as one is free.")
        for game in version.get("games") or []:
            if game["state"] in {"done", "halted"} and game["ladder"] not in self._games:
                self._games.add(game["ladder"])
                _print(*_game_lines(game))


def _finding_lines(finding: Json) -> Iterator[str]:
    name = f"{finding['check']} ({finding['ladder']})" if finding.get("ladder") else str(finding["check"])
    if not finding.get("fault"):
        yield f"{name}: {'ok' if finding.get('was_tried') else 'not run: the time was up'}"
        return
    weight = "FAULT" if finding.get("is_grave") else "fault, but the bot may play"
    yield f"{name}: {weight}: {finding['fault']}"
    yield f"    What to do: {finding.get('advice', '')}"
    yield from _log_lines(finding)


def _game_lines(game: Json) -> Iterator[str]:
    yield f"game against itself on {game['ladder']}: {game['verdict']}"
    if game.get("evidence"):
        yield f"    {game['evidence']}"
    yield from _log_lines(game)


def _log_lines(logs: Json) -> Iterator[str]:
    for what, name in (("lines exchanged", "lines"), ("lines of its standard error", "stderr")):
        if lines := str(logs.get(name, "")).splitlines()[-SHOWN_LINES:]:
            yield f"    The last {what}:"
            yield from (f"      {visible(line, SHOWN_WIDTH)}" for line in lines)


def _print(*lines: str) -> None:
    for line in lines:
        print(visible(line, 2000), flush=True)


def _verdict(version: Json) -> int:
    reason = visible(str(version.get("reason", "")), 2000)
    if version["state"] == "valid":
        print(f"{_name(version)} is valid: it plays from now on.")
        return 0
    if version["state"] == "refused":
        print(f"{_name(version)} is refused. {reason}")
        return REFUSED
    raise CannotSubmit(f"{_name(version)} is {visible(str(version['state']), 20)}. {reason}".rstrip())


def _name(version: Json) -> str:
    return f"{visible(str(version['bot']), 60)} v{version['number']}"


class _Site:
    """The API of a site. Every method raises ``CannotSubmit``."""

    def __init__(self, address: str, token: str) -> None:
        if not address:
            raise CannotSubmit(f"no site was named: give --site https://… or set {SITE}")
        if not token:
            raise CannotSubmit(f"no token was given: set {TOKEN}; the site makes one at /account/tokens/")
        try:
            self._address = parse_site_address(address)
            self._client = HttpClient(timeout=TIMEOUT_SECONDS, token=token)
        except AddressError as error:
            raise CannotSubmit(str(error)) from None
        if not is_safe_for_tokens(address):
            print("The token is sent unencrypted: use https:// if the site offers it.", file=sys.stderr)

    def upload(self, bundle: Path, notes: str) -> Json:
        """The new version; also raises ``RefusedBundle``."""
        # First a short request: a site that refuses the token closes the connection during a large upload.
        self._request("/api/")
        boundary = secrets.token_hex(16)
        before = _FORM.format(boundary=boundary, notes=notes).encode()
        after = f"\r\n--{boundary}--\r\n".encode()
        try:
            with bundle.open("rb") as file:
                size = len(before) + os.fstat(file.fileno()).st_size + len(after)
                headers = {
                    "Content-Type": f"multipart/form-data; boundary={boundary}",
                    "Content-Length": str(size),
                }
                body = chain([before], iter(partial(file.read, CHUNK_BYTES), b""), [after])
                return _version_in(self._request("/api/bots/", body, headers))
        except OSError as error:
            raise CannotSubmit(f"cannot read {str(bundle)!r}: {error.strerror}") from None

    def version(self, slug: str, number: int) -> Json:
        return _version_in(self._request(f"/api/bots/{slug}/{number}/"))

    def _request(
        self, path: str, body: Iterable[bytes] | None = None, headers: Mapping[str, str] = NO_HEADERS
    ) -> Json:
        url = self._address + path
        try:
            answer = self._client.read_json(url, MAX_ANSWER_BYTES, body=body, headers=headers)
        except NoAnswer as error:
            raise _Unavailable(f"{self._address} does not answer: {error}") from None
        except ErrorAnswer as refusal:
            raise _refusal(refusal) from None
        except BadAnswer:
            raise CannotSubmit(NO_SITE) from None
        if not isinstance(answer, dict) or answer.get("ok") is not True:
            raise CannotSubmit(NO_SITE)
        return answer


def _version_in(answer: Json) -> Json:
    version = answer.get("version")
    if (
        isinstance(version, dict)
        and {"bot", "slug", "state", "page"} <= version.keys()
        and isinstance(version.get("number"), int)
    ):
        return version
    raise CannotSubmit(NO_SITE)


def _refusal(answer: ErrorAnswer) -> Exception:
    """The exception for an answer with an error status."""
    sentence = visible(answer.sentence, 2000)
    if answer.status == 413 and not sentence:
        return RefusedBundle("the zip is larger than the site accepts")
    if 300 <= answer.status < 400:
        return CannotSubmit(f"the site redirects to {visible(answer.location, 200)}: give that address")
    if answer.status in {429, 502, 503, 504}:
        return _Unavailable(sentence or f"the site answered {answer.status}")
    if answer.status in {400, 413, 422} and sentence:
        return RefusedBundle(sentence)
    return CannotSubmit(sentence or f"the site answered {answer.status}: is this a Duarena site?")
