"""A small web server in the place of a site with bundles; it can misbehave."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class FakeSite:
    """Answers each request with the next step of ``plan``, the last of them again and again.

    ``bundle``, ``torn`` (cut off after a thousand bytes), ``elsewhere`` (a redirection), other bytes, or a
    status with the sentence of its JSON ("": a page instead). ``asked`` has each path with its key.
    """

    def __init__(self, bundle: bytes) -> None:
        self.bundle = bundle
        self.asked: list[tuple[str, str | None]] = []
        self.plan: list[Any] = ["bundle"]
        self.registered: list[tuple[str, str | None, str]] = []
        self.registration: Any = b"{}"
        """The answer to a worker that registers."""
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                site.asked.append((self.path, self.headers["Authorization"]))
                step = site.plan.pop(0) if len(site.plan) > 1 else site.plan[0]
                site.answer(self, step)

            def do_POST(self) -> None:
                """A worker registers; the request is not a step of the plan."""
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                site.registered.append((self.path, self.headers["Authorization"], body))
                site.answer(self, site.registration)

            def log_message(self, *_: object) -> None:
                """Nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def answer(self, handler: BaseHTTPRequestHandler, step: Any) -> None:
        if step == "torn":
            self._send(handler, 200, self.bundle[:1000], length=len(self.bundle))
        elif step == "bundle":
            self._send(handler, 200, self.bundle)
        elif isinstance(step, bytes):
            self._send(handler, 200, step)
        elif step == "elsewhere":
            self._send(handler, 302, b"", location="http://thief.example/")
        else:
            status, sentence = step
            told = json.dumps({"ok": False, "error": sentence}).encode() if sentence else b"<h1>no</h1>"
            self._send(handler, status, told)

    def _send(self, handler: Any, status: int, body: bytes, length: int = -1, location: str = "") -> None:
        handler.send_response(status)
        handler.send_header("Content-Length", str(len(body) if length < 0 else length))
        if location:
            handler.send_header("Location", location)
        handler.end_headers()
        handler.wfile.write(body)

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
