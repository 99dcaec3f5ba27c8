"""The failures that the demonstration detects; its success is tested in tests/e2e."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from tests.support.schedule import Deal, record_short
from tests.tournament.embedded.test_samples import start_demonstration
from tournament.embedded import StartError
from tournament.embedded.console import Console
from tournament.embedded.demo import conclude
from tournament.embedded.samples import register_samples
from tournament.models import Game, GameRecord, RatingEvent, Tournament

pytestmark = pytest.mark.slow


@pytest.fixture
def played(db: None, deal: Deal) -> Tournament:
    tournament = start_demonstration(register_samples())
    while jobs := deal():
        record_short(jobs)
    tournament.refresh_from_db()
    return tournament


def test_records_and_ratings_that_agree_are_printed(
    played: Tournament, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    output = io.StringIO()
    conclude(Console(output), tmp_path)
    assert "60 games, none with disagreements" in capfd.readouterr().out
    assert output.getvalue().count("\nAlphabeta ") == 5
    assert output.getvalue().endswith("are the same to the bit.\n")


def test_a_halted_game_fails_with_its_evidence(played: Tournament, tmp_path: Path) -> None:
    game = played.games.order_by("id").first()
    assert game is not None
    Game.objects.filter(pk=game.pk).update(
        state=Game.State.HALTED, result=None, sequence=None, evidence="both engines would not start"
    )
    with pytest.raises(StartError, match=f"{game.key} could not be played: both engines would not start"):
        conclude(Console(io.StringIO()), tmp_path)


def test_an_altered_record_fails(played: Tournament, tmp_path: Path) -> None:
    record = GameRecord.objects.order_by("pk")[0]
    GameRecord.objects.filter(pk=record.pk).update(text=record.text.replace('[PlyCount "', '[PlyCount "1', 1))
    with pytest.raises(StartError, match="the records do not verify"):
        conclude(Console(io.StringIO()), tmp_path)


def test_ratings_that_differ_in_one_bit_fail(played: Tournament, tmp_path: Path) -> None:
    event = RatingEvent.objects.order_by("pk")[0]
    RatingEvent.objects.filter(pk=event.pk).update(mu_after=event.mu_after * (1 + 2**-52))
    with pytest.raises(StartError, match=r"ratings made from .* differ from those published"):
        conclude(Console(io.StringIO()), tmp_path)
