"""Measures how many events a second one sender of webhooks delivers beside games, and what that costs them.

The site of ``benchmarks.throughput`` plays while a sender and a receiver on this machine, which answers at
once, work and rest in turns of five seconds. As many events wait as it can send.

    nice -n -10 .venv/bin/python -m benchmarks.webhooks --no-sandbox
"""

from __future__ import annotations

import math
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from benchmarks.measuring import Broken, describe_machine, parser_of
from benchmarks.throughput import LADDER, MARGINS, SLOTS, _prepare, pack_bots
from engines.rules.registry import GAMES
from tests.support.servers import LocalServer, QuietHandler
from tournament.embedded.console import Console
from tournament.embedded.instance import Instance, running_instance
from tournament.embedded.options import Options
from tournament.embedded.plan import ROOT

USERS, WEBHOOKS, EVENTS = 40, 2, 500
TURN_SECONDS: Final = 5.0
LOOK_SECONDS: Final = 0.25


class _Answering(QuietHandler):
    def answer(self) -> None:
        self.body()
        self.reply(204)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = parser_of("webhooks", __doc__)
    parser.add_argument("--games", type=int, default=12_000, help="approximate number (%(default)s)")
    parser.add_argument("--no-sandbox", action="store_true", help="run the engines without a sandbox")
    parser.add_argument("--send", type=int, metavar="PORT", help="be the sender")
    options = parser.parse_args(arguments)
    if options.send:
        return _send(options.send)
    print(*describe_machine(), sep="\n")
    receiver = LocalServer(_Answering)
    with tempfile.TemporaryDirectory() as name, receiver:
        folder, port = Path(name), receiver.server_port
        zips = pack_bots(GAMES[LADDER], folder)
        site = Options("up", folder / "site", workers=SLOTS, trust_uploads=options.no_sandbox)
        with running_instance(
            site, Console(sys.stderr), lambda: _prepare(zips, LADDER, options.games)
        ) as instance:
            turns = list(_take_turns(instance, port))
    games, alone = (statistics.median(rate for is_sent, rate, _ in turns if is_sent == on) for on in (1, 0))
    sent = statistics.median(events for is_sent, _, events in turns if is_sent)
    print(f"- {sent:.0f} events a second delivered by one sender, median of {len(turns) // 2} turns")
    print(f"- {games:.0f} games a second meanwhile, {alone:.0f} without: {games / alone:.2f}")
    return 0


def _take_turns(instance: Instance, port: int) -> Iterator[tuple[bool, float, float]]:
    """Whether the sender worked in a turn, and the games and events a second."""
    from tournament.models import Tournament, WebhookDelivery

    for kept in instance.supervisor._kept:
        if kept.process.service.name == "webhooks":  # it sends to no receiver on this machine
            kept.process.kill()
            kept.restart_at = math.inf
    _fill(port)
    first, last = (share * Tournament.objects.get().games_total for share in MARGINS)

    def count() -> tuple[float, int, int]:
        delivered = WebhookDelivery.objects.filter(state=WebhookDelivery.State.DELIVERED).count()
        return time.monotonic(), Tournament.objects.get().games_done, delivered

    def wait(seconds: float) -> None:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            instance.supervisor.tend()
            time.sleep(LOOK_SECONDS)
        if instance.supervisor.stopping:
            raise Broken("stopped before all games were played")

    while count()[1] < first:
        wait(LOOK_SECONDS)
    while count()[1] < last:
        for is_sent in (True, False):
            with _sending(port) if is_sent else _nothing():
                begun = count()
                wait(TURN_SECONDS)
                ended = count()
            seconds = ended[0] - begun[0]
            if ended[1] < last:
                yield is_sent, (ended[1] - begun[1]) / seconds, (ended[2] - begun[2]) / seconds


@contextmanager
def _nothing() -> Iterator[None]:
    yield


@contextmanager
def _sending(port: int) -> Iterator[None]:
    """A sender that has started works within."""
    command = (sys.executable, "-m", "benchmarks.webhooks", "--send", str(port))
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield
        process.send_signal(signal.SIGTERM)


def _send(port: int) -> int:
    """Send to receivers with this port until SIGTERM."""
    import django

    django.setup()
    from tests.support.receivers import to_loopback
    from tournament.services.webhooks.sender import WebhookSender

    signals: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _frame: signals.append(number))
    sender = WebhookSender(to_loopback(port))
    sender.step()
    print("sending", flush=True)
    sender.run(lambda: bool(signals), lambda: None)
    return 0


def _fill(port: int) -> None:
    """Events for webhooks of some users, as many as are sent in minutes."""
    from tests.support.receivers import HOST, make_webhook
    from tournament.models import User, WebhookDelivery
    from tournament.services.webhooks.examples import EXAMPLES

    type_ = "game.lost"
    text, page, data = EXAMPLES[type_]
    owners = [User.objects.create(username=f"owner{number}") for number in range(USERS)]
    for user in owners * WEBHOOKS:
        webhook = make_webhook(user, f"https://{HOST}:{port}/")
        WebhookDelivery.objects.bulk_create(
            WebhookDelivery(webhook=webhook, type=type_, data={"text": text, "page": page, **data})
            for _ in range(EVENTS)
        )


if __name__ == "__main__":
    raise SystemExit(main())
