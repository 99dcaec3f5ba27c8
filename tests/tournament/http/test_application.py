"""The ASGI application, called as uvicorn calls it: bodies, addresses, threads, files; clients' addresses."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.http import FileResponse, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import path, re_path, reverse
from pytest_django import Settings

from tests.support.exchanges import LIMIT_SECONDS, Exchange, get, in_loop, run, until
from tournament.addresses import counted_address, plain_address
from tournament.http import application as module
from tournament.http.application import Application
from tournament.http.limits import LARGE_BYTES, TOO_LARGE
from tournament.http.threads import EXPORT_PATHS, HEALTH_PATH, PASSWORD_PATHS, SEARCH_PATHS, THREADS, kind_of
from tournament.views.paced import PacedResponse
from workers.logs import make_formatter

SIZE = 10_000_000
may_end = threading.Event()
files: list[Any] = []
begun: list[str] = []


def show(request: HttpRequest) -> HttpResponse:
    """The body's length, whether a body was dropped, the client's address and the scheme."""
    words = (len(request.read()), request.META[TOO_LARGE], request.META["REMOTE_ADDR"], request.scheme)
    return HttpResponse(" ".join(map(str, words)))


def slow(request: HttpRequest) -> HttpResponse:
    begun.append(request.path)
    assert may_end.wait(60)
    return HttpResponse("slow")


def download(request: HttpRequest) -> HttpResponseBase:
    file = Path(request.GET["file"]).open("rb")  # noqa: SIM115
    files.append(file)
    return FileResponse(file)


def lines(request: HttpRequest) -> PacedResponse:
    """Three lines with the kind of thread that makes each, and a pause before the last one."""
    pauses = iter((0.0, float(request.GET["pause"]), 0.0))

    def parts() -> Iterator[bytes]:
        try:
            for number in range(3):
                begun.append(str(number))
                yield f"{number} {threading.current_thread().name.partition('_')[0]}\n".encode()
        finally:
            begun.append("closed")

    return PacedResponse(parts(), lambda: next(pauses), "application/x-ndjson")


def healthz(request: HttpRequest) -> HttpResponse:
    return slow(request) if "slow" in request.GET else show(request)


urlpatterns = [
    path("healthz", healthz),
    path("download/", download),
    re_path("^api/v1/(?:bots|games)/", lines),
    re_path("^(?:slow|log-in|games)/", slow),
    re_path("", show),
]


@pytest.fixture
def application(settings: Settings) -> Iterator[Application]:
    settings.ROOT_URLCONF = __name__
    settings.MIDDLEWARE = []
    settings.MAX_BUNDLE_BYTES = 8 * LARGE_BYTES
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1000
    files.clear()
    begun.clear()
    may_end.clear()
    yield Application()
    may_end.set()


def upload(address: str = "127.0.0.1") -> Exchange:
    """Half an upload that is large."""
    size = str(2 * LARGE_BYTES)
    return Exchange("POST /upload/", address=address, content_length=size).body(b"x", more=True)


def test_a_body_arrives_whole_and_in_any_number_of_pieces(application: Application) -> None:
    one = Exchange("POST /form/", content_length="1000").body(b"x" * 600, b"x" * 400)
    other = Exchange("POST /form/", transfer_encoding="chunked").body(b"x" * 999, b"")
    assert run(application, one, other) == ["1000 False 127.0.0.1 http", "999 False 127.0.0.1 http"]


@pytest.mark.parametrize("where", ["/log-out/", "/upload/", "/api/bots/"])
def test_a_body_over_the_limit_is_refused_before_it_arrives(application: Application, where: str) -> None:
    exchange = Exchange(f"POST {where}", content_length="99999999")
    assert run(application, exchange) == ["0 True 127.0.0.1 http"]


def test_a_chunked_body_over_the_limit_is_dropped(application: Application) -> None:
    exchange = Exchange("POST /form/", transfer_encoding="chunked").body(b"x" * 2000, more=True)
    assert run(application, exchange) == ["0 True 127.0.0.1 http"]


def test_a_body_that_takes_too_long_is_refused(
    application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "GRACE_SECONDS", 0.0)
    exchange = Exchange("POST /form/", content_length="900").body(b"x", more=True)
    run(application, exchange)
    assert (exchange.status, exchange.headers[b"Connection"]) == (408, b"close")


@in_loop
async def test_half_a_body_occupies_no_thread(application: Application) -> None:
    halves = [Exchange("POST /form/", content_length="900").body(b"x", more=True) for _ in range(20)]
    tasks = [half.begin(application) for half in halves]
    page = get("/page/")
    await page.begin(application)
    assert page.status == 200
    for half in halves:
        half.leave()
    await asyncio.gather(*tasks)
    assert {half.status for half in halves} == {0}


@in_loop
async def test_more_uploads_than_the_limit_are_refused_while_others_arrive(application: Application) -> None:
    arriving = [upload(f"127.0.0.{2 + place // 2}") for place in range(7)]
    tasks = [one.begin(application) for one in arriving]
    await until(lambda: all(one.arrives.empty() for one in arriving))
    third, last, over = upload("127.0.0.2"), upload("127.0.0.9"), upload("127.0.0.10")
    await third.begin(application)
    tasks.append(last.begin(application))
    await until(last.arrives.empty)
    await over.begin(application)
    assert (third.status, last.status, over.status) == (429, 0, 503)
    for one in (*arriving, last):
        one.leave()
    await asyncio.gather(*tasks)
    next_one = upload("127.0.0.2").body(b"x" * (2 * LARGE_BYTES - 1))
    await next_one.begin(application)
    assert next_one.status == 200


@pytest.mark.parametrize(
    "line", ["GET /slow/", "POST /log-in/", "GET /games/?round=9", "GET /games/games.csv"]
)
def test_slow_requests_of_one_kind_or_address_delay_no_others(application: Application, line: str) -> None:
    async def ask() -> None:
        many = [Exchange(line, address="127.0.0.2").body(b"") for _ in range(20)]
        tasks = [one.begin(application) for one in many]
        await until(lambda: all(one.arrives.empty() for one in many))
        for target in ("/page/", "/healthz"):
            exchange = get(target)
            await asyncio.wait_for(exchange.begin(application), 60)
            assert exchange.status == 200
        may_end.set()
        await asyncio.gather(*tasks)
        assert {one.status for one in many} == {200}

    asyncio.run(ask())


@in_loop
async def test_no_more_requests_than_threads_are_answered_at_a_time(application: Application) -> None:
    many = [get("/slow/", address=f"127.0.1.{place}") for place in range(20)]
    tasks = [one.begin(application) for one in many]
    await until(lambda: len(begun) == THREADS["pages"])
    check = get("/healthz")
    await check.begin(application)
    assert (check.status, len(begun)) == (200, THREADS["pages"])
    may_end.set()
    await asyncio.gather(*tasks)
    assert len(begun) == 20


@in_loop
async def test_the_health_check_answers_although_the_database_does_not(
    application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "HEALTH_SECONDS", 0.05)
    for _ in range(2):  # the second one finds its thread occupied
        check = get("/healthz?slow")
        await asyncio.wait_for(check.begin(application), LIMIT_SECONDS)
        assert (check.status, check.sent[:27]) == (503, b"database: it has not answer")
    may_end.set()
    monkeypatch.setattr(module, "HEALTH_SECONDS", LIMIT_SECONDS)
    check = get("/healthz")
    await check.begin(application)
    assert check.status == 200


def test_the_addresses_with_a_thread_of_their_own_are_those_of_the_site() -> None:
    names = (
        *("log-in", "account_login", "sign-up", "account_signup", "account_change_password"),
        *("account_reauthenticate", "account_reset_password"),
    )
    paths = [reverse(name) for name in names]
    paths.append(reverse("account_reset_password_from_key", args=["1", "a-b"]))
    assert all(where.startswith(PASSWORD_PATHS) for where in paths)
    assert reverse("healthz") == HEALTH_PATH
    assert (reverse("games"), reverse("v1-games")) == SEARCH_PATHS
    assert reverse("games-export", args=["csv"]).startswith(EXPORT_PATHS)
    assert {kind_of(get(where).scope) for where in SEARCH_PATHS} == {"pages"}


def test_a_file_is_read_as_its_client_takes_it(application: Application, tmp_path: Path) -> None:
    large = tmp_path / "large"
    large.write_bytes(b"x" * SIZE)

    async def ask() -> None:
        readers = [get(f"/download/?file={large}") for _ in range(20)]
        for reader in readers:
            reader.may_send.clear()
        tasks = [reader.begin(application) for reader in readers]
        await until(lambda: len(files) == 20)
        page = get("/page/")
        await page.begin(application)
        assert page.status == 200
        first, second, *others = readers
        first.may_send.set()
        await tasks[0]
        assert len(first.sent) == SIZE
        assert all(file.closed or file.tell() < SIZE / 10 for file in files)
        for reader in (second, *others):
            reader.leave()
            reader.may_send.set()
        await asyncio.gather(*tasks)
        assert all(len(reader.sent) < SIZE / 10 for reader in others)

    asyncio.run(ask())
    assert all(file.closed for file in files)


def test_a_file_is_not_read_for_its_head(application: Application, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"text")
    exchange = Exchange(f"HEAD /download/?file={tmp_path / 'file'}").body(b"")
    assert run(application, exchange) == [""]
    assert exchange.headers[b"Content-Length"] == b"4"


@pytest.mark.parametrize(("what", "kind"), [("bots", "pages"), ("games", "searches")])
def test_lines_are_made_part_by_part_with_pauses(application: Application, what: str, kind: str) -> None:
    before = time.monotonic()
    (text,) = run(application, get(f"/api/v1/{what}/?pause=0.05"))
    assert text == f"0 {kind}\n1 {kind}\n2 {kind}\n"
    assert begun == ["0", "1", "2", "closed"]
    assert time.monotonic() - before >= 0.05


@in_loop
async def test_a_pause_between_lines_occupies_no_thread_and_ends_with_the_client(
    application: Application,
) -> None:
    readers = [get("/api/v1/bots/?pause=900") for _ in range(20)]
    tasks = [reader.begin(application) for reader in readers]
    await until(lambda: all(reader.sent.count(b"\n") == 2 for reader in readers))
    page = get("/page/")
    await page.begin(application)
    assert page.status == 200
    for reader in readers:
        reader.leave()
    await asyncio.gather(*tasks)
    assert begun.count("closed") == len(readers)
    assert "2" not in begun


def test_no_lines_are_made_for_their_head(application: Application) -> None:
    assert run(application, Exchange("HEAD /api/v1/bots/?pause=0").body(b"")) == [""]
    assert begun == []


def shown(application: Application, address: str = "127.0.0.1", **headers: str) -> str:
    (text,) = run(application, get("/page/", address=address, **headers))
    return text.removeprefix("0 False ")


@pytest.mark.parametrize("proxy", ["127.0.0.1", "*"])
@pytest.mark.parametrize("address", ["127.0.0.1", "::ffff:127.0.0.1"])
@pytest.mark.parametrize(
    ("named", "address_shown"),
    [("9.9.9.9, 1.2.3.4", "1.2.3.4"), ("1.2.3.4:81", "1.2.3.4"), ("[2001:db8::2]:82", "2001:db8::2")],
)
def test_behind_a_proxy_the_last_address_that_it_names_is_the_client_s(
    application: Application, settings: Settings, proxy: str, address: str, named: str, address_shown: str
) -> None:
    settings.PROXY = proxy
    headers = {"x_forwarded_for": named, "x_forwarded_proto": "https"}
    assert shown(application, address, **headers) == f"{address_shown} https"


@pytest.mark.parametrize("proxy", ["", "127.0.0.2"])
def test_a_stranger_cannot_name_another_address_or_scheme(
    application: Application, settings: Settings, proxy: str
) -> None:
    settings.PROXY = proxy
    headers = {"x_forwarded_for": "1.2.3.4", "x_forwarded_proto": "https", "forwarded": "for=1.2.3.4"}
    assert shown(application, **headers) == "127.0.0.1 http"


def test_without_a_proxy_the_scheme_is_that_of_the_site_s_address(
    application: Application, settings: Settings
) -> None:
    settings.IS_HTTPS = True
    assert shown(application, "::ffff:127.0.0.3") == "127.0.0.3 https"


def test_every_response_is_logged(
    application: Application, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "GRACE_SECONDS", 0.0)
    page = get('/page/?a="b"', user_agent="A")
    run(application, page, Exchange("POST /form/", content_length="900").body(b"x", more=True))
    lines = sorted(record.getMessage() for record in caplog.records if record.name == "tournament.access")
    assert lines[0].startswith(r'127.0.0.1 "GET /page/?a=\"b\" HTTP/1.1" 200 0 ')
    assert lines[0].endswith(' ms "A"')
    assert '"POST /form/ HTTP/1.1" 408 ' in lines[1]


def test_requests_of_workers_are_logged_only_if_they_fail(
    application: Application, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "GRACE_SECONDS", 0.0)
    for address in ("/api/work/", "/api/workers/", "/api/bundles/"):
        run(application, get(address))
    run(application, Exchange("POST /api/work/", content_length="900").body(b"x", more=True))
    lines = [record.getMessage() for record in caplog.records if record.name == "tournament.access"]
    assert [line.split()[2:5:2] for line in lines] == [["/api/bundles/", "200"], ["/api/work/", "408"]]


@pytest.mark.parametrize("kind", ["text", "json"])
def test_no_secret_and_no_control_character_is_logged(
    application: Application, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setenv("DUARENA_LOG", kind)
    paths = ("/password-reset/3-SECRET/", "/account/email/SECRET/more/", "/account/digest/SECRET/")
    for address in (*paths, "/%61ccount/digest/SECRET/", "/password-reset/sent/", "/x%1b/"):
        run(application, get(address, user_agent="A\x1b[2J\x9b\x7f"))
    formatter = make_formatter()
    lines = [formatter.format(record) for record in caplog.records if record.name == "tournament.access"]
    assert len(lines) == 6
    assert all("SECRET" not in line for line in lines)
    assert [line for line in lines if "/account/email/-" in line]
    assert [line for line in lines if "/password-reset/sent/" in line]
    if kind == "json":
        lines = [json.loads(line)["agent"] for line in lines]
    assert all(r"A\x1b[2J" in line and r"\x9b\x7f" in line for line in lines)


@pytest.mark.parametrize(
    ("text", "plain", "counted"),
    [
        ("203.0.113.9", "203.0.113.9", "203.0.113.9"),
        ("203.0.113.9:4711", "203.0.113.9", "203.0.113.9"),
        ("::ffff:203.0.113.9", "203.0.113.9", "203.0.113.9"),
        ("::FFFF:cb00:7109", "203.0.113.9", "203.0.113.9"),
        ("2001:db8:0:0:1::2", "2001:db8::1:0:0:2", "2001:db8::/56"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2:3:4:5:6", "2001:db8:1::/56"),
        ("[2001:db8::2]:4711", "2001:db8::2", "2001:db8::/56"),
        ("fe80::1%eth0", "fe80::1", "fe80::/56"),
        ("::1", "::1", "::/56"),
        ("", "", ""),
        ("unknown", "unknown", "unknown"),
    ],
)
def test_ipv6_counts_by_network_and_mapped_ipv4_as_ipv4(text: str, plain: str, counted: str) -> None:
    assert plain_address(text) == plain
    assert counted_address(text) == counted
