"""The replay: every ply by its address, live games, records, clocks."""

from __future__ import annotations

import re
import uuid
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from engines.records import Fault, MoveNote, Record, RecordMove, RecordOutcome, Termination, read_records
from engines.rules.base import Reason, Result, Side
from engines.rules.registry import GAMES
from engines.svg import MATERIALS
from engines.timecontrol import parse_time_control
from tests.support.filled_site import (
    LADDER,
    STDERR,
    LogIn,
    Site,
    finish,
    go_live,
    played_moves,
    record_swings,
    record_text,
    set_done,
)
from tests.support.parts import PART, followed_address
from tournament.models import Game, GameRecord, LiveGame, Tournament
from tournament.views.games.replay import Replay, build_replay, format_clock, format_seconds


def page_of(client: Client, address: str, **headers: str) -> str:
    response = client.get(address, headers=headers)
    assert response.status_code == 200
    return response.content.decode()


def replay(moves: list[RecordMove], code: str = "dogon-kulei", fen: str = "") -> Replay:
    return build_replay(GAMES[code], fen, moves)


def test_each_ply_of_a_game_has_an_address_that_shows_its_position(site: Site, client: Client) -> None:
    history = GAMES[site.played.ladder_id].position.initial()
    record = site.played.record.text
    moves = next(r for r in read_records(record.splitlines(), "game") if isinstance(r, Record)).moves
    for ply, move in enumerate(moves[:6]):
        assert str(history) in page_of(client, f"/games/{site.played.pk}/?ply={ply}")
        history = history.play(move.token)


def test_a_game_opens_at_its_end(site: Site, client: Client) -> None:
    assert f'data-ply="{site.played.plies}"' in page_of(client, f"/games/{site.played.pk}/")


@pytest.mark.parametrize(("score", "text"), [(24, "(24 seeds)"), (1, "(1 seed)"), (0, "(0 seeds)")])
def test_a_score_is_shown_with_the_unit_of_the_game(
    site: Site, client: Client, score: int, text: str
) -> None:
    Game.objects.filter(pk=site.played.pk).update(white_score=score, black_score=None)
    page = page_of(client, f"/games/{site.played.pk}/")
    assert page.count(text) == 1
    assert "(None" not in page


def test_a_ply_beyond_the_end_is_the_end(site: Site, client: Client) -> None:
    page = page_of(client, f"/games/{site.played.pk}/?ply=99999")
    assert f"Ply {site.played.plies} of {site.played.plies}" in page


@pytest.mark.parametrize("ply", ["-1", "x", "1.5", "٣", "9" * 40, "1 OR 1=1"])
def test_a_ply_that_is_no_number_is_not_found(site: Site, client: Client, ply: str) -> None:
    assert client.get(f"/games/{site.played.pk}/", {"ply": ply}).status_code == 404


def test_the_buttons_are_links_that_work_without_scripts(site: Site, client: Client) -> None:
    page = page_of(client, f"/games/{site.played.pk}/?ply=3")
    for ply in (0, 2, 4, site.played.plies):
        assert f'href="?ply={ply}"' in page


def test_a_turned_board_stays_turned_along_the_links(site: Site, client: Client) -> None:
    page = page_of(client, f"/games/{site.played.pk}/?ply=3&flip=1")
    assert 'href="?ply=4&amp;flip=1"' in page
    assert page.index("Stone Age</a>") < page.index('class="step"')


def test_a_script_gets_the_board_alone(site: Site, client: Client) -> None:
    fragment = page_of(client, f"/games/{site.played.pk}/?ply=3", **PART)
    assert fragment.lstrip().startswith('<section id="board"')
    assert "<html" not in fragment
    assert 'id="moves"' not in fragment


