"""A worker with a valid key that sends messages without end: what becomes of them, and of those of others."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from tests.e2e.test_hostile_broker import EAST, WEST, Host, ignored, queue_client
from tests.support.brokers import PATIENCE_SECONDS
from tests.support.jobs import wait_until
from tests.support.sites import LonelySite, running_lonely_site
from workers.jobs import Progress
from workers.service.messaging.set_aside import set_aside_key

pytestmark = pytest.mark.thorough
MOST = 50
"""Messages that the record keeper of this site takes from one worker for each minute."""
FLOOD = 6 * MOST
TOKENS = """
from tournament.models import User
from tournament.services.accounts.tokens import create_token
staff = User.objects.create_superuser("stan", password="correct horse")
print("tokens", *(create_token(staff, name, ["worker"])[1] for name in ("east", "west")))
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LonelySite]:
    data = tmp_path_factory.mktemp("site")
    with running_lonely_site(data, 18_970, settings={"DUARENA_WORKER_MESSAGES": str(MOST)}) as site:
        assert wait_until(lambda: site.ask("SELECT 1 FROM tournament_keeper"), PATIENCE_SECONDS)
        yield site


def test_messages_beyond_a_worker_s_quota_are_set_aside_and_counted_and_others_are_taken(
    site: LonelySite,
) -> None:
    tokens = site.run(TOKENS).rpartition("tokens ")[2].split()
    east, west = (Host(site, name, token) for name, token in zip((EAST, WEST), tokens, strict=True))
    for _ in range(FLOOD):
        east.send("progress", Progress("no/1/1/1", "no attempt", f"{EAST}/1", (), None, None))
    west.send("heartbeat", replace(west.heartbeat(), run="heard"))
    heard = "SELECT 1 FROM tournament_worker WHERE name = 'players@west' AND run = 'heard'"
    assert wait_until(lambda: site.ask(heard), PATIENCE_SECONDS)
    counted = ignored(site)
    assert counted["foreign"] + counted["flood"] == FLOOD
    assert MOST <= counted["foreign"] <= 2 * MOST, counted  # of a minute, or of two of them
    last: Any = queue_client(site).lrange(set_aside_key("site"), 0, 0)
    assert json.loads(last[0])["why"] == f"'{EAST}' sent more than {MOST} messages in a minute"
    east.app.close()
    west.app.close()
