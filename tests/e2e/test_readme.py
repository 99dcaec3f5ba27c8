"""An ordinary user follows the README, from a clone to the first rated game of a bot."""

from __future__ import annotations

import http.cookiejar
import re
import shlex
import shutil
import signal
import urllib.error
import urllib.parse
import urllib.request
import uuid
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest

from tests.support.checkouts import PORT, START_SECONDS, Checkout, Up, eventually, new_checkout
from tests.support.documents import blocks
from tests.support.needs import need
from tests.support.sites import empty_site
from workers.sandbox.bwrap import OUTER_ENVIRONMENT
from workers.sandbox.host import NEEDED, find_program

pytestmark = [pytest.mark.slow, pytest.mark.sandbox]

README = "README.md"
ENOUGH_AT_B = (
    "everything but a hard memory limit. That is enough because only this machine can reach the site."
)
INSTALL = "The site's operator can let them play, without a restart, with: apt-get install bubblewrap"
PASSWORD = "correct horse battery"
PLAYED_SECONDS = 600.0
"""Usually a minute or two after the upload; the rest is for a busy machine."""


class Visitor:
    """A visitor whose browser supports cookies and forms, but no scripts."""

    def __init__(self, site: str) -> None:
        self._site = site
        cookies = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
        self._opener = urllib.request.build_opener(cookies)

    def page(self, path: str) -> str:
        return self._open(urllib.request.Request(self._site + path))[1]

    def submit(
        self, path: str, fields: dict[str, str], files: dict[str, Path] | None = None
    ) -> tuple[str, str]:
        """Fill in the form of a page; returns the path and the text of the page it leads to."""
        page = self.page(path)
        for name in (*fields, *(files or {})):
            assert f'name="{name}"' in page, page
        found = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page)
        assert found, page
        body, kind = encode_form({"csrfmiddlewaretoken": found[1], **fields}, files or {})
        headers = {"Content-Type": kind, "Referer": self._site + path, "Origin": self._site}
        return self._open(urllib.request.Request(self._site + path, body, headers))

    def _open(self, request: urllib.request.Request) -> tuple[str, str]:
        with self._opener.open(request, timeout=60) as answer:
            return urllib.parse.urlsplit(answer.url).path, answer.read().decode()


def encode_form(fields: dict[str, str], files: dict[str, Path]) -> tuple[bytes, str]:
    """A ``multipart/form-data`` body and its content type."""
    boundary = uuid.uuid4().hex
    parts = [(f'name="{name}"', value.encode()) for name, value in fields.items()]
    parts += [(f'name="{name}"; filename="{path.name}"', path.read_bytes()) for name, path in files.items()]
    body = b"".join(
        f"--{boundary}\r\nContent-Disposition: form-data; {head}\r\n\r\n".encode() + value + b"\r\n"
        for head, value in parts
    )
    return body + f"--{boundary}--\r\n".encode(), f"multipart/form-data; boundary={boundary}"


@pytest.fixture(scope="module")
def checkout() -> Iterator[Checkout]:
    with new_checkout(has_tables=False) as made:
        (made.folder.parent / "duarena").symlink_to(made.folder)  # where the page has the reader's clone
        yield made


@pytest.fixture(scope="module")
def bundle(checkout: Checkout) -> Path:
    return make_zip(checkout, checkout.folder.parent / "bot")


def make_zip(checkout: Checkout, folder: Path) -> Path:
    """The bot's files on the page, zipped with the commands on the page."""
    folder.mkdir()
    (folder / "main.py").write_text(blocks(README, "python")[0])
    (folder / "bot.toml").write_text(blocks(README, "toml")[0])
    answer = checkout.run_command(("sh", "-ec", blocks(README, "sh")[-1]), str(folder))
    assert answer.returncode == 0, answer.stdout + answer.stderr
    return folder / "bot.zip"


@pytest.mark.thorough
def test_the_bot_of_the_page_plays_its_first_rated_game(checkout: Checkout, bundle: Path) -> None:
    up = Up(checkout)
    try:
        console = up.said()
        if "Sandbox: level C" in console:
            pytest.skip(console.partition("Sandbox: ")[2])
        visitor = Visitor(f"http://127.0.0.1:{up.port}")
        sign_up(visitor)
        if "Sandbox: level B" in console:
            assert ENOUGH_AT_B in console
            assert ENOUGH_AT_B in visitor.page("/upload/")
        address = upload(visitor, bundle)
        see_it_valid(visitor, address)
        see_it_rated(visitor, address)
    finally:
        code = up.end(signal.SIGINT)
    assert code == 0, up.said()
    again = shlex.join(["./arena", "up", "--port", PORT])
    assert f"played again by the next `{again}`" in up.said()


