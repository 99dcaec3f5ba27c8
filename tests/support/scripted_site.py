"""A site of a few lines: each address gives its answers one after the other, the last again and again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from tests.support.servers import LocalServer, QuietHandler

Answer = tuple[int, Any, dict[str, str]]
"""A status, a body (bytes, or a value for JSON) and headers; the status 0 closes the connection."""
CLOSED: Answer = (0, b"", {})


def fine(value: object, **headers: str) -> Answer:
    return 200, value, headers


def refusal(status: int, sentence: str, **headers: str) -> Answer:
    return status, {"ok": False, "error": sentence}, headers


def lines(*values: object) -> Answer:
    """JSON lines, with an empty one between them as in a stream."""
    return fine(b"\n\n".join([*(json.dumps(value).encode() for value in values), b""]))


@dataclass(frozen=True)
class Asked:
    method: str
    path: str
    query: str
    headers: dict[str, str]
    body: bytes


@dataclass
class ScriptedSite:
    """``answers`` are by the path, and ``asked`` what was."""

    address: str = ""
    answers: dict[str, list[Answer]] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)

    def give(self, path: str, *answers: Answer) -> None:
        """Answer so at this path."""
        self.answers[path] = list(answers)

    def answer(self, asked: Asked) -> Answer:
        self.asked.append(asked)
        answers = self.answers.get(asked.path, [refusal(404, "There is no such address.")])
        return answers.pop(0) if len(answers) > 1 else answers[0]

    def of(self, path: str) -> list[Asked]:
        """The requests for this path."""
        return [asked for asked in self.asked if asked.path == path]


@contextmanager
def scripted_site() -> Iterator[ScriptedSite]:
    site = ScriptedSite()

    class Handler(QuietHandler):
        def answer(self) -> None:
            parts = urlsplit(self.path)
            asked = Asked(self.command, parts.path, parts.query, dict(self.headers), self.body())
            status, value, headers = site.answer(asked)
            if status:
                data = value if isinstance(value, bytes) else json.dumps(value).encode()
                self.reply(status, data, **headers)

    with LocalServer(Handler) as server:
        site.address = server.url
        yield site
