"""Asks a site over HTTP which bots played a recorded game, and fetches their bundles.

The site decides which bundles it gives away. What it sends is checked against the SHA-256.
"""

from __future__ import annotations

import json
import re
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engines.rules.base import quote
from workers.bundles.archive import MAX_ZIP_BYTES
from workers.bundles.store import bundle_path, store_bundle
from workers.jobs import is_sha256

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
    url = f"{base}{ENGINES_PATH}?{urllib.parse.urlencode({'id': game_id})}"
    data = _get(url, MAX_ANSWER_BYTES, f"{base} has no game {quote(game_id)} that everybody may see")
    try:
        answer = json.loads(data)
        return {side: _engine(base, answer[side]) for side in ("white", "black")}
    except (ValueError, KeyError, TypeError):
        raise SiteError(f"{base} did not answer as a Duarena site does") from None


def fetch_site_bundle(engine: SiteEngine, store: Path) -> Path:
    """The path of the engine's bundle in a store folder, fetched unless it is there. Raises ``SiteError``."""
    path = bundle_path(store, engine.sha256)
    if path.exists():
        return path
    not_yours = f"the site lets the owner of {quote(engine.name)} alone have its bundle"
    if engine.bundle is None:
        raise SiteError(
            f"{not_yours}: if that is you, log in, download it from {engine.page} and give it by "
            f"-engine cmd=FILE.zip"
        )
    if store_bundle(store, _get(engine.bundle, MAX_ZIP_BYTES, not_yours)) != engine.sha256:
        raise SiteError(f"{engine.bundle} is another bundle than the game was played with")
    return path


def _base(site: str) -> str:
    found = _SITE.match(site)
    if found is None:
        raise SiteError(f"{quote(site)} is no address of a site: write https://HOST")
    return found[0]


def _engine(base: str, value: Mapping[str, Any]) -> SiteEngine:
    name, version, sha256, page, bundle = (
        value[key] for key in ("name", "version", "sha256", "page", "bundle")
    )
    if not all(isinstance(word, str) for word in (name, version, page)) or not is_sha256(sha256):
        raise TypeError
    return SiteEngine(
        name, version, sha256, base + page, None if bundle is None else urllib.parse.urljoin(base, bundle)
    )


def _get(url: str, most_bytes: int, not_found: str) -> bytes:
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT_SECONDS) as answer:
            data: bytes = answer.read(most_bytes + 1)
    except urllib.error.HTTPError as error:
        error.close()
        raise SiteError(not_found if error.code == 404 else f"{url} answers {error.code}") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", None) or error
        raise SiteError(f"{url} cannot be had: {reason}") from None
    if len(data) > most_bytes:
        raise SiteError(f"{url} is longer than {most_bytes} bytes")
    return data
