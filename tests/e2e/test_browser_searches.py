"""Bots that answer people, in a browser: on the analysis board, of a recorded game, and as opponents."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from engines.rules.history import History
from engines.rules.registry import find_game
from tests.e2e.pages import DESK, PHONE, Visit, fits, log_in, violations
from tests.support.door import DoorWorker
from tests.support.filled_site import LADDER, Site
from tournament.models import Bot, BotSearch, PersonGame
from workers.jobs import Evaluation, SearchJob, SearchNews, Work


@dataclass
class AnsweringSlot:
    """A slot of the test, which searches by hand."""

    worker: DoorWorker = field(
        default_factory=lambda: DoorWorker(takes=(Work.CHECKS, Work.ANALYSIS), slots=1)
    )

    def take(self) -> SearchJob:
        batch = self.worker.ask()
        assert batch is not None
        assert batch.search is not None
        return batch.search

    def tell(self, job: SearchJob, *found: Evaluation, is_over: bool = False, why: str = "") -> None:
        name = f"{self.worker.name}/0"
        self.worker.post(job.search, search=SearchNews(job.search, name, found, is_over, why))

    def answer(self, job: SearchJob, *scores: str, is_last: bool = False) -> None:
        """Play the first or the last legal move in each position, with these scores one after the other."""
        for index, ply in enumerate(job.plies):
            history = History(find_game(job.game))
            for token in job.moves[:ply]:
                history.play(token)
            moves = list(history.position.legal_moves())
            move = moves[-1 if is_last else 0]
            score = scores[index % len(scores)] if scores else "+0.10"
            self.tell(job, Evaluation(ply, move, f"{score}/4 0.100s 500n"))
        self.tell(job, is_over=True)


@pytest.fixture
def slot(site: Site) -> AnsweringSlot:
    Bot.objects.filter(pk=site.white.bot_id).update(answers=True)
    one = AnsweringSlot()
    one.worker.beat()
    return one


def play_first(history: History) -> str:
    """Play the first legal move, and return it."""
    token = next(history.position.legal_moves())
    history.play(token)
    return token


def is_over(history: History) -> bool:
    return history.outcome.decided


def test_a_guest_asks_a_bot_and_its_lines_arrive_on_the_board(slot: AnsweringSlot, page: Page) -> None:
    page.goto(f"/analyse/{LADDER}/?moves=c1%2B")
    page.get_by_role("button", name="Evaluate").click()
    said = page.locator("#search")
    expect(said).to_contain_text("waits for a free slot")
    job = slot.take()
    expect(said).to_contain_text("searches")
    slot.tell(job, Evaluation(1, "", "+0.20/3 0.100s 900n pv c2- d1+"))
    expect(said).to_contain_text("+0.20 for Black, depth 3")
    expect(said).to_contain_text("c2- d1+")
    slot.tell(job, Evaluation(1, "c2-", "-0.55/7 1.000s 9000n pv c2- d1-"))
    slot.tell(job, is_over=True)
    expect(said).to_contain_text("has searched.")
    expect(said).to_contain_text("-0.55 for Black, depth 7")
    said.get_by_role("button", name="c2-").click()
    expect(page.locator("#position")).to_have_value(
        str(find_game(LADDER).position.initial().play("c1+").play("c2-"))
    )


def test_a_second_request_while_the_first_runs_is_followed(slot: AnsweringSlot, page: Page) -> None:
    page.goto(f"/analyse/{LADDER}/?moves=c1%2B")
    evaluate, said = page.get_by_role("button", name="Evaluate"), page.locator("#search")
    evaluate.click()
    expect(said).to_contain_text("waits for a free slot")
    first = slot.take()
    page.get_by_label("Time", exact=True).select_option("1")
    evaluate.click()
    expect(said).to_contain_text("waits for a free slot")
    slot.tell(first, is_over=True)
    slot.answer(slot.take(), "+0.75")
    expect(said).to_contain_text("has searched.")
    expect(said).to_contain_text("+0.75 for Black")
    expect(page.locator("#search-said")).to_contain_text("+0.75 for Black")
    page.get_by_role("button", name="Start").click()
    expect(said).to_be_hidden()
    page.get_by_role("button", name="c1+", exact=True).first.click()
    expect(said).to_be_visible()


def test_a_search_has_a_page_without_scripts(slot: AnsweringSlot, unscripted: Page) -> None:
    unscripted.goto(f"/analyse/{LADDER}/?moves=c1%2B")
    unscripted.get_by_role("button", name="Evaluate").click()
    expect(unscripted.locator("h1")).to_have_text("What a bot says")
    slot.answer(slot.take(), "+1.25")
    unscripted.reload()
    expect(unscripted.locator("#search")).to_contain_text("+1.25 for Black, depth 4")
    assert fits(unscripted)
    unscripted.locator("#search button").click()
    expect(unscripted.locator("#position")).to_have_value(re.compile(" w "))


def test_a_refusal_and_a_failure_are_said_where_the_button_is(
    slot: AnsweringSlot, site: Site, visit: Visit
) -> None:
    page = visit(viewport=PHONE)
    page.goto(f"/analyse/{LADDER}/")
    page.get_by_label("Time", exact=True).select_option("10")
    page.get_by_role("button", name="Evaluate").click()
    expect(page.locator("#search-said")).to_have_text("Log in for longer searches.")
    page.get_by_label("Time", exact=True).select_option("1")
    page.get_by_role("button", name="Evaluate").click()
    expect(page.locator("#search")).to_contain_text("waits")
    slot.tell(slot.take(), is_over=True, why="the engine crashed: exit code 3")
    expect(page.locator("#search")).to_contain_text("stopped: the engine crashed: exit code 3")
    assert fits(page)


def test_a_recorded_game_is_analysed_on_its_page_and_its_mistakes_are_stepped_through(
    slot: AnsweringSlot, site: Site, page: Page, visit: Visit
) -> None:
    log_in(page, "rita")
    page.goto(f"/games/{site.played.pk}/?ply=0")
    panel = page.locator("#computer")
    panel.get_by_role("button", name="Computer analysis").click()
    expect(panel).to_contain_text("waits for a free slot")
    while BotSearch.objects.filter(ended_at__isnull=True).exists():
        slot.answer(slot.take(), "+9.00", is_last=True)
        expect(panel).to_contain_text(re.compile(r"[0-9]+ of [0-9]+ positions|What the marks mean"))
    expect(panel.locator("tbody tr")).to_have_count(2)
    marks = page.locator("#move-list a:has(em)")
    expect(marks.first).to_contain_text("??")
    expect(page.locator("#chart .key.analysis")).to_be_visible()
    expect(page.locator("#chart [data-plot=scores] canvas")).to_have_count(1)
    board = page.locator("#board")
    board.get_by_role("button", name="Next mistake").click()
    first = marks.first.get_attribute("data-ply")
    expect(board).to_have_attribute("data-ply", str(first))
    position = page.locator("#position").input_value()
    board.locator("[data-of=better]").first.click()
    expect(page.locator(".said")).to_contain_text("Move 1 of the better line")
    assert page.locator("#position").input_value() != position
    page.keyboard.press("m")
    expect(board).to_have_attribute("data-ply", str(marks.nth(1).get_attribute("data-ply")))
    page.reload()
    expect(marks.first).to_contain_text("??")
    guest = visit(viewport=PHONE)
    guest.goto(f"/games/{site.played.pk}/")
    expect(guest.locator("#move-list em").first).to_have_text("??")
    guest.get_by_role("button", name="Next mistake").click()
    expect(guest.locator("#board svg.board")).to_be_in_viewport(ratio=1)
    assert fits(guest)


def test_a_game_against_a_bot_is_played_by_clicks_to_its_end_and_again(
    slot: AnsweringSlot, site: Site, page: Page
) -> None:
    log_in(page, "rita")
    page.goto(f"/rules/{LADDER}/")
    page.get_by_role("link", name="Play against a bot").click()
    page.get_by_role("button", name="Play", exact=True).click()
    state = page.locator("#state")
    expect(state).to_have_text("Your move.")
    page.locator('[data-cell="c1"]').click()
    page.get_by_role("button", name="Anticlockwise +").click()
    expect(state).to_contain_text("thinks")
    slot.answer(slot.take())
    expect(state).to_have_text("Your move.")
    game = PersonGame.objects.get()
    page.locator("#token").fill("z9")
    page.locator("#token").press("Enter")
    expect(page.locator("#said")).to_contain_text("“z9”")
    history = History(find_game(LADDER))
    for token in game.moves.split():
        history.play(token)
    while True:
        page.locator("#token").fill(play_first(history))
        page.locator("#token").press("Enter")
        if is_over(history):
            break
        expect(state).to_contain_text("thinks")
        play_first(history)
        slot.answer(slot.take())
        if is_over(history):
            break
        expect(state).to_have_text("Your move.")
    expect(state).to_have_text(re.compile("won|Draw"))
    page.get_by_role("button", name="Rematch with the other side").click()
    expect(state).to_contain_text("thinks")
    assert PersonGame.objects.filter(is_white=False, person=site.rival).count() == 1
    assert PersonGame.objects.exclude(result="*").get().moves == " ".join(history.moves)


def test_a_window_that_missed_a_move_plays_none_and_shows_the_game(
    slot: AnsweringSlot, site: Site, page: Page, visit: Visit
) -> None:
    stale = visit()  # its console reports the refusal
    log_in(stale, "rita")
    stale.goto(f"/play/{LADDER}/")
    stale.get_by_role("button", name="Play", exact=True).click()
    expect(stale.locator("#state")).to_have_text("Your move.")
    stale.route("**/play/game/*/?seen=*", lambda route: route.abort())
    log_in(page, "rita")
    page.goto(stale.url)
    page.locator("#token").fill("c1+")
    page.locator("#token").press("Enter")
    expect(page.locator("#state")).to_contain_text("thinks")
    slot.answer(slot.take())
    expect(page.locator("#state")).to_have_text("Your move.")
    moves = PersonGame.objects.get().moves
    stale.locator("#token").fill("d1+")
    stale.locator("#token").press("Enter")
    expect(stale.locator("#said")).to_contain_text("The game has gone on")
    assert PersonGame.objects.get().moves == moves
    stale.unroute("**/play/game/*/?seen=*")
    expect(stale.locator("#move-list a")).to_have_count(2)


def test_onlookers_follow_a_game_and_its_player_may_stop_it(
    slot: AnsweringSlot, site: Site, page: Page, visit: Visit
) -> None:
    mine = visit()  # its console reports the lost connection
    log_in(mine, "rita")
    mine.goto(f"/play/{LADDER}/")
    mine.get_by_role("button", name="Play", exact=True).click()
    state = mine.locator("#state")
    expect(state).to_have_text("Your move.")
    page.goto(mine.url)
    expect(page.locator("#move-list")).to_have_count(0)
    mine.context.set_offline(True)
    mine.locator("#token").fill("c1+")
    mine.locator("#token").press("Enter")
    expect(mine.locator("#said")).to_have_text("The site cannot be reached: try again.")
    mine.context.set_offline(False)
    mine.locator("#token").press("Enter")
    expect(state).to_contain_text("thinks")
    expect(page.locator("#move-list a")).to_have_text(["c1+"])
    slot.answer(slot.take())
    expect(mine.locator("#token")).to_be_focused()
    expect(page.locator("#move-list a")).to_have_count(2)
    history = History(find_game(LADDER))
    for token in PersonGame.objects.get().moves.split():
        history.play(token)
    mine.locator("#token").fill(play_first(history))
    mine.get_by_role("button", name="Play", exact=True).click()
    expect(state).to_contain_text("thinks")
    mine.get_by_text("Stop the game").click()
    mine.get_by_role("button", name="Yes, stop it").click()
    expect(state).to_contain_text("The game is void")
    expect(page.locator("#state")).to_contain_text("The game is void")


@pytest.mark.parametrize("viewport", [DESK, PHONE], ids=["wide", "phone"])
def test_a_guest_looks_back_takes_back_and_is_told_what_a_click_means(
    slot: AnsweringSlot, site: Site, visit: Visit, viewport: ViewportSize
) -> None:
    page = visit(viewport=viewport)
    page.goto("/play/")
    ladder = page.get_by_role("form", name="Play Dogon kulei")
    ladder.get_by_label("Bot").select_option(str(site.white.pk))
    ladder.get_by_role("button", name="Play", exact=True).click()
    state, said = page.locator("#state"), page.locator("#said")
    expect(state).to_have_text("Your move.")
    expect(page.locator("h1")).to_have_text(re.compile("^Guest – .*Stone Age"))
    expect(page.locator("#bottom")).to_contain_text("Guest")
    expect(page.locator("#entry-hint")).to_contain_text("c1+: c1, then Anticlockwise +")
    page.locator('#view [data-cell="a2"]').click(force=True)
    expect(said).to_contain_text("No legal move begins with a2. Next: a cell with a dashed ring (a1, b1,")
    page.locator('#view [data-cell="c1"]').click()
    expect(page.locator("#choices")).to_be_visible()
    page.locator('#view [data-cell="d2"]').click(force=True)
    expect(said).to_contain_text("No legal move goes on from c1 with d2. Next: a direction.")
    page.keyboard.press("Escape")
    expect(page.locator("#choices")).to_be_hidden()
    page.locator('#view [data-cell="c1"]').click()
    page.get_by_role("button", name="Anticlockwise +").click()
    expect(state).to_contain_text("thinks")
    page.locator("#view svg").click()
    expect(said).to_contain_text("No move can be entered now")
    slot.answer(slot.take())
    expect(state).to_have_text("Your move.")
    expect(page.locator("#move-list a[aria-current]")).to_have_attribute("data-ply", "2")
    page.locator("#move-list a").first.click()
    expect(page.locator("#spoken")).to_contain_text("Position after move 1 of 2.")
    expect(page.locator("#view [data-cell]")).to_have_count(0)
    page.locator("#view svg").click()
    expect(said).to_contain_text("This is an earlier position")
    assert fits(page)
    page.get_by_role("link", name="Back to the present position").click()
    expect(page.locator('#view [data-cell="d1"]')).to_be_visible()
    page.locator("#move-list a").last.focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#view")).to_have_attribute("data-ply", "0")
    page.keyboard.press("End")
    expect(page.locator("#view")).to_have_attribute("data-ply", "2")
    page.get_by_role("button", name="Take back").click()
    expect(page.locator("#move-list")).to_have_count(0)
    expect(page.locator("#turn")).to_contain_text("1 move of Guest taken back")
    assert violations(page) == []
    page.locator("summary", has_text="Resign").click()
    page.get_by_role("button", name="Yes, resign").click()
    expect(state).to_contain_text("you resigned")
    expect(page.locator("#play")).not_to_contain_text("to move")
    page.get_by_role("button", name="Rematch with the other side").click()
    expect(page.locator("h1")).to_have_text(re.compile("– Guest$"))
    assert fits(page)


def test_an_earlier_position_stays_while_the_bot_moves(slot: AnsweringSlot, site: Site, page: Page) -> None:
    log_in(page, "rita")
    page.goto(f"/play/{LADDER}/")
    page.get_by_role("button", name="Play", exact=True).click()
    page.locator("#token").fill("c1+")
    page.locator("#token").press("Enter")
    expect(page.locator("#state")).to_contain_text("thinks")
    page.get_by_label("First position").click()
    expect(page.locator("#view")).to_have_attribute("data-ply", "0")
    slot.answer(slot.take())
    expect(page.locator("#state")).to_have_text("Your move.")
    expect(page.locator("#move-list a")).to_have_count(2)
    expect(page.locator("#view")).to_have_attribute("data-ply", "0")
    page.get_by_label("Last move").click()
    expect(page.locator("#view")).to_have_attribute("data-ply", "2")
    expect(page.locator('#view [data-cell="d1"]')).to_be_visible()


def test_earlier_positions_are_looked_at_without_scripts(
    slot: AnsweringSlot, site: Site, unscripted: Page
) -> None:
    unscripted.goto(f"/play/{LADDER}/")
    unscripted.get_by_role("button", name="Play", exact=True).click()
    unscripted.locator("#token").fill("c1+")
    unscripted.get_by_role("button", name="Play", exact=True).click()
    slot.answer(slot.take())
    unscripted.get_by_role("link", name="Reload").click()
    unscripted.locator("#move-list a").first.click()
    expect(unscripted.locator("#spoken")).to_contain_text("Position after move 1 of 2.")
    unscripted.get_by_role("link", name="Back to the present position").click()
    expect(unscripted.locator("#spoken")).not_to_contain_text("Position after")
    assert fits(unscripted)


def test_an_owner_lets_everybody_ask_a_bot(site: Site, page: Page) -> None:
    log_in(page, "olga")
    page.goto(site.white.bot.get_absolute_url())
    page.get_by_label("Everybody may ask this bot").check()
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".message.success")).to_contain_text("Everybody may ask this bot now.")
    assert Bot.objects.get(pk=site.white.bot_id).answers
