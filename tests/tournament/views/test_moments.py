"""Times on pages are UTC, say so, and are marked for the script that shows local time."""

from __future__ import annotations

import datetime
import re

import pytest
from django.utils import timezone

from tournament.settings import ROOT
from tournament.views.moments import show_moment

MOMENT = datetime.datetime(2021, 3, 7, 8, 5, 9, tzinfo=datetime.UTC)


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("full", "7 Mar 2021 08:05 UTC"),
        ("brief", "7 Mar 2021 08:05 UTC"),
        ("seconds", "7 Mar 2021 08:05:09 UTC"),
        ("day", "7 Mar 2021"),
    ],
)
def test_a_time_is_an_element_with_its_text_in_utc(form: str, text: str) -> None:
    expected = f'<time datetime="2021-03-07T08:05:09+00:00" data-form="{form}">{text}</time>'
    assert show_moment(MOMENT, form) == expected


def test_a_time_of_another_zone_is_shown_in_utc() -> None:
    elsewhere = MOMENT.astimezone(datetime.timezone(datetime.timedelta(hours=-9)))
    assert show_moment(elsewhere) == show_moment(MOMENT)


def test_a_brief_time_leaves_out_the_current_year() -> None:
    now = timezone.now()
    assert f">{now.day} {now:%b %H:%M} UTC<" in show_moment(now, "brief")


def test_no_time_is_no_text_and_an_unknown_form_is_an_error() -> None:
    assert show_moment(None) == ""
    with pytest.raises(ValueError, match="'hour'"):
        show_moment(MOMENT, "hour")


def test_templates_choose_no_format_of_their_own() -> None:
    templates = sorted((ROOT / "tournament" / "templates").rglob("*.html"))
    own = re.compile(r"\|(date|time|timesince|timeuntil)\b|<time\b")
    assert templates
    assert [path.name for path in templates if own.search(path.read_text("utf-8"))] == []
