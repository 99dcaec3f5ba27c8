"""The HTTP client against a small server; its callers' tests cover lost connections and error answers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from engines.http_client import (
    AddressError,
    AnswerTooLong,
    BadAnswer,
    ErrorAnswer,
    HttpClient,
    NoAnswer,
    is_safe_for_tokens,
    parse_site_address,
)
from tests.support.servers import LocalServer, QuietHandler

ANSWERS = {
    "/page": (200, b"<h1>Welcome</h1>"),
    "/nested": (200, b"[" * 50_000),
    "/moved": (302, b""),
    "/odd": (500, b'{"error": ["no", "text"]}'),
    "/silent": (500, b'"error"'),
}


class Handler(QuietHandler):
    def answer(self) -> None:
        status, body = ANSWERS[self.path]
        self.reply(status, body, Location="/page")


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with LocalServer(Handler) as server:
        yield server.url


def client(token: str = "") -> HttpClient:
    return HttpClient(timeout=5.0, token=token)


def test_a_redirect_is_followed_only_without_a_token(address: str) -> None:
    assert client().read(f"{address}/moved", 100) == b"<h1>Welcome</h1>"
    with pytest.raises(ErrorAnswer) as answer:
        client("secret").read(f"{address}/moved", 100)
    assert (answer.value.status, answer.value.location) == (302, "/page")


def test_an_answer_may_have_all_of_the_bytes_allowed_and_no_more(address: str) -> None:
    size = len(ANSWERS["/page"][1])
    assert len(client().read(f"{address}/page", size)) == size
    with pytest.raises(AnswerTooLong, match=f"more than {size - 1} bytes"):
        client().read(f"{address}/page", size - 1)


@pytest.mark.parametrize("path", ["/page", "/nested"])
def test_an_answer_that_is_not_json_is_refused(address: str, path: str) -> None:
    with pytest.raises(BadAnswer, match="not JSON"):
        client().read_json(f"{address}{path}", 100_000)


@pytest.mark.parametrize(("path", "sentence"), [("/odd", "['no', 'text']"), ("/silent", "")])
def test_the_sentence_of_an_error_is_always_text(address: str, path: str, sentence: str) -> None:
    with pytest.raises(ErrorAnswer) as answer:
        client().read(f"{address}{path}", 100)
    assert answer.value.sentence == sentence


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://x/", "http://", "http://[", "data:,x"])
def test_only_web_addresses_are_fetched(url: str) -> None:
    with pytest.raises(NoAnswer, match="only http:// and https://"):
        client().read(url, 100)
    with pytest.raises(AddressError, match="is not the address of a site"):
        parse_site_address(url)


@pytest.mark.parametrize("token", ["two\nlines", "ключ"])
def test_a_token_that_cannot_be_a_header_is_refused(token: str) -> None:
    with pytest.raises(AddressError, match="the token has a character that no token has"):
        client(token)


@pytest.mark.parametrize(
    ("address", "is_safe"),
    [("https://a.example", True), ("http://127.0.0.1:8000", True), ("http://a.example", False)],
)
def test_a_token_is_safe_encrypted_or_on_this_machine(address: str, is_safe: bool) -> None:
    assert is_safe_for_tokens(address) is is_safe
