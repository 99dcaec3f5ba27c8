"""Moving through a page by keyboard."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page

MOST_TABS = 60


def tab_to(page: Page, selector: str) -> None:
    """Press Tab until the element has the focus."""
    for _ in range(MOST_TABS):
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
        page.keyboard.press("Tab")
    pytest.fail(f"the Tab key does not reach {selector}")
