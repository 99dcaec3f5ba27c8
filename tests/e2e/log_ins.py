"""Logging in to the filled site in a browser."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.support.filled_site import PASSWORD


def log_in(page: Page, name: str) -> None:
    """Log in as a user of the filled site."""
    page.goto("/log-in/")
    page.fill("#id_username", name)
    page.fill("#id_password", PASSWORD)
    page.click("form.sheet button")
    expect(page.locator("h1")).to_have_text(name)
