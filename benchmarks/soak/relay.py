"""A relay between a worker and its site that repeats, delays or drops requests, and drops answers.

A request that changes something is sent twice, or its answer is dropped after it took effect. Some posts are
delivered only after the lease of their games has expired; the worker is told nothing and posts again.
The whole relay can stop forwarding, as a network that loses all packets: connections stay open.
"""

from __future__ import annotations

import contextlib
import http.client
import random
import threading
import time
from collections import Counter
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final

TIMEOUT_SECONDS: Final = 60.0
AGAIN_SECONDS: Final = 1.0
"""The time between two tries to deliver a delayed post while the site is away."""
HOP_BY_HOP: Final = {"connection", "keep-alive", "transfer-encoding"}


class Relay:
    """Listens on a free port, in threads; ``counts`` counts the requests that it changed.

    ``doubled``, ``unanswered`` and ``held`` are the parts of the requests that are sent twice, that get no
    answer, and that are delivered ``held_s`` later.
    """

    def __init__(
        self,
        site: tuple[str, int],
        *,
        doubled: float = 0.0,
        unanswered: float = 0.0,
        held: float = 0.0,
        held_s: float = 0.0,
        seed: int = 0,
    ) -> None:
        self.counts: Counter[str] = Counter()
        self._site, self._held_s = site, held_s
        self._doubled, self._unanswered, self._held_part = doubled, unanswered, held
        self._dice, self._lock = random.Random(seed), threading.Lock()
        self._flows, self._released = threading.Event(), threading.Event()
        self._flows.set()
        self._held: list[threading.Thread] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self.address = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Relay:
        threading.Thread(target=self._server.serve_forever, name="relay", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._flows.set()
        self._released.set()
        self._server.shutdown()
        self._server.server_close()

    def silence(self) -> None:
        """Forward nothing from now on, in either direction."""
        self._flows.clear()

    def resume(self) -> None:
        self._flows.set()

    def release(self) -> None:
        """Do nothing to requests any more, and deliver the delayed posts."""
        self._released.set()

    @property
    def held(self) -> int:
        """The number of delayed posts that are not delivered yet."""
        return sum(thread.is_alive() for thread in self._held)

    def forward(self, method: str, path: str, headers: dict[str, str], body: bytes) -> _Answer | None:
        """The site's answer; None if the worker gets none."""
        self._flows.wait()
        if method != "POST":
            return self._send(method, path, headers, body)
        if self._happens(self._held_part, "posts that came late") and b'"reports":[{' in body:
            self._hold(method, path, headers, body)
            return None
        if self._happens(self._doubled, "requests sent twice"):
            self._send(method, path, headers, body)
        answer = self._send(method, path, headers, body)
        self._flows.wait()
        return None if self._happens(self._unanswered, "answers lost") else answer

    def _happens(self, part: float, what: str) -> bool:
        with self._lock:
            happens = self._dice.random() < part and not self._released.is_set()
            self.counts[what] += happens
        return happens

    def _send(self, method: str, path: str, headers: dict[str, str], body: bytes) -> _Answer | None:
        connection = http.client.HTTPConnection(*self._site, timeout=TIMEOUT_SECONDS)
        try:
            connection.request(method, path, body or None, headers)
            answer = connection.getresponse()
            return _Answer(answer.status, answer.getheaders(), answer.read())
        except (OSError, http.client.HTTPException):
            return None
        finally:
            connection.close()

    def _hold(self, method: str, path: str, headers: dict[str, str], body: bytes) -> None:
        def deliver() -> None:
            self._released.wait(self._held_s)
            while self._send(method, path, headers, body) is None:
                time.sleep(AGAIN_SECONDS)

        thread = threading.Thread(target=deliver, daemon=True)
        self._held.append(thread)
        thread.start()


@dataclass(frozen=True, slots=True)
class _Answer:
    status: int
    headers: list[tuple[str, str]]
    body: bytes


def _handler(relay: Relay) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            with contextlib.suppress(OSError):
                self._forward()

        do_POST = do_GET  # noqa: N815  # the server's names

        def _forward(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            headers = {name: value for name, value in self.headers.items() if name.lower() not in HOP_BY_HOP}
            answer = relay.forward(self.command, self.path, headers, body)
            if answer is None:
                self.close_connection = True
                return
            self.send_response_only(answer.status)
            for name, value in answer.headers:
                if name.lower() not in {*HOP_BY_HOP, "content-length"}:
                    self.send_header(name, value)
            if answer.status != 204:
                self.send_header("Content-Length", str(len(answer.body)))
            self.end_headers()
            self.wfile.write(answer.body)

        def log_message(self, *words: object) -> None:
            """Say nothing."""

    return Handler
