"""What all operations of the interface for programs have in common."""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterator, Sequence
from http import HTTPStatus
from typing import Any

import msgspec
import pytest
from django.test import Client, RequestFactory

from tests.support.filled_site import Site, add_version
from tournament.api import limits
from tournament.api.envelope import ApiError
from tournament.api.limits import LIMITS, RowLimits
from tournament.api.v1 import responses
from tournament.api.v1.openapi import document
from tournament.api.v1.operations import OPERATIONS, Operation, _served
from tournament.api.v1.responses import LINES_TYPE, Ending, PageQuery, Rows, part_of
from tournament.models import User
from tournament.services.accounts.tokens import create_token, revoke

pytestmark = pytest.mark.django_db
LINES = {"Accept": LINES_TYPE}


class Numbers(PageQuery, frozen=True, kw_only=True):
    most: int = 5
    only: tuple[int, ...] = ()


class NewNumber(msgspec.Struct):
    number: int


def numbers(request: Any, query: Numbers) -> Rows:
    return part_of([{"number": number} for number in query.only or range(query.most)], query)


def add(request: Any, body: NewNumber) -> NewNumber:
    if body.number == 13:
        raise ApiError(409, "There is a 13 already.")
    return body


def ask(request: Any, **about: Any) -> Any:
    """The answer of an address with the list of numbers."""
    listed = Operation("GET", "numbers/", numbers, rows=dict, query=Numbers, **about)
    posted = Operation(
        "POST", "numbers/", add, answer=NewNumber, body=NewNumber, status=201, scopes=("play",)
    )
    return _served([listed, posted])(request)


def get(address: str, **headers: str) -> Any:
    return ask(RequestFactory().get(address, headers=headers))


def test_a_list_is_served_as_pages_until_next_is_null() -> None:
    seen, address = [], "/numbers/?limit=2"
    while address:
        page = json.loads(get(address).content)
        seen.append([row["number"] for row in page["rows"]])
        address = page["next"]
    assert seen == [[0, 1], [2, 3], [4]]


def test_lines_have_all_rows_of_a_query() -> None:
    answer = get("/numbers/?limit=2", **LINES)
    assert answer["Content-Type"] == LINES_TYPE
    lines = b"".join(answer.streaming_content).decode().splitlines()
    assert [json.loads(line)["number"] for line in lines] == [0, 1, 2, 3, 4]


def test_lines_of_a_list_that_is_ready_are_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    def counted(rows: Sequence[Any], query: PageQuery) -> Rows:
        made.append(query.after)
        return responses.part_of(rows, query)

    monkeypatch.setitem(globals(), "part_of", counted)
    answer = get("/numbers/?most=2500", **LINES)
    assert [len(part.splitlines()) for part in answer.streaming_content] == [1000, 1000, 500]
    assert made == [""]


def test_a_bad_parameter_is_named_with_its_value() -> None:
    for query, sentence in {
        "limit=0": "The parameter limit is '0': expected int >= 1.",
        "limit=1001": "The parameter limit is '1001': expected int <= 1000.",
        "most=many": "The parameter most is 'many': expected int, got str.",
        "lader=x": "There is no parameter 'lader': there are after, limit, most, only.",
        "limit=1&limit=2": "The parameter limit is given more than once.",
        "after=x": "The parameter after is 'x': no cursor of this list.",
    }.items():
        answer = get(f"/numbers/?{query}")
        assert (answer.status_code, json.loads(answer.content)) == (400, {"ok": False, "error": sentence})


def test_a_parameter_may_be_given_several_times() -> None:
    assert [row["number"] for row in json.loads(get("/numbers/?only=3&only=4").content)["rows"]] == [3, 4]


def test_an_unchanged_answer_is_not_sent_again() -> None:
    etag = get("/numbers/")["ETag"]
    again = get("/numbers/", **{"If-None-Match": etag})
    assert (again.status_code, again.content, again["Access-Control-Allow-Origin"]) == (304, b"", "*")
    assert get("/numbers/?most=6", **{"If-None-Match": etag}).status_code == HTTPStatus.OK


def test_pages_of_other_sites_may_read_and_may_ask_whether_they_may() -> None:
    assert get("/numbers/")["Access-Control-Allow-Origin"] == "*"
    assert get("/numbers/?limit=0")["Access-Control-Allow-Origin"] == "*"
    asked = ask(RequestFactory().options("/numbers/"))
    assert asked["Allow"] == "GET, HEAD, OPTIONS, POST"
    assert (asked.status_code, asked["Access-Control-Allow-Methods"]) == (204, "GET, HEAD, OPTIONS")


