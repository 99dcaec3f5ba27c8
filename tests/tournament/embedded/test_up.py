"""The messages of ``arena up`` while it runs."""

from __future__ import annotations

import pytest
from django.db import OperationalError

from tests.support.schedule import make_tournament
from tournament.embedded import up
from tournament.embedded.console import Meter

pytestmark = pytest.mark.django_db


def test_the_running_tournaments_are_counted_together() -> None:
    assert up.describe_progress(Meter(), 2) == "No tournament is running."
    games = make_tournament().games_total + make_tournament(pairs=3).games_total
    assert up.describe_progress(Meter(), 2) == f"0/{games} games, 0 running"


@pytest.mark.django_db(transaction=True)
def test_a_database_that_is_away_does_not_end_the_site(monkeypatch: pytest.MonkeyPatch) -> None:
    def away(_: int) -> None:
        raise OperationalError("server closed the connection unexpectedly")

    with monkeypatch.context() as patched:
        patched.setattr(up, "count_games", away)
        assert up.describe_progress(Meter(), 2) == "The database does not answer."
    assert up.describe_progress(Meter(), 2) == "No tournament is running."
