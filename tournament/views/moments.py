"""Times on pages: the filter ``moment``, the only place that chooses their format.

``static/times.js`` rewrites the elements in the visitor's time zone, in the same format.
"""

from __future__ import annotations

import datetime

from django import template
from django.utils import timezone
from django.utils.html import format_html

register = template.Library()

FORMS = ("full", "seconds", "brief", "day")
"""``seconds`` adds seconds, ``brief`` leaves out this year; ``day`` has no time.

The first two have room for UTC beside the local time; a column of the others names the zone in its heading.
"""


@register.filter("moment")
def show_moment(moment: datetime.datetime | None, form: str = "full") -> str:
    """A ``<time>`` element with the time in UTC, as ``22 Nov 2026 18:38 UTC``; empty for None.

    Raises ``ValueError`` for an unknown form.
    """
    if form not in FORMS:
        raise ValueError(f"unknown form of a time {form!r}: the forms are {', '.join(FORMS)}")
    if not moment:
        return ""
    in_utc = moment.astimezone(datetime.UTC)
    written, text = in_utc.isoformat(timespec="seconds"), _format_utc(in_utc, form)
    return format_html('<time datetime="{}" data-form="{}">{}</time>', written, form, text)


def _format_utc(moment: datetime.datetime, form: str) -> str:
    day = f"{moment.day} {moment:%b}"
    if form != "brief" or moment.year != timezone.now().year:
        day += f" {moment.year}"
    if form == "day":
        return day
    hour = f"{moment:%H:%M:%S} UTC" if form == "seconds" else f"{moment:%H:%M} UTC"
    return f"{day} {hour}"
