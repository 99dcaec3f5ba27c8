"""When a visit ends, and what the home page counts as new."""

from __future__ import annotations

import datetime

import pytest
from pytest_django import DjangoAssertNumQueries

from tests.support.schedule import make_user
from tournament.models import User
from tournament.services.accounts.visits import LONGEST, away_since, note_visit

pytestmark = pytest.mark.django_db
NOON = datetime.datetime(2026, 11, 20, 12, tzinfo=datetime.UTC)


def at(minutes: float) -> datetime.datetime:
    return NOON + datetime.timedelta(minutes=minutes)


@pytest.fixture
def user() -> User:
    user = make_user()
    User.objects.update(date_joined=at(-60), seen_at=at(-10))
    user.refresh_from_db()
    return user


def see(user: User, minutes: float) -> datetime.datetime:
    """A page at this time; returns since when it shows what is new."""
    since = away_since(user, at(minutes))
    note_visit(user, at(minutes))
    user.refresh_from_db()
    return since


def test_the_first_visit_shows_all_since_the_account_was_made(user: User) -> None:
    assert [see(user, minutes) for minutes in (0, 10, 20)] == [at(-60)] * 3


def test_what_is_new_stays_new_until_the_visit_ends(user: User) -> None:
    see(user, 0)
    assert [see(user, minutes) for minutes in (100, 101, 125, 150, 175)] == [at(0)] * 5
    assert see(user, 300) == at(175)


def test_a_long_absence_is_cut(user: User) -> None:
    see(user, 0)
    assert see(user, 60 * 24 * 90) == at(60 * 24 * 90) - LONGEST


def test_few_pages_write(user: User, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    see(user, 0)
    with django_assert_num_queries(0):
        note_visit(user, at(4))
    with django_assert_num_queries(1):
        note_visit(user, at(6))


def test_of_two_pages_at_once_one_begins_the_visit(user: User) -> None:
    see(user, 0)
    other = User.objects.get(pk=user.pk)
    note_visit(user, at(100))
    note_visit(other, at(101))
    user.refresh_from_db()
    assert (user.left_at, user.seen_at) == (at(0), at(100))
