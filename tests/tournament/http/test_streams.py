"""Streams of server-sent events: who gets which event when, and how many streams there may be."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest, HttpResponse
from django.urls import path
from pytest_django import Settings

from tests.support.exchanges import Exchange, get, in_loop, run, until
from tournament.http import streams as module
from tournament.http.application import Application
from tournament.http.changes import Changes
from tournament.http.limits import AtOnce
from tournament.models import User
from tournament.views.polling import LivePart, is_part, reload


@dataclass
class Shown:
    """What a part shows, and how it follows; its name is its topic."""

    state: int = 0
    follows: bool = True
    """Whether it may still change."""
    does: Callable[[], HttpResponse | None] = lambda: None
    """Called while the part is made; may answer instead."""
    pause_s: float = 0.0
    again_s: float = 60.0
    asked: list[HttpRequest] = field(default_factory=list)


shown: dict[str, Shown] = {}


def part(request: HttpRequest, name: str) -> HttpResponse:
    one = shown[name]
    one.asked.append(request)
    state = one.state
    if (instead := one.does()) is not None:
        return instead
    session = request.COOKIES.get("sessionid", "")
    request.user = User(username=session) if session in {"ada", "eve"} else AnonymousUser()
    follow = LivePart(request, str(state), (name,) if one.follows else (), one.pause_s, one.again_s)
    if follow.is_shown:
        return follow.unchanged()
    return follow.given(HttpResponse(f"{name}\n{state} {request.user}".removesuffix(str(AnonymousUser()))))


def plain(request: HttpRequest) -> HttpResponse:
    return HttpResponse(f"plain {is_part(request)}")


def missing() -> HttpResponse:
    return HttpResponse("missing", status=404)


urlpatterns = [path("plain/", plain), path("<name>/", part)]


@pytest.fixture
def application(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Application:
    """Changes are those that a test notes."""
    settings.ROOT_URLCONF = __name__
    settings.MIDDLEWARE = []
    shown.clear()
    shown.update(one=Shown(), two=Shown())
    monkeypatch.setattr(Changes, "listen", lambda self: asyncio.Event().wait())
    return Application()


def stream(target: str, address: str = "127.0.0.1", **headers: str) -> Exchange:
    return get(target, address=address, accept="text/event-stream", **headers)


def events(exchange: Exchange) -> list[str]:
    """What the page shows of each event, and the names of those with another meaning."""
    found = []
    for block in exchange.sent.decode().split("\n\n")[:-1]:
        fields = [line.partition(": ")[::2] for line in block.split("\n")]
        data = "/".join(value for name, value in fields if name == "data")
        if data:
            found.append(data.strip())
        else:
            found += [value for name, value in fields if name == "event" and value != "hello"]
    return found


async def opened(application: Application, *streams: Exchange) -> list[asyncio.Task[None]]:
    """The streams' tasks, after their first events."""
    tasks = [one.begin(application) for one in streams]
    await until(lambda: all(events(one) for one in streams))
    return tasks


async def closed(tasks: list[asyncio.Task[None]], *streams: Exchange) -> None:
    for one in streams:
        one.leave()
    await asyncio.gather(*tasks)


def change(application: Application, name: str = "one") -> None:
    shown[name].state += 1
    application.streams.note(name)


@in_loop
async def test_a_view_is_called_once_for_all_visitors_and_for_each_user(application: Application) -> None:
    visitors = [stream("/one/", f"127.0.0.{n}", cookie=f"theme={n}") for n in range(2, 22)]
    users = [stream("/one/", cookie=f"sessionid={name}") for name in ("ada", "ada", "eve")]
    tasks = await opened(application, *visitors, *users)
    assert len(shown["one"].asked) == 3
    change(application)
    await until(lambda: all(len(events(one)) == 2 for one in (*visitors, *users)))
    assert len(shown["one"].asked) == 6
    assert {tuple(events(one)) for one in visitors} == {("one/0", "one/1")}
    assert [events(one)[1] for one in users] == ["one/1 ada", "one/1 ada", "one/1 eve"]
    assert {tuple(asked.COOKIES) for asked in shown["one"].asked} == {(), ("sessionid",)}
    assert visitors[0].headers[b"content-type"].startswith(b"text/event-stream")
    await closed(tasks, *visitors, *users)


