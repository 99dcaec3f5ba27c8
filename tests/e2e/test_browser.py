"""The site in a real browser: stepping through a game, a tournament, and an author's first upload."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from engines.bundles.store import pack_bundle
from tests.e2e.pages import PHONE, Visit, box_of, log_in
from tests.support.filled_site import LADDER, Site, add_version, finish, go_live
from tests.support.schedule import make_event
from tournament.models import BotVersion, Game, LadderRating, LiveGame, RatingEvent, Tournament

NEW_PASSWORD = "correct horse battery"
MANIFEST = b"""
[bot]
name = "Newcomer"
version = "1.0"
command = ["python3", "main.py"]
games = ["dogon-kulei", "dualma"]
"""


def board(page: Page) -> str:
    return page.locator("#board svg.board").inner_html()


def test_keys_step_through_a_game_and_the_address_keeps_the_ply(site: Site, page: Page) -> None:
    page.goto("/tournaments/spring/")
    page.goto(f"/games/{site.played.pk}/?ply=0")
    start = board(page)
    page.keyboard.press("ArrowRight")
    expect(page).to_have_url(f"{page.url.split('?')[0]}?ply=1")
    expect(page.locator("#board")).to_have_attribute("data-ply", "1")
    assert board(page) != start
    expect(page.locator("#moves [aria-current]")).to_have_attribute("data-ply", "1")
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    expect(page.locator("#board")).to_have_attribute("data-ply", "5")
    page.keyboard.press("End")
    expect(page.locator("#board")).to_have_attribute("data-ply", str(site.played.plies))
    page.keyboard.press("Home")
    expect(page.locator("#board")).to_have_attribute("data-ply", "0")
    page.keyboard.press("f")
    expect(page.locator("#board")).to_have_attribute("data-flip", "1")
    page.go_back()
    expect(page).to_have_url(f"{page.url.split('/tournaments')[0]}/tournaments/spring/")


def test_the_help_dialog_opens_with_its_key_and_closes(site: Site, page: Page) -> None:
    page.goto(f"/games/{site.played.pk}/")
    page.keyboard.press("?")
    expect(page.locator("#keys")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#keys")).to_be_hidden()


def test_a_move_of_the_list_and_the_buttons_lead_to_its_position(site: Site, page: Page) -> None:
    page.goto(f"/games/{site.played.pk}/")
    page.click('#moves [data-ply="3"]')
    expect(page.locator("#board")).to_have_attribute("data-ply", "3")
    page.click('[data-step="previous"]')
    expect(page.locator("#board")).to_have_attribute("data-ply", "2")
    expect(page.locator('[data-step="previous"]')).to_be_focused()


def test_keys_and_the_list_of_keys_stay_at_hand_after_a_step_and_after_a_copy(site: Site, page: Page) -> None:
    page.goto(f"/games/{site.played.pk}/?ply=0")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#board")).to_have_attribute("data-ply", "1")
    page.click('[data-copy="position"]')
    expect(page.locator("[data-copy]")).to_have_text("Copied")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#board")).to_have_attribute("data-ply", "2")
    expect(page.locator("[data-copy]")).to_be_focused()
    page.click("[data-keys]")
    expect(page.locator("#keys")).to_be_visible()


def test_a_page_at_the_end_of_a_live_game_follows_it_to_its_end(site: Site, page: Page) -> None:
    page.goto(f"/games/{site.live.pk}/")
    expect(page.locator("#headline")).to_contain_text("(Black) is to move.")
    expect(page.locator("#board")).to_have_attribute("data-ply", "5")
    page.evaluate("document.querySelector('#move-list li').dataset.mark = 'kept'")
    go_live(site.live, plies=8)
    expect(page.locator("#board")).to_have_attribute("data-ply", "8", timeout=20_000)
    expect(page.locator("#headline")).to_have_attribute("data-plies", "8")
    plies = page.locator("#move-list a").evaluate_all("links => links.map(link => Number(link.dataset.ply))")
    assert plies == list(range(1, 9))
    expect(page.locator("#move-list li").first).to_have_attribute("data-mark", "kept")  # moves are appended
    assert "ply=" not in page.url  # loaded anew at the end of the game, it shows the end
    LiveGame.objects.all().delete()
    finish(site.live, sequence=2)
    site.live.refresh_from_db()
    expect(page.locator(".verdict b")).to_have_text(str(site.live.result), timeout=20_000)
    expect(page.locator("#board")).to_have_attribute("data-ply", str(site.live.plies))


def test_a_page_elsewhere_in_a_live_game_stays_there(site: Site, page: Page) -> None:
    page.goto(f"/games/{site.live.pk}/")
    page.keyboard.press("Home")
    expect(page.locator("#board")).to_have_attribute("data-ply", "0")
    go_live(site.live, plies=9)
    expect(page.locator("#headline")).to_have_attribute("data-plies", "9", timeout=20_000)
    expect(page.locator("#board")).to_have_attribute("data-ply", "0")


def test_the_side_to_move_is_marked_and_its_clock_ticks(site: Site, page: Page) -> None:
    LiveGame.objects.update(white_ms=45_000, black_ms=50_000)
    page.goto(f"/games/{site.live.pk}/")
    to_move = page.locator("#board .player.to-move")
    expect(to_move).to_have_count(1)
    expect(to_move).to_contain_text("to move")
    clock = to_move.locator(".clock")
    expect(clock).not_to_have_text(clock.inner_text())  # it ticks
    expect(page.locator("#board [data-tick]")).to_have_count(1)


def test_the_list_of_moves_explains_what_engines_report(site: Site, page: Page) -> None:
    page.goto(f"/games/{site.played.pk}/")
    legend = page.locator("#moves .legend")
    legend.locator("summary").press("Enter")
    expect(legend).to_contain_text("it is 9.90 behind, in its own units, after a search of 14 plies")
    expect(legend).to_contain_text("a win in 23 plies")


def test_a_click_on_the_chart_leads_to_its_ply(site: Site, page: Page) -> None:
    page.goto(f"/games/{site.played.pk}/?ply=0")
    plots = page.locator("#chart .u-over")
    expect(plots).to_have_count(2)
    box = box_of(plots.first)
    plots.first.click(position={"x": box["width"] / 2, "y": box["height"] / 2})
    expect(page.locator("#board")).not_to_have_attribute("data-ply", "0")
    middle = int(page.locator("#board").get_attribute("data-ply") or "")
    assert abs(middle - site.played.plies / 2) <= 1
    expect(page.locator("[data-readout]")).to_contain_text(f"Ply {middle}:")
    page.click('[data-effort="nodes"]')
    expect(page.locator('[data-effort="nodes"]')).to_have_attribute("aria-pressed", "true")
    expect(plots).to_have_count(2)


def test_the_expected_line_shows_its_positions(site: Site, page: Page) -> None:
    page.goto(f"/games/{site.played.pk}/?ply=5")
    played = board(page)
    page.click(".line a >> nth=1")
    expect(page.locator(".line [aria-current]")).to_have_attribute("data-line", "2")
    expect(page.locator(".line [aria-current]")).to_be_focused()
    assert board(page) != played
    assert "line=2" in page.url
    page.keyboard.press("ArrowRight")
    expect(page.locator("#board")).to_have_attribute("data-ply", "6")


def test_the_rating_history_of_a_bot_leads_to_its_games(site: Site, page: Page) -> None:
    LiveGame.objects.all().delete()
    finish(site.live, sequence=2)
    for sequence, game in enumerate((site.played, site.live), start=1):
        Game.objects.filter(pk=game.pk).update(finished_at=timezone.now() + timedelta(hours=sequence))
        values = {"mu_before": 25, "sigma_before": 8, "mu_after": 24 + sequence, "sigma_after": 8 - sequence}
        RatingEvent.objects.create(
            ladder_id=LADDER, sequence=sequence, game=game, version=site.white, **values
        )
    page.goto("/bots/stone-age/")
    plot = page.locator("#history .u-over")
    expect(plot).to_be_visible()
    box = box_of(plot)
    plot.hover(position={"x": box["width"] - 5, "y": box["height"] / 2})
    expect(page.locator("#history [data-readout]")).to_contain_text("mean 26.00 ±")
    plot.click(position={"x": box["width"] - 5, "y": box["height"] / 2})
    expect(page).to_have_url(re.compile(f"/games/{site.live.pk}/$"))


def test_the_list_of_games_is_filtered_from_its_form_with_a_short_address(site: Site, page: Page) -> None:
    page.goto("/games/")
    page.locator("#id_bot").press_sequentially("stone")
    option = page.locator("#suggested option")
    expect(option).to_have_attribute("value", "stone-age")
    page.fill("#id_bot", "stone-age")
    page.select_option("#id_sort", "longest")
    page.click(".search button.main")
    expect(page).to_have_url(re.compile(r"/games/\?bot=stone-age&sort=longest$"))
    expect(page.locator("tbody tr")).to_have_count(1)
    expect(page.get_by_role("status")).to_have_text("1 game")
    page.click("summary")
    page.fill("#id_version", "7")
    page.fill("#id_bot", "")
    page.click(".search button.main")
    expect(page.locator(".error")).to_contain_text("A version needs a bot")


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_space_plays_the_game_and_pauses(site: Site, visit: Visit, motion: str) -> None:
    page = visit(reduced_motion=motion)
    page.add_init_script(
        "Element.prototype.animate = ((old) => function (...how) {"
        " window.animated = (window.animated || 0) + 1; return old.apply(this, how);"
        "})(Element.prototype.animate)"
    )
    page.goto(f"/games/{site.played.pk}/?ply=2")
    page.select_option("[data-speed]", "400")
    page.locator("h1").click()
    page.keyboard.press("Space")
    expect(page.locator("[data-autoplay]")).to_have_text("Pause")
    expect(page.locator("#board")).to_have_attribute("data-ply", re.compile("[4-9]|[0-9]{2}"))
    page.keyboard.press("Space")
    expect(page.locator("[data-autoplay]")).to_have_text("Play")
    expect(page.locator("[data-speed]")).to_have_value("400")
    assert bool(page.evaluate("window.animated || 0")) is (motion == "no-preference")


def test_a_game_can_be_shown_in_a_frame_elsewhere(site: Site, page: Page, live_server: LiveServer) -> None:
    page.goto("/about/")
    frame = f"{live_server.url}/games/{site.played.pk}/embed/?ply=1"
    body = f"<title>x</title><iframe src='{frame}' width=600 height=800></iframe>"
    page.route("**/elsewhere", lambda route: route.fulfill(content_type="text/html", body=body))
    page.goto("/elsewhere")
    inside = page.frame_locator("iframe")
    inside.locator('[data-step="next"]').click()
    expect(inside.locator("#board")).to_have_attribute("data-ply", "2")


def test_a_validation_s_tag_follows_it(site: Site, page: Page) -> None:
    version = add_version(site.owner, "Stone Age", state=BotVersion.State.VALIDATING)
    versions = BotVersion.objects.filter(pk=version.pk)
    page.goto(version.get_absolute_url())
    expect(page.locator("#tag")).to_have_text("validating")
    versions.update(state=BotVersion.State.VALID)
    expect(page.locator("#tag")).to_have_text("valid", timeout=20_000)


def boxes_cut_off(page: Page) -> list[str]:
    """The boxes of this page that are wider inside than out, so that one has to scroll them sideways."""
    named = "box => box.getAttribute('aria-label') || box.textContent.trim().slice(0, 20)"
    cut = f"boxes => boxes.filter(box => box.scrollWidth > box.clientWidth + 1).map({named})"
    return list(page.locator(".tablebox, .panel").evaluate_all(cut))


def test_nothing_is_cut_off_on_a_desk(site: Site, page: Page) -> None:
    bots = [add_version(site.owner, f"The bot with the longest name {number}") for number in range(1, 7)]
    for number, bot in enumerate(bots):
        for ladder in (LADDER, "dualma"):
            values = {"mu": 25.0, "sigma": 5.0, "conservative": 10.0 - number, "games": 1200}
            LadderRating.objects.create(ladder_id=ladder, version=bot, **values)
    ladders = [LADDER, "dualma"]
    make_event("round-robin", versions=bots, ladders=ladders, name="Six")
    make_event("knock-out", versions=bots, ladders=ladders, name="Cup")
    for address in ("/", "/ladders/", "/tournaments/six/", "/tournaments/cup/"):
        page.goto(address)
        assert boxes_cut_off(page) == [], address
    log_in(page, "olga")
    page.goto("/bots/stone-age/")
    assert box_of(page.locator(f"form:has([value={LADDER}]) select[name=version]"))["width"] >= 60
    page.set_viewport_size(PHONE)
    page.goto("/tournaments/cup/")
    assert [name for name in boxes_cut_off(page) if name.startswith("Bracket")] == []


def test_an_author_signs_up_uploads_a_bot_and_creates_a_tournament(
    site: Site, page: Page, tmp_path: Path
) -> None:
    page.goto("/sign-up/?next=/upload/")
    page.fill("#id_username", "nora")
    page.fill("#id_password1", NEW_PASSWORD)
    page.fill("#id_password2", NEW_PASSWORD)
    page.click("form.sheet button")
    expect(page.locator("h1")).to_have_text("Upload a bot")

    bundle = tmp_path / "bot.zip"
    bundle.write_bytes(pack_bundle({"bot.toml": MANIFEST, "main.py": b"print('ugiok')\n"}))
    page.set_input_files("#id_bundle", bundle)
    page.click("form[enctype] button")
    expect(page.locator("h1")).to_contain_text("Newcomer v1")
    assert BotVersion.objects.get(bot__name="Newcomer").bot.owner.username == "nora"  # type: ignore[union-attr]

    page.goto("/tournaments/new/")
    page.fill("#id_name", "Nora's cup")
    for box in page.locator("input[name=bots]").all():
        box.check()
    for box in page.locator("input[name=ladders]").all():
        box.set_checked(box.get_attribute("value") == "dogon-kulei")
    page.fill("#id_pairs", "3")
    expect(page.locator(".estimate")).to_contain_text("6 games")
    page.click("text=Create the draft")
    expect(page.locator("h1")).to_have_text("Nora's cup")
    page.click("text=Start")
    expect(page.locator(".message")).to_contain_text("started")
    assert Tournament.objects.get(name="Nora's cup").state == "running"
