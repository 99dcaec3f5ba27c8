"""``python -m engines submit``: uploads a bot's zip to a site and follows its validation to the end."""

from __future__ import annotations

import os
import secrets
import time
from argparse import Namespace
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain
from pathlib import Path

from engines.client.exit_codes import NO, TimeIsUp
from engines.client.site_client import (
    MAX_WORDS,
    NO_SITE,
    CannotAsk,
    Json,
    Refusal,
    SiteClient,
    find_token,
    site_of,
)
from engines.http_client import CHUNK_BYTES
from engines.visible import visible

POLL_SECONDS = 1.0
SHOWN_LINES = 14
SHOWN_WIDTH = 150
REFUSALS = frozenset({400, 413, 422})
"""The statuses of an answer that refuses the bundle."""

_FORM = (
    '--{boundary}\r\nContent-Disposition: form-data; name="notes"\r\n\r\n{notes}\r\n'
    '--{boundary}\r\nContent-Disposition: form-data; name="bundle"; filename="bot.zip"\r\n'
    "Content-Type: application/zip\r\n\r\n"
)
"""The form up to the content of the zip."""


def run(parsed: Namespace) -> int:
    """Upload a bundle, and print its validation until it ends; returns the exit code."""
    site = SiteClient(site_of(parsed.site), find_token())
    try:
        version = _upload(site, parsed.bundle, parsed.notes)
    except Refusal as refusal:
        if refusal.status not in REFUSALS:
            raise
        print(f"refused: {refusal}")
        return NO
    print(f"{_name(version)} is uploaded: {visible(str(version['page']))}", flush=True)
    return _verdict(_follow(site, version, time.monotonic() + parsed.timeout))


def _upload(site: SiteClient, bundle: Path, notes: str) -> Json:
    """The new version."""
    # First a short request: a site that refuses the token closes the connection during a large upload.
    site.get("/api/")
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

            def body() -> Iterable[bytes]:
                file.seek(0)
                return chain([before], iter(partial(file.read, CHUNK_BYTES), b""), [after])

            return _version_in(site.send("/api/bots/", body, headers))
    except OSError as error:
        raise CannotAsk(f"cannot read {str(bundle)!r}: {error.strerror}") from None


def _follow(site: SiteClient, version: Json, deadline: float) -> Json:
    """Print each step of the validation as it happens; returns the version when its state is final."""
    printer = _StepPrinter()
    while True:
        printer.print_new(version)
        if version["state"] != "validating":
            return version
        if time.monotonic() > deadline:
            raise TimeIsUp(f"{_name(version)} is still being validated: see {visible(str(version['page']))}")
        time.sleep(POLL_SECONDS)
        version = _version_in(site.get(f"/api/bots/{version['slug']}/{version['number']}/"))


def _version_in(answer: Json) -> Json:
    version = answer.get("version")
    if (
        isinstance(version, dict)
        and {"bot", "slug", "state", "page"} <= version.keys()
        and isinstance(version.get("number"), int)
    ):
        return version
    raise CannotAsk(NO_SITE)


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
        print(visible(line, MAX_WORDS), flush=True)


def _verdict(version: Json) -> int:
    reason = visible(str(version.get("reason", "")), MAX_WORDS)
    if version["state"] == "valid":
        print(f"{_name(version)} is valid: it plays from now on.")
        return 0
    if version["state"] == "refused":
        print(f"{_name(version)} is refused. {reason}")
        return NO
    raise CannotAsk(f"{_name(version)} is {visible(str(version['state']), 20)}. {reason}".rstrip())


def _name(version: Json) -> str:
    return f"{visible(str(version['bot']), 60)} v{version['number']}"