def test_caches_may_share_what_was_read_without_a_token_and_no_other_answer(site: Site) -> None:
    headers = {"Authorization": f"Bearer {create_token(site.owner, 'one', ['logs:read'])[1]}"}
    assert get("/numbers/")["Cache-Control"] == "no-cache"
    assert get("/numbers/", **headers)["Cache-Control"] == "no-cache, private"
    assert get("/numbers/?limit=0")["Cache-Control"] == "no-store"
    for answer in (get("/numbers/"), get("/numbers/", **headers), get("/numbers/?limit=0")):
        assert answer["Vary"] == "Accept, Authorization"


def test_another_method_is_refused_with_those_that_are_allowed() -> None:
    answer = ask(RequestFactory().delete("/numbers/"))
    assert (answer.status_code, answer["Allow"]) == (405, "GET, HEAD, POST")


def test_writing_needs_a_token_with_the_scope_and_a_body_of_the_type(site: Site) -> None:
    def post(body: object, *scopes: str) -> tuple[int, Any]:
        headers = {}
        if scopes:
            headers["Authorization"] = f"Bearer {create_token(site.owner, 'one', scopes)[1]}"
        answer = ask(RequestFactory().post("/", body, content_type="application/json", headers=headers))
        return answer.status_code, json.loads(answer.content)

    assert post({"number": 1})[0] == HTTPStatus.UNAUTHORIZED
    assert post({"number": 1}, "logs:read")[0] == HTTPStatus.FORBIDDEN
    assert post({"number": 1}, "play") == (201, {"number": 1})
    assert post({"number": 13}, "play") == (409, {"ok": False, "error": "There is a 13 already."})
    assert post({"number": "x"}, "play")[0] == HTTPStatus.BAD_REQUEST
    assert post({"number": "1" * 3_000_000}, "play")[0] == HTTPStatus.REQUEST_ENTITY_TOO_LARGE


