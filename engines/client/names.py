"""The bots and versions that commands name: ``NAME[@VERSION]``, with a bot's name or that in its address."""

from __future__ import annotations

import re
import unicodedata

from engines.client.site_client import NO_SITE, CannotAsk, Json, SiteClient
from engines.visible import visible

_VERSION = re.compile(r"(?P<name>.+)@v?(?P<number>[0-9]{1,9})")


def split_version(text: str) -> tuple[str, int | None]:
    """The bot and the number of ``NAME[@VERSION]``."""
    found = _VERSION.fullmatch(text)
    return (found["name"], int(found["number"])) if found else (text, None)


def find_bot(site: SiteClient, name: str) -> Json:
    """The bot of a name, or of the name in its address."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    slug = "-".join(re.findall(r"[a-z0-9_]+", plain))
    if not slug:
        raise CannotAsk(f"write the name of the bot as in the address of its page, not {visible(name)!r}")
    bot = site.get(f"/api/v1/bots/{slug}/")
    if not {"bot", "slug", "newest_version"} <= bot.keys():
        raise CannotAsk(NO_SITE)
    return bot


def find_version(site: SiteClient, text: str) -> tuple[str, int]:
    """The slug and number of ``NAME[@VERSION]``; without a number the newest version."""
    name, number = split_version(text)
    bot = find_bot(site, name)
    number = bot["newest_version"] if number is None else number
    if not isinstance(number, int):
        raise CannotAsk(f"{visible(str(bot['slug']))} has no version")
    return str(bot["slug"]), number
