"""The list of all games: each filter finds what a look at every game finds; the downloads agree."""

from __future__ import annotations

import csv
import datetime
import html
import io
import json
import random
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

import pytest
from django import forms
from django.db import connection
from django.db.models import Q
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from engines.records import Fault, Termination, read_records
from engines.rules.base import Reason, Result
from engines.rules.registry import GAMES
from tests.support.filled_site import LADDER, Site, add_version, finish, round_robin
from tests.support.remembered import remembered
from tests.support.seats import seat
from tournament.access import PUBLIC
from tournament.models import Game, GameRecord, Pairing, User
from tournament.rows.games import GameRow
from tournament.services.schedule.meetings import rescored
from tournament.services.schedule.tournaments import start
from tournament.views.games import query_plans, search, time_limit
from tournament.views.games.filters import FILTERS as KNOWN_FILTERS
from tournament.views.games.filters import SORTS, Filter, GameSearchForm

pytestmark = pytest.mark.slow

NOW = timezone.now().replace(microsecond=0)


@pytest.fixture
def games(site: Site) -> list[Game]:
    """Recorded games of four bots, with results, endings and times of every kind."""
    return remembered(make_games, site)


def make_games(site: Site) -> list[Game]:
    owner = User.objects.create_user("walter")
    versions = [site.white, site.black, add_version(owner, "Third"), add_version(owner, "=Fourth")]
    event = round_robin(owner, "Autumn", versions, pairs=3)
    start(event)
    chance = random.Random(7)
    openings = ("", "c1+ c2-", "c1+ c2- c1+")
    for number, pairing in enumerate(event.pairings.order_by("pk")):
        Pairing.objects.filter(pk=pairing.pk).update(opening=openings[number % 3])
    games = list(Game.objects.filter(tournament=event).order_by("pk"))
    with rescored(Game.objects.filter(tournament=event)):
        for number, game in enumerate(games, start=100):
            termination = chance.choice([Termination.RULES, Termination.TIME, Termination.CRASH])
            fault = (
                chance.choice([Fault.WHITE, Fault.BLACK])
                if termination is not Termination.RULES
                else Fault.NONE
            )
            Game.objects.filter(pk=game.pk).update(
                state=Game.State.DONE,
                result=chance.choice([Result.WHITE_WINS, Result.BLACK_WINS, Result.DRAW]),
                termination=termination,
                reason=Reason.NO_MOVE if termination is Termination.RULES else "",
                fault=fault,
                plies=chance.randrange(4),
                rated=chance.random() < 0.5,
                annulled=chance.random() < 0.3,
                sequence=number,
                finished_at=NOW - datetime.timedelta(hours=chance.randrange(100)),
            )
    seat(tournament=event)
    return list(Game.objects.done().with_players().select_related("pairing"))


def listed(client: Client, **filters: object) -> list[int]:
    """The games of the list, of all its pages."""
    found: list[int] = []
    query: str | None = f"?{urlencode(filters)}"
    while query:
        page = client.get(f"/games/{query}")
        assert page.status_code == 200
        text = page.content.decode()
        found += map(int, re.findall(r'<a href="/games/(\d+)/">', text))
        more = re.search(r'rel="next" href="([^"]*)"', text)
        query = more[1].replace("&amp;", "&") if more else None
    return found


