"""Notices to owners: one a subject, in the transaction of what they tell, and once though told twice."""

from __future__ import annotations

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.db import transaction
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings

from tests.support.schedule import (
    Deal,
    OnCommit,
    ask,
    forfeit,
    make_tournament,
    make_user,
    make_version,
    make_worker,
    news,
    play,
    record,
)
from tournament.models import BotVersion, ComplianceCheck, Notice
from tournament.models.people import MAX_NOTICES
from tournament.services.accounts.notices import notify, notify_staff
from tournament.services.bots.verdicts import accept, refuse
from tournament.services.uploads import validation
from workers.jobs import ComplianceEnding, Finding

pytestmark = pytest.mark.django_db


def texts() -> list[str]:
    return [notice.text for notice in Notice.objects.order_by("id")]


def test_an_owner_is_told_that_a_version_is_valid_and_where_it_plays() -> None:
    version = make_version("Ada", owner=make_user(), state=BotVersion.State.VALIDATING)
    accept(version)
    accept(version)
    (notice,) = Notice.objects.all()
    assert notice.text == "Ada v1 has passed its validation. It is active on DuploLine."
    assert (notice.version, notice.is_warning) == (version, False)


def test_an_owner_is_told_the_first_sentence_of_a_refusal() -> None:
    version = make_version("Ada", owner=make_user(), state=BotVersion.State.VALIDATING)
    refuse(version, "it never said ugiok. The log has more\nand more")
    refuse(version, "it never said ugiok")
    assert texts() == ["Ada v1 is refused. It never said ugiok."]
    assert Notice.objects.get().is_warning


def test_a_repeated_message_of_a_check_tells_once() -> None:
    version = make_version("Ada", owner=make_user(), state=BotVersion.State.VALIDATING)
    ComplianceCheck.objects.create(version=version, sent_at=timezone.now())
    assert ask(make_worker(name="checker", takes="checks"))
    fault = Finding("legal moves", "", "illegal move 'x'", "read it", is_grave=True)
    message = news(version, ComplianceEnding.DONE, fault)
    for _ in range(2):
        validation.record_news(message, timezone.now())
    assert texts() == ["Ada v1 is refused. The compliance check 'legal moves' failed: illegal move 'x'."]


def test_a_bot_of_the_site_has_nobody_to_tell() -> None:
    accept(make_version("Ada", state=BotVersion.State.VALIDATING))
    assert texts() == []


def test_a_new_notice_replaces_the_unread_one_of_its_subject_and_no_other() -> None:
    owner = make_user()
    first, second = make_version("Ada", owner=owner), make_version("Ada", owner=owner)
    notify(first, "one")
    notify(second, "two")
    notify(first, "three")
    assert texts() == ["two", "three"]
    Notice.objects.update(read_at=timezone.now())
    notify(first, "four")
    assert texts() == ["two", "three", "four"]


def test_staff_has_one_notice_a_worker() -> None:
    make_user("stan", staff=True)
    make_user("sue", staff=True)
    make_user()
    worker = make_worker()
    notify_staff(worker, "it is ill")
    notify_staff(worker, "it is worse")
    assert texts() == ["it is worse"] * 2


def test_a_notice_is_undone_with_what_it_tells() -> None:
    version = make_version("Ada", owner=make_user(), state=BotVersion.State.VALIDATING)
    with transaction.atomic():
        accept(version)
        transaction.set_rollback(True)
    assert texts() == []


def test_half_way_to_its_withdrawal_a_version_s_owner_is_warned_once(deal: Deal, settings: Settings) -> None:
    settings.MAX_FORFEITS = 5
    version = make_version("Ada", owner=make_user())
    make_tournament(versions=[version, make_version("Rival")], pairs=8)
    told: list[list[str]] = []
    while len(told) < 5:
        for job in deal():
            for game in job.games:
                if job.engines[game.white].name == "Ada" and len(told) < 5:
                    record(forfeit(play(job, game)))
                    told.append([text.partition(":")[0].partition(",")[0] for text in texts()])
    warned = ["Ada v1 lost 3 games in a row by its own fault"]
    assert told == [[], [], warned, warned, ["Ada v1 is withdrawn"]]


def test_counting_the_unread_costs_one_query_and_reads_no_more_than_are_shown(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    user = make_user()
    Notice.objects.bulk_create(Notice(user=user, text="x") for _ in range(MAX_NOTICES + 9))
    with django_assert_num_queries(1):
        assert user.unread_count == MAX_NOTICES + 1
    Notice.objects.update(read_at=timezone.now())
    assert user.unread_count == 0


def test_only_a_confirmed_address_gets_mail(settings: Settings, on_commit: OnCommit) -> None:
    settings.EMAIL_HOST = "mail.example"
    owner = make_user()
    version = make_version("Ada", owner=owner)
    address = EmailAddress.objects.create(user=owner, email="ada@example.org", primary=True)
    for verified in (False, True):
        address.verified = verified
        address.save()
        with on_commit():
            notify(version, "one")
        assert [message.to for message in mail.outbox] == ([["ada@example.org"]] if verified else [])
