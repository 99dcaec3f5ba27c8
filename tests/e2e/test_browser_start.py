"""The first bot in a real browser: from the account to the page of the version, and the form of an upload."""

from __future__ import annotations

import re
from base64 import b64encode
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.pages import DESK, PHONE, Visit, fits, log_in, tab_to
from tests.support.browsers import wait_in
from tests.support.filled_site import Site
from tournament import kit
from tournament.models import BotVersion

PASSWORD = "correct horse battery"
DROP = """form => {
  const data = new DataTransfer();
  data.items.add(new File([Uint8Array.from(atob(form.dataset.zip), (one) => one.charCodeAt())], "bot.zip"));
  form.dispatchEvent(new DragEvent("dragover", { dataTransfer: data, cancelable: true }));
  form.dispatchEvent(new DragEvent("drop", { dataTransfer: data, cancelable: true }));
}"""


@pytest.fixture(autouse=True)
def _bundles(tmp_path: Path, settings: object) -> None:
    settings.BUNDLES = tmp_path  # type: ignore[attr-defined]


@pytest.fixture
def zipped(tmp_path: Path) -> Path:
    path = tmp_path / "bot.zip"
    path.write_bytes(kit.example("first-move") or b"")
    return path


def test_a_stranger_gets_from_the_home_page_to_the_page_of_a_version(
    site: Site, page: Page, tmp_path: Path
) -> None:
    page.goto("/")
    page.locator(".hero .button.main").click()
    page.locator(".path").get_by_role("link", name="Sign up").click()
    page.fill("#id_username", "nora")
    page.fill("#id_password1", PASSWORD)
    page.fill("#id_password2", PASSWORD)
    page.click("form.sheet button")
    expect(page.locator("h1")).to_have_text("Your first bot")
    with page.expect_download() as download:
        page.get_by_role("link", name="first-move.zip").click()
    download.value.save_as(tmp_path / "mine.zip")
    page.set_input_files("#id_bundle", tmp_path / "mine.zip")
    page.get_by_role("button", name="Upload").click()
    expect(page.locator("h1")).to_have_text(re.compile("First Move [0-9a-f]{6} v1"))
    expect(page.locator(".message.success")).to_contain_text("is uploaded.")
    page.goto("/start/")
    expect(page.locator(".path .tag.done")).to_have_count(3)


def test_a_zip_is_dropped_on_the_form(site: Site, page: Page, zipped: Path) -> None:
    log_in(page, "olga")
    page.goto("/upload/")
    form = page.locator("[data-upload]")
    expect(form.get_by_text("or drop the zip here")).to_be_visible()
    encoded = b64encode(zipped.read_bytes()).decode()
    form.evaluate("(form, zip) => { form.dataset.zip = zip; }", encoded)
    form.evaluate(DROP)
    wait_in(page, "document.querySelector('#id_bundle').files.length === 1")
    page.get_by_role("button", name="Upload").click()
    expect(page.locator("h1")).to_have_text(re.compile("First Move [0-9a-f]{6} v1"))


def test_a_refusal_is_shown_where_the_form_is(site: Site, visit: Visit, tmp_path: Path) -> None:
    page = visit(viewport=PHONE)
    (tmp_path / "bad.zip").write_bytes(b"no zip")
    log_in(page, "stan")
    page.goto("/start/")
    page.set_input_files("#id_bundle", tmp_path / "bad.zip")
    page.get_by_role("button", name="Upload").click()
    expect(page.get_by_role("alert")).to_contain_text("not a zip")
    expect(page.locator("#id_bundle")).to_be_focused()
    expect(page.get_by_role("button", name="Upload")).to_be_enabled()
    expect(page).to_have_url(re.compile("/start/$"))
    assert fits(page)


def test_a_broken_connection_leaves_the_form_as_it_is(site: Site, visit: Visit, zipped: Path) -> None:
    page = visit(viewport=DESK)
    log_in(page, "olga")
    page.goto("/upload/")
    page.set_input_files("#id_bundle", zipped)
    page.route("**/upload/", lambda route: route.abort())
    page.get_by_role("button", name="Upload").click()
    expect(page.locator("[data-upload] [role=status]")).to_have_text("The site cannot be reached: try again.")
    page.unroute("**/upload/")
    page.get_by_role("button", name="Upload").click()
    expect(page.locator("h1")).to_have_text(re.compile("First Move [0-9a-f]{6} v1"))


def test_the_form_works_without_javascript_and_by_keyboard(
    site: Site, unscripted: Page, page: Page, zipped: Path
) -> None:
    log_in(unscripted, "olga")
    unscripted.goto("/upload/")
    assert not unscripted.locator("[data-drop]").is_visible()
    unscripted.set_input_files("#id_bundle", zipped)
    unscripted.get_by_role("button", name="Upload").click()
    expect(unscripted.locator("h1")).to_have_text(re.compile("First Move [0-9a-f]{6} v1"))
    log_in(page, "stan")
    page.goto("/start/")
    page.set_input_files("#id_bundle", zipped)
    tab_to(page, "[data-upload] button.main")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_be_visible()  # the name is olga's
    assert BotVersion.objects.filter(bot__name__startswith="First Move").count() == 1
