"""The page of staff that says which parts of the site are well, and why others are not."""

from __future__ import annotations

import datetime
from collections import namedtuple
from collections.abc import Callable
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings

from tests.support.filled_site import LogIn
from tests.support.receivers import make_webhook
from tests.support.schedule import (
    Deal,
    make_event,
    make_tournament,
    make_user,
    make_worker,
    play_all,
    post,
    record_all,
    void,
)
from tests.tournament.conftest import FakeRedis
from tournament.models import Act, Game, InboxReport, Keeper, Tournament, WaitingMail, Webhook, Worker
from tournament.monitoring import conditions as module
from tournament.monitoring.conditions import conditions
from tournament.services import disk
from tournament.services.accounts.acts import BACKUP
from tournament.services.calendar import tend
from tournament.services.results.withdrawal import withdraw
from tournament.services.schedule.pairings import entered_versions
from workers.failures import MAX_VOIDS
from workers.jobs import BOTH_UNABLE

pytestmark = pytest.mark.django_db
QUERIES = 13
"""Of the conditions, however many games there are."""
MINUTE = datetime.timedelta(minutes=1)
Usage = namedtuple("Usage", "total used free")


@pytest.fixture(autouse=True)
def well(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """A site whose every part is well."""
    settings.TRUST_UPLOADS = True
    monkeypatch.setattr(
        "tournament.monitoring.values.shutil.disk_usage", lambda _: Usage(9e9, 1, 8_000_000_000)
    )
    now = timezone.now()
    Keeper.objects.create(pk=1, seen_at=now)
    make_worker(name="players@east")
    make_worker(name="validators@east", takes="checks")
    Act.objects.create(actor_name=BACKUP, deed="wrote a backup", subject="file a.tar")


def troubles() -> dict[str, str]:
    return {one.part: one.text for one in conditions(timezone.now()) if not one.is_well}


def age_keeper(seconds: int = 90) -> None:
    Keeper.objects.update(seen_at=timezone.now() - datetime.timedelta(seconds=seconds))


def test_a_site_without_trouble_is_well(as_user: LogIn) -> None:
    assert troubles() == {}
    page = as_user(make_user("stan", staff=True)).get("/staff/").content.decode()
    assert "All is well." in page
    assert page.count(">well<") == 11
    assert ">trouble<" not in page


def test_the_page_names_each_trouble_with_its_reason(as_user: LogIn) -> None:
    Act.objects.all().delete()
    Worker.objects.filter(takes="games").update(state="lost")
    page = as_user(make_user("stan", staff=True)).get("/staff/").content.decode()
    assert "2 of 11 parts need attention." in page
    assert "None plays; players@east is lost." in page
    assert page.count(">trouble<") == 2


def test_staff_finds_the_page_from_its_account(as_user: LogIn) -> None:
    link = '<a class="button" href="/staff/">Status</a>'
    assert link in as_user(make_user("stan", staff=True)).get("/account/").content.decode()
    assert link not in as_user(make_user("ada")).get("/account/").content.decode()


def test_no_cache_keeps_the_page(as_user: LogIn) -> None:
    assert "no-store" in as_user(make_user("stan", staff=True)).get("/staff/")["Cache-Control"]


def test_a_keeper_that_never_started_is_named() -> None:
    Keeper.objects.all().delete()
    assert troubles()["Record keeper"] == "it has not started yet"


def test_a_silent_keeper_is_named_with_the_reports_that_wait(deal: Deal) -> None:
    report_game(deal)
    age_keeper()
    assert troubles() == {"Record keeper": "it has not worked for 90 s: 1 report waiting"}


def test_a_keeper_that_is_behind_the_workers_is_named_although_it_works(
    deal: Deal,
) -> None:
    report_game(deal)
    assert troubles() == {}
    InboxReport.objects.update(received_at=timezone.now() - datetime.timedelta(seconds=90))
    assert troubles() == {"Record keeper": "it is 90 s behind the workers: 1 report waiting"}


def report_game(deal: Deal) -> None:
    """Let a slot have reported a game."""
    make_tournament(ladders=["dogon-kulei"], pairs=1)
    job, *_ = deal()
    post(job.job, reports=tuple(play_all(job))[:1])


def test_a_redis_that_does_not_answer_is_named(broker: FakeRedis) -> None:
    broker.is_away = True
    assert troubles() == {"Redis": "it does not answer"}


@pytest.mark.parametrize(
    ("fields", "trouble"),
    [
        ({"state": "stopped"}, "none plays"),
        ({"state": "lost"}, "none plays; players@east is lost"),
        ({"held": 2}, "none plays; players@east is held"),
        ({"barred": "others do"}, "none plays; players@east is barred"),
        ({"quarantined_at": timezone.now()}, "none plays; players@east is quarantined"),
    ],
)
def test_workers_that_play_no_games_are_named(fields: dict[str, Any], trouble: str) -> None:
    Worker.objects.filter(takes="games").update(**fields)
    assert troubles() == {"Workers for games": trouble}


def test_a_lost_worker_beside_others_is_named_and_many_are_counted() -> None:
    for number in range(5):
        make_worker(name=f"lost{number}@west", takes="checks", state="lost")
    expected = "lost0@west is lost; lost1@west is lost; lost2@west is lost; 2 more"
    assert troubles() == {"Workers for new bots": expected}


def test_uploads_that_wait_are_named(settings: Settings) -> None:
    settings.TRUST_UPLOADS = False
    Worker.objects.update(refusal="its sandbox is at level C")
    assert "uploaded bots wait" in troubles()["Uploaded bots"]


def test_a_disk_that_is_full_or_nearly_so_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LEAST_FREE_BYTES", 10**15)
    assert troubles()["Disk"] == "only 7.5\xa0GB free in the folder data"
    monkeypatch.setattr(disk, "LEAST_BYTES", 10**18)
    assert "is full" in troubles()["Disk"]


def test_games_that_no_slot_takes_are_named(deal: Callable[[], object]) -> None:
    make_tournament(ladders=["dogon-kulei"], pairs=1)
    since = timezone.now() - datetime.timedelta(seconds=400)
    Tournament.objects.update(started_at=since)
    assert troubles()["Queue"] == "games have waited for 400 s, and no slot takes any"
    deal()
    assert troubles() == {}


def test_no_owner_can_fill_the_halted_games(deal: Deal) -> None:
    """Neither with a bot that is withdrawn, and loses its games unplayed, nor with two that do not start."""
    event = make_event("round-robin", bots=3)
    sleeper, *_ = entered_versions(event)
    withdraw(sleeper, "it lost 5 games in a row by its own fault")
    tend()
    assert Game.objects.filter(state=Game.State.HALTED).count() == 4
    assert troubles() == {}
    for _ in range(MAX_VOIDS):
        for job in deal():
            record_all([void(report, f"{BOTH_UNABLE}: white: no ugiok") for report in play_all(job)])
    assert Game.objects.filter(state=Game.State.HALTED).count() == 6
    assert troubles() == {}


def test_halted_games_are_named() -> None:
    make_tournament(ladders=["dogon-kulei"], pairs=3)
    Game.objects.update(state=Game.State.HALTED)
    assert troubles()["Halted games"].endswith(" and others")


def test_mails_that_the_mail_server_does_not_take_are_counted_with_its_reason() -> None:
    now = timezone.now()
    for number in range(2):
        WaitingMail.objects.create(to="a@example.org", at=now, tried_at=now, trouble=f"timed out {number}")
        now += datetime.timedelta(seconds=1)
    assert troubles() == {"Mail": "2 mails wait for the mail server: timed out 1"}


def test_webhooks_that_nobody_sends_are_named_and_receivers_that_fail_are_counted() -> None:
    def text() -> str:
        return {one.part: one.text for one in conditions(timezone.now())}["Webhooks"]

    assert text() == "0 events waiting, 0 webhooks failing, last delivery never"
    webhook, now = make_webhook(make_user("ada")), timezone.now()
    webhook.deliveries.create(type="game.lost", data={}, state="delivered", tried_at=now - 3 * MINUTE)
    Webhook.objects.update(failures=2, next_at=now - 7 * MINUTE)
    waiting = webhook.deliveries.create(type="game.lost", data={}, next_at=now + MINUTE)
    assert troubles() == {}
    assert text() == "1 event waiting, 1 webhook failing, last delivery 3\xa0minutes ago"
    waiting.next_at = now - 6 * MINUTE
    waiting.save()
    assert text() == "nothing has been sent for 360 s: 1 event waiting"
    assert list(troubles()) == ["Webhooks"]
    Webhook.objects.update(claimed_until=now + MINUTE)
    assert troubles() == {}


def test_a_missing_or_old_backup_is_named() -> None:
    Act.objects.update(at=timezone.now() - datetime.timedelta(days=9))
    assert troubles() == {"Backup": "the last one was written 9 days ago"}
    Act.objects.all().delete()
    assert troubles()["Backup"].startswith("none is known")


def test_a_user_with_the_name_of_the_command_writes_no_backups() -> None:
    Act.objects.update(actor=make_user("manage.py"))
    assert "Backup" in troubles()


def test_a_backup_into_a_folder_that_does_not_exist_names_the_folder(tmp_path: object) -> None:
    with pytest.raises(CommandError, match=r"no backup was written: there is no folder .*nowhere"):
        call_command("backup", f"{tmp_path}/nowhere/site.tar")


def test_the_conditions_take_few_queries(
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    with django_assert_max_num_queries(QUERIES):
        conditions(timezone.now())


def test_a_backup_that_cannot_be_noted_says_so(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OperationalError("database or disk is full")

    monkeypatch.setattr("tournament.management.commands.backup.write_backup", lambda path, show: path.touch())
    monkeypatch.setattr("tournament.management.commands.backup.record_act", full)
    with pytest.raises(CommandError, match=r"could not be noted for /staff/: database or disk is full"):
        call_command("backup", f"{tmp_path}/site.zip")
