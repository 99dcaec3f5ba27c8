"""What the tests in a browser do on a page: log in, move by keyboard, measure."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import FloatRect, Locator, Page, ViewportSize, expect

from tests.support.filled_site import PASSWORD

MAX_TABS = 60
PHONE: ViewportSize = {"width": 390, "height": 844}
DESK: ViewportSize = {"width": 1280, "height": 900}
FOCUS_IS_VISIBLE = """() => {
  const one = document.activeElement;
  const box = one.getBoundingClientRect(), style = getComputedStyle(one);
  if (one === document.body || !one.matches(":focus")) return true; // inside a control, the browser shows it
  return box.width * box.height > 0 && box.bottom > 0 && box.top < innerHeight && box.right > 0
    && box.left < innerWidth && style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
}"""
STANDARDS = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")
RUN_AXE = """async (tags) => {
  const { violations } = await axe.run({ runOnly: tags, resultTypes: ["violations"] });
  return violations.flatMap((rule) => rule.nodes.map(
    (node) => `${rule.id} ${node.target}: ${node.html.slice(0, 120)}`));
}"""
Visit = Callable[..., Page]


def log_in(page: Page, name: str) -> None:
    """Log in as a user of the filled site."""
    page.goto("/log-in/")
    page.fill("#id_username", name)
    page.fill("#id_password", PASSWORD)
    page.click("form.sheet button")
    expect(page.locator("h1")).to_have_text(name)


def tab_to(page: Page, selector: str) -> None:
    """Press Tab until the element has the focus; fails if the focus is invisible on the way."""
    page.locator(selector).first.wait_for()
    for _ in range(MAX_TABS):
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
        page.keyboard.press("Tab")
        assert page.evaluate(FOCUS_IS_VISIBLE), page.evaluate("document.activeElement.outerHTML")
    pytest.fail(f"the Tab key does not reach {selector}")


def box_of(element: Locator) -> FloatRect:
    """Where a visible element is."""
    box = element.bounding_box()
    assert box is not None
    return box


def fits(page: Page) -> bool:
    """Whether the page does not scroll sideways."""
    return bool(page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"))


def violations(page: Page) -> list[str]:
    """What axe finds on the page as it is now."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    found: list[str] = page.evaluate(RUN_AXE, STANDARDS)
    return found
