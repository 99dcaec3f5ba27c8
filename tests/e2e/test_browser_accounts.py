"""Accounts in a real browser: notices, forms, next steps and feeds; on a phone, dark, by keyboard."""

from __future__ import annotations

import re

import pytest
from django.core import mail
from django.core.mail import EmailMessage
from django.test import Client
from django.utils import timezone
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from tests.e2e.pages import PHONE, Visit, fits, log_in
from tests.e2e.test_browser_accessibility import examined
from tests.support.filled_site import LADDER, PASSWORD, Site, add_version
from tests.support.schedule import make_worker
from tests.tournament.views.people.test_log_in import code_of, hold_codes
from tournament.models import ComplianceCheck, Notice
from tournament.services.bots.verdicts import refuse


def tell(site: Site, *texts: str) -> None:
    for text in texts:
        Notice.objects.create(user=site.owner, version=site.white, text=text)


def test_notices_are_counted_in_the_menu_and_read_with_the_keyboard(site: Site, page: Page) -> None:
    page.set_viewport_size(PHONE)
    tell(site, "Stone Age v1 has passed its validation.", "Stone Age v1 lost 3 games in a row: " + "x" * 200)
    log_in(page, "olga")
    count = page.locator(".nav.user .count")
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
    expect(page.get_by_role("alert")).to_contain_text("The username and/or password you specified")
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("Upload a bot")


def test_a_waiting_author_sees_the_queue_and_then_the_verdict_without_a_reload(
    site: Site, page: Page
) -> None:
    page.set_viewport_size(PHONE)
    make_worker(1, name="checks@east", takes="checks")
    version = add_version(site.owner, "Stone Age", [LADDER], state="validating")
    ComplianceCheck.objects.create(version=version, sent_at=timezone.now())
    log_in(page, "olga")
    page.goto(version.get_absolute_url())
    expect(page.locator("#state")).to_contain_text("number 1 in the queue for validation")
    refuse(version, "it never answered")
    expect(page.locator("#state")).to_contain_text("It never answered.", timeout=20_000)
    expect(page.locator("#state")).not_to_contain_text("in the queue")
    expect(page.locator("#state a", has_text="upload the next version")).to_be_visible()
    assert fits(page)


def test_an_address_is_confirmed_and_a_forgotten_password_replaced(site: Site, page: Page) -> None:
    page.set_viewport_size(PHONE)
    page.goto("/sign-up/")
    page.get_by_label("Username").fill("ada")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_label("Password (again)").fill(PASSWORD)
    page.get_by_label("Email (optional)").fill("ada@example.org")
    assert fits(page)
    page.keyboard.press("Enter")
    expect(page.locator(".message")).to_contain_text("A mail with a link goes to ada@example.org")
    page.get_by_role("link", name="Email address").click()
    expect(page.locator(".tag")).to_have_text("not confirmed")
    assert fits(page)
    page.goto(link_of(mail.outbox.pop()))
    page.get_by_role("button", name="Confirm it").click()
    expect(page.locator(".tag")).to_have_text("confirmed")
    page.get_by_role("button", name="Log out").click()
    page.goto("/log-in/")
    page.get_by_role("link", name="Forgot your password?").click()
    page.get_by_label("Email").fill("ada@example.org")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("Look at your mail")
    page.goto(link_of(mail.outbox.pop()))
    page.get_by_label("New Password", exact=True).fill("battery horse")
    page.get_by_label("New Password (again)").fill("battery horse")
    page.keyboard.press("Enter")
    expect(page.locator(".message")).to_contain_text("Password successfully changed.")
    expect(page.locator("h1")).to_have_text("ada")


def test_a_log_in_with_a_second_factor_and_the_end_of_another_session(
    site: Site, visit: Visit, page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    hold_codes(monkeypatch)
    log_in(page, "olga")
    page.get_by_role("link", name="Second factor").click()
    page.get_by_role("link", name="Set it up").click()
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.get_by_role("img", name="QR code")).to_be_visible()
    secret = page.locator("code.secret").inner_text()
    page.get_by_label("Authenticator code").fill(code_of(secret))
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("Recovery codes")
    code = page.locator(".codes code").first.inner_text()
    phone = visit(viewport=PHONE)
    phone.goto("/log-in/?next=/upload/")
    phone.get_by_label("Username").fill("olga")
    phone.get_by_label("Password").fill(PASSWORD)
    phone.keyboard.press("Enter")
    expect(phone.locator("h1")).to_have_text("Enter a code")
    assert fits(phone)
    phone.get_by_label("Code").fill(code)
    phone.keyboard.press("Enter")
    expect(phone.locator("h1")).to_have_text("Upload a bot")
    page.goto("/account/sessions/")
    expect(page.get_by_role("row")).to_have_count(3)
    page.get_by_text("End all other sessions").click()
    page.get_by_role("button", name="Yes, end them").click()
    expect(page.locator(".message")).to_contain_text("Signed out of all other sessions.")
    phone.goto("/account/")
    expect(phone.locator("h1")).to_have_text("Log in")


@pytest.mark.thorough
def test_the_pages_that_ask_for_the_password_first_are_accessible(
    site: Site, browser: Browser, live_server: LiveServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    hold_codes(monkeypatch)
    client = Client()
    client.post("/log-in/", {"username": "olga", "password": PASSWORD})
    client.post("/account/again/", {"password": PASSWORD})
    with examined(browser, live_server.url, client) as probe:
        probe.examine("/account/second-factor/new/")
        secret = probe.page.locator("code.secret").inner_text()
        client.post("/account/second-factor/new/", {"code": code_of(secret)})
        for path in ("", "remove/", "../recovery-codes/", "../recovery-codes/new/", "../again/code/"):
            probe.examine(f"/account/second-factor/{path}")
    assert probe.found == []


def link_of(message: EmailMessage) -> str:
    """The path of the link in a mail."""
    (path,) = re.findall(r"^http://127\.0\.0\.1:8000(/.*)$", str(message.body), re.MULTILINE)
    return str(path)
