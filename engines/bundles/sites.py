"""Asks a site over HTTP for a bot, or which bots played a recorded game, and fetches their bundles.

The site decides which bundles it gives away. What it sends is checked against the SHA-256.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urljoin

from engines.bundles import is_sha256
from engines.bundles.archive import MAX_ZIP_BYTES
from engines.bundles.store import bundle_path, hash_bundle, store_bundle
from engines.http_client import AnswerTooLong, ErrorAnswer, HttpClient, NoAnswer
from engines.rules.base import quote
from engines.visible import visible

ENGINES_PATH = "/games/engines.json"
ENGINE_PATH = "/bots/engine.json"
LADDER_PATH = "/ladders/{}/ratings.json"
MAX_ANSWER_BYTES = 64 * 1024
MAX_LADDER_BYTES = 64 * 1024 * 1024
TIMEOUT_SECONDS = 30.0
MAX_WORDS = 200
"""The most characters of a name or an address that are shown."""

MAX_ELO = 100_000.0

_SITE = re.compile(r"(https?://[^/?#@\s]+)(?:[/?#].*)?", re.DOTALL)
_BOT_OF_SITE = re.compile(r"(?P<bot>.+)@(?P<site>https?://[^@\s]+)")
_VERSION = re.compile(r"(?P<name>.+)@v?(?P<number>[0-9]{1,9})")


class SiteError(ValueError):
    """A site cannot be reached or does not send what was requested; the text is a sentence."""


@dataclass(frozen=True, slots=True)
class SiteEngine:
    """A bot version of a site. ``bundle`` is the URL of its zip; None if it is private.

    ``licence`` and ``source`` are what its owner says of its zip; empty without words.
    """

    name: str
    version: str
    sha256: str
    page: str
    bundle: str | None
    licence: str = ""
    source: str = ""

    def __str__(self) -> str:
        return f"{self.name} v{self.version}"


def ask_engines(site: str, game_id: str) -> dict[str, SiteEngine]:
    """The engines of a game, by the keys ``white`` and ``black``.

    ``site`` is an address such as ``https://duarena.example``. Raises ``SiteError``.
    """
    base = site_root(site)
    missing = f"{base} has no game {quote(game_id)} that everybody may see"
    with _strange_answers(base):
        answer = _get_json(f"{base}{ENGINES_PATH}?{urlencode({'id': game_id})}", missing)
        return {side: _engine(base, answer[side]) for side in ("white", "black")}


def ask_engine(site: str, bot: str) -> SiteEngine:
    """The engine that a site has for ``NAME`` or ``NAME@VERSION``: without one the newest that is published.

    NAME is a bot's name, or that in its address; VERSION is a number. Raises ``SiteError``.
    """
    base, found = site_root(site), _VERSION.fullmatch(bot)
    asked = found.groupdict() if found else {"name": bot}
    missing = f"{base} has no bot {quote(asked['name'])}" + (
        f" with a version {found['number']}" if found else ""
    )
    with _strange_answers(base):
        return _engine(base, _get_json(f"{base}{ENGINE_PATH}?{urlencode(asked)}", missing))


@dataclass(frozen=True, slots=True)
class RatedBot:
    """A version on a ladder of a site. ``elo`` is the estimate, and ``place`` of the best one of each bot.

    Both are None without one.
    """

    name: str
    version: int
    place: int | None
    elo: float | None
    is_sample: bool
    is_published: bool


@dataclass(frozen=True, slots=True)
class SiteLadder:
    """A ladder of a site: how its games are played, and its ratings, the best first."""

    time_control: str
    opening_plies: int
    bots: tuple[RatedBot, ...]


def ask_ladder(site: str, code: str) -> SiteLadder:
    """The ratings of a ladder. Raises ``SiteError``."""
    base = site_root(site)
    with _strange_answers(base):
        missing = f"{base} has no ladder {quote(code)}"
        answer = _get_json(f"{base}{LADDER_PATH.format(code)}", missing, MAX_LADDER_BYTES)
        bots = tuple(map(_rated_bot, answer["ratings"]))
        return SiteLadder(str(answer["time_control"]), int(answer["opening_plies"]), bots)


def _rated_bot(row: Mapping[str, Any]) -> RatedBot:
    place, elo = row["place"], row["elo"]
    if elo is not None and not -MAX_ELO <= elo <= MAX_ELO:
        raise ValueError
    return RatedBot(
        name=visible(row["bot"], MAX_WORDS),
        version=int(row["version"]),
        place=None if place is None else int(place),
        elo=None if elo is None else float(elo),
        is_sample=row["owner"] is None,
        is_published=bool(row["licence"]),
    )


def split_site_bot(text: str) -> tuple[str, str] | None:
    """The bot and the site of ``BOT@https://SITE``; None for other text."""
    found = _BOT_OF_SITE.fullmatch(text)
    return (found["bot"], found["site"]) if found else None


