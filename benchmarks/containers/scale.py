"""The steps with several containers of one service: of the site behind the proxy.

``play.py`` has the steps with several record keepers and workers.
"""

from __future__ import annotations

import http.client
import threading
import time
import urllib.error
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from benchmarks.containers.site import ContainerSite
from benchmarks.containers.visitor import Visitor
from benchmarks.runs import Broken

PASSWORD: Final = "a long password of eve"
WRONG: Final = 8
"""Wrong passwords, more than one address may try for one account in five minutes."""
ALLOWED: Final = 5
"""So many of them, as ``ACCOUNT_RATE_LIMITS`` says."""
PAGES: Final = 30
PAUSE_S: Final = 0.1
"""Between requests, so that they stay below the proxy's limit."""
WATCH_S: Final = 15.0
"""How long pages are requested after a container has ended."""

_ACCOUNT: Final = f"""
import json
from tournament.models import User
User.objects.create_user("eve", password={PASSWORD!r})
print(json.dumps(None))
"""


@dataclass(slots=True)
class Requests:
    """What became of the requests of some time; ``longest_s`` is the longest wait for a page."""

    pages: int = 0
    longest_s: float = 0.0
    wrong: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return f"{self.pages} pages, the slowest in {self.longest_s:.1f} s, {len(self.wrong)} errors"


def share_site(site: ContainerSite) -> None:
    """Serve the pages by two containers; end one while pages are requested, first by a kill."""
    site.scale(site=2)
    first, second = site.compose.containers("site")
    site.run(_ACCOUNT)
    visitor = Visitor(site)
    visitor.log_in("eve", PASSWORD)
    before = [_answers(site, container) for container in (first, second)]
    for _ in range(PAGES):
        if "eve" not in visitor.page("/account/"):
            raise Broken("a container of the site does not know the session")
        time.sleep(PAUSE_S)
    answers = [
        _answers(site, container) - count for container, count in zip((first, second), before, strict=True)
    ]
    if min(answers) < 1:
        raise Broken(f"the two containers of the site answered {answers} of {PAGES} requests")
    print(f"- two containers of the site answered {answers[0]} and {answers[1]} pages of one session")
    _guess(site)
    with _requesting(visitor) as requests:
        site.kill(second)
        time.sleep(WATCH_S)
    _judge(requests, "one of two containers of the site was killed")
    site.wait_until_healthy()
    with _requesting(visitor) as requests:
        site.scale(site=1)
        time.sleep(WATCH_S)
    _judge(requests, "one of two containers of the site was removed")


def _answers(site: ContainerSite, container: str) -> int:
    """How often a container of the site has sent the page of an account."""
    return site.docker.logs(container).count("GET /account/ ")


def _guess(site: ContainerSite) -> None:
    """Guess passwords of one account: the containers together must count them."""
    guessed = 0
    stranger = Visitor(site)
    for _ in range(WRONG):
        try:
            stranger.log_in("eve", "wrong")
            guessed += 1
        except urllib.error.HTTPError as error:
            if error.code != http.client.TOO_MANY_REQUESTS:
                raise Broken(f"a wrong password is answered with {error.code}") from error
    if guessed != ALLOWED:
        raise Broken(f"{guessed} wrong passwords were taken, not {ALLOWED}")
    print(f"- of {WRONG} wrong passwords both containers together took {guessed}")


@contextmanager
def _requesting(visitor: Visitor) -> Iterator[Requests]:
    """Request pages one after another in a thread."""
    requests, is_over = Requests(), threading.Event()

    def request() -> None:
        while not is_over.wait(PAUSE_S):
            begun = time.monotonic()
            try:
                visitor.page("/account/")
                requests.pages += 1
            except OSError as error:
                requests.wrong.append(str(error))
            requests.longest_s = max(requests.longest_s, time.monotonic() - begun)

    thread = threading.Thread(target=request)
    thread.start()
    try:
        yield requests
    finally:
        is_over.set()
        thread.join()


def _judge(requests: Requests, event: str) -> None:
    if requests.wrong or not requests.pages:
        raise Broken(f"{event}: {requests}: {requests.wrong[:3]}")
    print(f"- {event}: {requests}")