Check = Callable[[Game], bool]
FILTERS: list[tuple[dict[str, object], Check]] = [
    ({}, lambda game: True),
    ({"ladder": "dogon-kulei"}, lambda game: game.ladder_id == "dogon-kulei"),
    ({"ladder": "dualma"}, lambda game: game.ladder_id == "dualma"),
    ({"bot": "third"}, lambda game: "Third" in {game.white.bot.name, game.black.bot.name}),
    (
        {"bot": "third", "opponent": "stone-age"},
        lambda game: {game.white.bot.name, game.black.bot.name} == {"Third", "Stone Age"},
    ),
    ({"bot": "third", "version": 2}, lambda game: False),
    (
        {"bot": "third", "version": 1, "opponent": "stone-age", "opponent_version": 1},
        lambda game: {game.white.bot.name, game.black.bot.name} == {"Third", "Stone Age"},
    ),
    (
        {"owner": "walter"},
        lambda game: "walter" in {v.bot.owner.username for v in (game.white, game.black) if v.bot.owner},
    ),
    ({"result": "white"}, lambda game: game.result == "1-0"),
    ({"result": "draw"}, lambda game: game.result == "1/2-1/2"),
    (
        {"bot": "third", "result": "won"},
        lambda game: (
            (game.white.bot.name, game.result) == ("Third", "1-0")
            or (game.black.bot.name, game.result) == ("Third", "0-1")
        ),
    ),
    (
        {"bot": "third", "result": "lost"},
        lambda game: (
            (game.white.bot.name, game.result) == ("Third", "0-1")
            or (game.black.bot.name, game.result) == ("Third", "1-0")
        ),
    ),
    ({"termination": Termination.TIME}, lambda game: game.termination == Termination.TIME),
    ({"termination": Reason.NO_MOVE}, lambda game: game.reason == Reason.NO_MOVE),
    ({"termination": Termination.RULES}, lambda game: game.termination == Termination.RULES),
    ({"termination": Reason.FOUR_RINGS}, lambda game: False),
    ({"fault": "either"}, lambda game: game.fault in {"white", "black"}),
    ({"fault": "none"}, lambda game: game.fault == "none"),
    (
        {"bot": "third", "fault": "bot"},
        lambda game: (
            (game.white.bot.name, game.fault) == ("Third", "white")
            or (game.black.bot.name, game.fault) == ("Third", "black")
        ),
    ),
    ({"min_plies": 2}, lambda game: game.plies >= 2),
    ({"min_plies": 1, "max_plies": 2}, lambda game: 1 <= game.plies <= 2),
    ({"rated": "yes"}, lambda game: game.rated),
    ({"rated": "no"}, lambda game: not game.rated),
    ({"annulled": "yes"}, lambda game: game.annulled),
    ({"annulled": "no"}, lambda game: not game.annulled),
    (
        {"annulled": "yes", "fault": "either"},
        lambda game: game.annulled and game.fault in {"white", "black"},
    ),
    (
        {"annulled": "no", "ladder": "dogon-kulei", "termination": Termination.CRASH},
        lambda game: not game.annulled and game.termination == Termination.CRASH,
    ),
    (
        {"annulled": "yes", "bot": "third", "opponent": "stone-age"},
        lambda game: game.annulled and {game.white.bot.name, game.black.bot.name} == {"Third", "Stone Age"},
    ),
    ({"bot": "third", "colour": "white"}, lambda game: game.white.bot.name == "Third"),
    (
        {"bot": "third", "colour": "black", "opponent": "stone-age", "result": "lost"},
        lambda game: (game.black.bot.name, game.white.bot.name, game.result) == ("Third", "Stone Age", "1-0"),
    ),
    ({"bot": "nobody"}, lambda game: False),
    ({"opening": " c1+   c2- "}, lambda game: game.pairing.opening == "c1+ c2-"),
    ({"opening": "c1+"}, lambda game: False),
    ({"opening": "none"}, lambda game: not game.pairing.opening),
    (
        {"ladder": "dogon-kulei", "min_sequence": 110},
        lambda game: game.ladder_id == "dogon-kulei" and (game.sequence or 0) >= 110,
    ),
    ({"tournament": "autumn"}, lambda game: game.tournament.slug == "autumn"),
    (
        {"tournament": "autumn", "round": 2},
        lambda game: (game.tournament.slug, game.pairing.round) == ("autumn", 2),
    ),
    (
        {"since": (NOW - datetime.timedelta(days=2)).date()},
        lambda game: (
            game.finished_at is not None
            and game.finished_at.date() >= (NOW - datetime.timedelta(days=2)).date()
        ),
    ),
    (
        {"until": (NOW - datetime.timedelta(days=2)).date()},
        lambda game: (
            game.finished_at is not None
            and game.finished_at.date() <= (NOW - datetime.timedelta(days=2)).date()
        ),
    ),
]


