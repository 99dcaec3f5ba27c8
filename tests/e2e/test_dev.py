"""``./arena dev`` in a copy of the checkout: what is changed there is shown."""

from __future__ import annotations

import html
import os
import pty
import re
import signal
import threading
from collections.abc import Iterator
from http.client import HTTPException
from pathlib import Path
from urllib.error import HTTPError

import pytest

from tests.support.checkouts import Up, new_checkout
from tests.support.jobs import wait_until

pytestmark = pytest.mark.slow

SEEN_SECONDS = 60.0
"""Far more than CONTRIBUTING promises: other programs run on the same processors."""
VIEWS, TEMPLATE = "tournament/views/site/site.py", "tournament/templates/site/about.html"
SCRIPT, STYLE = "follow.js", "duarena.css"


class Dev:
    """A running ``./arena dev`` with a terminal."""

    def __init__(self, folder: Path, up: Up, keyboard: int) -> None:
        self.folder, self.up, self._keyboard = folder, up, keyboard

    def type(self, text: str) -> None:
        os.write(self._keyboard, text.encode())

    def change(self, name: str, old: str, new: str) -> None:
        """Replace a text in a file."""
        file = self.folder / name
        text = file.read_text()
        assert old in text
        file.write_text(text.replace(old, new, 1))

    def add(self, name: str, text: str) -> None:
        """Add a line at the end of a file."""
        with (self.folder / name).open("a") as file:
            file.write(f"{text}\n")

    def see(self, path: str, text: str) -> None:
        assert wait_until(lambda: text in self._text(path), SEEN_SECONDS), self.up.said()

    def read(self, text: str) -> None:
        """Wait until it is on the terminal."""
        assert wait_until(lambda: text in self.up.said(), SEEN_SECONDS), self.up.said()

    def _text(self, path: str) -> str:
        try:
            with self.up.open(path) as answer:
                return str(answer.read().decode())
        except (HTTPError, HTTPException, ConnectionError):
            return ""


@pytest.fixture(scope="module")
def dev() -> Iterator[Dev]:
    with new_checkout() as checkout:
        keyboard, terminal = pty.openpty()
        up = Up(checkout, command="dev", ready="Changes are shown", terminal=terminal)
        try:
            yield Dev(checkout.folder, up, keyboard)
        finally:
            code = up.end(signal.SIGINT)
            os.close(keyboard)
            os.close(terminal)
    assert code == 0


def test_a_changed_template_is_shown(dev: Dev) -> None:
    dev.change(TEMPLATE, "About Duarena", "About this copy")
    dev.see("/about/", "About this copy")


@pytest.mark.parametrize("name", [SCRIPT, STYLE])
def test_a_changed_script_or_style_is_served(dev: Dev, name: str) -> None:
    dev.see("/about/", f'"/static/{STYLE}"')
    dev.add(f"tournament/static/{name}", "/* of this copy */")
    dev.see(f"/static/{name}", "/* of this copy */")


def test_changed_python_is_run_while_a_page_is_followed(dev: Dev) -> None:
    with dev.up.open("/") as page:
        (address,) = re.findall(r'data-follow="([^"]+)"', page.read().decode())
    with dev.up.open(html.unescape(address), accept="text/event-stream") as stream:
        assert stream.headers["Content-Type"].startswith("text/event-stream")
        dev.change(VIEWS, '"Disallow: /admin/"', '"Disallow: /copy/"')
        dev.see("/robots.txt", "Disallow: /copy/")


def test_after_an_error_the_next_change_is_run(dev: Dev) -> None:
    dev.add(VIEWS, "1 / 0")
    dev.read("Waiting for the next change")
    assert "ZeroDivisionError" in dev.up.said()
    dev.change(VIEWS, "1 / 0", "")
    dev.see("/robots.txt", "Disallow: ")


def test_the_workers_run_what_was_changed(dev: Dev) -> None:
    log = dev.folder / "var" / "logs" / "players.log"
    dev.add("workers/service/worker.py", 'print("this copy of the worker")')
    assert wait_until(lambda: "this copy of the worker" in log.read_text(), SEEN_SECONDS), dev.up.said()


def test_a_debugger_in_a_view_has_the_terminal(dev: Dev) -> None:
    dev.change(VIEWS, "    lines = (", '    breakpoint()\n    lines = ("Debugged: yes",')
    page = threading.Thread(target=dev.see, args=("/robots.txt", "Debugged: yes"))
    page.start()
    dev.read("(Pdb)")
    dev.type("print(request.path * 2)\n")
    dev.read("/robots.txt/robots.txt")
    dev.type("c\n")
    page.join()
    dev.change(VIEWS, "    breakpoint()\n", "")
