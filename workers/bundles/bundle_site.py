"""Fetches bundles by SHA-256 from a site, with a worker token; the errors of all requests of a worker.

The content is checked against its hash. If the site does not answer or refuses this worker, the worker
takes no games (``SiteAway``), and no game becomes void. A bundle that the site does not have, or whose
hash differs, makes the game void (``BundleError``).
"""

from __future__ import annotations

import errno
import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from engines.bundles.archive import MAX_ZIP_BYTES
from engines.bundles.store import BundleError, bundle_path
from engines.files import atomic_file
from engines.http_client import (
    AnswerTooLong,
    ErrorAnswer,
    HttpClient,
    NoAnswer,
    is_safe_for_tokens,
    parse_site_address,
)
from engines.visible import visible
from workers.jobs import PROTOCOL
from workers.logs import current_ids

BUNDLES_PATH = "/api/bundles/"
PROTOCOL_HEADER = "Duarena-Protocol"
"""Sent with a worker's requests, and with the refusal of a site that has another version of the messages."""
TIMEOUT_SECONDS = 30.0
"""The longest time without receiving a byte."""
MAX_ANSWER_BYTES = 64 * 1024
MAX_SENTENCE = 500
PROTOCOL_HEADERS = {PROTOCOL_HEADER: str(PROTOCOL)}


class SiteAway(OSError):
    """The site sends this worker nothing at the moment; the text is a sentence. A retry may succeed."""

    def __init__(self, why: str, retry_s: int = 0) -> None:
        super().__init__(errno.EHOSTUNREACH, why)
        self.why = why
        self.retry_s = retry_s
        """The seconds after which the site wants the next try; 0 if it does not say."""


class TokenRefused(SiteAway):
    """The site refuses this worker; a person must correct its token or address."""

    exit_status = 2
    """The exit status of a worker that the site refuses when it starts."""


class TokenRevoked(TokenRefused):
    """The site does not know the token, or it was revoked. A restart does not help."""

    exit_status = 77  # EX_NOPERM in C


class WorkerOutdated(TokenRefused):
    """The site and this worker have different versions of their messages. A restart does not help."""

    exit_status = 78  # EX_CONFIG in C


class MessageRefused(TokenRefused):
    """The site never accepts this message."""


class BundleSite:
    """A site that sends bundles to workers with a token; raises ``ValueError`` for a bad address or token."""

    def __init__(self, address: str, token: str) -> None:
        if not token:
            raise ValueError("there is no token")
        self._address = parse_site_address(address)
        self._client = HttpClient(timeout=TIMEOUT_SECONDS, token=token)
        self.is_encrypted = is_safe_for_tokens(address)

    def check(self) -> None:
        """Check that the site sends bundles to this worker; raises ``SiteAway`` if not."""
        try:
            with self._errors():
                self._client.read_json(self._url(""), MAX_ANSWER_BYTES, headers=PROTOCOL_HEADERS)
        except ValueError:  # also a BundleError
            raise strange_site(self._address) from None

    def fetch(self, sha256: str, store: Path, on_wait: Callable[[], None] = lambda: None) -> None:
        """Put a bundle into the store folder atomically, unless it is there.

        ``on_wait`` is called repeatedly meanwhile and may raise. Raises ``SiteAway``, and
        ``BundleError`` if the site does not have the bundle or sends another one.
        """
        path = bundle_path(store, sha256)
        if path.exists():
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        digest = hashlib.sha256()
        with atomic_file(path, mode=0o644) as file:
            for chunk in self._chunks(sha256):
                digest.update(chunk)
                file.write(chunk)
                on_wait()
            if (found := digest.hexdigest()) != sha256:
                raise BundleError(f"the site sent another bundle: its SHA-256 is {found}, not {sha256}")

    def _chunks(self, sha256: str) -> Iterator[bytes]:
        try:
            with self._errors():
                yield from self._client.stream(self._url(sha256), MAX_ZIP_BYTES, headers=_job_header())
        except AnswerTooLong:
            raise BundleError(
                f"the site sends more than the {MAX_ZIP_BYTES} bytes that a bundle may have"
            ) from None

    def _url(self, what: str) -> str:
        return f"{self._address}{BUNDLES_PATH}{what}"

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Raises errors of the HTTP client as errors of this module."""
        try:
            yield
        except NoAnswer as error:
            raise SiteAway(f"{self._address} does not answer: {error}") from None
        except ErrorAnswer as answer:
            if answer.status == 404 and answer.sentence:
                reason = visible(answer.sentence, MAX_SENTENCE)
                raise BundleError(f"the site does not have it: {reason}") from None
            raise refusal(self._address, answer) from None


def strange_site(address: str) -> TokenRefused:
    return TokenRefused(f"{address} does not answer as a Duarena site does")


def refusal(address: str, answer: ErrorAnswer) -> SiteAway:
    """The error for an answer of the site at this address that is not what was asked for."""
    if answer.status in {301, 302, 303, 307, 308}:
        where = visible(answer.location, 200)
        return TokenRefused(f"{address} redirects to {where}: give that address if you trust it")
    reason = visible(answer.sentence, MAX_SENTENCE) or f"it answers {answer.status}"
    if kind := _KINDS.get(answer.status):
        protocol = answer.headers.get(PROTOCOL_HEADER, str(PROTOCOL))
        is_outdated = answer.status == 403 and protocol != str(PROTOCOL)
        return (WorkerOutdated if is_outdated else kind)(f"{address} does not let this worker in: {reason}")
    if answer.status == 404:
        return strange_site(address)
    seconds = answer.headers.get("Retry-After", "")
    return SiteAway(f"{address} gives nothing now: {reason}", int(seconds) if seconds.isdecimal() else 0)


_KINDS: dict[int, type[TokenRefused]] = {
    400: MessageRefused,
    401: TokenRevoked,
    403: TokenRefused,
    409: TokenRefused,
    413: MessageRefused,
    415: MessageRefused,
}


def _job_header() -> dict[str, str]:
    """The job that needs the bundle, as the id of the request: the site's log has it too."""
    job = current_ids().get("job")
    return {"X-Request-ID": job} if job else {}