@pytest.mark.parametrize(
    ("target", "cookie", "says"),
    [
        ("/one/?x={}", "", "one/1"),
        ("/one/", "sessionid=made-up-{}", "one/1"),
        ("/one/?x={}", "sessionid=ada; x={}", "one/1 ada"),
    ],
)
@in_loop
async def test_what_the_part_does_not_depend_on_does_not_divide_its_streams(
    application: Application, target: str, cookie: str, says: str
) -> None:
    clients = [stream(target.format(n), f"127.0.0.{n}", cookie=cookie.format(n)) for n in range(2, 22)]
    tasks = await opened(application, *clients)
    asked = len(shown["one"].asked)
    change(application)
    await until(lambda: all(len(events(one)) == 2 for one in clients))
    assert {events(one)[1] for one in clients} == {says}
    assert len(shown["one"].asked) == asked + 1
    await closed(tasks, *clients)


@in_loop
async def test_an_event_comes_when_the_part_s_own_topic_changes(application: Application) -> None:
    one, two = stream("/one/?a=b"), stream("/two/")
    tasks = await opened(application, one, two)
    change(application, "two")
    await until(lambda: len(events(two)) == 2)
    assert (events(one), len(shown["one"].asked)) == (["one/0"], 1)
    application.streams.note("one", "other")
    await until(lambda: len(events(one)) == 2)
    assert events(one) == ["one/0", "beat"], "nothing that is shown has changed"
    assert shown["one"].asked[-1].GET.dict() == {"seen": "0"}
    await closed(tasks, one, two)


@in_loop
async def test_a_change_while_the_part_is_made_is_not_missed(application: Application) -> None:
    loop = asyncio.get_running_loop()

    def change_now() -> None:
        shown["one"].does = lambda: None
        shown["one"].state += 1  # after the view has read it
        loop.call_soon_threadsafe(application.streams.note, "one")

    shown["one"].does = change_now
    one = stream("/one/")
    tasks = await opened(application, one)
    await until(lambda: events(one) == ["one/0", "one/1"])
    await closed(tasks, one)


@in_loop
async def test_a_client_that_comes_back_gets_what_it_missed(application: Application) -> None:
    shown["one"].state = 3
    behind = stream("/one/?seen=0", last_event_id="seen=2")
    same = stream("/one/?seen=0", last_event_id="seen=3")
    tasks = await opened(application, behind, same)
    assert (events(behind), events(same)) == (["one/3"], ["beat"])
    assert b"id: seen=3\n" in behind.sent
    assert sorted(asked.GET["seen"] for asked in shown["one"].asked) == ["2", "3"]
    await closed(tasks, behind, same)


@pytest.mark.parametrize(
    ("target", "status", "content"),
    [
        ("/plain/", 200, "plain False"),
        ("/one/?seen=0", 200, "one\n0 "),
        ("/two/", 404, "missing"),
    ],
)
def test_without_anything_to_follow_the_page_s_own_response_comes(
    application: Application, target: str, status: int, content: str
) -> None:
    shown["one"].follows = False
    shown["two"].does = missing
    exchange = stream(target)
    (sent,) = run(application, exchange)
    assert exchange.status == status
    assert sent.startswith(content)


@in_loop
async def test_what_is_over_comes_as_the_only_event(application: Application) -> None:
    shown["one"].follows = False
    one = stream("/one/?seen=7")
    await one.begin(application)
    assert events(one) == ["one/0"]


@pytest.mark.parametrize(
    ("does", "follows", "last"),
    [(reload, True, ["reload"]), (missing, True, []), (lambda: None, False, ["one/1"])],
)
def test_a_stream_ends_when_the_page_is_another_or_hidden_or_over(
    application: Application, does: Callable[[], HttpResponse | None], follows: bool, last: list[str]
) -> None:
    async def follow() -> None:
        one = stream("/one/")
        (task,) = await opened(application, one)
        shown["one"].does, shown["one"].follows = does, follows
        change(application)
        await asyncio.wait_for(task, 60)
        assert events(one) == ["one/0", *last]

    asyncio.run(follow())


