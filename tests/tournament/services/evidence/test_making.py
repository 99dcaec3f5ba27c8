"""How archives are made: in steps, abandoned anywhere, of a state that changes, on a disk that fails."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from itertools import islice
from zipfile import ZipFile

import pytest
from django.conf import settings
from django.utils import timezone

from tests.support.played_evidence import make_evidence, newest, play_event
from tournament.models import Evidence, Game, Tournament
from tournament.services import stepwise
from tournament.services.annulments import annul
from tournament.services.evidence import rows
from tournament.services.evidence.making import DRAFT, EvidenceMaker, make
from tournament.services.evidence.tournaments import Files, TournamentEvidence
from tournament.services.results import record_texts

pytestmark = pytest.mark.django_db


@pytest.fixture
def cup(monkeypatch: pytest.MonkeyPatch) -> Tournament:
    """A tournament whose archive is made in many steps."""
    monkeypatch.setattr(rows, "PAGE", 2)
    monkeypatch.setattr(record_texts, "PAGE", 2)
    return play_event("round-robin")


def steps_of(cup: Tournament) -> Iterator[None]:
    return make(TournamentEvidence.next_of(cup.pk))


def annul_one(cup: Tournament) -> None:
    annul(Game.objects.filter(pk=cup.games.earliest("pk").pk), "Its clock was wrong.", timezone.now())


def test_an_archive_that_is_abandoned_at_any_step_is_made_again_with_the_same_bytes(cup: Tournament) -> None:
    make_evidence()
    whole = newest(cup)
    content = whole.path.read_bytes()
    whole.delete()
    whole.path.unlink()
    steps = sum(1 for _ in steps_of(cup))
    assert steps > 40
    Evidence.objects.all().delete()
    whole.path.unlink()
    for number in range(steps):
        list(islice(steps_of(cup), number))
        assert not Evidence.objects.exists()
        assert list(settings.EVIDENCE.glob("*/*")) == []
    make_evidence()
    assert newest(cup).path.read_bytes() == content
    assert list(settings.EVIDENCE.glob(f"{DRAFT}*")) == []


def test_of_two_makers_the_second_one_wins_and_nothing_is_mixed(cup: Tournament) -> None:
    first, second = steps_of(cup), steps_of(cup)
    next(first)
    next(second)
    with pytest.raises(FileNotFoundError):
        list(first)
    assert not Evidence.objects.exists()
    list(second)
    with ZipFile(newest(cup).path) as archive:
        assert archive.testzip() is None


def test_nothing_is_stored_of_a_tournament_that_changed_meanwhile(cup: Tournament) -> None:
    steps = steps_of(cup)
    list(islice(steps, 10))
    annul_one(cup)
    list(steps)
    assert not Evidence.objects.exists()
    make_evidence()
    assert newest(cup).corrected == 1


def test_a_step_ends_soon_and_the_next_one_goes_on(cup: Tournament, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stepwise, "QUIET_SECONDS", 0.0)
    maker, taken = EvidenceMaker(), 0
    while maker.step(0.0):
        taken += 1
    assert taken > 40
    with ZipFile(newest(cup).path) as archive:
        assert archive.testzip() is None


def test_nothing_is_begun_before_it_was_quiet_for_a_while(
    cup: Tournament, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [1000.0]
    monkeypatch.setattr("tournament.services.stepwise.time.monotonic", lambda: clock[0])
    maker = EvidenceMaker()

    def made_after(seconds: float) -> bool:
        clock[0] += seconds
        maker.step()
        return Evidence.objects.exists()

    assert not made_after(0.0)
    assert not made_after(stepwise.QUIET_SECONDS - 1)
    annul_one(cup)
    assert not made_after(stepwise.LOOK_SECONDS)
    assert not made_after(stepwise.QUIET_SECONDS - 1)
    assert made_after(stepwise.LOOK_SECONDS)
    assert newest(cup).corrected == 1


def test_an_error_is_logged_and_stops_no_other_tournament(
    cup: Tournament, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(stepwise, "QUIET_SECONDS", 0.0)
    monkeypatch.setattr(stepwise, "LOOK_SECONDS", 0.0)
    real, broken = TournamentEvidence.files, cup.pk

    def fail(source: TournamentEvidence) -> Files:
        if source.tournament.pk == broken:
            raise OSError("no space left on device")
        return real(source)

    monkeypatch.setattr(TournamentEvidence, "files", fail)
    other = play_event("round-robin", versions=[one.version for one in cup.entries.all()])
    maker = EvidenceMaker()
    with caplog.at_level(logging.ERROR, "tournament.evidence"):
        for _ in range(4):
            maker.step(60.0)
    assert [one.name for one in caplog.records].count("tournament.evidence") == 1
    assert [row.tournament for row in Evidence.objects.all()] == [other]


def test_nothing_is_begun_on_a_full_disk(cup: Tournament, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stepwise, "full_disk", lambda: "the disk is full")
    make_evidence()
    assert not Evidence.objects.exists()
