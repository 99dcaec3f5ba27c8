"""What is deleted after a time, and that nothing else is."""

from __future__ import annotations

import datetime
from typing import Any

import pytest
from allauth.usersessions.models import UserSession
from django.apps import apps
from django.contrib.sessions.models import Session
from django.core.cache import caches
from django.utils import timezone
from pytest_django import Settings

from tests.support.schedule import (
    LADDER,
    Deal,
    forfeit,
    make_tournament,
    make_user,
    make_version,
    play_all,
    record,
    record_all,
    start_validation,
)
from tournament.models import (
    Attempt,
    BotSearch,
    ComplianceCheck,
    FeedEntry,
    Game,
    GameLog,
    Notice,
    PersonGame,
    SlotUse,
    Token,
)
from tournament.models.compressed import pack_log, unpack_log
from tournament.services import pruning
from tournament.services.pruning import prune
from tournament.services.results import keeper
from tournament.services.results.rebuilding import rebuild

pytestmark = pytest.mark.django_db
DAY = datetime.timedelta(days=1)
LONG = 60.0
"""Seconds: enough for any number of chunks."""


@pytest.fixture(autouse=True)
def empty_cache() -> None:
    """Without entries of earlier tests, whose table is not emptied between tests."""
    caches["default"].clear()


def play(deal: Deal) -> None:
    while jobs := deal():
        record_all([report for job in jobs for report in play_all(job)])


def rows() -> dict[str, list[dict[str, Any]]]:
    """All rows of all tables of the site."""
    models = apps.get_app_config("tournament").get_models()
    return {model.__name__: list(model._default_manager.order_by("pk").values()) for model in models}


@pytest.mark.parametrize(
    ("stderr", "lines"), [("", ""), ("a\nb", "> go\n< ö"), ("3\n", "x"), ("", "only lines")]
)
def test_a_log_is_read_as_it_was_packed(stderr: str, lines: str) -> None:
    assert unpack_log(pack_log(stderr, lines)) == (stderr, lines)


def test_only_old_logs_and_attempts_are_deleted_and_ratings_stay_the_same(
    deal: Deal, settings: Settings
) -> None:
    make_tournament(bots=3)
    play(deal)
    before, now = rows(), timezone.now()
    assert not any(prune(now).values())
    assert rows() == before
    deleted = prune(now + settings.LOG_DAYS * DAY + DAY, LONG)
    assert (deleted["logs"], deleted["attempts"]) == (12, 6)
    after = rows()
    assert (after.pop("GameLog"), after.pop("Attempt"), after.pop("SlotUse")) == ([], [], [])
    assert after == {name: kept for name, kept in before.items() if name in after}
    assert not rebuild("duploline")[0].changed


def test_logs_of_faults_and_validations_are_kept_for_longer(deal: Deal, settings: Settings) -> None:
    settings.LOG_DAYS, settings.FAULT_LOG_DAYS = 3, 9
    start_validation(make_version("Ada"))
    make_tournament(opening_plies=2)
    jobs = deal()
    for job in jobs:
        first, *others = play_all(job)
        record_all([forfeit(first), *others])
    play(deal)
    games = Game.objects.filter(tournament__kind="round-robin")
    short = set(games.filter(fault="none").values_list("pk", flat=True))
    assert short
    assert games.filter(fault="white").count() == 1
    now = timezone.now()
    prune(now + 4 * DAY, LONG)
    kept = set(GameLog.objects.values_list("game", flat=True))
    assert kept == set(Game.objects.done().exclude(pk__in=short).values_list("pk", flat=True))
    prune(now + 10 * DAY, LONG)
    assert not GameLog.objects.exists()


def test_open_attempts_are_never_deleted(deal: Deal) -> None:
    make_tournament()
    deal()
    count = Attempt.objects.filter(ended_at__isnull=True).count()
    assert count == 2
    prune(timezone.now() + 1000 * DAY, LONG)
    assert Attempt.objects.count() == count


def test_a_late_message_about_a_deleted_attempt_is_ignored(deal: Deal) -> None:
    make_tournament()
    (job,) = deal()
    reports = list(play_all(job))
    record_all(reports)
    prune(timezone.now() + 100 * DAY, LONG)
    assert record(reports[0]) == keeper.IgnoredReport("foreign")


def test_old_notices_are_deleted_read_ones_sooner() -> None:
    user, now = make_user(), timezone.now()
    for age in (10, 100, 200):
        for read in (False, True):
            notice = Notice.objects.create(user=user, text=f"{age} {read}")
            at = now - age * DAY
            Notice.objects.filter(pk=notice.pk).update(created_at=at, read_at=at if read else None)
    assert prune(now, LONG)["notices"] == 3
    assert sorted(Notice.objects.values_list("text", flat=True)) == ["10 False", "10 True", "100 False"]


