"""What users come for, from the first page and with the keyboard alone."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.pages import log_in, tab_to
from tests.support.filled_site import LADDER, Site, add_version, record_swings
from tournament.models import LadderRating


@dataclass(frozen=True, slots=True)
class Step:
    """Go to an element with the Tab key, then enter a text or press keys."""

    target: str
    text: str = ""
    keys: tuple[str, ...] = ("Enter",)


@dataclass(frozen=True, slots=True)
class Journey:
    """The steps from the first page to an element that answers the question."""

    steps: tuple[Step, ...]
    answer: str
    user: str = ""


def menu(name: str) -> Step:
    return Step(f'.nav a[href="/{name}/"]')


def field(name: str, text: str) -> Step:
    return Step(f"#id_{name}", text, ())


SEND = Step("form.sheet button.main")
PASSWORD = "correct horse battery"
JOURNEYS = {
    "the strongest bot": Journey(
        (menu("ladders"), Step(f'main a[href="/ladders/{LADDER}/"]')), 'tbody .bot >> text="Stone Age"'
    ),
    "why a bot lost": Journey(
        (menu("games"), Step(".result a"), Step("#points a")), '#board[data-ply="5"] .said'
    ),
    "two versions": Journey(
        (menu("bots"), Step('main a[href="/bots/stone-age/"]'), Step('main a[href*="/against/stone-age/"]')),
        "h1 >> text=v2 against",
    ),
    "own bots against the best": Journey(
        (
            Step('.hero a[href="/tournaments/new/"]'),
            field("name", "Best"),
            Step("[data-mine]"),
            Step("[data-best]", keys=("Space",)),
            SEND,
            Step('form[action$="/start/"] button'),
        ),
        ".message >> text=started",
        user="olga",
    ),
    "forfeits": Journey((menu("games"), Step('a[href*="fault=either"]')), "details[open] #id_since"),
    "follow a bot": Journey(
        (menu("bots"), Step('main a[href="/bots/stone-age/"]'), Step("button[name=follow]")),
        "button[value=no]",
        user="rita",
    ),
    "report a game": Journey(
        (
            menu("games"),
            Step(".result a"),
            Step('a[href^="problem/"]'),
            field("text", "The last move is illegal."),
            SEND,
        ),
        ".message.success",
        user="rita",
    ),
    "the first bot": Journey(
        (
            Step('.hero a[href="/start/"]'),
            Step('.path a[href^="/sign-up/"]'),
            field("username", "nora"),
            field("password1", PASSWORD),
            field("password2", PASSWORD),
            Step("form.sheet button"),
            Step('a[href$="/first-move.zip"]', keys=()),
            Step("#id_bundle", keys=()),
        ),
        "#id_bundle:focus-visible",
    ),
    "the rules of a game": Journey(
        (Step('.hero a[href="/rules/duploline/"]'), Step('[data-step="next"]')), ".said:not(:empty)"
    ),
    "to watch": Journey((menu("tv"),), "h1"),
    "a task": Journey((menu("analyse"), Step(f'a[href="/rules/{LADDER}/tasks/1/"]')), "#task"),
    "a game being played": Journey((Step("#playing .caption a"),), "#headline[data-follow]"),
}


@pytest.mark.parametrize("journey", JOURNEYS.values(), ids=JOURNEYS)
def test_the_keyboard_alone_leads_from_the_first_page_to_the_answer(
    site: Site, page: Page, journey: Journey
) -> None:
    record_swings(site.played)
    newer = add_version(site.owner, "Stone Age")
    LadderRating.objects.create(
        ladder_id=LADDER, version=newer, mu=25.0, sigma=2.0, conservative=19.0, games=9, wins=9
    )
    if journey.user:
        log_in(page, journey.user)
    page.goto("/")
    for step in journey.steps:
        tab_to(page, step.target)
        page.keyboard.type(step.text)
        for key in step.keys:
            page.keyboard.press(key)
            page.wait_for_load_state()
    expect(page.locator(journey.answer).first).to_be_visible()
