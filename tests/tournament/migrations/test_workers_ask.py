"""An update of a site with running games to the release in which workers ask for work."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.core.management import call_command
from django.utils import timezone

from tests.support.schedule import ask, begin_game, make_tournament, make_user, make_version, make_worker
from tournament.models import Attempt, BotVersion, Exam, Game, LiveGame, Worker
from tournament.services.uploads.validation import begin

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def up_to_date(transactional_db: None) -> Iterator[None]:
    yield
    call_command("migrate", verbosity=0)


def test_what_workers_of_the_previous_release_hold_waits_again(up_to_date: None) -> None:
    make_tournament(pairs=2)
    version = make_version("Cy", owner=make_user(), state=BotVersion.State.VALIDATING)
    exam = begin(version, timezone.now())
    assert exam is not None
    players, checker = make_worker(1), make_worker(name="checker", takes="checks")
    batch = ask(players)
    assert batch is not None
    begin_game(batch.jobs[0].games[0])
    assert ask(checker)
    call_command("migrate", "tournament", "0029", verbosity=0)
    call_command("migrate", verbosity=0)
    assert set(Game.objects.values_list("state", "attempt", "voids", "lost")) == {("waiting", None, 0, 0)}
    assert set(Attempt.objects.values_list("end", flat=True)) == {"released"}
    assert not LiveGame.objects.exists()
    assert set(Worker.objects.values_list("name", "state")) == {
        ("players@east", "lost"),
        ("checker", "lost"),
    }
    Worker.objects.update(state="up")
    again = ask(players)
    assert again is not None
    assert [game.key for game in again.jobs[0].games] == [game.key for game in batch.jobs[0].games]
    found = ask(checker)
    assert found is not None
    assert found.job == str(exam.pk)
    assert Exam.objects.get().end == Exam.End.OPEN