def fetch_site_bundle(engine: SiteEngine, store: Path) -> Path:
    """The path of the engine's bundle in a store folder, fetched unless it is there. Raises ``SiteError``."""
    path = bundle_path(store, engine.sha256)
    if not path.exists():
        store_bundle(store, read_site_bundle(engine))
    return path


def read_site_bundle(engine: SiteEngine) -> bytes:
    """The engine's zip, whose SHA-256 is that of ``engine``. Raises ``SiteError``."""
    private = (
        f"{engine} is not published: the site gives its bundle to its owner only, who can log in, "
        f"download it from {engine.page} and give it as cmd=FILE.zip"
    )
    if engine.bundle is None:
        raise SiteError(private)
    data = _get(engine.bundle, MAX_ZIP_BYTES, private)
    if (found := hash_bundle(data)[0]) != engine.sha256:
        shown = visible(engine.bundle, MAX_WORDS)
        raise SiteError(f"{shown} has the SHA-256 {found}, not {engine.sha256}: it is not used")
    return data


def site_root(site: str) -> str:
    """The scheme and host of an address, which has no user; raises ``SiteError`` for other text."""
    found = _SITE.fullmatch(site)
    if found is None:
        raise SiteError(f"{quote(site)} is not the address of a site: write https://HOST")
    return found[1]


def _engine(base: str, value: Mapping[str, Any]) -> SiteEngine:
    name, version, sha256, page, bundle = (
        value[key] for key in ("name", "version", "sha256", "page", "bundle")
    )
    words = (name, version, page, value.get("licence", ""), value.get("source", ""))
    if not all(isinstance(word, str) for word in words) or not is_sha256(sha256):
        raise TypeError
    name, version, page, licence, source = (visible(word, MAX_WORDS) for word in words)
    address = None if bundle is None else urljoin(base, bundle)
    return SiteEngine(name, version, sha256, base + page, address, licence, source)


@contextmanager
def _strange_answers(base: str) -> Iterator[None]:
    """Raises errors of reading an answer inside the block as a ``SiteError``."""
    try:
        yield
    except SiteError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise SiteError(f"{base} did not answer as a Duarena site does") from None


def _get_json(url: str, not_found: str, max_bytes: int = MAX_ANSWER_BYTES) -> Any:
    return json.loads(_get(url, max_bytes, not_found))


def _get(url: str, max_bytes: int, not_found: str) -> bytes:
    shown = visible(url, MAX_WORDS)
    try:
        return HttpClient(timeout=TIMEOUT_SECONDS).read(url, max_bytes)
    except ErrorAnswer as answer:
        raise SiteError(not_found if answer.status == 404 else f"{shown} answers {answer.status}") from None
    except NoAnswer as error:
        raise SiteError(f"{shown} cannot be fetched: {error}") from None
    except AnswerTooLong:
        raise SiteError(f"{shown} is longer than {max_bytes} bytes") from None
