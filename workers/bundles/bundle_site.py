"""Fetches bundles over HTTP from a site, for a worker on another host, by SHA-256 and with a worker token.

The content is checked against its hash. If the site does not answer or refuses this worker, the worker
takes no games (``SiteAway``), and no game becomes void. A bundle that the site does not have, or whose
hash differs, makes the game void (``BundleError``).
"""

from __future__ import annotations

import errno
import hashlib
import http.client
import json
import os
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

from engines.visible import visible
from workers.bundles.archive import MAX_ZIP_BYTES
from workers.bundles.store import BundleError, bundle_path

BUNDLES_PATH = "/api/bundles/"
TIMEOUT_SECONDS = 30.0
"""The longest time without receiving a byte."""
PAUSES_SECONDS = (0.5, 2.0)
"""Pauses between the tries of one call; callers try again later."""
CHUNK_BYTES = 256 * 1024
MAX_ANSWER_BYTES = 64 * 1024


class SiteAway(OSError):
    """The site sends this worker nothing at the moment; the text is a sentence. A retry may succeed."""

    def __init__(self, why: str) -> None:
        super().__init__(errno.EHOSTUNREACH, why)
        self.why = why


class TokenRefused(SiteAway):
    """The site refuses this worker; a person must correct its token or address."""


class BundleSite:
    """A site that sends bundles to workers with a token; raises ``ValueError`` for a bad address or token."""

    def __init__(self, address: str, token: str) -> None:
        parts = urlsplit(address)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ValueError(
                f"{visible(address, 200)!r} is no address of a site: it begins with https:// or http://"
            )
        if not token or not token.isascii() or not token.isprintable():
            raise ValueError("the token has a character that no token has" if token else "there is no token")
        self.is_encrypted = parts.scheme == "https" or parts.hostname in {"127.0.0.1", "localhost", "::1"}
        self._address = address.rstrip("/")
        self._token = token
        self._opener = urllib.request.build_opener(_NoRedirects)

    def check(self) -> None:
        """Check that the site sends bundles to this worker; raises ``SiteAway`` if not."""
        try:
            with self._open("") as answer:
                json.loads(answer.read(MAX_ANSWER_BYTES))
        except (BundleError, ValueError):
            raise TokenRefused(f"{self._address} does not answer as a Duarena site does") from None
        except (OSError, http.client.HTTPException) as error:
            raise self._away(error) from None

    def fetch(self, sha256: str, store: Path, on_wait: Callable[[], None] = lambda: None) -> None:
        """Put a bundle into the store folder atomically, unless it is there.

        ``on_wait`` is called repeatedly meanwhile and may raise. Raises ``SiteAway``, and
        ``BundleError`` if the site does not have the bundle or sends another one.
        """
        path = bundle_path(store, sha256)
        if path.exists():
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        for pause in PAUSES_SECONDS:
            try:
                self._fetch(sha256, path, on_wait)
                return
            except TokenRefused:
                raise
            except SiteAway:
                on_wait()
                time.sleep(pause)
        self._fetch(sha256, path, on_wait)

    def _fetch(self, sha256: str, path: Path, on_wait: Callable[[], None]) -> None:
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".", delete=False) as file:
            try:
                try:
                    with self._open(sha256) as answer:
                        found = _copy(answer, file, on_wait)
                except (http.client.HTTPException, TimeoutError, ConnectionError) as error:
                    raise self._away(error) from None
                if found != sha256:
                    raise BundleError(f"the site sent another bundle: its SHA-256 is {found}, not {sha256}")
                file.flush()
                os.fsync(file.fileno())
                os.chmod(file.name, 0o644)
                os.replace(file.name, path)
            except BaseException:
                os.unlink(file.name)
                raise

    def _open(self, what: str) -> http.client.HTTPResponse:
        headers = {"Authorization": f"Bearer {self._token}", "Accept-Encoding": "identity"}
        request = urllib.request.Request(f"{self._address}{BUNDLES_PATH}{what}", headers=headers)
        try:
            answer: http.client.HTTPResponse = self._opener.open(request, timeout=TIMEOUT_SECONDS)
        except urllib.error.HTTPError as error:
            with error:
                raise self._refusal(error) from None
        except (OSError, http.client.HTTPException) as error:
            raise self._away(error) from None
        return answer

    def _refusal(self, error: urllib.error.HTTPError) -> Exception:
        """The exception for an answer that is not a bundle."""
        if error.code in {301, 302, 303, 307, 308}:
            where = visible(str(error.headers.get("Location", "")), 200)
            return TokenRefused(f"{self._address} sends on to {where}: name that site, if you trust it")
        try:
            message = json.loads(error.read(MAX_ANSWER_BYTES))["error"]
        except (ValueError, KeyError, TypeError, OSError):
            message = None
        reason = visible(str(message), 500) if message else f"it answers {error.code}"
        if error.code in {401, 403}:
            return TokenRefused(f"{self._address} does not let this worker in: {reason}")
        if error.code == 404:
            if message:
                return BundleError(f"the site does not have it: {reason}")
            return TokenRefused(f"{self._address} does not answer as a Duarena site does")
        return SiteAway(f"{self._address} gives no bundles now: {reason}")

    def _away(self, error: Exception) -> SiteAway:
        if isinstance(error, SiteAway):
            return error
        why = getattr(error, "reason", None) or error
        return SiteAway(f"{self._address} does not answer: {visible(str(why), 200)}")


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Refuses redirects, so that a token is only sent to the site that issued it."""

    def redirect_request(self, *_: Any) -> None:
        return None


def _copy(answer: http.client.HTTPResponse, file: IO[bytes], on_wait: Callable[[], None]) -> str:
    """Write all of an answer to a file; returns its SHA-256."""
    expected = answer.length
    digest, size = hashlib.sha256(), 0
    while chunk := answer.read(CHUNK_BYTES):
        size += len(chunk)
        if size > MAX_ZIP_BYTES:
            raise BundleError(f"the site sends more than the {MAX_ZIP_BYTES} bytes that a bundle may have")
        digest.update(chunk)
        file.write(chunk)
        on_wait()
    if expected is not None and size < expected:
        raise ConnectionError(f"it broke off after {size} of {expected} bytes")
    return digest.hexdigest()