@pytest.mark.parametrize("most_found", [0, 5000], ids=["of many", "of few"])
@pytest.mark.parametrize(("filters", "matches"), FILTERS, ids=[" ".join(filters) for filters, _ in FILTERS])
def test_a_filter_finds_the_games_that_match_and_no_others(
    games: list[Game],
    client: Client,
    monkeypatch: pytest.MonkeyPatch,
    filters: dict[str, object],
    matches: Check,
    most_found: int,
) -> None:
    monkeypatch.setattr(query_plans, "MAX_FOUND", most_found)
    monkeypatch.setattr(query_plans, "MAX_SORTED", most_found)
    found = listed(client, **filters)
    assert len(found) == len(set(found))
    assert set(found) == {game.pk for game in games if matches(game)}


IN_PARTS = [
    (filters, matches)
    for filters, matches in FILTERS
    if not filters or filters.keys() & {"bot", "owner", "until"}
]
"""Filters whose games several queries find together, or that take another index than others do."""


@pytest.mark.parametrize("sort", SORTS)
@pytest.mark.parametrize(("filters", "matches"), IN_PARTS, ids=[" ".join(filters) for filters, _ in IN_PARTS])
def test_the_pages_of_every_order_hold_each_game_once(
    games: list[Game],
    client: Client,
    monkeypatch: pytest.MonkeyPatch,
    filters: dict[str, object],
    matches: Check,
    sort: str,
) -> None:
    monkeypatch.setattr(search, "PAGE_SIZE", 5)
    monkeypatch.setattr(query_plans, "MAX_FOUND", 0)
    monkeypatch.setattr(query_plans, "MAX_SORTED", 0)
    field, descends = SORTS[sort][1:]
    matching = [game for game in games if matches(game)]
    expected = sorted(matching, key=lambda game: (getattr(game, field), game.pk), reverse=descends)
    assert listed(client, **filters, sort=sort) == [game.pk for game in expected]


@pytest.mark.parametrize("sort", SORTS)
def test_the_pages_of_every_order_lead_back_to_the_first(
    games: list[Game], client: Client, monkeypatch: pytest.MonkeyPatch, sort: str
) -> None:
    monkeypatch.setattr(search, "PAGE_SIZE", 5)
    forth = [client.get(f"/games/?sort={sort}").context["page"]]
    while forth[-1].next:
        forth.append(client.get(f"/games/{forth[-1].next}").context["page"])
    back = [forth[-1]]
    while back[-1].previous:
        back.append(client.get(f"/games/{back[-1].previous}").context["page"])
    assert len(forth) > 3
    assert [page.rows for page in back[::-1]] == [page.rows for page in forth]


@pytest.mark.parametrize("sort", ["newest", "oldest"])
def test_the_games_of_a_ladder_are_in_the_order_in_which_they_were_recorded(
    games: list[Game], client: Client, monkeypatch: pytest.MonkeyPatch, sort: str
) -> None:
    monkeypatch.setattr(search, "PAGE_SIZE", 5)
    expected = sorted(games, key=lambda game: game.sequence or 0, reverse=sort == "newest")
    assert listed(client, sort=sort, ladder="dogon-kulei") == [game.pk for game in expected]