@pytest.mark.usefixtures("counted")
def test_a_game_of_any_length_costs_the_same_queries(
    site: Site, client: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_max_num_queries(5):
        page_of(client, f"/games/{site.played.pk}/?ply=3")


def test_the_end_is_told_in_words_with_its_evidence_escaped(site: Site, client: Client) -> None:
    page = page_of(client, f"/games/{site.played.pk}/")
    assert "wins: " in page or "Draw: " in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "<script>alert" not in page


def test_the_owner_sees_the_lines_his_engine_exchanged_escaped(site: Site, as_user: LogIn) -> None:
    page = page_of(as_user(site.owner), f"/games/{site.played.pk}/")
    assert "secret stderr" in page
    assert "&lt; id name &lt;script&gt;" in page
    assert "<script>alert" not in page


def test_a_log_is_downloaded_as_plain_text(site: Site, as_user: LogIn) -> None:
    response = as_user(site.owner).get(f"/games/{site.played.pk}/log/white/")
    assert response["Content-Type"] == "text/plain; charset=utf-8"
    assert STDERR["white"] in response.content.decode()
    assert STDERR["black"] not in response.content.decode()


def test_a_live_game_asks_again_and_hears_nothing_new(site: Site, client: Client) -> None:
    page = page_of(client, f"/games/{site.live.pk}/")
    assert "Ply 5 of 5" in page
    assert client.get(followed_address(page), headers=PART).status_code == 204


@pytest.mark.parametrize(
    ("state", "words"),
    [("claimed", "live"), ("waiting", "waiting"), ("halted", "halted"), ("cancelled", "cancelled")],
)
def test_a_game_without_a_result_is_headed_by_its_state(
    site: Site, client: Client, state: str, words: str
) -> None:
    Game.objects.filter(pk=site.live.pk).update(state=state)
    headline = page_of(client, f"/games/{site.live.pk}/").partition('id="headline"')[2].partition("</p>")[0]
    assert f"<b>{words}</b>" in headline


def test_a_live_game_tells_the_moves_made_since(site: Site, client: Client) -> None:
    address = followed_address(page_of(client, f"/games/{site.live.pk}/?flip=1&ply=2"))
    go_live(site.live, plies=8)
    fragment = client.get(address, headers=PART).content.decode()
    assert 'id="headline" data-plies="8"' in fragment
    rows = fragment.partition('<ol start="3">')[2].partition("</ol>")[0]
    assert re.findall(r'href="\?ply=(\d+)', rows) == ["5", "6", "7", "8"]  # ply 5 shares its row with 6
    assert 'data-ply="8" data-flip="1"' in fragment.partition('id="board"')[2]
    assert client.get(followed_address(fragment), headers=PART).status_code == 204
    assert 'id="move-list"' not in fragment
    assert 'id="chart-more"' in fragment
    assert "is to move." in fragment


def test_a_live_game_tells_how_it_ended_and_what_it_did_to_the_ratings(site: Site, client: Client) -> None:
    address = followed_address(page_of(client, f"/games/{site.live.pk}/"))
    LiveGame.objects.all().delete()
    finish(Game.objects.get(pk=site.live.pk), sequence=2)
    fragment = client.get(address, headers=PART).content.decode()
    assert followed_address(fragment) == ""
    assert "wins" in fragment.partition('id="headline"')[2].partition("</p>")[0]
    facts = fragment.partition('id="facts"')[2]
    assert "<dt>Rated</dt>" in facts
    assert "Download the record" in facts


def test_a_game_that_is_begun_again_is_loaded_anew(site: Site, client: Client) -> None:
    address = followed_address(page_of(client, f"/games/{site.live.pk}/"))
    go_live(site.live, plies=4)
    assert client.get(address, headers=PART)["X-Reload"] == "true"
    go_live(site.live, plies=9)
    Game.objects.filter(pk=site.live.pk).update(attempt=uuid.uuid4())
    assert client.get(address, headers=PART)["X-Reload"] == "true"


def test_a_game_that_waits_shows_its_opening(site: Site, client: Client) -> None:
    LiveGame.objects.all().delete()
    page = page_of(client, f"/games/{site.live.pk}/")
    assert "Ply 2 of 2" in page
    assert "Being played, or about to be." in page


def test_a_live_move_that_cannot_be_played_ends_what_is_shown(site: Site, client: Client) -> None:
    LiveGame.objects.update(moves=[["c1+", "book"], ["z9", ""], ["c2+", ""]])
    assert "Ply 1 of 1" in page_of(client, f"/games/{site.live.pk}/")


def test_a_record_is_a_file_with_a_sane_name(site: Site, client: Client) -> None:
    response = client.get(f"/games/{site.played.pk}.pgn")
    assert response["Content-Disposition"] == f'attachment; filename="game-{site.played.pk}.pgn"'
    assert response.content.decode() == site.played.record.text


def test_clocks_are_the_time_control_less_the_seconds_used_plus_the_increments() -> None:
    note = MoveNote(ms=1500)
    moves = [RecordMove("c1+", book=True), RecordMove("c2+", note), RecordMove("d1+", MoveNote(ms=250))]
    clocks = replay(moves).clocks(3, parse_time_control("10+0.5"))
    assert clocks == {Side.WHITE: "0:10.2", Side.BLACK: "0:09.0"}


def test_without_a_clock_the_time_of_the_last_move_is_shown() -> None:
    clocks = replay([RecordMove("c1+", MoveNote(ms=104))]).clocks(1, parse_time_control("0.1/move"))
    assert clocks == {Side.WHITE: "0.10 s", Side.BLACK: ""}


def test_a_start_with_the_second_player_to_move_begins_with_a_gap() -> None:
    rows = replay([RecordMove("c2+"), RecordMove("d1+")], fen="4,4,4,4,4,4/4,4,4,4,4,4 b 0 0 - - 1").rows()
    assert [[move and move.token for move in row.moves] for row in rows] == [[None, "c2+"], ["d1+", None]]


@pytest.mark.parametrize(
    ("ms", "shown"),
    [(0, "0:00.0"), (7_499, "0:07.4"), (20_000, "0:20"), (245_900, "4:05"), (3_723_000, "1:02:03")],
)
def test_a_clock_is_shown_as_players_read_it(ms: int, shown: str) -> None:
    assert format_clock(ms) == shown


@pytest.mark.parametrize(("ms", "shown"), [(4, "0.004"), (250, "0.25"), (3_100, "3.1"), (42_000, "42")])
def test_seconds_have_as_many_digits_as_matter(ms: int, shown: str) -> None:
    assert format_seconds(ms) == shown


def test_a_line_that_was_expected_has_addresses_of_its_own(site: Site, client: Client) -> None:
    played = page_of(client, f"/games/{site.played.pk}/?ply=5")
    page = page_of(client, f"/games/{site.played.pk}/?ply=5&line=2")
    assert "Move 2 of the line that White expected at ply 5." in page
    assert page.count("?ply=5&amp;line=") == 2
    assert page.partition("<svg")[2] != played.partition("<svg")[2]
    assert page_of(client, f"/games/{site.played.pk}/?ply=5&line=99") == page_of(
        client, f"/games/{site.played.pk}/?ply=5&line=2"
    )


def test_an_expected_line_ends_before_a_move_that_cannot_be_played() -> None:
    shown = replay([RecordMove("c1+", MoveNote(pv=("c1+", "c2-", "z9", "c1-")))])
    assert [move.token for move in shown.line(1)] == ["c1+", "c2-"]
    assert shown.line(0) == ()


@pytest.mark.parametrize(("kind", "start"), [("svg", b"<svg"), ("png", b"\x89PNG")])
def test_the_board_of_any_ply_is_a_picture(site: Site, client: Client, kind: str, start: bytes) -> None:
    answers = [client.get(f"/games/{site.played.pk}/{ply}.{kind}") for ply in (0, 3, 9999)]
    assert [answer.status_code for answer in answers] == [200] * 3
    assert all(answer.content.startswith(start) for answer in answers)
    assert len({answer.content for answer in answers}) == 3
    assert client.get(f"/games/{site.played.pk}/3.{kind}?flip=1").content != answers[1].content
    assert client.get(f"/games/999999/3.{kind}").status_code == 404


def test_lists_have_a_small_picture_of_a_board_with_its_own_style(site: Site, client: Client) -> None:
    address = f"/games/{site.played.pk}/{site.played.plies}.svg"
    large, small = (client.get(f"{address}{query}") for query in ("", "?small=1"))
    assert len(small.content) < len(large.content) / 2
    assert b'class="board small"' in small.content
    assert b"prefers-color-scheme: dark" in small.content
    assert small.headers["Cache-Control"] == large.headers["Cache-Control"] == "public, max-age=86400"


@pytest.mark.parametrize("kind", ["", "embed/"])
def test_a_page_with_a_board_has_the_gradients_once(site: Site, client: Client, kind: str) -> None:
    page = page_of(client, f"/games/{site.played.pk}/{kind}")
    assert page.count(MATERIALS) == 1


def test_a_link_to_a_game_is_previewed_with_its_board(site: Site, client: Client) -> None:
    page = page_of(client, f"/games/{site.played.pk}/?ply=4")
    assert f'property="og:image" content="http://testserver/games/{site.played.pk}/4.png"' in page
    assert 'property="og:title" content="Stone Age – ' in page


@pytest.mark.parametrize(
    ("address", "title"), [("/bots/stone-age/", "Stone Age"), ("/tournaments/spring/", "Spring")]
)
def test_links_to_bots_and_tournaments_are_previewed_with_their_latest_game(
    site: Site, client: Client, address: str, title: str
) -> None:
    page = page_of(client, address)
    assert f'property="og:title" content="{title}"' in page
    assert re.search(r'property="og:image" content="http://testserver/games/\d+/\d+.png"', page)
    (description,) = re.findall(r'name="description" content="([^"]+)"', page)
    assert "little-known" not in description
    assert re.search(r'og:description" content="[^"]+ of a (bot|tournament)"', page)


def test_only_the_embedded_board_may_stand_in_a_frame(site: Site, client: Client) -> None:
    embedded = client.get(f"/games/{site.played.pk}/embed/")
    assert "frame-ancestors *" in embedded["Content-Security-Policy"]
    assert "X-Frame-Options" not in embedded
    page = client.get(f"/games/{site.played.pk}/")
    assert "frame-ancestors 'none'" in page["Content-Security-Policy"]
    assert page["X-Frame-Options"] == "DENY"


def test_the_embedded_board_is_described_for_screen_readers(site: Site, client: Client) -> None:
    page = page_of(client, f"/games/{site.played.pk}/embed/?ply=1")
    assert f'<p class="unseen">Ply 1 of {site.played.plies}. Last move ' in page


def test_an_ending_is_a_sentence_with_a_link_to_the_rules(site: Site, client: Client) -> None:
    page = page_of(client, f"/games/{site.played.pk}/")
    assert f'href="/rules/{LADDER}/#the-end"' in page
    assert 'id="the-end"' in page_of(client, f"/rules/{LADDER}/")
    before, _, after = page.partition("<summary>Technical details</summary>")
    assert "cannot-pay" not in before
    assert site.white.bundle_id not in before
    assert site.white.bundle_id in after


def test_the_page_of_a_game_lists_all_its_moves(site: Site, client: Client) -> None:
    moves = page_of(client, f"/games/{site.played.pk}/").partition('id="move-list"')[2].partition("</ol>")[0]
    plies = [int(ply) for ply in re.findall(r'href="\?ply=(\d+)"', moves)]
    assert plies == list(range(1, site.played.plies + 1))


def test_only_a_game_that_is_played_loads_the_script_that_follows(site: Site, client: Client) -> None:
    for game, follows in ((site.live, True), (site.played, False)):
        page = page_of(client, f"/games/{game.pk}/")
        assert ("live_game.js" in page) is follows


def test_turning_points_are_listed_in_words_and_marked_in_the_list_of_moves_and_the_chart(
    site: Site, client: Client
) -> None:
    record_swings(site.played)
    page = page_of(client, f"/games/{site.played.pk}/?flip=1")
    points = re.findall(r'<li><a href="(.*?)" data-ply="(\d+)">Ply \d+</a> (.*?)</li>', page)
    assert [point for point in points if point[1] == "5"] == [("?ply=5&amp;flip=1", "5", points[0][2])]
    assert "White&#x27;s score falls from +3.00 to -3.00" in points[0][2]
    plies = [int(ply) for _, ply, _ in points]
    assert [int(ply) for ply in re.findall(r'<a href="\?ply=(\d+)&amp;flip=1" class=" point"', page)] == plies
    assert f'"points":[{",".join(map(str, plies))}]' in page
    assert "<kbd>n</kbd>" in page


def test_only_a_finished_game_has_turning_points(site: Site, client: Client) -> None:
    page = page_of(client, f"/games/{site.live.pk}/")
    assert "Turning points" not in page
    assert "<kbd>n</kbd>" not in page


def test_the_position_is_summarized_for_screen_readers_with_every_step(site: Site, client: Client) -> None:
    token = site.played.pairing.opening_moves[1]
    text = f"Ply 2 of {site.played.plies}. Last move {token}. White to move. White: "
    address = f"/games/{site.played.pk}/?ply=2"
    assert f'<p class="unseen" id="spoken" role="status">{text}' in page_of(client, address)
    assert f'data-spoken="{text}' in page_of(client, address, **PART)
    assert 'data-spoken="Expected move 1 at ply 5. ' in page_of(
        client, f"/games/{site.played.pk}/?ply=5&line=1"
    )
    end = page_of(client, f"/games/{site.played.pk}/", **PART)
    assert re.search(r'data-spoken="Ply [^"]*(wins|draw)[^"]*in its holes, store \d+.">', end)


def test_a_screen_reader_is_told_the_end_that_the_rules_do_not_tell(site: Site, client: Client) -> None:
    _, moves = played_moves(site.live, 8)
    ending = RecordOutcome(Result.WHITE_WINS, Termination.RESIGNATION, Fault.NONE, Reason.NONE)
    set_done(site.live, ending, len(moves))
    GameRecord.objects.create(game=site.live, text=record_text(site.live, moves, ending))
    end = page_of(client, f"/games/{site.live.pk}/", **PART)
    assert re.search(r'data-spoken="Ply 8 of 8. [^"]* White wins: Black resigned.">', end)
    assert "to move" not in end
    assert b"to move" not in client.get(f"/games/{site.live.pk}/8.svg").content
    assert b"to move" in client.get(f"/games/{site.live.pk}/7.svg").content
    assert "resigned" not in page_of(client, f"/games/{site.live.pk}/?ply=7", **PART)


def test_a_game_leads_to_both_games_of_its_pair(site: Site, client: Client) -> None:
    address = f"/games/{site.played.pk}/beside/{site.live.pk}/"
    assert "beside" not in page_of(client, f"/games/{site.played.pk}/")  # the other is not over
    LiveGame.objects.all().delete()
    finish(site.live, sequence=2)
    assert f'href="{address}"' in page_of(client, f"/games/{site.played.pk}/")


def test_the_other_game_of_the_pair_is_found_by_the_index_of_its_pairing(site: Site, client: Client) -> None:
    with CaptureQueriesContext(connection) as queries:
        client.get(f"/games/{site.played.pk}/")
    (found,) = [one["sql"] for one in queries if f'"pairing_id" = {site.played.pairing_id}' in one["sql"]]
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {found}")
        assert "(pairing_id=?" in str(cursor.fetchall())


@pytest.mark.usefixtures("counted")
def test_two_games_are_stepped_together_and_the_shorter_one_stays_at_its_end(
    site: Site, client: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    address = f"/games/{site.played.pk}/beside/{site.live.pk}/"
    with django_assert_max_num_queries(4):
        page = page_of(client, f"{address}?ply=3&flip=1")
    assert page.count('<svg xmlns="http://www.w3.org/2000/svg" class="board') == 2
    assert [f"Ply 3 of {plies}:" in page for plies in (site.played.plies, 5)] == [True, True]
    assert page.count('href="?ply=4&amp;flip=1"') == 1
    assert f'data-plies="{site.played.plies}"' in page
    fragment = page_of(client, f"{address}?ply=9", **PART)
    assert fragment.lstrip().startswith('<section id="board"')
    assert f"Ply 9 of {site.played.plies}:" in fragment
    assert "Ply 5 of 5:" in fragment
    assert 'data-spoken="First game: Ply 9 of ' in fragment


def test_two_games_are_seen_by_those_who_may_see_both(site: Site, as_user: LogIn) -> None:
    draft = site.draft.games.earliest("id").pk
    for one, other in ((site.played.pk, draft), (draft, site.played.pk)):
        for user, status in ((None, 404), (site.rival, 404), (site.owner, 200)):
            assert as_user(user).get(f"/games/{one}/beside/{other}/").status_code == status
    assert as_user(None).get(f"/games/{site.played.pk}/beside/999999/").status_code == 404


def clocks_of(client: Client, game: Game) -> list[str]:
    """The times beside the board, Black's first, with what they are; a running one has its milliseconds."""
    found = re.findall(
        r'<span class="clock">(.*?)</span></span>', page_of(client, f"/games/{game.pk}/"), re.DOTALL
    )
    return [
        " ".join(re.sub('<span class="unseen">|</?span|</?small>|>', " ", text).split()) for text in found
    ]


@pytest.mark.parametrize(
    ("control", "standing", "running"),
    [
        ("60+0.5", ["clock 1:00", "clock 1:00"], ['clock data-tick="28500" 0:28', "clock 1:00"]),
        (
            "40/move",
            ["per move 40 s", "per move 40 s"],
            ['thinking for data-tick="11500" data-up 0:11.5', "per move 40 s"],
        ),
        (
            "nodes=500",
            ["last move –", "last move 0.50 s"],
            ['thinking for data-tick="91500" data-up 1:31', "last move 0.50 s"],
        ),
    ],
)
def test_what_runs_in_a_live_game_is_shown_and_nothing_runs_while_engines_get_ready(
    site: Site,
    client: Client,
    monkeypatch: pytest.MonkeyPatch,
    control: str,
    standing: list[str],
    running: list[str],
) -> None:
    now = timezone.now()
    monkeypatch.setattr(timezone, "now", lambda: now)
    Tournament.objects.filter(pk=site.live.tournament_id).update(time_control=control)
    live = LiveGame.objects.filter(game=site.live)
    live.update(moves=live.get().moves[:3], updated_at=now - timedelta(seconds=1.5))
    page = page_of(client, f"/games/{site.live.pk}/")
    assert clocks_of(client, site.live) == standing
    live.update(black_ms=30_000)
    assert clocks_of(client, site.live) == running
    page_of(client, followed_address(page), **PART)  # the page is told that the clock runs
