"""The rules pages in a real browser: examples are stepped through, on any screen and without JavaScript."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from engines.examples import load_examples
from engines.rules.registry import GAMES
from tests.e2e.pages import PHONE, Visit, box_of, fits
from tests.support.browsers import wait_in

pytestmark = pytest.mark.usefixtures("transactional_db")
PAGE = "/rules/dogon-kulei/"


def example(page: Page, name: str) -> Locator:
    """An example, unfolded."""
    figure = page.locator(f"#example-{name}")
    if not figure.is_visible():
        page.locator("details.more", has=figure).locator("summary").click()
    return figure


def shown(figure: Locator) -> list[str]:
    """The labels of the visible boards."""
    return [text.strip() for text in figure.locator(".boards > li:visible > p").all_inner_texts()]


def test_buttons_step_through_an_example_of_several_moves(page: Page) -> None:
    page.goto(PAGE)
    figure = example(page, "black")
    assert shown(figure) == ["Before", "1. White c1+"]
    figure.locator("[data-step=next]").click()
    expect(figure.locator(".said")).to_have_text("Ply 2 of 2: Black c2+")
    assert shown(figure) == ["1. White c1+", "2. Black c2+"]
    expect(figure.locator("[data-step=next]")).to_have_attribute("aria-disabled", "true")
    figure.locator("[data-step=first]").click()
    expect(figure.locator(".said")).to_have_text("Ply 0 of 2: the position before")
    assert shown(figure) == ["Before"]
    expect(figure.locator("[data-step=first]")).to_be_focused()


def test_keys_step_through_the_example_that_has_the_focus(page: Page) -> None:
    page.goto(PAGE)
    figure = example(page, "turning-limit")
    figure.locator(".boards").focus()
    page.keyboard.press("ArrowRight")
    expect(figure).to_have_attribute("data-ply", "2")
    page.keyboard.press("End")
    expect(figure).to_have_attribute("data-ply", "10")
    assert shown(figure) == ["9. Black pass", "10. White c1-"]
    page.keyboard.press("ArrowRight")
    expect(figure).to_have_attribute("data-ply", "10")
    page.keyboard.press("ArrowLeft")
    expect(figure).to_have_attribute("data-ply", "9")
    page.keyboard.press("Home")
    expect(figure).to_have_attribute("data-ply", "0")
    expect(example(page, "black")).to_have_attribute("data-ply", "1")


def test_keys_outside_an_example_scroll_the_page_as_ever(page: Page) -> None:
    page.goto(PAGE)
    page.keyboard.press("End")
    wait_in(page, "scrollY > 0")
    expect(example(page, "black")).to_have_attribute("data-ply", "1")


def test_the_boards_of_an_example_are_loaded_when_it_comes_into_view(page: Page) -> None:
    page.goto(PAGE)
    figure = example(page, "chain")
    figure.scroll_into_view_if_needed()
    for image in figure.locator("img").all():
        wait_in(page, "image => image.complete && image.naturalWidth > 0", image.element_handle())


@pytest.mark.parametrize("code", GAMES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_shows_one_board_at_a_time_and_nothing_is_wider_than_the_screen(
    visit: Visit, code: str, scheme: str
) -> None:
    page = visit(viewport=PHONE, color_scheme=scheme)
    page.goto(f"/rules/{code}/")
    name = load_examples(code)[0].name
    figure = example(page, name)
    assert len(shown(figure)) == 1
    button = figure.locator("[data-step=previous]")
    button.click()
    assert shown(figure) == ["Before"]
    box = box_of(button)
    assert min(box["width"], box["height"]) >= 24
    assert fits(page)


@pytest.mark.parametrize("width", [390, 1280])
def test_without_javascript_all_boards_of_an_example_stand_on_the_page(visit: Visit, width: int) -> None:
    page = visit(viewport={"width": width, "height": 900}, java_script_enabled=False)
    page.goto(PAGE)
    for one in load_examples("dogon-kulei"):
        expect(example(page, one.name)).to_be_visible()
        assert len(shown(example(page, one.name))) == len(one.moves) + 1
    assert page.locator("[data-step]:visible").count() == 0


def test_the_hard_positions_unfold(page: Page) -> None:
    page.goto(f"{PAGE}#hard-positions")
    lines = page.locator("section[aria-labelledby=hard-positions] pre")
    expect(lines).to_be_hidden()
    page.locator("section[aria-labelledby=hard-positions] summary").click()
    expect(lines).to_be_visible()
    expect(lines).to_contain_text(";D1 8 ;D2 70 ;D3 558")
