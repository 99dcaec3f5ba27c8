"""Accounts in a real browser: notices, forms, next steps and feeds; on a phone, dark, by keyboard."""

from __future__ import annotations

import pytest
from django.utils import timezone
from playwright.sync_api import Browser, Page, ViewportSize, expect
from pytest_django.live_server_helper import LiveServer

from tests.e2e.log_ins import log_in
from tests.support.filled_site import LADDER, PASSWORD, Site, add_version
from tests.support.schedule import make_worker
from tournament.models import Exam, Notice
from tournament.services.bots.verdicts import refuse

PHONE: ViewportSize = {"width": 390, "height": 844}


def tell(site: Site, *texts: str) -> None:
    for text in texts:
        Notice.objects.create(user=site.owner, version=site.white, text=text)


def fits(page: Page) -> bool:
    """Whether the page does not scroll sideways."""
    return bool(page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"))


def test_notices_are_counted_in_the_menu_and_read_with_the_keyboard(site: Site, page: Page) -> None:
    page.set_viewport_size(PHONE)
    tell(site, "Stone Age v1 has passed its validation.", "Stone Age v1 lost 3 games in a row: " + "x" * 200)
    log_in(page, "olga")
    count = page.locator(".nav .count")
    expect(count).to_have_text("2 unread notices")
    assert fits(page)
    page.locator(".notice button").last.focus()
    page.keyboard.press("Enter")
    expect(count).to_have_text("1 unread notice")
    tell(site, "three")
    page.reload()
    page.get_by_role("button", name="Mark all as read").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".notice")).to_have_count(0)
    expect(count).to_have_count(0)


def test_a_visitor_who_wants_to_upload_learns_why_to_log_in_and_gets_there(site: Site, page: Page) -> None:
    page.set_viewport_size(PHONE)
    page.goto("/upload/")
    expect(page.locator(".message")).to_contain_text("To upload a bot you need an account")
    assert fits(page)
    page.get_by_role("link", name="I have no account yet").click()
    expect(page.locator(".message")).to_contain_text("To upload a bot you need an account")
    page.get_by_role("link", name="I have an account").click()
    page.get_by_label("Username").fill("olga")
    page.get_by_label("Password").fill("wrong")
    page.keyboard.press("Enter")
    error = page.locator("#id_password_error")
    expect(error).to_contain_text("The username or the password is wrong.")
    expect(page.get_by_label("Password")).to_have_attribute("aria-invalid", "true")
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("Upload a bot")


def test_a_waiting_author_sees_the_queue_and_then_the_verdict_without_a_reload(
    site: Site, page: Page
) -> None:
    page.set_viewport_size(PHONE)
    make_worker(1, name="checks@east", queue="validation")
    version = add_version(site.owner, "Stone Age", [LADDER], state="validating")
    Exam.objects.create(version=version, sent_at=timezone.now())
    log_in(page, "olga")
    page.goto(version.get_absolute_url())
    expect(page.locator("#state")).to_contain_text("number 1 in the queue for validation")
    refuse(version, "it never answered")
    expect(page.locator("#state")).to_contain_text("It never answered.", timeout=20_000)
    expect(page.locator("#state")).not_to_contain_text("in the queue")
    expect(page.locator("#state a", has_text="upload the next version")).to_be_visible()
    assert fits(page)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_pages_of_an_owner_fit_a_phone_and_are_legible(
    site: Site, browser: Browser, live_server: LiveServer, scheme: str
) -> None:
    add_version(site.owner, "Stone Age", [LADDER])
    tell(site, "Stone Age v1 is withdrawn.", "x" * 300)
    context = browser.new_context(base_url=live_server.url, viewport=PHONE, color_scheme=scheme)  # type: ignore[arg-type]
    page = context.new_page()
    log_in(page, "olga")
    for address in ("/account/", "/bots/stone-age/", "/bots/stone-age/1/", "/ladders/dualma/", "/upload/"):
        page.goto(address)
        assert fits(page), address
        assert contrast(page, ".nav .count") >= 4.5
    for address in ("/bots/stone-age/", "/ladders/dualma/", f"/tournaments/{site.running.slug}/"):
        page.goto(address)
        feed = page.get_by_role("link", name="Feed")
        box = feed.bounding_box()
        assert box is not None
        assert box["height"] >= 24
        assert page.request.get(feed.get_attribute("href") or "").ok
    context.close()


def contrast(page: Page, selector: str) -> float:
    """The contrast ratio of an element's text to its own background, as WCAG defines it."""
    colours = page.locator(selector).evaluate(
        "e => [getComputedStyle(e).color, getComputedStyle(e).backgroundColor]"
    )
    lighter, darker = sorted((luminance(colour) for colour in colours), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def luminance(colour: str) -> float:
    parts = [int(part) / 255 for part in colour.removeprefix("rgb(").rstrip(")").split(",")]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
