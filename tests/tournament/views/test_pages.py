"""Ladders, bots, accounts, uploads, documents, and properties of every page."""

from __future__ import annotations

import html
import re
from pathlib import Path
from urllib.parse import parse_qs, urljoin, urlsplit

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.test import Client
from pytest_django import DjangoAssertNumQueries

import tournament
from engines.records import Record, read_records
from engines.rules.registry import GAMES
from tests.support.addresses import all_addresses
from tests.support.filled_site import LogIn, Site, add_version, finish
from tests.support.parts import PART, followed_address
from tournament.caches import cache
from tournament.models import (
    Bot,
    BotVersion,
    Game,
    GameLog,
    LadderRating,
    PairScore,
    User,
)
from tournament.models.compressed import pack_log
from tournament.views.site import navigation
from tournament.views.site.documents import render_markdown

pytestmark = pytest.mark.slow

MANIFEST = (
    '[bot]\nname = "Newcomer"\nversion = "1"\ncommand = ["python3", "main.py"]\ngames = ["dogon-kulei"]\n'
)


def page_of(client: Client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200
    return response.content.decode()


def rate(number: int) -> None:
    """Bots with ratings on DuAlma, the first the best."""
    for place in range(number):
        LadderRating.objects.create(
            ladder_id="dualma",
            version=add_version(None, f"bot {place}"),
            mu=30.0 - place / 10,
            sigma=2.0,
            conservative=24.0 - place / 10,
            games=70,
            wins=69,
            losses=1,
        )


def test_the_ladder_shows_the_conservative_rating_and_what_is_taken_off(site: Site, client: Client) -> None:
    rate(1)
    page = page_of(client, "/ladders/dualma/")
    assert '<td class="num rating">24.00</td>' in page
    assert '<td class="num less quiet">6.00</td>' in page


def test_the_ladder_shows_elo_with_its_error_where_games_are_known(site: Site, client: Client) -> None:
    LadderRating.objects.get_or_create(
        ladder_id="dogon-kulei", version=site.black, defaults={"mu": 25, "sigma": 5, "conservative": 10}
    )
    PairScore.objects.create(ladder_id="dogon-kulei", white=site.white, black=site.black, wins=8, losses=2)
    rows = client.get("/ladders/dogon-kulei/").context["ranked"]
    strengths = {row.rating.version: row.agreement.strength for row in rows}
    assert strengths[site.white].elo > 0 > strengths[site.black].elo
    assert "<small>± " in page_of(client, "/ladders/dogon-kulei/")


def test_a_long_ladder_is_paged_and_ranks_go_on(site: Site, client: Client) -> None:
    rate(101)
    assert 'href="?page=2"' in page_of(client, "/ladders/dualma/")
    second = client.get("/ladders/dualma/?page=2")
    assert [row.rating.place for row in second.context["ranked"]] == [101]


def test_a_page_beyond_the_end_of_a_list_is_its_last(site: Site, client: Client) -> None:
    rate(101)
    for number in (3, 99, 10**9):
        ladder = client.get(f"/ladders/dualma/?page={number}")
        assert [row.rating.place for row in ladder.context["ranked"]] == [101]
        assert ladder.context["page"].previous == "?page=1"
        assert ladder.context["page"].next == ""
        bots = client.get(f"/bots/?page={number}")
        assert len(bots.context["page"].rows) == 3
        assert bots.context["page"].previous == "?page=2"
    empty = client.get("/ladders/duovallis/?page=99")
    assert empty.context["page"].previous == ""


@pytest.mark.parametrize("query", ["before=1", f"after={2**62}"])
@pytest.mark.parametrize(
    "address",
    ["/tournaments/", "/tournaments/spring/", "/bots/stone-age/", "/bots/stone-age/1/", "/account/"],
)
def test_a_place_beyond_either_end_of_a_list_is_that_end(
    site: Site, as_user: LogIn, address: str, query: str
) -> None:
    whole = as_user(site.owner).get(address).context["page"]
    page = as_user(site.owner).get(f"{address}?{query}").context["page"]
    assert page.rows == whole.rows
    assert (page.previous, page.next) == ("", "")


def test_ladders_cost_the_same_queries_at_any_size(
    site: Site,
    client: Client,
    django_assert_max_num_queries: DjangoAssertNumQueries,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(navigation, "KEPT_SECONDS", 600)
    rate(30)
    page_of(client, "/ladders/dualma/")  # computes the estimate, which is kept
    with django_assert_max_num_queries(9):
        page_of(client, "/ladders/dualma/")
    with django_assert_max_num_queries(2):
        page_of(client, "/ladders/overall/")
    with django_assert_max_num_queries(1 + 2 * len(GAMES)):
        page_of(client, "/ladders/")
    with django_assert_max_num_queries(3):
        page_of(client, "/bots/")


def test_a_bot_s_page_costs_the_same_queries_with_any_history(
    site: Site, client: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for _ in range(5):
        add_version(site.owner, "Stone Age")
    page_of(client, "/bots/stone-age/")  # caches the state of the queue
    with django_assert_max_num_queries(13):
        page_of(client, "/bots/stone-age/")


def test_the_records_of_a_ladder_are_streamed_and_can_be_read(site: Site, client: Client) -> None:
    response = client.get("/ladders/dogon-kulei/records.pgn")
    assert response["Content-Disposition"] == 'attachment; filename="dogon-kulei.pgn"'
    text = response.getvalue().decode()
    assert [type(record) for record in read_records(text.splitlines(), "ladder")] == [Record]


def test_the_owner_sees_the_reason_for_a_version_s_state_on_its_page(site: Site, as_user: LogIn) -> None:
    BotVersion.objects.filter(pk=site.white.pk).update(state="withdrawn", state_reason="it never said ugiok")
    assert "It never said ugiok." in page_of(as_user(site.owner), "/bots/stone-age/1/")
    for other in (None, site.rival):
        assert "ugiok" not in page_of(as_user(other), "/bots/stone-age/1/")


def test_a_validation_that_could_not_be_played_shows_the_engine_s_output(site: Site, as_user: LogIn) -> None:
    game = site.validation.games.earliest("id")
    Game.objects.filter(pk=game.pk).update(state="halted", evidence="both engines unable to start")
    GameLog.objects.create(game=game, side="white", content=pack_log("SyntaxError: '(' was never closed", ""))
    page = page_of(as_user(site.owner), "/bots/stone-age/1/")
    assert "<details open><summary>White" in page
    assert "was never closed" in page
    assert "was never closed" not in page_of(as_user(site.rival), "/bots/stone-age/1/")


def test_the_records_of_a_ladder_leave_validations_out(site: Site, client: Client) -> None:
    validated = site.validation.games.get(ladder="dogon-kulei")
    finish(validated, sequence=2)
    records = client.get("/ladders/dogon-kulei/records.pgn").getvalue().decode()
    assert site.played.key in records
    assert validated.key not in records


def test_the_page_of_a_version_follows_its_validation(site: Site, client: Client) -> None:
    add_version(site.owner, "Stone Age", state="validating")
    page = client.get("/bots/stone-age/2/")
    address = followed_address(page.content.decode())
    assert client.get(address, headers=PART).status_code == 204


@pytest.mark.parametrize("code", GAMES)
def test_every_game_has_a_rules_page_with_its_start_board(client: Client, code: str, db: None) -> None:
    page = page_of(client, f"/rules/{code}/")
    assert f'class="board board-{code}"' in page


def test_the_documents_links_to_each_other_lead_to_their_pages(client: Client, db: None) -> None:
    assert 'href="/kit/"' in render_markdown("see [the kit](README.md)")
    assert 'href="/records/#notes"' in render_markdown("[notes](RECORDS.md#notes)")
    for address in ("/kit/", "/protocol/", "/records/"):
        assert '.md"' not in page_of(client, address)


def test_markdown_shows_html_instead_of_using_it() -> None:
    assert "<script>" not in render_markdown("Hello <script>alert(1)</script> [x](javascript:alert(1))")
    assert "href" not in render_markdown("[x](javascript:alert(1))")


def test_no_page_has_inline_scripts_or_styles(site: Site, as_user: LogIn) -> None:
    client = as_user(site.owner)
    for address in (
        "/",
        "/ladders/",
        "/ladders/dogon-kulei/",
        "/tournaments/spring/",
        f"/games/{site.played.pk}/",
        "/tournaments/new/",
        "/upload/",
    ):
        page = page_of(client, address)
        assert " style=" not in page
        assert "<style" not in page
        assert " onclick" not in page
        scripts = [part.partition(">")[0] for part in page.split("<script")[1:]]
        assert all("src=" in script or 'type="application/json"' in script for script in scripts)


def test_the_text_direction_of_a_name_ends_with_the_name(site: Site, client: Client) -> None:
    assert '<a class="bot" href="/bots/brivalb/1/">&lt;b&gt;Rival&lt;/b&gt;\u202e</a>' in page_of(
        client, "/ladders/dogon-kulei/"
    )


def test_a_new_account_is_logged_in_and_sent_to_the_requested_page(client: Client, db: None) -> None:
    data = {
        "username": "nora",
        "password1": "correct horse",
        "password2": "correct horse",
        "next": "/upload/",
    }
    assert client.post("/sign-up/", data)["Location"] == "/upload/"
    assert client.get("/account/").status_code == 200


@pytest.mark.parametrize(("address", "other"), [("/sign-up/", "/log-in/"), ("/log-in/", "/sign-up/")])
def test_the_requested_page_survives_the_change_from_log_in_to_sign_up(
    client: Client, db: None, address: str, other: str
) -> None:
    assert f'href="{other}?next=%2Fupload%2F"' in page_of(client, f"{address}?next=/upload/")


TARGETS = (
    "https://evil.example/",
    "//evil.example",
    "///evil.example",
    "/\\evil.example",
    "\\\\evil.example",
    "javascript:alert(1)",
    "/\t/evil.example",
    "/bots/\r\nSet-Cookie: a=b",
    "\x00/bots/",
    "/bots/\u202e",
    "foo",
    "bots/",
    "?page=2",
    "http://[",
)
"""What a visitor may be asked to go to, none of them a path of this site."""


@pytest.mark.parametrize("address", ["/sign-up/", "/log-in/"])
def test_nobody_is_sent_to_another_site(site: Site, client: Client, address: str) -> None:
    data = {"username": "nora", "password1": "correct horse", "password2": "correct horse"}
    if address == "/log-in/":
        data = {"username": "olga", "password": "correct horse"}
    for target in TARGETS:
        with transaction.atomic():
            assert Client().post(address, {**data, "next": target})["Location"] == "/account/", target
            transaction.set_rollback(True)
        cache.clear()


def test_the_log_in_page_redirects_a_user_who_is_logged_in(site: Site, as_user: LogIn) -> None:
    for target, leads_to in (
        ("/bots/?page=2", "/bots/?page=2"),
        ("foo", "/account/"),
    ):
        response = as_user(site.owner).get("/log-in/", {"next": target})
        assert response["Location"] == leads_to


@pytest.mark.parametrize(
    ("data", "field"),
    [
        ({"username": "OLGA", "password1": "correct horse", "password2": "correct horse"}, "username"),
        ({"username": "x" * 41, "password1": "correct horse", "password2": "correct horse"}, "username"),
        ({"username": "<b>", "password1": "correct horse", "password2": "correct horse"}, "username"),
        ({"username": "nora", "password1": "correct horse", "password2": "wrong horse"}, "password2"),
        ({"username": "nora", "password1": "short", "password2": "short"}, "password1"),
    ],
)
def test_a_bad_sign_up_gets_a_sentence_and_stores_no_user(
    site: Site, client: Client, data: dict[str, str], field: str
) -> None:
    response = client.post("/sign-up/", data)
    assert list(response.context["form"].errors) == [field]
    assert len(response.context["form"].errors[field]) == 1
    assert User.objects.count() == 3


def test_logging_out_requires_a_post(site: Site, as_user: LogIn) -> None:
    assert as_user(site.owner).get("/log-out/").status_code == 405


def test_a_user_logs_in_with_the_changed_password(site: Site, as_user: LogIn) -> None:
    data = {
        "oldpassword": "correct horse",
        "password1": "battery staple",
        "password2": "battery staple",
    }
    assert as_user(site.owner).post("/account/password/", data)["Location"] == "/account/"
    assert Client().login(username="olga", password="battery staple")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [(None, "Choose a zip file."), (b"", "The file is empty."), (b"no zip", ""), (MANIFEST.encode(), "")],
)
def test_a_refused_upload_gets_one_sentence_and_leaves_nothing(
    site: Site, as_user: LogIn, content: bytes | None, sentence: str
) -> None:
    data = {} if content is None else {"bundle": SimpleUploadedFile("bot.zip", content)}
    response = as_user(site.owner).post("/upload/", data)
    assert response.status_code == 200
    (error,) = response.context["form"].errors["bundle"]
    assert sentence in error
    assert Bot.objects.filter(name="Newcomer").count() == 0


def test_the_upload_page_shows_whether_and_how_uploads_are_run(
    site: Site, as_user: LogIn, settings: object
) -> None:
    settings.TRUST_UPLOADS = False  # type: ignore[attr-defined]
    settings.IS_LOCAL = True  # type: ignore[attr-defined]
    assert "./arena up --port 8123 --trust-uploads" in page_of(as_user(site.owner), "/upload/")
    settings.TRUST_UPLOADS = True  # type: ignore[attr-defined]
    assert "--trust-uploads" not in page_of(as_user(site.owner), "/upload/")


@pytest.mark.parametrize(
    "address",
    [
        "/games/99999999999999999999999999/",
        "/games/0/",
        "/bots/none/",
        "/bots/stone-age/99999999999999999999999/",
        "/ladders/chess/",
        "/rules/chess/",
        "/tournaments/none/",
        "/nowhere",
    ],
)
def test_an_unknown_address_gets_status_404_and_a_page(site: Site, client: Client, address: str) -> None:
    response = client.get(address)
    assert response.status_code == 404
    assert "no such page" in response.content.decode()


@pytest.mark.django_db
def test_the_about_page_names_the_inventor_of_each_game_once(client: Client) -> None:
    page = page_of(client, "/about/")
    for game in GAMES.values():
        assert page.count(f"<li>{game.family}: {game.credit}</li>") == 1


LINK = re.compile(r'<(?:a|link|script|img|use)\b[^>]*?\s(?:href|src)="([^"]*)"')


@pytest.mark.parametrize("visitor", ["guest", "staff"])
def test_no_page_has_a_dead_link(site: Site, client: Client, visitor: str) -> None:
    addresses = all_addresses(site)
    if visitor == "staff":
        client.force_login(site.staff)
    pages = {path: text for path in addresses if (text := html_of(client, path))}
    assert len(pages) > 20
    found, dead = set[str](), list[str]()
    for path, text in pages.items():
        for link in map(html.unescape, LINK.findall(text)):
            address, _, place = urljoin(f"http://testserver{path}", link).partition("#")
            if place and f'id="{place}"' not in (text if link.startswith("#") else html_of(client, address)):
                dead.append(f"{path}: {link}")
            found.add(address)
    opened = {f"http://testserver{path}" for path in pages}
    ours = {address for address in found if address.startswith("http://testserver/")} - opened
    ours -= {address for address in ours if address.endswith("/bundle.zip")}  # the bots here have no files
    kinds = {(urlsplit(address).path, tuple(parse_qs(urlsplit(address).query))): address for address in ours}
    dead += [address for address in kinds.values() if client.get(address).status_code in {400, 404, 500}]
    assert dead == []


def test_a_page_follows_one_part_whatever_else_its_address_says(site: Site, client: Client) -> None:
    followed = dict[str, str]()
    for address in all_addresses(site):
        page = html_of(client, address)
        assert page.count("data-follow=") <= 1, address
        if page and (part := followed_address(page)):
            followed[address] = part
            other = html_of(client, f"{address}{'&' if '?' in address else '?'}x=1")
            assert followed_address(other) == part, address
    assert len(followed) >= 8, followed


def html_of(client: Client, address: str) -> str:
    """The page at an address; empty if the answer is no page."""
    response = client.get(address)
    is_page = response.status_code == 200 and response["Content-Type"].startswith("text/html")
    return response.content.decode() if is_page else ""


ASK_BY_THEMSELVES = {"people/account_close.html", "site/annulments.html", "mfa/totp/deactivate_form.html"}
"""Pages that only ask, before their button acts."""


def test_every_button_that_destroys_something_asks_first() -> None:
    templates = Path(tournament.__file__).parent / "templates"
    for file in templates.rglob("*.html"):
        text = file.read_text(encoding="utf-8")
        for button in re.finditer(r'<button[^>]*class="[^"]*danger', text):
            before = text[: button.start()]
            is_asked = before.count("<details") > before.count("</details>")
            assert is_asked or str(file.relative_to(templates)) in ASK_BY_THEMSELVES, f"{file}: {button[0]}"