@pytest.mark.parametrize(
    ("query", "index"),
    [
        ("", "game_finished"),
        ("sort=shortest", "game_length"),
        ("ladder=dogon-kulei&sort=longest", "game_length"),
        ("termination=crash&rated=no&annulled=no&result=draw&ladder=dogon-kulei", "game_finished"),
        ("fault=either&min_plies=1&since=2020-01-01&tournament=autumn&sort=longest", "game_length"),
        ("bot=third&result=won&colour=white", "seat_of_bot"),
        ("bot=third&opponent=stone-age&ladder=dogon-kulei&max_plies=9", "seat_of_bot"),
    ],
)
def test_a_list_of_many_games_reads_an_index_in_its_order_that_has_all_columns(
    games: list[Game], client: Client, monkeypatch: pytest.MonkeyPatch, query: str, index: str
) -> None:
    """SQLite is the stricter one: it knows no counts, and chooses an index by the shape of the query."""
    monkeypatch.setattr(query_plans, "MAX_FOUND", 0)
    monkeypatch.setattr(query_plans, "MAX_SORTED", 0)
    plan = plan_of(statement(client, query, "LIMIT 102" if "seat" in index else "LIMIT 51"))
    assert f"USING COVERING INDEX {index}" in plan
    assert "TEMP B-TREE" not in plan.replace("USE TEMP B-TREE FOR LAST TERM OF ORDER BY", "")


def test_the_list_of_a_ladder_needs_no_sorting(games: list[Game], client: Client) -> None:
    assert "TEMP B-TREE" not in plan_of(statement(client, "ladder=dogon-kulei", "LIMIT 51"))


@pytest.mark.parametrize(
    ("query", "index"),
    [
        ("fault=either", "forfeit_length"),
        ("fault=bot&bot=stone-age", "forfeit_length"),
        ("termination=crash&sort=longest", "game_termination"),
        ("termination=no-move", "game_reason"),
        ("result=draw&ladder=dogon-kulei", "game_result"),
        ("rated=no", "unrated_length"),
        ("annulled=yes&ladder=dogon-kulei", "game_annulled"),
        ("until=2030-01-01&sort=longest", "game_finished (finished_at<"),
        ("min_plies=2&max_plies=3", "game_length (ladder_id=? AND plies>? AND plies<?)"),
        ("min_sequence=110&ladder=dogon-kulei&sort=longest", "(ladder_id=? AND sequence>?)"),
        ("tournament=autumn", "game_of_event"),
        ("tournament=autumn&sort=longest", "game_of_event"),
        ("opening=c1%2B+c2-", "(pairing_id=?)"),
        ("opening=c1%2B+c2-", "pairing_opening"),
        ("tournament=autumn&round=2", "(pairing_id=?)"),
        ("bot=third&result=won", "seat_of_bot"),
        ("bot=third&version=1", "seat_of_version"),
        ("owner=walter&ladder=dogon-kulei&fault=none", "seat_of_owner"),
        ("owner=walter&fault=either", "USING INDEX sqlite_autoindex_tournament_seat"),
    ],
)
def test_few_games_are_found_by_an_index_of_their_own(
    games: list[Game], client: Client, query: str, index: str
) -> None:
    with CaptureQueriesContext(connection) as queries:
        client.get(f"/games/?{query}")
    plans = [plan_of(one["sql"]) for one in queries if "LIMIT" in one["sql"]]
    assert any(index in plan for plan in plans)
    assert "SCAN tournament_game" not in plans[-1]


def statement(client: Client, query: str, limit: str) -> str:
    """The first statement with this limit."""
    with CaptureQueriesContext(connection) as queries:
        client.get(f"/games/?{query}")
    return next(one["sql"] for one in queries if limit in one["sql"])


def test_a_tournament_s_forfeits_are_found_by_an_index_of_their_own(
    games: list[Game], client: Client
) -> None:
    address = games[0].tournament.get_absolute_url()
    with CaptureQueriesContext(connection) as queries:
        client.get(f"{address}?result=forfeit")
    found = next(one["sql"] for one in queries if "IN ('white', 'black')" in one["sql"])
    assert "forfeit_of_tournament" in plan_of(found)


