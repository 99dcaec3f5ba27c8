"""Streams of events for programs: their two forms, where they go on, who shares what, and their limits."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

import pytest
from django.http import HttpRequest, HttpResponse
from django.urls import path
from pytest_django import Settings

from tests.support.exchanges import Exchange, get, in_loop, until
from tournament.http import stream_forms, streams
from tournament.http.application import Application
from tournament.http.changes import Changes
from tournament.http.limits import AtOnce
from tournament.views.polling import AFTER, LINES_TYPE, LivePart

LINES, EVENTS = "application/x-ndjson", "text/event-stream"
ADA, EVE = "Bearer of-ada", "Bearer of-eve"


class Feed:
    """The events so far, those of each token's own, and what was asked."""

    def __init__(self) -> None:
        self.events: list[str] = []
        self.own: dict[str, str] = {}
        self.is_over = False
        self.known = {"", ADA, EVE}
        self.asked: list[HttpRequest] = []
        self.again_s = 60.0


feed = Feed()


def followed(request: HttpRequest, **_: Any) -> HttpResponse:
    feed.asked.append(request)
    token = request.headers.get("Authorization", "")
    if token not in feed.known:
        return HttpResponse("unknown", status=401)
    after = int(request.headers.get("Last-Event-ID") or request.GET.get(AFTER) or 0)
    says = feed.own.get(token, "")
    lines = [
        json.dumps({"type": "one", "id": str(number), "data": event + says})
        for number, event in enumerate(feed.events, 1)
        if number > after
    ]
    topics = () if feed.is_over else ("one",)
    seen = str(len(feed.events))
    part = LivePart(request, seen, topics, 0.0, feed.again_s, is_personal=bool(says), name=AFTER)
    body = "".join(f"{line}\n" for line in lines)
    return part.given(HttpResponse(body, LINES_TYPE) if lines else HttpResponse(status=204))


def nobody(get_response: Any) -> Any:
    def answer(request: HttpRequest) -> Any:
        request.user = type("Nobody", (), {"is_authenticated": False})()
        return get_response(request)

    return answer


urlpatterns = [path(f"api/v1/{kind}/<int:pk>/events/", followed) for kind in ("games", "bots")]


