"""The addresses of events: pages of them, who may ask, and streams that go on elsewhere."""

from __future__ import annotations

import asyncio
import io
import json
import re
import shlex
import urllib.request
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.db import connections
from django.test import Client, RequestFactory
from django.urls import resolve

from tests.support.documents import blocks, read
from tests.support.exchanges import Exchange, get, until
from tests.support.parts import PART
from tests.support.schedule import (
    Deal,
    make_tournament,
    make_user,
    make_version,
    open_door,
    play_short,
    record,
)
from tournament.api.limits import LIMITS
from tournament.api.v1.events.mine import TOPIC
from tournament.api.v1.events.types import ApiEvent
from tournament.api.v1.openapi import document
from tournament.http.application import Application
from tournament.http.changes import Changes
from tournament.http.stream_forms import JSON_LINES, form_of
from tournament.models import Bot, BotVersion, Notice, User
from tournament.queues import tournament_topic
from tournament.services.accounts.tokens import create_token, revoke
from tournament.views.polling import OF_STREAM

LADDER = "duploline"
LINES = "application/x-ndjson"


@pytest.fixture
def ada() -> User:
    open_door()
    return make_user()


def token_of(user: User, *scopes: str, bot: Bot | None = None) -> dict[str, str]:
    """The headers of a program."""
    return {"Authorization": f"Bearer {create_token(user, 'program', scopes, bot=bot)[1]}"}


def ask(path: str, status: int = 200, headers: dict[str, str] | None = None) -> Any:
    """The JSON of the answer to a program without cookies."""
    response = Client(enforce_csrf_checks=True).get(path, headers=headers)
    assert response.status_code == status
    assert response["Access-Control-Allow-Origin"] == "*"
    answer = json.loads(response.content)
    if status != 200:
        assert answer.keys() == {"ok", "error"}
        assert answer["ok"] is False
    return answer


@pytest.mark.django_db
def test_a_page_of_events_leads_to_those_after_it(deal: Deal) -> None:
    tournament = make_tournament()
    page = ask(f"/api/v1/tournaments/{tournament.slug}/events/")
    assert [event["type"] for event in page["rows"]] == ["reset"]
    jobs = deal()
    for job in jobs:
        for report in play_short(job):
            record(report)
    page = ask(page["next"])
    assert [event["type"] for event in page["rows"]].count("game.ended") == 2
    game = tournament.games.order_by("pk")[0]
    page = ask(f"/api/v1/games/{game.pk}/events/")
    assert page["rows"][-1]["type"] == "game.ended"
    assert page["next"] is None, "nothing follows"
    last = page["rows"][-2]["id"]
    assert ask(f"/api/v1/games/{game.pk}/events/?after={last}")["rows"] == page["rows"][-1:]
    (event,) = ask(f"/api/v1/games/{game.pk}/events/?after={last}", headers={"Host": "localhost:8000"})[
        "rows"
    ]
    assert event["data"]["page"] == f"http://localhost:8000/games/{game.pk}/"


