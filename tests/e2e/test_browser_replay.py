"""A replay in a real browser: its turning points, what screen readers are told, two games, a report."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.support.filled_site import Site


def at(page: Page, ply: int) -> None:
    expect(page.locator("#board")).to_have_attribute("data-ply", str(ply))


def test_a_screen_reader_is_told_the_last_of_quick_steps_in_short(site: Site, page: Page) -> None:
    page.goto(f"/games/{site.played.pk}/?ply=0")
    page.evaluate("""() => {
      window.told = [];
      const spoken = document.getElementById("spoken");
      new MutationObserver(() => window.told.push(spoken.textContent)).observe(spoken, { childList: true });
    }""")
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    expect(page.locator("#spoken")).to_have_text(re.compile(rf"^Ply 3 of {site.played.plies}\. Last move "))
    told = page.evaluate("window.told")
    assert len(told) < 3
    assert len(told[-1]) < 200
