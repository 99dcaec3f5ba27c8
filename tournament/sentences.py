"""Makes sentences of the reasons that services and the database hold without capital and full stop.

``as_sentence`` is for views and the API; templates use it as the filter ``sentence``. The other functions are
for plain text: notices, feeds, menus.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from django import template

if TYPE_CHECKING:
    from tournament.models import BotVersion

register = template.Library()


@register.filter("sentence")
def as_sentence(reason: str) -> str:
    """``reason`` with a capital and a full stop; a leading file name (``bot.toml``) keeps its case."""
    first = reason.partition(" ")[0]
    return f"{reason[:1].upper() if first.isalpha() else reason[:1]}{reason[1:]}."


def first_sentence(reason: str) -> str:
    """The first sentence of ``reason``, without its full stop."""
    return re.split(r"\.\s|\n", reason, maxsplit=1)[0].rstrip(".")


def isolate(name: str) -> str:
    """``name`` for plain text: writing directions in it do not affect the text around it."""
    return f"\u2068{name}\u2069"


@register.filter
def isolated(version: BotVersion) -> str:
    """The name of a version, for plain text."""
    return isolated_number(version.bot.name, version.number)


def isolated_number(name: str, number: int) -> str:
    """The same for a version that is given by the name of its bot and its number."""
    return f"{isolate(name)} v{number}"


def enumerate_words(words: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1]))) if words else ""
