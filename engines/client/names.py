"""The bots and versions that commands name: ``NAME[@VERSION]``, with a bot's name or that in its address."""

from __future__ import annotations

import re

from engines.client.site_client import NO_SITE, CannotAsk, Json, SiteClient
from engines.visible import visible

_VERSION = re.compile(r"(?P<name>.+)@v?(?P<number>[0-9]{1,9})")


def split_version(text: str) -> tuple[str, int | None]:
    """The bot and the number of ``NAME[@VERSION]``."""
    found = _VERSION.fullmatch(text)
    return (found["name"], int(found["number"])) if found else (text, None)


def find_bot(site: SiteClient, name: str) -> Json:
    """The bot of a name, or of the name in its address."""
    found = list(site.rows("/api/v1/bots/", {"called": name}, 1)) if name else []
    if not found:
        raise CannotAsk(f"there is no bot {visible(name)!r}, or you may not see it")
    if not {"bot", "slug", "newest_version"} <= found[0].keys():
        raise CannotAsk(NO_SITE)
    return found[0]


def find_version(site: SiteClient, text: str) -> tuple[str, int]:
    """The slug and number of ``NAME[@VERSION]``; without a number the newest version."""
    name, number = split_version(text)
    bot = find_bot(site, name)
    number = bot["newest_version"] if number is None else number
    if not isinstance(number, int):
        raise CannotAsk(f"{visible(str(bot['slug']))} has no version")
    return str(bot["slug"]), number
