"""Asks a site over HTTP which bots played a recorded game, and fetches their bundles.

The site decides which bundles it gives away. What it sends is checked against the SHA-256.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urljoin

from engines.bundles import is_sha256
from engines.bundles.archive import MAX_ZIP_BYTES
from engines.bundles.store import bundle_path, store_bundle
from engines.http_client import AnswerTooLong, ErrorAnswer, HttpClient, NoAnswer
from engines.rules.base import quote

ENGINES_PATH = "/games/engines.json"
MAX_ANSWER_BYTES = 64 * 1024
TIMEOUT_SECONDS = 30.0

_SITE = re.compile(r"https?://[^/?#\s]+")


class SiteError(ValueError):
    """A site cannot be reached or does not send what was requested; the text is a sentence."""


@dataclass(frozen=True, slots=True)
class SiteEngine:
    """A bot version that played a game. ``bundle`` is the URL of its zip; None if it is private."""

    name: str
    version: str
    sha256: str
    page: str
    bundle: str | None


def ask_engines(site: str, game_id: str) -> dict[str, SiteEngine]:
    """The engines of a game, by the keys ``white`` and ``black``.

    ``site`` is an address such as ``https://duarena.example``. Raises ``SiteError``.
    """
    base = _base(site)
    url = f"{base}{ENGINES_PATH}?{urlencode({'id': game_id})}"
    data = _get(url, MAX_ANSWER_BYTES, f"{base} has no game {quote(game_id)} that everybody may see")
    try:
        answer = json.loads(data)
        return {side: _engine(base, answer[side]) for side in ("white", "black")}
    except (ValueError, KeyError, TypeError, RecursionError):
        raise SiteError(f"{base} did not answer as a Duarena site does") from None


def fetch_site_bundle(engine: SiteEngine, store: Path) -> Path:
    """The path of the engine's bundle in a store folder, fetched unless it is there. Raises ``SiteError``."""
    path = bundle_path(store, engine.sha256)
    if path.exists():
        return path
    not_yours = f"the site gives the bundle of {quote(engine.name)} to its owner only"
    if engine.bundle is None:
        raise SiteError(
            f"{not_yours}: if you are the owner, log in, download it from {engine.page} and pass it as "
            f"-engine cmd=FILE.zip"
        )
    if store_bundle(store, _get(engine.bundle, MAX_ZIP_BYTES, not_yours)) != engine.sha256:
        raise SiteError(f"{engine.bundle} is not the bundle that the game was played with")
    return path


def _base(site: str) -> str:
    found = _SITE.match(site)
    if found is None:
        raise SiteError(f"{quote(site)} is not the address of a site: write https://HOST")
    return found[0]


def _engine(base: str, value: Mapping[str, Any]) -> SiteEngine:
    name, version, sha256, page, bundle = (
        value[key] for key in ("name", "version", "sha256", "page", "bundle")
    )
    if not all(isinstance(word, str) for word in (name, version, page)) or not is_sha256(sha256):
        raise TypeError
    return SiteEngine(name, version, sha256, base + page, None if bundle is None else urljoin(base, bundle))


def _get(url: str, max_bytes: int, not_found: str) -> bytes:
    try:
        return HttpClient(timeout=TIMEOUT_SECONDS).read(url, max_bytes)
    except ErrorAnswer as answer:
        raise SiteError(not_found if answer.status == 404 else f"{url} answers {answer.status}") from None
    except NoAnswer as error:
        raise SiteError(f"{url} cannot be fetched: {error}") from None
    except AnswerTooLong:
        raise SiteError(f"{url} is longer than {max_bytes} bytes") from None