def test_searches_are_deleted_long_after_their_end() -> None:
    version, now = make_version(), timezone.now()
    for age in (None, 80, 100):
        BotSearch.objects.create(
            ladder_id=LADDER,
            version=version,
            asker=str(age),
            plies=[0],
            ms=100,
            asked_at=now - 200 * DAY,
            ended_at=None if age is None else now - age * DAY,
        )
    game = PersonGame.objects.create(
        ladder_id=LADDER, version=version, person=make_user("pia"), is_white=True, ms=100, started_at=now
    )
    BotSearch.objects.filter(asker="100").update(person_game=game)
    assert prune(now, LONG)["searches"] == 0, "the bot's move waits until somebody looks"
    PersonGame.objects.update(ended_at=now)
    assert prune(now, LONG)["searches"] == 1
    assert sorted(BotSearch.objects.values_list("asker", flat=True)) == ["80", "None"]


def test_complete_analyses_of_games_are_kept_for_good() -> None:
    (game, *_), version, now = make_tournament().games.all(), make_version("Judge"), timezone.now()
    for why in ("", "It crashed."):
        BotSearch.objects.create(
            ladder_id=LADDER,
            version=version,
            asker="user 1",
            game=game,
            plies=[0],
            ms=100,
            asked_at=now - 900 * DAY,
            ended_at=now - 900 * DAY,
            why=why,
        )
    assert prune(now, LONG)["searches"] == 1
    assert BotSearch.objects.get().why == ""


def test_checks_games_against_bots_feed_entries_slot_hours_and_revoked_tokens_go_after_their_time() -> None:
    version, pia, now = make_version(), make_user("pia"), timezone.now()
    times = {
        "checks": pruning.CHECKS,
        "games against bots": pruning.PERSON_GAMES,
        "feed entries": pruning.FEED_ENTRIES,
        "slot hours": pruning.SLOT_USE + DAY,
        "tokens": pruning.TOKENS,
    }
    FeedEntry.objects.all().delete()
    for number, days in enumerate((-DAY, DAY)):
        ended = {kind: now - time - days for kind, time in times.items()}
        ComplianceCheck.objects.create(
            version=version, sent_at=now, ended_at=ended["checks"], end=ComplianceCheck.End.DONE
        )
        begun = {"started_at": ended["games against bots"], "is_white": True, "ms": 100}
        PersonGame.objects.create(ladder_id=LADDER, version=version, person=pia, **begun)
        written = {"published_at": now, "updated_at": ended["feed entries"]}
        FeedEntry.objects.create(feed="bot/1", key=str(number), title="It won", **written)
        SlotUse.objects.create(owner=pia, day=ended["slot hours"].date())
        Token.objects.create(user=pia, digest=str(number), revoked_at=ended["tokens"], scopes=[])
    ComplianceCheck.objects.create(version=version, sent_at=now - 1000 * DAY)
    deleted = prune(now, LONG)
    assert {kind: deleted[kind] for kind in times} == dict.fromkeys(times, 1)
    assert [model.objects.count() for model in (ComplianceCheck, PersonGame, FeedEntry, SlotUse, Token)] == [
        2,
        1,
        1,
        1,
        1,
    ]


def test_expired_sessions_go_with_what_is_listed_of_them() -> None:
    user, now = make_user(), timezone.now()
    for key, expires in (("old", now - DAY), ("new", now + DAY)):
        Session.objects.create(session_key=key, session_data="", expire_date=expires)
        UserSession.objects.create(user=user, ip="127.0.0.1", session_key=key)
    assert prune(now, LONG)["sessions"] == 1
    assert list(Session.objects.values_list("pk", flat=True)) == ["new"]
    assert list(UserSession.objects.values_list("session_key", flat=True)) == ["new"]


def test_expired_entries_of_the_shared_cache_are_deleted() -> None:
    shared = caches["default"]
    shared.set("short", 1, 60)
    shared.set("long", 2, 10**6)
    shared.set("good", 3, None)
    assert prune(timezone.now() + DAY, LONG)["cache entries"] == 1
    assert [shared.get(key) for key in ("short", "long", "good")] == [None, 2, 3]


def test_a_call_deletes_chunk_by_chunk_and_the_next_one_continues(
    deal: Deal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pruning, "CHUNK", 2)
    make_tournament(bots=3)
    play(deal)
    later = timezone.now() + 100 * DAY
    assert not any(prune(later, budget_s=-1.0).values())
    assert GameLog.objects.count() == 12
    deleted = prune(later, LONG)
    assert (deleted["logs"], deleted["attempts"]) == (12, 6)
    assert not any(prune(later, LONG).values())
