"""Constraints of the database, and properties of rows."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from django.core.management import call_command
from django.db import IntegrityError, transaction
from django.utils import timezone

from engines.rules.registry import GAMES
from tests.support.schedule import ask, make_tournament, make_user, make_version, make_worker
from tournament.models import Attempt, Bot, BotVersion, Game, Job, Ladder, Tournament, User
from tournament.services.stopping import release

pytestmark = pytest.mark.django_db


def test_the_migrations_match_the_models() -> None:
    call_command("makemigrations", "--check", "--dry-run", verbosity=0)


def test_every_game_has_its_ladder() -> None:
    Ladder.objects.filter(code="dualma").delete()
    Ladder.objects.ensure()
    Ladder.objects.ensure()
    assert set(Ladder.objects.values_list("code", flat=True)) == set(GAMES)


@pytest.mark.parametrize(
    ("model", "change"),
    [
        (Game, {"state": "lost"}),
        (Game, {"result": "*"}),
        (Game, {"state": "done"}),
        (Game, {"result": "1-0"}),
        (Game, {"state": "claimed"}),
        (Game, {"sequence": 5}),
        (Tournament, {"state": "asleep"}),
        (Tournament, {"games_done": 99}),
        (BotVersion, {"state": "fine"}),
        (BotVersion, {"number": 0}),
    ],
)
def test_impossible_states_cannot_be_stored(model: Any, change: dict[str, Any]) -> None:
    make_tournament()
    with pytest.raises(IntegrityError), transaction.atomic():
        model.objects.filter(pk=model.objects.earliest("id").pk).update(**change)


def test_two_games_of_a_ladder_never_share_a_number() -> None:
    make_tournament()
    one, two = Game.objects.order_by("id")
    done = {"state": "done", "result": "1-0", "sequence": 1}
    Game.objects.filter(pk=one.pk).update(**done)
    with pytest.raises(IntegrityError), transaction.atomic():
        Game.objects.filter(pk=two.pk).update(**done)
    with pytest.raises(IntegrityError), transaction.atomic():
        Game.objects.filter(pk=two.pk).update(key=one.key)


def test_an_attempt_with_a_kind_of_end_must_have_an_end_time() -> None:
    make_tournament()
    game = Game.objects.earliest("id")
    with pytest.raises(IntegrityError), transaction.atomic():
        Attempt.objects.create(game=game, sent_at=timezone.now(), end="lost")


def test_an_ask_has_one_job_at_a_time() -> None:
    make_tournament(pairs=2)
    make_worker(1)
    assert ask()
    job = Job.objects.get()
    job.pk = uuid.uuid4()
    with pytest.raises(IntegrityError), transaction.atomic():
        job.save(force_insert=True)
    release(Job.objects.all(), timezone.now())
    job.save(force_insert=True)


def test_names_differ_by_more_than_case() -> None:
    Bot.objects.register(None, "Straße")
    for taken in ("STRASSE", "straße"):
        assert Bot.objects.named(taken) is not None
        with pytest.raises(IntegrityError), transaction.atomic():
            Bot.objects.register(None, taken)
    make_user("Ada")
    with pytest.raises(IntegrityError), transaction.atomic():
        User.objects.create_user("aDA")


def test_every_bot_gets_a_different_address_in_latin_letters() -> None:
    names = ("A b", "a-b", "Камень", "石器時代", "●", "○")
    slugs = [Bot.objects.register(None, name).slug for name in names]
    assert slugs == ["a-b", "a-b-2", "kamen", "shiqishidai", "bot", "bot-2"]


def test_the_active_versions_of_each_bot_enter() -> None:
    make_version("Ada")
    second = make_version("Ada")
    make_version("Ada", state=BotVersion.State.REFUSED)
    make_version("Bob", state=BotVersion.State.WAITING)
    third = make_version("Cy")
    assert list(BotVersion.objects.entering()) == [second, third]
