"""One slot and eight slots of real workers play the same games of a tournament."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from pytest_django.live_server_helper import LiveServer

from engines.arithmetic.ratings import Standing
from engines.arithmetic.standings import Crosstable
from engines.records import read_records
from tests.support.brokers import running_worker
from tests.support.door import make_token
from tests.support.jobs import wait_until
from tournament.embedded.samples import register_samples
from tournament.models import Attempt, GameRecord, Tournament
from tournament.services.results.keeper import record_inbox
from tournament.services.schedule.tables import tables_of, tournament_table
from tournament.services.schedule.tournaments import create_round_robin, start
from tournament.services.work import durations

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]
LADDER = "duploline"


@pytest.mark.thorough
def test_one_slot_with_long_batches_and_eight_with_single_pairs_play_the_same_tournament(
    tmp_path: Path, live_server: LiveServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Games, standings and the tournament's own ratings; the bots search by nodes, the seed is the same."""
    taken: list[int] = []
    played = []
    environment = {"DUARENA_TOKEN": make_token()}
    for slots, seconds in ((1, 0.25), (8, 10.0)):
        monkeypatch.setattr(durations, "seconds_by_version", lambda *_, seconds=seconds: AlwaysSo(seconds))
        with running_worker(live_server.url, tmp_path, slots=slots, walls=True, environment=environment):
            played.append(play())
        games = Counter(Attempt.objects.order_by("sent_at").values_list("job", flat=True))
        taken += [count // 2 for count in games.values()]
        Tournament.objects.all().delete()
    assert taken == [4, 4, 4] + [1] * 12
    assert played[0] == played[1]


class AlwaysSo(dict[int, float]):
    """The stored speeds of all versions."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self._seconds = seconds

    def get(self, version: int, default: object = None) -> float:
        return self._seconds


def play() -> tuple[list[object], Crosstable, dict[int, Standing]]:
    """Moves and results by key, the table, and the tournament's ratings in their order."""
    tournament = create_round_robin(
        None,
        name="Spring",
        versions=register_samples(),
        ladders=[LADDER],
        pairs=4,
        time_control="nodes=60",
        seed=7,
        opening_plies=2,
        rated_off_terms=True,
    )
    start(tournament)

    def is_over() -> bool:
        record_inbox(10)
        tournament.refresh_from_db()
        return tournament.is_over

    assert wait_until(is_over, 240)
    assert tournament.state == Tournament.State.FINISHED
    (table,) = tables_of(tournament, register_samples())
    return games_of(tournament), table.crosstable, tournament_table(tournament, LADDER)


def games_of(tournament: Tournament) -> list[object]:
    texts = (
        GameRecord.objects.filter(game__tournament=tournament).order_by("game").values_list("text", flat=True)
    )
    games: list[object] = []
    for text in texts:
        (record,) = read_records(text.splitlines(keepends=True), "record")
        assert not isinstance(record, Exception)
        kept = [header for header in record.headers if header[0] not in {"WorkerSpeed", "Date"}]
        games.append((kept, record.result, [move.token for move in record.moves]))
    return games
