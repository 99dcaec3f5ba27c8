"""The page of the workers: their states, without reloading, and the actions of staff."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from tests.support.filled_site import HOSTILE, LogIn
from tests.support.parts import PART, followed_address
from tournament.models import Keeper, User, Worker
from tournament.views.site.workers import StaffWorkerRow, WorkerRow

pytestmark = pytest.mark.django_db


@pytest.fixture
def staff() -> User:
    return User.objects.create_superuser("stan", password="pw")


def add_worker(name: str = "players@east", **fields: Any) -> Worker:
    now = timezone.now()
    usual = {"takes": "games", "host": "cellar", "level": "A", "slots": 2, "started_at": now, "seen_at": now}
    return Worker.objects.create(name=name, **(usual | fields))


def page(client: Client, path: str = "/workers/") -> str:
    return client.get(path).content.decode()


def test_without_workers_the_page_explains_how_to_start_one(client: Client) -> None:
    assert "No worker has reported yet." in page(client)


@pytest.mark.parametrize(
    ("fields", "condition"),
    [
        ({}, "idle"),
        ({"busy": 1}, "busy"),
        ({"held": 1}, "idle"),
        ({"held": 2}, "held"),
        ({"busy": 1, "held": 1}, "busy"),
        ({"state": "lost"}, "lost"),
        ({"state": "stopped"}, "stopped"),
        ({"barred": "others do"}, "barred"),
        ({"state": "lost", "quarantined_at": timezone.now()}, "quarantined"),
    ],
)
def test_each_worker_is_counted_under_one_condition(
    client: Client, fields: dict[str, Any], condition: str
) -> None:
    add_worker(**fields)
    assert f">1 {condition}<" in page(client)


def test_the_sums_are_of_the_workers_that_get_games(client: Client) -> None:
    add_worker("one", busy=2, games_an_hour=100)
    add_worker("two", busy=1, games_an_hour=50)
    add_worker("three", state="lost")
    add_worker("four", quarantined_at=timezone.now(), games_an_hour=70)
    assert "3 of 4 slots busy, 150 games an hour" in page(client)


def test_a_poll_is_answered_once_something_changed(client: Client) -> None:
    worker = add_worker()
    address = followed_address(page(client))
    assert client.get(address, headers=PART).status_code == 204
    Worker.objects.filter(pk=worker.pk).update(busy=1)
    answer = client.get(address, headers=PART)
    assert answer.status_code == 200
    assert answer.content.decode().lstrip().startswith('<div id="workers"')


def test_the_texts_of_a_worker_are_escaped(as_user: LogIn, staff: User) -> None:
    add_worker(HOSTILE[:60], host=HOSTILE, trouble=HOSTILE, trouble_at=timezone.now(), refusal=HOSTILE)
    assert "<script>alert" not in page(as_user(staff))


def test_one_reason_is_shown_once(as_user: LogIn, staff: User) -> None:
    why = "its sandbox is at level B"
    add_worker(refusal=why, barred=f"it does not run uploaded bots, and others do: {why}")
    assert "It runs no uploaded bots." not in page(as_user(staff))
    Worker.objects.update(barred="")
    assert "It runs no uploaded bots. Its sandbox is at level B." in page(as_user(staff))


def test_the_page_warns_while_the_record_keeper_does_not_work(client: Client) -> None:
    add_worker()
    now = timezone.now()
    Keeper.objects.create(pk=1, seen_at=now)
    away = "The record keeper has not worked since"
    assert away not in page(client)
    Keeper.objects.update(seen_at=now - timedelta(minutes=1))
    assert away in page(client)


def test_staff_quarantines_and_releases(as_user: LogIn, staff: User) -> None:
    worker, client = add_worker(), as_user(staff)
    assert "Quarantine<" in page(client)
    client.post(f"/workers/{worker.pk}/quarantine/")
    worker.refresh_from_db()
    assert worker.quarantine_reason == "stan quarantined it"
    assert "Release<" in page(client)
    client.post(f"/workers/{worker.pk}/release/")
    worker.refresh_from_db()
    assert not worker.is_quarantined
    assert client.post("/workers/99999999999999999999/release/").status_code == 404


def test_the_navigation_links_to_the_workers(client: Client) -> None:
    assert '<a href="/workers/">Workers</a>' in page(client, "/")


def test_the_table_is_a_file_with_more_columns_for_staff(client: Client, as_user: LogIn, staff: User) -> None:
    add_worker("=east", trouble="no bwrap", trouble_at=timezone.now())
    add_worker("west", busy=1)
    assert 'href="/workers/workers.csv"' in page(client)
    rows = client.get("/workers/workers.json").json()["workers"]
    assert [(row["worker"], row["state"], row["busy"]) for row in rows] == [
        ("west", "busy", 1), ("=east", "idle", 0),
    ]  # fmt: skip
    assert {tuple(row) for row in rows} == {WorkerRow.__struct_fields__}
    lines = page(client, "/workers/workers.csv").splitlines()
    assert lines[0] == ",".join(WorkerRow.__struct_fields__)
    assert lines[2].startswith("'=east,idle,games,2,0,")
    assert "no bwrap" not in "".join(lines)
    row = as_user(staff).get("/workers/workers.json").json()["workers"][1]
    assert tuple(row) == StaffWorkerRow.__struct_fields__
    assert (row["host"], row["error"]) == ("cellar", "no bwrap")
    assert client.get("/workers/workers.xml").status_code == 404


def test_the_page_names_a_busy_core_as_a_reason_to_be_held(client: Client, db: None) -> None:
    assert (
        "programs took more than half of the time of a slot's engines"
        in client.get("/workers/").content.decode()
    )
