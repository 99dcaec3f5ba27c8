"""The client of a site: when it asks again, how long it waits before, and what its errors say."""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterator
from email.message import Message
from email.utils import format_datetime
from typing import Any

import pytest

from engines.client.site_client import PAUSES, CannotAsk, SiteClient, retry_after
from tests.support.servers import LocalServer, QuietHandler

NOBODY = "http://127.0.0.1:1"
Answer = tuple[int, Any, dict[str, str]]


class Script:
    """A site that gives these answers one after the other, the last again and again."""

    def __init__(self) -> None:
        self.answers: list[Answer] = []
        self.asked: list[tuple[str, str, dict[str, str], bytes]] = []
        self.slept: list[float] = []
        self.address = ""

    def client(self) -> SiteClient:
        return SiteClient(self.address, sleep=self.slept.append)


@pytest.fixture
def site() -> Iterator[Script]:
    script = Script()

    class Handler(QuietHandler):
        def answer(self) -> None:
            script.asked.append((self.command, self.path, dict(self.headers), self.body()))
            answers = script.answers
            status, value, headers = answers.pop(0) if len(answers) > 1 else answers[0]
            if status:
                self.reply(
                    status, value if isinstance(value, bytes) else json.dumps(value).encode(), **headers
                )

    with LocalServer(Handler) as server:
        script.address = server.url
        yield script


FINE: Answer = (200, {"name": "Stone Age"}, {})
GONE: Answer = (0, b"", {})
"""The connection is closed without an answer."""


def busy(status: int, **headers: str) -> Answer:
    return status, {"ok": False, "error": "Too many rows: wait."}, headers


def test_a_busy_site_is_asked_again_after_longer_and_longer_pauses(site: Script) -> None:
    site.answers = [busy(503), GONE, busy(502), FINE]
    assert site.client().get("/api/") == {"name": "Stone Age"}
    assert len(site.asked) == 4
    assert all(least <= slept <= 1.25 * least for least, slept in zip((1, 2, 4), site.slept, strict=True))


def test_the_site_says_how_long_to_wait(site: Script, capsys: pytest.CaptureFixture[str]) -> None:
    site.answers = [busy(429, Retry_After="90"), FINE]
    site.client().get("/api/")
    assert site.slept == [90.0]
    assert capsys.readouterr().err == "Too many rows: wait. Trying again in 90 s.\n"


def test_a_site_that_asks_to_wait_for_an_hour_is_not_asked_again(site: Script) -> None:
    site.answers = [busy(429, Retry_After="3600")]
    with pytest.raises(CannotAsk, match="Too many rows: wait"):
        site.client().get("/api/")
    assert site.slept == []


def test_a_site_that_stays_away_is_given_up(site: Script) -> None:
    site.answers = [FINE, GONE]
    client = site.client()
    client.get("/api/")
    with pytest.raises(CannotAsk, match=f"{site.address} does not answer: "):
        client.get("/api/")
    assert len(site.slept) == len(PAUSES)


def test_an_address_that_never_answered_is_given_up_soon() -> None:
    slept: list[float] = []
    with pytest.raises(CannotAsk, match=f"{NOBODY} does not answer: "):
        SiteClient(NOBODY, sleep=slept.append).get("/api/")
    assert len(slept) == 2


@pytest.mark.parametrize(("answer", "asked"), [(GONE, 1), (busy(503), 1), (busy(429), 2)])
def test_what_would_act_twice_is_repeated_only_after_429(site: Script, answer: Answer, asked: int) -> None:
    site.answers = [answer, FINE]
    try:
        site.client().send("/api/bots/", lambda: [b"zip"], {"Content-Length": "3"})
    except CannotAsk:
        assert asked == 1
    assert [(method, body) for method, _, _, body in site.asked] == [("POST", b"zip")] * asked


def test_an_error_of_the_request_is_not_asked_again(site: Script) -> None:
    site.answers = [(404, {"ok": False, "error": "There is no bot \x1b[2J."}, {})]
    with pytest.raises(CannotAsk, match=r"There is no bot \\x1b\[2J\."):
        site.client().get("/api/")
    assert len(site.asked) == 1


def test_the_header_has_seconds_or_a_date() -> None:
    def waits(text: str) -> float:
        headers = Message()
        headers["Retry-After"] = text
        return retry_after(headers)

    soon = datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=50)
    assert waits("7") == 7
    assert 40 < waits(format_datetime(soon, usegmt=True)) <= 50
    assert [waits(text) for text in ("", "-3", "soon", "Sun, 06 Nov 1994 08:49:37 GMT")] == [0, 0, 0, 0]
    assert retry_after(Message()) == 0
