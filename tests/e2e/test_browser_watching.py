"""Pages that change while somebody looks at them: boards stay in their place, and forms are left alone."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.support.filled_site import Site, finish
from tournament.models import LiveGame


def test_a_form_that_is_filled_in_stays_while_the_rest_of_its_part_goes_on(site: Site, page: Page) -> None:
    page.goto("/tournaments/spring/")
    page.select_option("select[name=result]", "white")
    page.locator("select[name=bot]").focus()
    live = page.locator("#live")
    expect(live.locator(".games time")).to_have_count(1)
    finish(site.live, sequence=2)
    LiveGame.objects.all().delete()
    expect(live.locator("progress")).to_have_attribute("value", "2", timeout=20_000)
    expect(live.locator(".games time")).to_have_count(2)
    expect(page.locator("select[name=bot]")).to_be_focused()
    expect(page.locator("select[name=result]")).to_have_value("white")
    expect(live.locator("form.filters")).to_have_count(1)