def plan_of(sql: str) -> str:
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {sql}")
        return str(cursor.fetchall())


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("version=1", "A version needs a bot"),
        ("result=won", "This needs a bot"),
        ("colour=white", "A colour needs a bot"),
        ("min_sequence=3", "A number needs a ladder"),
        ("round=2", "A round needs a tournament"),
        ("min_plies=x", "Enter a whole number"),
        ("since=yesterday", "Enter a valid date"),
        ("ladder=chess", "Select a valid choice"),
        ("termination=no-moves", "Select a valid choice"),
        ("pair=counted", "A pair needs a version test"),
        ("tournament=autumn&pair=5", "Select a valid choice"),
    ],
)
def test_a_filter_that_cannot_be_used_is_refused_beside_its_field(
    games: list[Game], client: Client, query: str, sentence: str
) -> None:
    page = client.get(f"/games/?{query}")
    assert page.status_code == 200
    text = page.content.decode()
    assert sentence in text
    assert "No games are shown until the filter is corrected." in text
    export = client.get(f"/games/games.csv?{query}")
    assert (export.status_code, sentence in export.content.decode()) == (400, True)


@pytest.mark.parametrize("after", ["x", "1", "1.x", "-1.2", "9" * 30 + ".1", "9" * 19 + ".1"])
def test_a_place_in_the_list_that_is_none_is_not_found(games: list[Game], client: Client, after: str) -> None:
    assert client.get(f"/games/?after={after}").status_code == 404
    assert client.get(f"/games/?before={after}").status_code == 404


def test_the_downloads_hold_the_games_of_the_filter_in_its_order(games: list[Game], client: Client) -> None:
    expected = listed(client, bot="third", sort="longest")
    rows = list(
        csv.DictReader(io.StringIO(client.get("/games/games.csv?bot=third&sort=longest").content.decode()))
    )
    lines = client.get("/games/games.jsonl?bot=third&sort=longest").content.decode().splitlines()
    values: list[dict[str, Any]] = [json.loads(line) for line in lines]
    assert [int(row["id"]) for row in rows] == [value["id"] for value in values] == expected
    assert set(rows[0]) == set(values[0]) == set(GameRow.__struct_fields__)
    assert {row["white"] for row in rows} | {row["black"] for row in rows} >= {"Third", "'=Fourth"}
    assert "=Fourth" in {value["white"] for value in values} | {value["black"] for value in values}


def test_the_records_of_the_games_are_one_file(site: Site, client: Client) -> None:
    finish(site.live, sequence=2)
    answer = client.get("/games/games.pgn?tournament=spring&sort=oldest")
    records = list(read_records(io.StringIO(answer.content.decode()), "games.pgn"))
    assert [record.header("GameId") for record in records] == [site.played.key, site.live.key]  # type: ignore[union-attr]


def test_a_download_names_the_address_of_its_next_part(
    games: list[Game], client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "MAX_EXPORTED", 10)
    address, found = "/games/games.jsonl?sort=shortest", list[int]()
    while address:
        answer = client.get(address)
        lines = answer.content.decode().splitlines()
        assert len(lines) <= 10
        found += [json.loads(line)["id"] for line in lines]
        link = answer.get("Link", "")
        address = link.removeprefix("<http://testserver").removesuffix('>; rel="next"')
    assert found == listed(client, sort="shortest")


def test_rows_are_found_part_by_part_from_a_cursor(games: list[Game], client: Client, rf: Any) -> None:
    request = rf.get("/games/?sort=longest&before=1.1")
    request.user = PUBLIC
    found, after = list[int](), ""
    while True:
        part = search.find_rows(request, GameSearchForm(request.GET), 10, after)
        assert part is not None
        rows, after = part
        found += [row.id for row in rows]
        if not after:
            break
        assert len(rows) == 10
    assert found == listed(client, sort="longest")


def test_a_part_of_the_records_ends_early_if_they_are_long(
    games: list[Game], client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "MAX_TEXT", 3)
    monkeypatch.setattr(search, "RECORDS_READ", 2)
    GameRecord.objects.all().delete()
    with_record = [game.pk for game in games if game.pk % 3]
    GameRecord.objects.bulk_create(GameRecord(game_id=pk, text=f"{pk}\n") for pk in with_record)
    address, parts = "/games/games.pgn?sort=shortest", list[list[int]]()
    while address:
        answer = client.get(address)
        parts.append(list(map(int, answer.content.decode().split())))
        address = answer.get("Link", "").removeprefix("<http://testserver").removesuffix('>; rel="next"')
    assert max(map(len, parts)) <= 3
    expected = [pk for pk in listed(client, sort="shortest") if pk in with_record]
    assert [pk for part in parts for pk in part] == expected


