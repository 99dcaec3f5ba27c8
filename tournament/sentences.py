"""Makes sentences of the reasons that services and the database hold without capital and full stop.

``as_sentence`` is for views and the API; templates use it as the filter ``sentence``. A module of its own,
because Django loads it as a library of filters.
"""

from __future__ import annotations

from django import template

register = template.Library()


@register.filter("sentence")
def as_sentence(reason: str) -> str:
    """``reason`` with a capital and a full stop; a leading file name (``bot.toml``) keeps its case."""
    first = reason.partition(" ")[0]
    return f"{reason[:1].upper() if first.isalpha() else reason[:1]}{reason[1:]}."
