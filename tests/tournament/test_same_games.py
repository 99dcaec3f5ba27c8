"""One worker and eight real workers play the same games of a tournament."""

from __future__ import annotations

from pathlib import Path

import pytest

from engines.records import read_records
from tests.support.brokers import Broker, running_broker, running_worker
from tests.support.schedule import FakeBroker, make_worker
from tournament import tasks
from tournament.arithmetic.ratings import Standing
from tournament.arithmetic.standings import Crosstable
from tournament.embedded.samples import register_samples
from tournament.models import GameRecord, Tournament, Worker
from tournament.services.dispatch import batches as batches
from tournament.services.dispatch import dispatch
from tournament.services.schedule.tables import tables_of, tournament_table
from tournament.services.schedule.tournaments import create_round_robin, start
from workers.commands.start import worker_name
from workers.jobs import GameJob

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]
LADDER = "duploline"
TASKS = {
    "tournament.record": tasks.record,
    "tournament.progress": tasks.progress,
    "tournament.release": tasks.release,
}


@pytest.mark.thorough
def test_one_worker_with_long_batches_and_eight_with_single_pairs_play_the_same_tournament(
    tmp_path: Path, queues: FakeBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Games, standings and the tournament's own ratings; the bots search by nodes, the seed is the same."""
    sent: list[int] = []
    played = []

    def send(jobs: list[GameJob], queue: str) -> None:
        sent.append(len(jobs))
        broker.send_jobs(jobs)

    with running_broker() as broker:
        monkeypatch.setattr("tournament.queues.send_jobs", send)
        monkeypatch.setattr(tasks, "verified_sender", lambda: worker_name(None, "games"))
        for slots, seconds in ((1, 0.25), (8, 10.0)):
            Worker.objects.all().delete()
            make_worker(slots, name=worker_name(None, "games"))
            monkeypatch.setattr(batches, "seconds_by_version", lambda *_, seconds=seconds: AlwaysSo(seconds))
            with running_worker(broker.url, tmp_path, slots=slots, walls=True):
                played.append(play(broker))
            Tournament.objects.all().delete()
    assert sent == [4, 4, 4] + [1] * 12
    assert played[0] == played[1]


class AlwaysSo(dict[int, float]):
    """The stored speeds of all versions."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self._seconds = seconds

    def __contains__(self, version: object) -> bool:
        return True

    def __getitem__(self, version: int) -> float:
        return self._seconds


def play(broker: Broker) -> tuple[list[object], Crosstable, dict[int, Standing]]:
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
    )
    start(tournament)
    dispatch.fill_buffer()
    while not tournament.is_over:
        for message in broker.receive_until("tournament.record", seconds=120):
            TASKS[message.task](message.value)
        dispatch.fill_buffer()
        tournament.refresh_from_db()
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