@pytest.fixture
def application(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Application:
    settings.ROOT_URLCONF = __name__
    settings.MIDDLEWARE = [f"{__name__}.nobody"]
    vars(feed).update(vars(Feed()))
    monkeypatch.setattr(Changes, "listen", lambda self: asyncio.Event().wait())
    return Application()


def stream(target: str = "/api/v1/games/1/events/", address: str = "127.0.0.2", **headers: str) -> Exchange:
    return get(target, address=address, **{"accept": LINES, **headers})


def told(exchange: Exchange) -> list[str]:
    """The data of the events so far, in either form."""
    lines = (line.removeprefix("data: ") for line in exchange.sent.decode().split("\n"))
    return [json.loads(line)["data"] for line in lines if line.startswith("{")]


def happen(application: Application, *events: str) -> None:
    feed.events += events
    application.streams.note("one")


async def closed(tasks: list[asyncio.Task[None]], *streams: Exchange) -> None:
    for one in streams:
        one.leave()
    await asyncio.gather(*tasks)


@in_loop
async def test_both_forms_have_the_same_events_one_by_one(application: Application) -> None:
    feed.events = ["a", "b"]
    lines, sent = stream(), stream(accept=EVENTS)
    tasks = [one.begin(application) for one in (lines, sent)]
    await until(lambda: len(told(lines)) == len(told(sent)) == 2)
    happen(application, "c")
    await until(lambda: told(lines) == told(sent) == ["a", "b", "c"])
    assert len(feed.asked) == 2, "one request for both"
    assert [line.partition(b"}")[0][:3] for line in lines.sent.splitlines()[1:]] == [b'{"t'] * 3
    assert b'id: 2\ndata: {"type": "one", "id": "2", "data": "b"}\n\n' in sent.sent
    assert (lines.headers[b"content-type"], sent.headers[b"content-type"]) == (
        b"application/x-ndjson; charset=utf-8",
        b"text/event-stream; charset=utf-8",
    )
    assert lines.headers[b"access-control-allow-origin"] == b"*"
    await closed(tasks, lines, sent)


def test_streams_with_the_same_pause_go_on_at_the_same_moments(monkeypatch: pytest.MonkeyPatch) -> None:
    for now in (7.0, 7.25, 7.5, 7.875):
        monkeypatch.setattr(time, "monotonic", lambda now=now: now)
        assert now + streams._to_next_turn(1.0) == 8.0
    assert streams._to_next_turn(0.0) == 0


@pytest.mark.parametrize(
    ("target", "headers", "then"),
    [
        ("?after=1", {}, ["b", "c"]),
        ("?after=1", {"last_event_id": "2"}, ["c"]),
        ("", {"last_event_id": "2", "accept": EVENTS}, ["c"]),
        ("", {}, ["a", "b", "c"]),
    ],
)
@in_loop
async def test_a_client_goes_on_after_the_last_event_that_it_names(
    application: Application, target: str, headers: dict[str, str], then: list[str]
) -> None:
    feed.events = ["a", "b", "c"]
    one = stream(f"/api/v1/games/1/events/{target}", **headers)
    task = one.begin(application)
    await until(lambda: told(one) == then)
    await closed([task], one)


@in_loop
async def test_only_its_own_token_gets_what_is_of_one_user_and_all_share_the_rest(
    application: Application,
) -> None:
    feed.events, feed.own = ["a"], {ADA: " of ada", "sessionid=ada": " of ada"}
    ada = stream(authorization=ADA)
    eve = stream(authorization=EVE, cookie="sessionid=ada")
    visitor, other = stream(cookie="sessionid=ada"), stream(address="127.0.0.3")
    clients = (ada, eve, visitor, other)
    tasks = [one.begin(application) for one in clients]
    await until(lambda: all(told(one) for one in clients))
    asked = len(feed.asked)
    happen(application, "b")
    await until(lambda: all(len(told(one)) == 2 for one in clients))
    assert told(ada) == ["a of ada", "b of ada"]
    assert told(eve) == told(visitor) == told(other) == ["a", "b"]
    assert len(feed.asked) == asked + 2, "one for Ada, and one for all others"
    assert not any(one.COOKIES for one in feed.asked)
    await closed(tasks, *clients)


@in_loop
async def test_the_stream_of_a_revoked_token_ends(application: Application) -> None:
    feed.events, feed.own = ["a"], {ADA: " of ada"}
    one = stream(authorization=ADA)
    task = one.begin(application)
    await until(lambda: told(one))
    feed.known.remove(ADA)
    happen(application, "b")
    await asyncio.wait_for(task, 60)
    assert told(one) == ["a of ada"]


@pytest.mark.parametrize("last", ["", "1"])
@in_loop
async def test_a_stream_ends_with_the_last_event(application: Application, last: str) -> None:
    feed.events, feed.is_over = ["a"], True
    one = stream(last_event_id=last)
    await one.begin(application)
    assert (one.status, told(one)) == ((204, []) if last else (200, ["a"]))


@in_loop
async def test_a_silent_stream_beats_now_and_then(
    application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream_forms, "BEAT_SECONDS", 0.02)
    feed.again_s = 0.001
    lines, sent = stream(), stream(accept=EVENTS)
    tasks = [one.begin(application) for one in (lines, sent)]
    await until(lambda: lines.sent.count(b"\n") >= 3 and sent.sent.count(b"event: beat\n") >= 2)
    assert set(lines.sent) == {ord("\n")}
    assert lines.sent.count(b"\n") < len(feed.asked), "not with each look"
    await closed(tasks, lines, sent)


def limited(most: int) -> AtOnce:
    return AtOnce("streams", 100, most, owner="your token")


@in_loop
async def test_a_token_has_one_stream_of_a_kind_and_an_address_without_one_few(
    application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    feed.events, feed.own = ["a"], {ADA: "!"}
    limits = application.streams._limits_of_programs
    monkeypatch.setattr(limits, "_without_token", limited(2))
    held = [
        stream(authorization=ADA),
        stream("/api/v1/bots/1/events/", authorization=ADA),
        stream(authorization=EVE),
        stream(),
        stream("/api/v1/games/2/events/"),
        stream(address="127.0.0.3"),
    ]
    tasks = [one.begin(application) for one in held]
    await until(lambda: all(told(one) for one in held))
    for over in (stream("/api/v1/games/2/events/", authorization=ADA), stream("/api/v1/bots/3/events/")):
        await over.begin(application)
        assert (over.status, over.headers[b"Retry-After"]) == (429, b"60")
        assert over.headers[b"Access-Control-Allow-Origin"] == b"*", "pages of other sites read why"
        answer = json.loads(over.sent)
        assert (answer["ok"], answer["error"][:9]) == (False, "Too many ")
    held[0].leave()
    await tasks[0]
    again = stream(authorization=ADA)
    tasks.append(again.begin(application))
    await until(lambda: told(again))
    await closed(tasks, *held[1:], again)


@in_loop
async def test_a_made_up_token_gets_no_stream(application: Application) -> None:
    one = stream(authorization="Bearer of-nobody")
    await one.begin(application)
    assert (one.status, one.sent) == (401, b"unknown")


@pytest.mark.parametrize("spelled", ["bearer  of-ada", "BEARER of-ada ", "Bearer of-ada\xa0"])
def test_a_token_is_the_same_however_it_is_spelled(spelled: str) -> None:
    def credentials(value: str) -> bytes:
        scope = get("/api/v1/games/1/events/").scope
        return stream_forms.credentials_of(scope | {"headers": [(b"authorization", value.encode("latin-1"))]})

    assert credentials(spelled) == credentials(ADA) == ADA.encode()
    assert credentials("Basic of-ada") == credentials("Bearer ") == b"", "a visitor"


@pytest.mark.parametrize(
    ("accept", "form"),
    [
        ("application/x-ndjson", stream_forms.JSON_LINES),
        ("text/event-stream, */*;q=0.5", stream_forms.SENT_EVENTS),
        ("Application/X-NDJSON;q=1", stream_forms.JSON_LINES),
        ("*/*", None),
        ("application/json", None),
        ("", None),
    ],
)
def test_the_form_is_the_accepted_one(accept: str, form: stream_forms.StreamForm | None) -> None:
    assert stream_forms.form_of(stream(accept=accept).scope) is form
    assert stream_forms.form_of(stream("/api/v1/games/", accept=LINES).scope) is None
    assert stream_forms.form_of(stream("/games/1/", accept=LINES).scope) is None
