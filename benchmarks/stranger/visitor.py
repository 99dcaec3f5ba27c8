"""A visitor of a site: keeps its cookies, sends forms, and has a network address of its own."""

from __future__ import annotations

import http.client
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from typing import Final
from urllib.parse import urlencode

TIMEOUT_S: Final = 60.0
CSRF: Final = "csrfmiddlewaretoken"
Fields = Mapping[str, str | int | Sequence[str | int]]


class Refused(Exception):
    """The site did not do what it was asked; the text says what it answered."""


@dataclass(frozen=True, slots=True)
class Response:
    """A response; ``location`` is where it redirects to, empty if nowhere."""

    status: int
    text: str
    location: str

    @property
    def errors(self) -> str:
        """The sentences of a form that was refused."""
        return " ".join(re.findall(r'class="error"[^>]*>([^<]+)<', self.text))


@dataclass(slots=True)
class Visitor:
    """Each request has a connection of its own."""

    site: tuple[str, int]
    address: str = "127.0.0.1"
    """Of the loopback network."""
    cookies: dict[str, str] = field(default_factory=dict)

    def get(self, path: str, headers: Mapping[str, str] | None = None) -> Response:
        return self.send("GET", path, None, headers or {})

    def post(self, path: str, fields: Fields, headers: Mapping[str, str] | None = None) -> Response:
        """Send a form; the page with the form gives the token against forgery if there is none yet."""
        body = urlencode({**fields, CSRF: self._token(path)}, doseq=True).encode()
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        return self.send("POST", path, body, {**form, **(headers or {})})

    def upload(self, path: str, name: str, content: bytes) -> Response:
        """Send a form with one file."""
        boundary = secrets.token_hex(16)
        head = f'--{boundary}\r\nContent-Disposition: form-data; name="'
        token = f'{head}{CSRF}"\r\n\r\n{self._token(path)}\r\n'
        file = f'{head}{name}"; filename="bot.zip"\r\nContent-Type: application/zip\r\n\r\n'
        body = b"".join((token.encode(), file.encode(), content, f"\r\n--{boundary}--\r\n".encode()))
        return self.send("POST", path, body, {"Content-Type": f"multipart/form-data; boundary={boundary}"})

    def sign_up(self, name: str) -> None:
        """Create an account and log in. Raises ``Refused``."""
        password = secrets.token_urlsafe(12)
        answer = self.post("/sign-up/", {"username": name, "password1": password, "password2": password})
        if answer.status != 302:
            raise Refused(f"{name}: {answer.status} {answer.errors}")

    def start_tournament(self, fields: Fields) -> str:
        """Make a tournament and start it; returns its slug. Raises ``Refused``."""
        draft = self.post("/tournaments/new/", fields)
        if draft.status != 302:
            raise Refused(f"{draft.status} {draft.errors}")
        started = self.post(f"{draft.location}start/", {})
        if started.location == draft.location:
            raise Refused(f"{draft.location} was not started")
        return started.location.strip("/").rpartition("/")[2]

    def send(self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]) -> Response:
        """Send any request and keep the cookies of its response."""
        connection = http.client.HTTPConnection(
            *self.site, timeout=TIMEOUT_S, source_address=(self.address, 0)
        )
        try:
            cookies = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
            connection.request(method, path, body, {"Cookie": cookies, **headers})
            answer = connection.getresponse()
            for told in answer.headers.get_all("Set-Cookie") or ():
                self.cookies |= {name: morsel.value for name, morsel in SimpleCookie(told).items()}
            text = answer.read().decode(errors="replace")
            return Response(answer.status, text, answer.headers.get("Location", ""))
        finally:
            connection.close()

    def _token(self, path: str) -> str:
        if "csrftoken" not in self.cookies:
            self.get(path)
        return self.cookies.get("csrftoken", "")