@pytest.fixture
def programs(checkout: Checkout) -> Iterator[Path]:
    """The only folder in which the sandbox of the checkout looks for programs; it has no bubblewrap."""
    folder = checkout.folder.parent / "programs"
    folder.mkdir()
    for name in NEEDED:
        if name != "bwrap":
            (folder / name).symlink_to(str(find_program(name)))
    module = checkout.folder / "workers" / "sandbox" / "bwrap.py"
    shipped = module.read_text()
    assert OUTER_ENVIRONMENT["PATH"] in shipped
    module.write_text(shipped.replace(OUTER_ENVIRONMENT["PATH"], str(folder)))
    yield folder
    module.write_text(shipped)


@pytest.mark.thorough
def test_a_bot_waits_for_bubblewrap_and_plays_once_it_is_installed(
    checkout: Checkout, bundle: Path, programs: Path
) -> None:
    bubblewrap = need("bwrap")
    data = checkout.folder.parent / "other data"
    shutil.copytree(empty_site(), data)
    up = Up(checkout, "--data", str(data))
    try:
        assert INSTALL in up.said()
        visitor = Visitor(f"http://127.0.0.1:{up.port}")
        sign_up(visitor)
        assert "<code>apt-get install bubblewrap</code>" in visitor.page("/upload/")
        address = upload(visitor, bundle)
        assert state_on(page := visitor.page(address)) == "waiting", page
        assert INSTALL in unescape(page)

        (programs / "bwrap").symlink_to(bubblewrap)
        probe = (str(checkout.folder / ".venv/bin/python"), "-m", "workers", "sandbox")
        found = checkout.run_command(probe, str(checkout.folder)).stdout
        if "Sandbox: level C" in found:
            pytest.skip(found)
        see_it_valid(visitor, address)
        eventually(
            lambda: "are run in a sandbox" in up.said(), START_SECONDS, "the console does not report it"
        )
    finally:
        up.end(signal.SIGINT)


def sign_up(visitor: Visitor) -> None:
    visitor.submit("/sign-up/", {"username": "ada", "password1": PASSWORD, "password2": PASSWORD})
    assert "/account/" in visitor.page("/")


def upload(visitor: Visitor, bundle: Path) -> str:
    """Upload the bot; returns the address of its version's page."""
    address, page = visitor.submit("/upload/", {"notes": ""}, {"bundle": bundle})
    assert address == "/bots/first-by-name/1/", page
    return address


def see_it_valid(visitor: Visitor, address: str) -> None:
    eventually(
        lambda: state_on(visitor.page(address)) not in {"waiting", "validating"}, START_SECONDS, "no verdict"
    )
    assert state_on(page := visitor.page(address)) == "valid", page


def see_it_rated(visitor: Visitor, address: str) -> None:
    """Wait for the first rated game, and look for it and for the bot on its ladder."""
    eventually(lambda: rated_games(visitor.page(address)) > 0, PLAYED_SECONDS, "no rated game was played")
    numbers = re.findall(r'href="/games/(\d+)/"', visitor.page(address))
    records = [headers_of(record_of(visitor, number)) for number in numbers]
    rated = next(headers for headers in records if headers and headers.get("Rated") != "no")
    assert "First by Name" in {rated["White"], rated["Black"]}
    assert rated["Result"] in {"1-0", "0-1", "1/2-1/2"}
    assert "First by Name" in visitor.page(f"/ladders/{rated['Game']}/")


def record_of(visitor: Visitor, number: str) -> str:
    """A game's record; empty while the game is played."""
    try:
        return visitor.page(f"/games/{number}.pgn")
    except urllib.error.HTTPError as error:
        if error.code != 404:
            raise
        return ""


def state_on(page: str) -> str:
    """The state on a version's page."""
    found = re.search(r'<span id="tag" class="tag (\w+)"', page)
    assert found, page
    return found[1]


def rated_games(page: str) -> int:
    """The number of rated games on all ladders, from the ratings on a version's page."""
    counts = re.findall(
        r'class="num rating">[-\d.]+</td>\s*<td class="num quiet">[\d.]+</td>\s*'
        r'<td class="num">(?:<a [^>]+>)?(\d+)<',
        page,
    )
    return sum(map(int, counts))


def headers_of(record: str) -> dict[str, str]:
    return dict(re.findall(r'^\[(\w+) "(.*)"\]$', record, re.MULTILINE))