@pytest.mark.django_db
def test_pages_of_events_count_as_rows_and_looks_of_open_streams_do_not(
    deal: Deal, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted: list[int] = []
    monkeypatch.setattr(LIMITS, "count", lambda client, rows: counted.append(rows))
    tournament = make_tournament()
    for job in deal():
        for report in play_short(job):
            record(report)
    path = f"/api/v1/games/{tournament.games.order_by('pk')[0].pk}/events/"
    rows = ask(path)["rows"]
    assert counted == [len(rows)]
    request = RequestFactory().get(path, headers=PART)
    request.scope = {OF_STREAM: True}  # type: ignore[attr-defined]
    match = resolve(path)
    assert len(match.func(request, **match.kwargs).content.splitlines()) == len(rows)
    assert counted == [len(rows)]


@pytest.mark.django_db
@pytest.mark.parametrize("accept", [LINES, "text/event-stream"])
def test_a_stream_of_what_is_over_is_told_to_stop(deal: Deal, accept: str) -> None:
    tournament = make_tournament()
    for job in deal():
        for report in play_short(job):
            record(report)
    path = f"/api/v1/games/{tournament.games.order_by('pk')[0].pk}/events/"
    last = ask(path)["rows"][-1]["id"]
    response = Client().get(path, headers={"Accept": accept, "Last-Event-ID": last})
    assert (response.status_code, response.content) == (204, b"")


@pytest.mark.django_db
@pytest.mark.parametrize(
    "path",
    [
        "games/999/",
        "tournaments/none/",
        "ladders/none/",
        "bots/none/1/",
        "version-tests/none/",
    ],
)
def test_what_is_not_there_has_no_events(path: str) -> None:
    answer = ask(f"/api/v1/{path}events/", 404)
    assert "no" in answer["error"].lower()


@pytest.mark.django_db
def test_a_ladder_that_is_not_there_is_a_bad_parameter() -> None:
    answer = ask("/api/v1/tv/events/?ladder=none", 400)
    assert answer["error"].startswith("The parameter ladder is 'none': not one of ")
    assert "after, ladder" in ask("/api/v1/tv/events/?leder=none", 400)["error"]


@pytest.mark.django_db
def test_only_reading_is_allowed(ada: User) -> None:
    for method in ("post", "put", "delete"):
        response = getattr(Client(), method)("/api/v1/tv/events/")
        assert (response.status_code, response["Allow"]) == (405, "GET, HEAD")


@pytest.mark.django_db
def test_a_private_object_is_followed_only_with_a_token_that_may_see_it(ada: User) -> None:
    version = make_version("Stone Age", owner=ada, games=[LADDER], state=BotVersion.State.REFUSED)
    other = make_version("Iron Age", owner=ada, games=[LADDER]).bot
    eve, stan = make_user("eve"), make_user("stan", staff=True)
    path = "/api/v1/bots/stone-age/1/events/"
    for headers in (
        {},
        token_of(eve, "logs:read", "bots:upload"),
        token_of(ada, "play"),
        token_of(ada, "worker: own"),
        token_of(ada, "logs:read", bot=other),
    ):
        ask(path, 404, headers)
    browser = Client()
    browser.force_login(ada)
    assert browser.get(path).status_code == 404, "no cookie counts"
    for headers in (
        token_of(ada, "logs:read"),
        token_of(ada, "bots:upload"),
        token_of(ada, "logs:read", bot=version.bot),
        token_of(stan, "logs:read"),
    ):
        assert ask(path, headers=headers)["rows"][-1]["data"]["state"] == "refused"


@pytest.mark.django_db
def test_a_draft_is_followed_by_its_owner_and_by_no_token_of_one_bot(ada: User) -> None:
    draft = make_tournament(owner=ada, running=False)
    game = f"/api/v1/tournaments/{draft.slug}/events/"
    assert ask(game, headers=token_of(ada, "logs:read"))["rows"]
    bot = make_version("Iron Age", owner=ada, games=[LADDER]).bot
    for headers in ({}, token_of(make_user("eve"), "logs:read"), token_of(ada, "logs:read", bot=bot)):
        ask(game, 404, headers)


@pytest.mark.django_db
def test_notices_are_those_of_the_token_s_user_or_bot(ada: User) -> None:
    version, other = (make_version(name, owner=ada, games=[LADDER]) for name in ("Stone Age", "Iron Age"))
    for one in (version, other):
        Notice.objects.create(user=ada, version=one, text=f"of {one}")
    Notice.objects.create(user=make_user("eve"), text="of Eve")
    path = "/api/v1/mine/events/"
    ask(path, 401)
    ask(path, 401, {"Authorization": "Bearer duarena_wrong"})
    ask(path, 403, headers=token_of(ada, "bots:upload"))
    texts = [event["data"]["text"] for event in ask(path, headers=token_of(ada, "logs:read"))["rows"]]
    assert texts == ["of Stone Age v1", "of Iron Age v1"]
    (event,) = ask(path, headers=token_of(ada, "logs:read", bot=version.bot))["rows"]
    assert event["data"]["text"] == "of Stone Age v1"


@pytest.mark.django_db
def test_a_wrong_token_is_refused_also_where_none_is_needed(ada: User) -> None:
    token, text = create_token(ada, "old", ["logs:read"])
    headers = {"Authorization": f"Bearer {text}"}
    ask("/api/v1/tv/events/", headers=headers)
    revoke(token)
    ask("/api/v1/tv/events/", 401, headers)


def opened_by_client(request: urllib.request.Request, timeout: float) -> Any:
    """The answer of the site's views, as ``urlopen`` gives it."""
    response = Client().get(request.full_url.partition(".example")[2], headers=dict(request.header_items()))
    assert response.status_code in {200, 204}
    lines = io.BytesIO(response.content)
    lines.status = response.status_code  # type: ignore[attr-defined]
    return lines


@pytest.mark.django_db
def test_the_program_of_the_documents_prints_each_move_of_a_game(
    deal: Deal, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tournament = make_tournament()
    for job in deal():
        for report in play_short(job):
            record(report)
    game = tournament.games.order_by("pk")[0]
    monkeypatch.setattr(urllib.request, "urlopen", opened_by_client)
    monkeypatch.setattr("time.sleep", lambda _: None)
    (program,) = [text for text in blocks("docs/api.md", "python") if "def follow(" in text]
    exec(program.replace("12345", str(game.pk)), {})
    printed = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert [int(ply) for ply, _ in printed] == list(range(1, game.plies + 1))


@pytest.mark.django_db
def test_the_command_of_the_documents_asks_for_a_stream() -> None:
    commands = (shlex.split(line) for line in blocks("docs/api.md", "sh"))
    (command,) = (one for one in commands if one[:3] == ["curl", "-sN", "-H"])
    name, _, value = command[3].partition(": ")
    path = command[4].partition(".example")[2]
    assert form_of(get(path, **{name.lower(): value}).scope) is JSON_LINES
    assert Client().get(path, headers={name: value}).status_code == 204, "nothing is played"


def test_the_documents_have_every_type_of_event() -> None:
    names = {kind.__struct_config__.tag for kind in ApiEvent.__subclasses__()}
    table = re.findall(r"^\| `([a-z.]+)` \|", read("docs/events.md"), re.MULTILINE)
    assert sorted(table) == sorted(map(str, names))


def test_the_document_describes_every_form_of_following() -> None:
    described = [one["get"] for path, one in document("")["paths"].items() if path.endswith("/events/")]
    assert len(described) == 7
    for one in described:
        forms = one["responses"]["200"]["content"]
        assert list(forms) == ["application/json", LINES, "text/event-stream"]
        assert "204" in one["responses"]
        names = [parameter["name"] for parameter in one["parameters"]]
        assert {"after", "Last-Event-ID"} <= set(names)
    assert sum(one["security"] == [{"token": ["logs:read"]}] for one in described) == 1


def stream(path: str, last: str = "") -> Exchange:
    headers = {"accept": LINES} | ({"last_event_id": last} if last else {})
    return get(path, address="127.0.0.2", **headers)


def told(exchange: Exchange) -> list[dict[str, Any]]:
    return [json.loads(line) for line in exchange.sent.decode().split("\n") if line.startswith("{")]


def games_of(events: list[dict[str, Any]]) -> list[int]:
    """The games that ended."""
    return [event["data"]["id"] for event in events if event["type"] == "game.ended"]


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_client_whose_server_was_killed_gets_each_game_once(
    deal: Deal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Streams that end at any place, and go on in another process, while games are recorded."""
    monkeypatch.setattr(Changes, "listen", lambda self: asyncio.Event().wait())
    tournament = make_tournament(bots=3)
    path = f"/api/v1/tournaments/{tournament.slug}/events/"
    reports = []
    while jobs := deal():
        reports += [report for job in jobs for report in play_short(job)]

    async def follow() -> list[dict[str, Any]]:
        seen: list[dict[str, Any]] = []
        for number, report in enumerate(reports):
            application, one = Application(), stream(path, seen[-1]["id"] if seen else "")
            task = one.begin(application)
            if number % 2:  # the game ends while it is followed, else while nobody listens
                await sync_to_async(record)(report)
                application.streams.note(tournament_topic(tournament.pk))
            await until(lambda one=one, first=not seen: told(one) if first else one.sent)  # type: ignore[misc]
            application.streams.stop()
            await task
            seen += told(one)
            if not number % 2:
                await sync_to_async(record)(report)
        last = stream(path, seen[-1]["id"])
        task = last.begin(Application())
        await until(lambda: len(games_of([*seen, *told(last)])) >= len(reports))
        last.leave()
        await task
        return [*seen, *told(last)]

    try:
        events = asyncio.run(asyncio.wait_for(follow(), 120))
    finally:
        connections.close_all()
    types = [event["type"] for event in events]
    assert types[0] == "reset"
    assert types.count("reset") == 1
    assert sorted(games_of(events)) == sorted(tournament.games.values_list("pk", flat=True))


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_streams_of_notices_are_of_one_user_each_and_end_with_the_token(
    ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Changes, "listen", lambda self: asyncio.Event().wait())
    eve = make_user("eve")
    tokens = {user: create_token(user, "program", ["logs:read"]) for user in (ada, eve)}
    browser = Client()
    browser.force_login(ada)
    session = browser.cookies["sessionid"].value
    for user in (ada, eve):
        Notice.objects.create(user=user, text=f"of {user.username}")

    async def follow() -> None:
        application = Application()
        path = "/api/v1/mine/events/"
        headers = {user: {"authorization": f"Bearer {text}"} for user, (_, text) in tokens.items()}
        of_ada = get(path, accept=LINES, **headers[ada])
        of_eve = get(path, accept=LINES, cookie=f"sessionid={session}", **headers[eve])
        second = get("/api/v1/mine/events/?after=x", accept=LINES, **headers[ada])
        no_token = get(path, accept=LINES, cookie=f"sessionid={session}")
        tasks = [one.begin(application) for one in (of_ada, of_eve)]
        await until(lambda: told(of_ada) and told(of_eve))
        for one, status in ((second, 429), (no_token, 401)):
            await one.begin(application)
            assert one.status == status
        for user, one in ((ada, of_ada), (eve, of_eve)):
            assert [event["data"]["text"] for event in told(one)] == [f"of {user.username}"]
        await sync_to_async(revoke)(tokens[ada][0])
        application.streams.note(TOPIC)
        await tasks[0]
        of_eve.leave()
        await tasks[1]

    try:
        asyncio.run(asyncio.wait_for(follow(), 120))
    finally:
        connections.close_all()
