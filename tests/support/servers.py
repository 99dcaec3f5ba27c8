"""Small HTTP servers in this process, in the place of a site."""

from __future__ import annotations

import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class LocalServer(ThreadingHTTPServer):
    """Serves on this machine, in a thread, until it is closed."""

    def __init__(self, handler: Callable[..., BaseHTTPRequestHandler]) -> None:
        super().__init__(("127.0.0.1", 0), handler)
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, *_: object) -> None:
        """Nothing: clients are killed in the middle of a request."""

    def close(self) -> None:
        self.shutdown()
        self.server_close()

    def __exit__(self, *_: object) -> None:
        self.close()


class QuietHandler(BaseHTTPRequestHandler):
    """Answers both kinds of requests with ``answer``."""

    def answer(self) -> None:
        raise NotImplementedError

    def do_GET(self) -> None:
        self.answer()

    do_POST = do_GET  # noqa: N815

    def log_message(self, *_: object) -> None:
        """Nothing."""

    def reply(self, status: int, body: bytes = b"", **headers: object) -> None:
        """Send an answer; ``headers`` have ``_`` for ``-``, and may give another length than the body's."""
        self.send_response(status)
        for name, value in {"Content_Length": len(body), **headers}.items():
            self.send_header(name.replace("_", "-"), str(value))
        self.end_headers()
        self.wfile.write(body)

    def body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))
