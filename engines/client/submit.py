"""``python -m engines submit``: uploads a bot's zip, follows its validation, and tests it if asked."""

from __future__ import annotations

import os
import secrets
import time
from argparse import Namespace
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

from engines.client.output import ProgressBar, print_json, print_words
from engines.client.reporting import Report
from engines.client.site_client import NO_SITE, CannotAsk, Json, Refusal, SiteClient, find_token, site_of
from engines.client.test import play_tests, read_versions
from engines.client.validation import follow_validation, validation_code
from engines.http_client import CHUNK_BYTES

TESTS = "tests:write"
"""The scope of tokens that start version tests."""
REFUSALS = frozenset({400, 413, 422})
"""The statuses of an answer that refuses the bundle."""
_FIELD = '--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
_FILE = (
    '--{boundary}\r\nContent-Disposition: form-data; name="bundle"; filename="bot.zip"\r\n'
    "Content-Type: application/zip\r\n\r\n"
)


def run(parsed: Namespace) -> int:
    """Upload a bundle, and print its validation until it ends; returns the exit code."""
    site = SiteClient(site_of(parsed.site), find_token())
    report, deadline = Report(parsed), time.monotonic() + parsed.timeout
    _check_token(site, is_testing=bool(parsed.test) and not parsed.dry_run)
    try:
        upload = _upload(site, parsed.bundle, {"notes": parsed.notes, "dry_run": f"{parsed.dry_run:d}"})
    except Refusal as refusal:
        if refusal.status not in REFUSALS:
            raise
        return report.refused(str(refusal))
    if parsed.dry_run:
        return _tell_dry_run(upload, parsed)
    report.uploaded(upload)
    try:
        _follow(site, parsed, upload, report, deadline)
    except CannotAsk as error:
        return report.failed(error)
    return report.end()


def _follow(site: SiteClient, parsed: Namespace, upload: Json, report: Report, deadline: float) -> None:
    """Wait for the end of the validation, and of the tests that the options ask for."""
    slug, number = str(upload["slug"]), int(upload["number"])
    versions = read_versions(site, slug) if parsed.test else []  # before the new one is active
    version = follow_validation(site, slug, number, deadline, is_quiet=parsed.json)
    report.validated(version)
    if parsed.test and validation_code(version) == 0:
        play_tests(site, parsed, slug, number, versions, report, deadline)


def _check_token(site: SiteClient, *, is_testing: bool) -> None:
    """Raise ``CannotAsk`` before anything is sent, if the token is unknown or may not start a test.

    A site that refuses the token closes the connection during a large upload.
    """
    scopes = site.get("/api/v1/token/").get("scopes")
    if is_testing and TESTS not in (scopes if isinstance(scopes, list) else [TESTS]):
        raise CannotAsk(f"nothing was uploaded: for --test the token needs the scope {TESTS} too")


def _tell_dry_run(upload: Json, parsed: Namespace) -> int:
    if parsed.json:
        print_json(upload)
    else:
        print_words(f"The site would accept the zip as a version of {upload['bot']}; nothing is stored.")
    return 0


def _upload(site: SiteClient, bundle: Path, fields: dict[str, str]) -> Json:
    """The new version."""
    boundary = secrets.token_hex(16)
    values = "".join(_FIELD.format(boundary=boundary, name=name, value=text) for name, text in fields.items())
    before = (values + _FILE.format(boundary=boundary)).encode()
    after = f"\r\n--{boundary}--\r\n".encode()
    try:
        with bundle.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            headers = {
                "Content-Type": f"multipart/form-data; boundary={boundary}",
                "Content-Length": str(len(before) + size + len(after)),
            }
            upload = site.send(
                "/api/v1/bots/", lambda: chain([before], _pieces(file, size), [after]), headers
            )
    except OSError as error:
        raise CannotAsk(f"cannot read {str(bundle)!r}: {error.strerror}") from None
    return _checked(upload)


def _pieces(file: BinaryIO, size: int) -> Iterator[bytes]:
    """The content of the zip from its beginning, with a bar of what is sent."""
    progress, sent = ProgressBar(), 0
    file.seek(0)
    while piece := file.read(CHUNK_BYTES):
        yield piece
        sent += len(piece)
        progress.show(f"{sent // 1024} of {size // 1024} KiB", sent, size)
    progress.clear()


def _checked(upload: Json) -> Json:
    number: Any = upload.get("number")
    if {"bot", "slug", "state", "page"} <= upload.keys() and isinstance(number, int | None):
        return upload
    raise CannotAsk(NO_SITE)