def test_who_reads_too_many_rows_waits_as_told(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(LIMITS, "_clock", lambda: now[0])
    for _ in range(1 + limits.SAVED_SECONDS * limits.ROWS_A_SECOND // 1000):
        assert get("/numbers/?most=1000").status_code == HTTPStatus.OK
    refused = get("/numbers/")
    assert (refused.status_code, refused["Retry-After"]) == (429, "2")
    assert json.loads(refused.content)["error"] == "You may read 1000 rows a second: try again in 2 s."
    now[0] = 2.0
    assert get("/numbers/").status_code == HTTPStatus.OK


def test_each_answer_counts_as_some_rows_also_an_error_and_one_without_a_body(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counted: list[int] = []
    monkeypatch.setattr(LIMITS, "count", lambda client, rows: counted.append(rows))
    etag = get("/numbers/?most=40")["ETag"]
    get("/numbers/?most=40", **{"If-None-Match": etag})
    ask(RequestFactory().head("/numbers/?most=40"))
    for query in ("limit=0", "lader=x", "after=x"):
        get(f"/numbers/?{query}")
    assert counted == [40, 40, 40, 0, 0, 0]


def test_addresses_of_one_ipv6_network_are_one_client(monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[str] = []
    monkeypatch.setattr(LIMITS, "count", lambda client, rows: counted.append(client[0]))
    for address in ("2001:db8:1:20::1", "2001:db8:1:2f:1::9", "2001:db8:1:100::1", "::ffff:192.0.2.1"):
        ask(RequestFactory().get("/numbers/", REMOTE_ADDR=address))
    assert counted == ["2001:db8:1::/56", "2001:db8:1::/56", "2001:db8:1:100::/56", "192.0.2.1"]


def test_lines_pause_as_long_as_the_rows_take(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LIMITS, "_clock", lambda: 0.0)
    answer = get("/numbers/?most=12000", **LINES)
    pauses = [answer.pause_s() for _ in answer.streaming_content]
    assert pauses == [0] * 10 + [1.0, 2.0]


def test_lines_end_with_their_token(site: Site) -> None:
    token, text = create_token(site.owner, "one", ["logs:read"])
    answer = get("/numbers/?most=3000", **LINES, Authorization=f"Bearer {text}")
    parts = iter(answer.streaming_content)
    next(parts)
    revoke(token)
    with pytest.raises(ApiError, match="revoked"):
        next(parts)


def test_a_process_forgets_clients_that_were_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_CLIENTS", 2)
    now = [0.0]
    known = RowLimits(lambda: now[0])
    known.count(("one", 10), 200)
    known.count(("two", 10), 100)
    now[0] = 10.0
    known.count(("three", 10), 10)
    assert (known.wait_s(("one", 10)), sorted(known._left)) == (0, [("one", 10), ("three", 10)])


def test_an_operation_that_ends_says_so_in_every_answer() -> None:
    since, until = (datetime.datetime(2027, month, 1, tzinfo=datetime.UTC) for month in (1, 7))
    answer = ask(RequestFactory().get("/numbers/"), ending=Ending(since, until))
    assert answer["Deprecation"] == f"@{int(since.timestamp())}"
    assert answer["Sunset"] == "Thu, 01 Jul 2027 00:00:00 GMT"


def test_the_head_of_each_answer_is_asked_for_like_the_answer(site: Site, client: Client) -> None:
    headers = {"Authorization": f"Bearer {create_token(site.owner, 'one', ['logs:read'])[1]}"}
    for path in ("ladders/", "token/", "mine/events/", "bots/stone-age/1/validation/"):
        whole, head = (ask(f"/api/v1/{path}", headers=headers) for ask in (client.get, client.head))
        assert (head.status_code, head["ETag"], head.content) == (200, whole["ETag"], b""), path


def test_a_cookie_is_no_log_in(site: Site, client: Client) -> None:
    client.force_login(site.staff)
    assert client.get("/api/v1/bots/hopeless/").status_code == HTTPStatus.NOT_FOUND


def test_the_document_has_every_operation_once(client: Client) -> None:
    answer = client.get("/api/v1/openapi.json")
    found = answer.json()
    assert answer.status_code == HTTPStatus.OK
    assert found["servers"] == [{"url": "http://testserver"}]
    entries = [entry for methods in found["paths"].values() for entry in methods.values()]
    assert len(entries) == len(OPERATIONS) == len({entry["operationId"] for entry in entries})
    assert all(entry["summary"].endswith(".") for entry in entries)


def test_all_references_of_the_document_lead_to_schemas() -> None:
    found = document("https://arena.example")

    def references(value: Any) -> Iterator[str]:
        if isinstance(value, dict):
            yield from (value["$ref"],) if isinstance(value.get("$ref"), str) else ()
            value = list(value.values())
        if isinstance(value, list):
            for one in value:
                yield from references(one)

    known = {f"#/components/schemas/{name}" for name in found["components"]["schemas"]}
    assert set(references(found)) <= known


def test_an_unknown_address_answers_as_every_error(client: Client) -> None:
    for address in (
        "/api/v1/secrets/",
        "/api/v1/two%0Alines/",
        "/api/v1/ladders/chess/",
        "/api/v1/bots/nobody/",
    ):
        answer = client.get(address)
        assert answer.status_code == HTTPStatus.NOT_FOUND
        assert answer.json().keys() == {"ok", "error"}
        assert answer.json()["error"].endswith(".")


def test_nobody_learns_whether_there_is_what_he_may_not_see(site: Site, client: Client) -> None:
    User.objects.create_user("quiet")
    add_version(site.owner, "Hopeless", state="refused")
    hidden = (
        "people/quiet/", f"games/{site.draft.games.all()[0].pk}/", f"tournaments/{site.draft.slug}/",
        f"tournaments/{site.validation.slug}/", "bots/hopeless/", "bots/hopeless/1/events/",
    )  # fmt: skip
    missing = ("people/nobody/", "games/999999/", "tournaments/none/", "bots/none/", "bots/none/1/events/")
    answers = [client.get(f"/api/v1/{path}") for path in (*hidden, *missing)]
    assert {answer.status_code for answer in answers} == {404}
    assert len({answer.content for answer in answers}) == 1


def test_a_list_of_bots_is_that_of_the_page(site: Site, client: Client) -> None:
    add_version(site.owner, "Open Book")
    rows = client.get("/api/v1/bots/?owner=olga").json()["rows"]
    assert rows == client.get("/bots/bots.json?owner=olga&sort=-since").json()["bots"][::-1]
    assert client.get(f"/api/v1/bots/{rows[0]['slug']}/").json() == rows[0]
    for address in ("", f"{rows[0]['slug']}/results/"):
        assert client.get(f"/api/v1/bots/{address}?ladder=chess").status_code == HTTPStatus.BAD_REQUEST
