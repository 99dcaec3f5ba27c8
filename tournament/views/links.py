"""Links and addresses with words of rows, and choices; templates would take ten times as long for a page."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any
from urllib.parse import urlencode

from django import template
from django.forms import BoundField
from django.forms.utils import flatatt
from django.urls import reverse
from django.utils.html import escape, format_html_join
from django.utils.safestring import SafeString, mark_safe

from engines.rules.registry import GAMES
from tournament.forms import VersionLabel
from tournament.models import BotVersion, Ladder, User

register = template.Library()
LONG_NAME = 10
"""Characters of a name that is never shortened."""
KEPT_END = 5
"""Characters at the end of a shortened name."""
_SELECTED, _THE_SITE = mark_safe(" selected"), mark_safe("the site")


@register.filter("linked")
def link_version(version: BotVersion, target: str = "") -> SafeString:
    """The name of a bot as a link to its version, and the version's number; reads the version's bot.

    ``target`` is that of the link, ``_top`` in a frame.
    """
    bot, number = version.bot, version.number
    page, more = address_of("version", bot.slug, number), f' target="{target}"' if target else ""
    # Safe: the name is escaped, the rest is written by us.
    return mark_safe(
        f'<a class="bot" href="{page}"{more}>{draw_name(bot.name)}</a>\n<small>v{number}</small>'
    )


@register.filter("shortened")
def draw_name(name: str) -> SafeString:
    """A name that the style sheet may shorten in its middle, as names often differ only at their ends.

    Only ASCII: elsewhere a cut could part a letter from its accents.
    """
    if len(name) <= LONG_NAME or not name.isascii():
        return SafeString(escape(name))
    begin, end = escape(name[:-KEPT_END]), escape(name[-KEPT_END:])
    # Safe: both parts are escaped.
    return mark_safe(f'<span class="long"><span>{begin}</span><span>{end}</span></span>')


@register.filter("linked_ladder")
@lru_cache
def link_ladder(code: str) -> SafeString:
    """The name of a ladder as a link to its page."""
    ladder = Ladder(code=code)
    return mark_safe(f'<a href="{ladder.get_absolute_url()}">{escape(ladder.name)}</a>')  # safe: escaped


@register.filter
def ladder_name(code: str) -> str:
    """The name of a ladder; the code of one that this release does not have."""
    return GAMES[code].name if code in GAMES else code


@register.filter("linked_owner")
def link_owner(owner: User | None) -> SafeString:
    """The owner of a bot or a tournament as a link; without one it belongs to the site."""
    if owner is None:
        return _THE_SITE
    page = address_of("person", owner.username)
    return mark_safe(f'<a href="{page}"><bdi>{escape(owner.username)}</bdi></a>')  # safe: the name is escaped


@dataclass(frozen=True, slots=True)
class FilterChoice:
    """One option of a menu."""

    value: int
    name: str


@register.filter("choices")
def draw_choices(field: BoundField) -> SafeString:
    """The checkboxes of a field as items of a list; empty if there is nothing to choose from."""
    widget: Any = field.field.widget
    shared = flatatt(field.build_widget_attrs({}, widget))
    chosen = set(widget.format_value(field.value()) or ())
    begin = f'<input type="checkbox" name="{field.html_name}" value="'
    items = []
    for number, (value, label) in enumerate(widget.choices):
        name, checked = f"{field.auto_id}_{number}", " checked" if str(value) in chosen else ""
        facts, more = _facts_of(label) if isinstance(label, VersionLabel) else ("", "")
        items.append(
            f'<li{facts}><label for="{name}">{begin}{escape(value)}"{shared} id="{name}"{checked}>'
            f'<span dir="ltr">{escape(label)}{more}</span></label></li>'
        )
    return mark_safe("\n".join(items))  # safe: escaped above, the names of fields are ours


def _facts_of(label: VersionLabel) -> tuple[str, str]:
    """Attributes for the script ``choices.js``, and the same facts as text."""
    owner, rating = escape(label.owner), "" if label.rating is None else f"{label.rating:.1f}"
    shown, ratings = " · ".join(filter(None, (owner, rating))), escape(json.dumps(label.ratings))
    return f' data-owner="{owner}" data-ratings="{ratings}"', f" <small>{shown}</small>"


@register.filter("options")
def draw_options(choices: Iterable[Any], chosen: object = None) -> SafeString:
    """The options of a menu; each of ``choices`` has a value and a name, one value may be chosen."""
    return format_html_join(
        "\n",
        '<option value="{}"{}>{}</option>',
        ((one.value, _SELECTED if one.value == chosen else "", one.name) for one in choices),
    )


@lru_cache(maxsize=16384)
def address_of(name: str, *arguments: str | int) -> str:
    """The address of a page, by the name in ``urls`` and its arguments; tables have hundreds."""
    return reverse(name, args=arguments)


def games_address(**filters: object) -> str:
    """The address of the list of games with these filters; None leaves one out."""
    given = {name: value for name, value in filters.items() if value is not None}
    return f"{address_of('games')}?{urlencode(given)}"


def comparison_address(bot: str, other: str, **filters: object) -> str:
    """The address of the comparison of two bots, given by their slugs, with these filters."""
    query = urlencode({name: value for name, value in filters.items() if value})
    begin, middle, end = _comparison_parts()
    address = f"{begin}{bot}{middle}{other}{end}"
    return f"{address}?{query}" if query else address


@cache
def _comparison_parts() -> list[str]:
    """The address before, between and after the slugs; a page has hundreds of them."""
    return re.split("bot-1|bot-2", reverse("bot-comparison", args=["bot-1", "bot-2"]))