def test_games_of_drafts_and_validations_are_not_listed(
    games: list[Game], site: Site, client: Client
) -> None:
    Game.objects.filter(tournament=site.validation).update(
        state=Game.State.DONE, result="1-0", sequence=999, finished_at=NOW
    )
    seat(tournament=site.validation)
    kinds = {Game.objects.get(pk=pk).tournament.kind for pk in listed(client)}
    assert "validation" not in kinds


def test_a_cell_of_a_crosstable_leads_to_its_games(games: list[Game], client: Client) -> None:
    page = client.get("/tournaments/autumn/").content.decode()
    cells = re.findall(r'<a href="(/games/\?[^"]*bot=third[^"]*opponent=stone-age[^"]*)"', page)
    assert cells
    query = parse_qs(urlsplit(cells[0].replace("&amp;", "&")).query)
    found = listed(client, **{name: values[0] for name, values in query.items()})
    assert found
    assert all(
        {game.white.bot.slug, game.black.bot.slug} == {"third", "stone-age"}
        and game.tournament.slug == "autumn"
        for game in Game.objects.filter(pk__in=found)
    )


def test_the_numbers_of_a_crosstable_s_totals_lead_to_as_many_games(
    games: list[Game], client: Client
) -> None:
    page = client.get("/tournaments/autumn/").content.decode()
    totals = re.findall(r'<span class="(?:win|draw|loss)"><a href="([^"]*)">(\d+)</a></span>', page)
    assert len(totals) >= 3
    for address, count in totals:
        query = parse_qs(urlsplit(address.replace("&amp;", "&")).query)
        assert len(listed(client, **{name: values[0] for name, values in query.items()})) == int(count)


@pytest.mark.parametrize("goes_back", [False, True])
def test_a_download_begins_with_the_games_of_the_shown_page(
    games: list[Game], client: Client, monkeypatch: pytest.MonkeyPatch, goes_back: bool
) -> None:
    monkeypatch.setattr(search, "PAGE_SIZE", 5)
    first = client.get("/games/?sort=oldest")
    second = client.get(f"/games/{first.context['page'].next}")
    if goes_back:
        third = client.get(f"/games/{second.context['page'].next}")
        second = client.get(f"/games/{third.context['page'].previous}")
    (address,) = re.findall(r'href="(/games/games.csv[^"]*)"', second.content.decode())
    rows = client.get(html.unescape(address)).content.decode().splitlines()[1:]
    shown = [game.pk for game in second.context["page"].rows]
    assert [int(row.split(",")[0]) for row in rows[: len(shown)]] == shown


def test_a_search_that_takes_too_long_is_ended_with_a_sentence(
    client: Client, games: list[Game], monkeypatch: pytest.MonkeyPatch
) -> None:
    find = search._found
    monkeypatch.setattr(search, "LONGEST_SECONDS", 0.05)
    monkeypatch.setattr(search, "_found", lambda *given: _count(10**9) and find(*given))
    for address in ("/games/?result=draw", "/games/games.csv?result=draw"):
        answer = client.get(address)
        assert answer.status_code == 422
        assert "This search takes too long. Name a bot," in answer.content.decode()
    monkeypatch.setattr(search, "_found", find)
    assert client.get("/games/?result=draw").status_code == 200


@pytest.mark.django_db
def test_queries_after_a_limited_block_have_no_limit() -> None:
    """The progress handler of SQLite belongs to the connection, which later requests use."""
    with pytest.raises(time_limit.TookTooLong), time_limit.limited_queries(0.05):
        _count(10**9)
    assert _count(200_000) == 200_000


def _count(numbers: int) -> int:
    with connection.cursor() as cursor:
        cursor.execute(
            f"WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < {numbers})"
            " SELECT count(*) FROM n"
        )
        return int(cursor.fetchone()[0])