@in_loop
async def test_there_are_limits_for_all_and_for_an_address(
    application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(application.streams, "_limit", AtOnce("streams", 3, 2))
    held = [stream("/one/", "127.0.0.2"), stream("/two/", "127.0.0.2"), stream("/one/", "127.0.0.3")]
    first, *tasks = await opened(application, *held[:2])
    own = stream("/one/", "127.0.0.2")
    await own.begin(application)
    tasks += await opened(application, held[2])
    over = stream("/one/", "127.0.0.4")
    await over.begin(application)
    assert (own.status, over.status) == (429, 503)
    await closed([first], held[0])
    again = stream("/one/", "127.0.0.2")
    tasks += await opened(application, again)
    assert again.status == 200
    await closed(tasks, *held[1:], again)


@in_loop
async def test_changes_in_the_pause_between_events_come_together(
    application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_to_next_turn", lambda pause_s: pause_s)
    shown["one"].pause_s = 0.2
    one = stream("/one/")
    tasks = await opened(application, one)
    begun = time.monotonic()
    for _ in range(5):
        change(application)
    await until(lambda: events(one)[-1] == "one/5")
    assert time.monotonic() - begun > 0.1
    assert events(one) == ["one/0", "one/5"]
    await closed(tasks, one)


@in_loop
async def test_changes_that_concern_others_are_looked_at_with_pauses_too(
    application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []

    def pause(_: float) -> float:
        pauses.append(3600.0 if pauses else 0.0)
        return pauses[-1]

    monkeypatch.setattr(module, "_to_next_turn", pause)
    one, other = stream("/one/"), stream("/two/")
    tasks = await opened(application, one)
    application.streams.note("one")
    await until(lambda: len(pauses) == 2)
    application.streams.note("one")
    tasks += await opened(application, other)
    assert len(shown["one"].asked) == 2
    await closed(tasks, one, other)


@in_loop
async def test_a_part_is_asked_for_again_also_without_news(application: Application) -> None:
    shown["one"].again_s = 0.01
    one = stream("/one/")
    tasks = await opened(application, one)
    shown["one"].state = 1
    await until(lambda: events(one)[-1] == "one/1")
    await closed(tasks, one)


@in_loop
async def test_a_slow_reader_gets_fewer_events_and_holds_up_nobody(application: Application) -> None:
    slow, quick = stream("/one/", "127.0.0.2"), stream("/one/", "127.0.0.3")
    tasks = await opened(application, slow, quick)
    slow.may_send.clear()
    for state in range(1, 6):
        change(application)
        await until(lambda state=state: events(quick)[-1] == f"one/{state}")  # type: ignore[misc]
    assert events(slow) == ["one/0"]
    slow.may_send.set()
    await until(lambda: events(slow)[-1] == "one/5")
    assert len(events(slow)) <= 3
    assert len(events(quick)) == 6
    await closed(tasks, slow, quick)


@in_loop
async def test_a_client_that_goes_is_forgotten_at_once(application: Application) -> None:
    shown["one"].pause_s = 3600.0
    pausing, waiting = stream("/one/"), stream("/two/")
    slow = stream("/two/", "127.0.0.2")
    tasks = await opened(application, pausing, waiting, slow)
    assert application.streams._watched() == {"one", "two"}
    slow.may_send.clear()
    change(application, "two")
    await until(lambda: len(events(waiting)) == 2)
    slow.may_send.set()  # the server drops what it is sent for a client that is gone
    await asyncio.wait_for(closed(tasks, pausing, waiting, slow), 60)
    assert application.streams._watched() == set()


@in_loop
async def test_a_process_that_stops_ends_its_streams(application: Application) -> None:
    may_end = asyncio.Event()
    loop = asyncio.get_running_loop()

    def hang() -> None:
        asyncio.run_coroutine_threadsafe(may_end.wait(), loop).result()

    shown["two"].does = hang
    one, beginning = stream("/one/"), stream("/two/")
    tasks = [*await opened(application, one), beginning.begin(application)]
    await until(lambda: shown["two"].asked)
    application.streams.stop()
    await asyncio.wait_for(tasks[0], 60)
    may_end.set()
    await asyncio.wait_for(tasks[1], 60)
    late = stream("/one/")
    await late.begin(application)
    assert (one.is_whole, beginning.status, late.status) == (True, 503, 503)
