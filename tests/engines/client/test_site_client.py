"""The client of a site: when it asks again, how long it waits before, and what its errors say."""

from __future__ import annotations

import datetime
import json
from email.message import Message
from email.utils import format_datetime

import pytest

from engines.client.site_client import PAUSES, CannotAsk, SiteClient, retry_after
from tests.support.scripted_site import CLOSED, Answer, ScriptedSite, fine, lines, refusal

NOBODY = "http://127.0.0.1:1"
PATH = "/api/v1/token/"
FINE = fine({"name": "Stone Age"})
WAIT = "Too many rows: wait."


class Client(SiteClient):
    """A client that notes its pauses instead of waiting."""

    def __init__(self, address: str, token: str = "") -> None:
        self.slept: list[float] = []
        super().__init__(address, token, sleep=self.slept.append)


def test_a_busy_site_is_asked_again_after_longer_and_longer_pauses(site: ScriptedSite) -> None:
    site.give(PATH, refusal(503, WAIT), CLOSED, refusal(502, WAIT), FINE)
    client = Client(site.address)
    assert client.get(PATH) == {"name": "Stone Age"}
    assert len(site.asked) == 4
    assert all(least <= slept <= 1.25 * least for least, slept in zip((1, 2, 4), client.slept, strict=True))


def test_the_site_says_how_long_to_wait(site: ScriptedSite, capsys: pytest.CaptureFixture[str]) -> None:
    site.give(PATH, refusal(429, WAIT, Retry_After="90"), FINE)
    client = Client(site.address)
    client.get(PATH)
    assert client.slept == [90.0]
    assert capsys.readouterr().err == "Too many rows: wait. Trying again in 90 s.\n"


def test_a_site_that_asks_to_wait_for_an_hour_is_not_asked_again(site: ScriptedSite) -> None:
    site.give(PATH, refusal(429, WAIT, Retry_After="3600"))
    client = Client(site.address)
    with pytest.raises(CannotAsk, match="Too many rows: wait"):
        client.get(PATH)
    assert client.slept == []


def test_a_site_that_asks_to_wait_again_and_again_is_given_up_after_ten_minutes(site: ScriptedSite) -> None:
    site.give(PATH, refusal(429, WAIT, Retry_After="250"))
    client = Client(site.address)
    with pytest.raises(CannotAsk, match="Too many rows: wait"):
        client.get(PATH)
    assert client.slept == [250.0, 250.0]


def test_a_site_that_stays_away_is_given_up(site: ScriptedSite) -> None:
    site.give(PATH, FINE, CLOSED)
    client = Client(site.address)
    client.get(PATH)
    with pytest.raises(CannotAsk, match=f"{site.address} does not answer: "):
        client.get(PATH)
    assert len(client.slept) == len(PAUSES)


def test_an_address_that_never_answered_is_given_up_soon() -> None:
    client = Client(NOBODY)
    with pytest.raises(CannotAsk, match=f"{NOBODY} does not answer: "):
        client.get(PATH)
    assert len(client.slept) == 2


@pytest.mark.parametrize("answer", [CLOSED, refusal(503, WAIT), refusal(429, WAIT)])
def test_all_tries_of_a_creation_have_one_key(site: ScriptedSite, answer: Answer) -> None:
    client = Client(site.address)
    site.give("/api/v1/tournaments/", answer, answer, FINE)
    client.create("/api/v1/tournaments/", {"name": "Spring"})
    client.create("/api/v1/tournaments/", {"name": "Spring"})
    keys = [asked.headers["Idempotency-Key"] for asked in site.asked]
    assert len(keys) == 4
    assert len(set(keys[:3])) == 1
    assert keys[3] != keys[0]
    assert {(asked.method, asked.body) for asked in site.asked} == {("POST", b'{"name": "Spring"}')}


def test_an_error_of_the_request_is_not_asked_again(site: ScriptedSite) -> None:
    site.give(PATH, refusal(404, "There is no bot \x1b[2J."))
    with pytest.raises(CannotAsk, match=r"There is no bot \\x1b\[2J\."):
        Client(site.address).get(PATH)
    assert len(site.asked) == 1


def page(*numbers: int, following: str | None = None) -> Answer:
    return fine({"rows": [{"id": number} for number in numbers], "next": following})


def test_rows_come_from_page_after_page(site: ScriptedSite) -> None:
    path = "/api/v1/games/"
    site.give(path, page(1, 2, following=f"{site.address}{path}?after=x&limit=1000"), page(3))
    assert [row["id"] for row in Client(site.address).rows(path, {"ladder": "dualma"})] == [1, 2, 3]
    assert [asked.query for asked in site.asked] == ["ladder=dualma&limit=1000", "after=x&limit=1000"]


def test_no_more_pages_are_asked_for_than_needed(site: ScriptedSite) -> None:
    path = "/api/v1/games/"
    site.give(path, page(1, 2, following=f"{site.address}{path}?after=x"))
    assert [row["id"] for row in Client(site.address).rows(path, {}, most=2)] == [1, 2]
    assert [asked.query for asked in site.asked] == ["limit=2"]


def test_the_next_page_is_asked_of_the_same_site_whatever_it_says(site: ScriptedSite) -> None:
    site.give("/api/v1/games/", page(1, following="https://elsewhere.example/next/?after=2"))
    site.give("/next/", page(2))
    assert [row["id"] for row in Client(site.address, "secret").rows("/api/v1/games/", {})] == [1, 2]


@pytest.mark.parametrize("following", ["@elsewhere.example/x", ":99/x", "[", "x"])
def test_a_next_page_that_is_no_address_is_not_asked_for(site: ScriptedSite, following: str) -> None:
    site.give("/api/v1/games/", page(1, following=following))
    with pytest.raises(CannotAsk, match="not a Duarena site"):
        list(Client(site.address, "secret").rows("/api/v1/games/", {}))


def event(number: int) -> dict[str, object]:
    return {"id": f"c{number}", "type": "game.move", "at": "2026-11-29T07:00:00+00:00", "data": {"n": number}}


def test_a_stream_continues_after_its_last_event(site: ScriptedSite) -> None:
    path = "/api/v1/games/7/events/"
    broken = fine(json.dumps(event(3)).encode(), Content_Length="500")
    site.give(path, lines(event(1), event(2)), refusal(503, WAIT), broken, lines(event(3)))
    client = Client(site.address)
    events = client.events(path)
    assert [next(events)["data"]["n"] for _ in range(3)] == [1, 2, 3]
    assert [asked.query for asked in site.asked] == ["", "after=c2", "after=c2", "after=c2"]
    assert len(client.slept) == 3


def test_a_stream_ends_when_nothing_follows(site: ScriptedSite) -> None:
    site.give("/x/", lines(event(1)), (204, b"", {}))
    client = Client(site.address)
    assert [one["data"]["n"] for one in client.events("/x/")] == [1]
    assert len(client.slept) == 1


@pytest.mark.parametrize("line", [b"<html>", b"[]", b'{"id": "x", "type": "y", "data": 3}', b"[" * 100_000])
def test_a_stream_of_another_form_is_not_a_site_s(site: ScriptedSite, line: bytes) -> None:
    site.give("/x/", fine(line + b"\n"))
    with pytest.raises(CannotAsk, match="not a Duarena site"):
        next(Client(site.address).events("/x/"))


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