def test_the_page_says_how_many_games_match(
    games: list[Game], client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "PAGE_SIZE", 3)
    monkeypatch.setattr(search, "COUNTING_SECONDS", 60.0)
    for filters in ({"owner": "walter"}, {"bot": "third", "colour": "white"}, {"result": "draw"}):
        number = len(listed(client, **filters))
        assert number > 3
        assert client.get("/games/", filters).context["hits"] == f"{number} games"
    assert client.get("/games/").context["hits"] == ""
    assert client.get("/games/?bot=nobody").context["hits"] == "0 games"
    monkeypatch.setattr(search, "MAX_COUNTED", 3)
    assert client.get("/games/?owner=walter").context["hits"] == "More than 3 games"
    monkeypatch.setattr(search, "PAGE_SIZE", 2)
    monkeypatch.setattr(search, "COUNTING_SECONDS", 0.05)
    monkeypatch.setattr(search, "count_games", lambda *_, **__: _count(10**9))
    assert client.get("/games/?owner=walter").context["hits"] == "More than 2 games"


@pytest.mark.parametrize(
    ("query", "values"),
    [
        ("bot=stone", ["stone-age"]),
        ("opponent=FOURTH", ["fourth"]),
        ("owner=wal", ["walter"]),
        ("tournament=autu", ["autumn"]),
        ("tournament=draft", []),
        ("bot=none%25", []),
        (f"bot={'x' * 60_000}", []),
        ("bot=sto%00ne", ["stone-age"]),
        ("", ["fourth", "stone-age", "third"]),
    ],
)
def test_a_filter_suggests_what_the_visitor_may_see(
    games: list[Game], client: Client, query: str, values: list[str]
) -> None:
    options = client.get(f"/games/suggestions/?{query}").content.decode()
    found = sorted(re.findall(r'value="([^"]*)"', options))
    assert set(values) <= set(found)
    assert bool(values) == bool(found)


def test_a_link_leads_to_the_forfeits_of_the_last_days(games: list[Game], client: Client) -> None:
    old, *recent = [game for game in games if game.fault in {"white", "black"}]
    Game.objects.filter(pk=old.pk).update(finished_at=NOW - datetime.timedelta(days=8, hours=1))
    link = re.search(
        r'href="/games/([^"]*)">Forfeits of the last 7 days', client.get("/games/").content.decode()
    )
    assert link is not None
    found = listed(client, **dict(parse_qsl(urlsplit(html.unescape(link[1])).query)))
    assert sorted(found) == sorted(game.pk for game in recent)


def test_a_row_shows_the_winner_and_the_final_board_if_wanted(site: Site, client: Client) -> None:
    page = client.get("/games/?bot=stone-age&boards=on").content.decode()
    assert page.count('class="player-cell won"') == 1
    assert f'src="/games/{site.played.pk}/{site.played.plies}.svg?small=1"' in page
    assert ".svg" not in client.get("/games/?bot=stone-age").content.decode().partition("<tbody>")[2]


def test_a_new_filter_is_a_field_a_condition_words_and_a_sentence(
    site: Site, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    added = Filter(
        forms.CharField(required=False),
        lambda text: Q(evidence=text),
        words="with the evidence {}".format,
        needs=("ladder", "Evidence needs a ladder."),
    )
    monkeypatch.setitem(KNOWN_FILTERS, "evidence", added)
    monkeypatch.setitem(GameSearchForm.base_fields, "evidence", added.field)
    Game.objects.filter(pk=site.played.pk).update(evidence="none")
    found = client.get(f"/games/?ladder={LADDER}&evidence=none&sort=longest")
    assert [game.pk for game in found.context["page"].rows] == [site.played.pk]
    page = found.content.decode()
    assert f"<title>Games on {GAMES[LADDER].name} with the evidence none ·" in page
    assert 'name="evidence" value="none"' in page
    assert client.get(f"/games/?ladder={LADDER}&evidence=other").context["page"].rows == []
    assert "Evidence needs a ladder." in client.get("/games/?evidence=none").content.decode()
