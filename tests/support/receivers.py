"""Receivers of webhooks on this machine, in a thread, and the network by which the sender reaches them."""

from __future__ import annotations

import dataclasses
import socket
import threading
from collections.abc import Callable
from typing import Any

from django.conf import settings

from tests.support.servers import LocalServer, QuietHandler
from tournament.models import User, Webhook, WebhookDelivery
from tournament.models.webhooks import EventType
from tournament.services.webhooks.envelope import make_secret
from tournament.services.webhooks.examples import EXAMPLES
from tournament.services.webhooks.network import INTERNET, Network
from tournament.services.webhooks.sender import WebhookSender

HOST = "receiver.example"


class Receiver:
    """Keeps what it gets, and answers each request by ``answer``."""

    def __init__(self, answer: Callable[[QuietHandler], object] | None = None) -> None:
        self.got: list[tuple[str, dict[str, str], bytes]] = []
        """Paths, headers and bodies."""
        self.came = threading.Semaphore(0)
        receiver = self

        class Handler(QuietHandler):
            def answer(self) -> None:
                receiver.got.append((self.path, dict(self.headers), self.body()))
                receiver.came.release()
                if answer is None:
                    self.reply(204)
                else:
                    answer(self)

        self.server = LocalServer(Handler)
        self.url = f"https://{HOST}:{self.server.server_port}/hook?key=1"

    def __enter__(self) -> Receiver:
        return self

    def __exit__(self, *_: object) -> None:
        self.server.close()

    @property
    def network(self) -> Network:
        """Leads to this receiver by a name, without TLS."""
        return to_loopback(self.server.server_port)


def to_loopback(port: int, **changes: Any) -> Network:
    """Every name resolves to this machine, which is allowed."""
    values: dict[str, Any] = {
        "is_allowed": lambda address: address == "127.0.0.1",
        "resolve": resolving_to("127.0.0.1"),
        "context": None,
        "ports": [port],
        **changes,
    }
    return dataclasses.replace(INTERNET, **values)


def resolving_to(*addresses: str) -> Callable[..., list[Any]]:
    """A resolver with the next address at each call."""
    left = list(addresses)

    def resolve(_host: str, port: int, **_: object) -> list[Any]:
        address = left.pop(0) if len(left) > 1 else left[0]
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        return [(family, socket.SOCK_STREAM, 6, "", (address, port))]

    return resolve


def check_example(delivery: WebhookDelivery) -> None:
    """The example that pages show of this type has the same fields."""
    _, page, data = EXAMPLES[delivery.type]
    assert list(delivery.data) == ["text", "page", *data]
    assert len(page.split("/")) == len(delivery.data["page"].removeprefix(settings.SITE).split("/"))


def make_webhook(owner: User, url: str = "https://bots.example/hook", **values: Any) -> Webhook:
    """A webhook that is told everything."""
    fields = {"events": list(EventType), "secret": make_secret(), **values}
    return Webhook.objects.create(owner=owner, url=url, **fields)


def send_due(port: int) -> None:
    """Send what is due to receivers with this port, and store their answers."""
    sender = WebhookSender(to_loopback(port))
    sender.step()
    sender.wait(20)
    sender.step()
