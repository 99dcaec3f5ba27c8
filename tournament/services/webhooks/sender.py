"""The loop of the process that sends: some requests at a time, each in a thread that knows no database."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from django.db import InterfaceError, OperationalError, connection
from django.utils import timezone

from tournament.models import WebhookDelivery
from tournament.services.event_counts import store_counts
from tournament.services.webhooks.envelope import body_of, headers_of
from tournament.services.webhooks.games import make_events
from tournament.services.webhooks.network import INTERNET, Network, ReceiverAnswer, post
from tournament.services.webhooks.sending import claim, settle

THREADS = 16
FOR_SLOW = 8
"""How many of them send to receivers whose last answer took long: the others wait for none of these."""
LOOK_SECONDS = 1.0
"""The interval at which the database is asked for new games and events."""
STORE_SECONDS = 10.0
"""The interval at which the counts of attempts are stored."""
PAUSE_SECONDS = 2.0
"""The pause after the database could not be used."""

log = logging.getLogger("tournament.webhooks")


class WebhookSender:
    """Sends what is due. Several, in several processes, share the work."""

    def __init__(self, network: Network = INTERNET) -> None:
        self._network = network
        self._threads = ThreadPoolExecutor(THREADS, "webhook")
        self._sent: dict[Future[ReceiverAnswer], WebhookDelivery] = {}
        self._looked_at = self._stored_at = 0.0

    def run(self, is_ending: Callable[[], bool], note_life: Callable[[], object]) -> None:
        """Send until ``is_ending``, and then store the answers to what is under way."""
        while not is_ending():
            note_life()
            try:
                self.step()
                self.wait(LOOK_SECONDS)
            except (OperationalError, InterfaceError) as error:
                log.error("the database cannot be used, tried again in %.0f s: %s", PAUSE_SECONDS, error)
                connection.close()
                time.sleep(PAUSE_SECONDS)
        self._threads.shutdown()
        self._settle()
        store_counts()

    def step(self) -> None:
        """Store the answers that came, make new events, and begin to send what is due."""
        self._settle()
        now = time.monotonic()
        if now - self._looked_at >= LOOK_SECONDS:
            make_events()
            self._looked_at = now
        if now - self._stored_at >= STORE_SECONDS:
            store_counts()
            self._stored_at = now
        for delivery in claim(timezone.now(), THREADS - len(self._sent)):
            self._begin(delivery)
        slow = sum(delivery.webhook.is_slow for delivery in self._sent.values())
        for delivery in claim(timezone.now(), min(FOR_SLOW - slow, THREADS - len(self._sent)), slow=True):
            self._begin(delivery)

    def wait(self, seconds: float) -> None:
        """Wait until an answer comes, or for so long."""
        if self._sent:
            wait(self._sent, seconds, FIRST_COMPLETED)
        else:
            time.sleep(seconds)

    def _begin(self, delivery: WebhookDelivery) -> None:
        body = body_of(delivery)
        headers = headers_of(delivery, body, timezone.now())
        future = self._threads.submit(post, delivery.webhook.url, headers, body, self._network)
        self._sent[future] = delivery

    def _settle(self) -> None:
        for future in [future for future in self._sent if future.done()]:
            delivery, answer = self._sent[future], future.result()
            settle(delivery, answer, timezone.now())
            del self._sent[future]  # not before: the database may be away
            if not answer.is_success:
                where = delivery.webhook.pk
                log.info("%s for webhook %d failed: %s %s", delivery, where, answer.status, answer.text)
