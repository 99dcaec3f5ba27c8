"""The failures that the demonstration detects; its success is tested in tests/e2e."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.management import call_command

from tests.support.schedule import play_short
from tournament.embedded import demo
from tournament.embedded.console import Console
from tournament.embedded.demo import DemoFailed
from tournament.embedded.processes.lock import AlreadyRunning, instance_lock
from tournament.embedded.samples import DEMO_EVENT, register_samples, start_event
from tournament.models import Game, GameRecord, RatingEvent, Tournament
from tournament.services.results import keeper
from workers.jobs import GameJob

pytestmark = pytest.mark.slow


@pytest.fixture
def played(db: None, deal: Callable[[], list[GameJob]]) -> Tournament:
    tournament = start_event(DEMO_EVENT, register_samples())
    while jobs := deal():
        for job in jobs:
            for report in play_short(job):
                keeper.record(report)
    tournament.refresh_from_db()
    return tournament


def test_the_files_of_an_earlier_demonstration_are_removed_but_its_folder_stays(tmp_path: Path) -> None:
    """The folder may be in one where its owner may remove nothing, if root created it."""
    data = tmp_path / "demo"
    demo._clear(data)
    assert not data.exists()
    (data / "records").mkdir(parents=True)
    (data / "records" / "games.pgn").touch()
    (data / "db.sqlite3").touch()
    before = data.stat().st_ino
    demo._clear(data)
    assert list(data.iterdir()) == []
    assert data.stat().st_ino == before


def test_the_folder_of_a_running_demonstration_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tournament.embedded.processes.lock.GRACE_S", 0.0)
    with instance_lock(tmp_path), pytest.raises(AlreadyRunning):
        demo._clear(tmp_path)
    assert tmp_path.exists()


def test_a_tournament_with_all_its_records_passes(played: Tournament) -> None:
    demo._check_played(played)


def test_a_halted_game_fails_with_its_evidence(played: Tournament) -> None:
    game = played.games.order_by("id").first()
    assert game is not None
    Game.objects.filter(pk=game.pk).update(
        state=Game.State.HALTED, result=None, sequence=None, evidence="both engines would not start"
    )
    with pytest.raises(DemoFailed, match=f"{game.key} could not be played: both engines would not start"):
        demo._check_played(played)


def test_a_missing_record_fails(played: Tournament) -> None:
    GameRecord.objects.order_by("pk")[0].delete()
    with pytest.raises(DemoFailed, match=f"{played.games_total - 1} records of {played.games_total} games"):
        demo._check_played(played)


def test_records_that_verify_are_named_and_an_altered_one_fails(played: Tournament, tmp_path: Path) -> None:
    texts = GameRecord.objects.filter(game__ladder="duovallis").order_by("game__sequence")
    path = tmp_path / "duovallis.pgn"
    path.write_text("\n".join(texts.values_list("text", flat=True)))
    output = io.StringIO()
    demo._verify(Console(output), [path])
    assert str(path) in output.getvalue()

    path.write_text(path.read_text().replace('[PlyCount "', '[PlyCount "1', 1))
    with pytest.raises(DemoFailed, match="the records do not verify: "):
        demo._verify(Console(output), [path])


def test_ratings_of_the_records_alone_are_compared_to_the_bit(played: Tournament, tmp_path: Path) -> None:
    call_command("export_records", str(tmp_path), stdout=io.StringIO())
    files = sorted(tmp_path.glob("*.pgn"))
    demo._compare_ratings(Console(io.StringIO()), files)

    event = RatingEvent.objects.order_by("pk")[0]
    RatingEvent.objects.filter(pk=event.pk).update(mu_after=event.mu_after * (1 + 2**-52))
    with pytest.raises(DemoFailed, match="ratings made from the records differ from those published"):
        demo._compare_ratings(Console(io.StringIO()), files)
