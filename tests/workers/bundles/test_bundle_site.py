"""Bundles over HTTP, from a small web server that also misbehaves."""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from engines.bundles.store import BundleError, bundle_path
from tests.support.servers import LocalServer, QuietHandler
from workers.bundles import bundle_site
from workers.bundles.bundle_site import BundleSite, SiteAway, TokenRefused, TokenRevoked

TOKEN = "duarena_secret"
BYTES = b"PK" * 300_000
SHA = sha256(BYTES).hexdigest()


class FakeSite:
    """Answers each request with the next step of ``plan``, the last of them again and again.

    ``bundle``, ``torn`` (cut off after a thousand bytes), ``elsewhere`` (a redirection), other bytes, or a
    status with the sentence of its JSON ("": a page instead). ``asked`` has each path with its key.
    """

    def __init__(self) -> None:
        self.plan: list[Any] = ["bundle"]
        self.asked: list[tuple[str, str | None]] = []
        site = self

        class Handler(QuietHandler):
            def answer(self) -> None:
                site.asked.append((self.path, self.headers["Authorization"]))
                step = site.plan.pop(0) if len(site.plan) > 1 else site.plan[0]
                if step == "torn":
                    self.reply(200, BYTES[:1000], Content_Length=len(BYTES))
                elif step == "elsewhere":
                    self.reply(302, Location="http://thief.example/")
                elif isinstance(step, tuple):
                    told = json.dumps({"ok": False, "error": step[1]}) if step[1] else "<h1>no</h1>"
                    self.reply(step[0], told.encode())
                else:
                    self.reply(200, BYTES if step == "bundle" else step)

        self.server = LocalServer(Handler)
        self.url = self.server.url


@pytest.fixture
def site() -> Iterator[FakeSite]:
    fake = FakeSite()
    with fake.server:
        yield fake


def files_in(store: Path) -> list[Path]:
    return [path for path in store.rglob("*") if path.is_file()]


def test_a_bundle_is_fetched_once_with_the_token(site: FakeSite, tmp_path: Path) -> None:
    waits: list[None] = []
    for _ in range(2):
        BundleSite(f"{site.url}/", TOKEN).fetch(SHA, tmp_path, lambda: waits.append(None))
    assert site.asked == [(f"/api/bundles/{SHA}", f"Bearer {TOKEN}")]
    assert bundle_path(tmp_path, SHA).read_bytes() == BYTES
    assert len(waits) > 1


def test_one_that_is_torn_off_is_fetched_anew_by_the_next_call(site: FakeSite, tmp_path: Path) -> None:
    site.plan = ["torn", (503, "The site is being restarted."), "bundle"]
    for _ in range(2):
        with pytest.raises(SiteAway):
            BundleSite(site.url, TOKEN).fetch(SHA, tmp_path)
    BundleSite(site.url, TOKEN).fetch(SHA, tmp_path)
    assert files_in(tmp_path) == [bundle_path(tmp_path, SHA)]


@pytest.mark.parametrize(
    ("step", "kind", "complaint"),
    [
        (b"another", BundleError, "the site sent another bundle: its SHA-256 is .*, not "),
        (
            (404, "There is no such bundle."),
            BundleError,
            "the site does not have it: There is no such bundle.",
        ),
        ((404, ""), TokenRefused, "does not answer as a Duarena site does"),
        (
            (401, "This token was revoked."),
            TokenRevoked,
            "does not let this worker in: This token was revoked.",
        ),
        ((403, "Not yours."), TokenRefused, "does not let this worker in: Not yours."),
        ("elsewhere", TokenRefused, "redirects to http://thief.example/: give that address if you trust it"),
        ((429, "Try again in 2 s."), SiteAway, "gives nothing now: Try again in 2 s."),
        ((500, ""), SiteAway, "gives nothing now: it answers 500"),
        ("torn", SiteAway, "does not answer: it broke off after 1000 of 600000 bytes"),
    ],
)
def test_what_is_no_bundle_is_a_sentence_and_leaves_nothing(
    site: FakeSite, tmp_path: Path, step: Any, kind: type[Exception], complaint: str
) -> None:
    site.plan = [step]
    with pytest.raises(kind, match=complaint) as raised:
        BundleSite(site.url, TOKEN).fetch(SHA, tmp_path)
    assert type(raised.value) is kind
    assert files_in(tmp_path) == []
    assert len(site.asked) == 1


def test_one_that_does_not_end_is_cut_off(
    site: FakeSite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bundle_site, "MAX_ZIP_BYTES", len(BYTES) - 1)
    with pytest.raises(BundleError, match="the site sends more than the 599999 bytes"):
        BundleSite(site.url, TOKEN).fetch(SHA, tmp_path)
    assert files_in(tmp_path) == []


def test_a_site_that_is_not_there_is_away(tmp_path: Path) -> None:
    with pytest.raises(SiteAway, match=r"http://127.0.0.1:9 does not answer: .*refused") as away:
        BundleSite("http://127.0.0.1:9", TOKEN).fetch(SHA, tmp_path)
    assert away.value.strerror == away.value.why


def test_a_fetch_may_be_broken_off(site: FakeSite, tmp_path: Path) -> None:
    def stop() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        BundleSite(site.url, TOKEN).fetch(SHA, tmp_path, stop)
    assert files_in(tmp_path) == []


@pytest.mark.parametrize(
    ("address", "token", "complaint"),
    [
        ("duarena.example", TOKEN, "'duarena.example' is not the address of a site"),
        ("file:///etc", TOKEN, "is not the address of a site"),
        ("https://duarena.example", "", "there is no token"),
        ("https://duarena.example", "a\nb", "the token has a character that no token has"),
    ],
)
def test_an_address_or_a_token_that_is_none_is_told(address: str, token: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        BundleSite(address, token)


def test_a_worker_asks_first_whether_it_is_let_in(site: FakeSite) -> None:
    site.plan = [b'{"ok": true}']
    BundleSite(site.url, TOKEN).check()
    assert site.asked == [("/api/bundles/", f"Bearer {TOKEN}")]
    site.plan = [b"<h1>Welcome</h1>"]
    with pytest.raises(TokenRefused, match="does not answer as a Duarena site does"):
        BundleSite(site.url, TOKEN).check()
