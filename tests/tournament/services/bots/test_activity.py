"""Which version plays: the owner's choice, what forfeits do to it, and what tournaments make of it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from pytest_django import Settings

from tests.support.schedule import (
    Deal,
    OnCommit,
    forfeit,
    make_tournament,
    make_user,
    make_version,
    play,
    record,
)
from tournament.models import ActiveVersion, BotVersion, Notice
from tournament.services.bots.activity import ActivityError, activate, switch
from tournament.services.schedule.walkovers import end_games_of_withdrawn

pytestmark = pytest.mark.django_db
BOTH = ("duploline", "dogon-kulei")


def active(name: str = "Ada") -> dict[str, int]:
    """The number of the version that enters, by ladder."""
    rows = ActiveVersion.objects.filter(bot__name=name, enabled=True)
    return dict(rows.values_list("ladder_id", "version__number"))


def test_the_newest_valid_version_takes_over_wherever_it_plays() -> None:
    make_version("Ada", games=BOTH)
    make_version("Ada", games=BOTH[:1])
    assert active() == {"duploline": 2, "dogon-kulei": 1}


def test_an_owner_goes_back_on_one_ladder() -> None:
    first = make_version("Ada", games=BOTH)
    make_version("Ada", games=BOTH)
    activate(first, "dogon-kulei")
    assert active() == {"duploline": 2, "dogon-kulei": 1}


@pytest.mark.parametrize("state", ["waiting", "validating", "refused", "withdrawn"])
def test_only_a_valid_version_can_be_active(state: BotVersion.State) -> None:
    version = make_version("Ada", state=state)
    with pytest.raises(ActivityError, match=f"Ada v1 is {state}: only a valid version can play"):
        activate(version, "duploline")
    assert active() == {}


def test_a_version_is_active_only_where_it_plays() -> None:
    with pytest.raises(ActivityError, match="does not play dualma"):
        activate(make_version("Ada"), "dualma")


def test_a_bot_switched_off_stays_off_until_its_owner_says_so() -> None:
    first = make_version("Ada", games=BOTH)
    switch(first.bot, "duploline", on=False)
    second = make_version("Ada", games=BOTH)
    assert active() == {"dogon-kulei": 2}
    switch(first.bot, "duploline", on=True)
    assert active() == {"dogon-kulei": 2, "duploline": second.number}
    with pytest.raises(ActivityError, match="no version of Ada is active on dualma"):
        switch(first.bot, "dualma", on=False)


def test_tournaments_are_offered_active_versions() -> None:
    old = make_version("Ada", games=BOTH)
    new = make_version("Ada", games=BOTH)
    rival = make_version("Bob", games=BOTH)
    assert list(BotVersion.objects.entering()) == [new, rival]
    for ladder in BOTH:
        activate(old, ladder)
        switch(rival.bot, ladder, on=False)
    assert list(BotVersion.objects.entering()) == [old]


# Forfeits in a row


@pytest.fixture
def lose(deal: Deal, settings: Settings) -> Callable[[BotVersion, int], None]:
    """Let a version forfeit so many games as White against a bot that does nothing wrong."""
    settings.MAX_FORFEITS = 3

    def play_out(version: BotVersion, games: int) -> None:
        rival = make_version(f"Rival {BotVersion.objects.count()}")
        make_tournament(versions=[version, rival], pairs=2 * games, name=f"t{rival.pk}")
        lost = 0
        while lost < games:
            for job in deal():
                for game in job.games:
                    white = job.engines[game.white]
                    if white.name == version.bot.name and lost < games:
                        record(forfeit(play(job, game), "the process ended with exit code 3"))
                        lost += 1

    return play_out


def test_a_version_that_forfeits_again_and_again_is_withdrawn_and_its_owner_told(
    lose: Callable[[BotVersion, int], None], settings: Settings
) -> None:
    owner = make_user()
    make_version("Ada", owner=owner)
    version = make_version("Ada")
    lose(version, 2)
    version.refresh_from_db()
    assert (version.state, version.forfeits) == (BotVersion.State.VALID, 2)
    lose(version, 1)
    version.refresh_from_db()
    assert version.state == BotVersion.State.WITHDRAWN
    assert version.state_reason == (
        "it lost 3 games in a row by its own fault, "
        "the last: time forfeit (the process ended with exit code 3)"
    )
    (notice,) = Notice.objects.filter(user=owner)
    assert notice.text.startswith("Ada v2 is withdrawn: it lost 3 games in a row")
    assert active() == {"duploline": 1}, "the version before plays again"
    assert mail.outbox == []


def test_a_game_without_a_fault_starts_the_count_anew(
    deal: Deal, lose: Callable[[BotVersion, int], None]
) -> None:
    version = make_version("Ada", owner=make_user())
    lose(version, 2)
    rival = make_version("Honest")
    make_tournament(versions=[version, rival], name="Fair")
    for job in deal():
        for game in job.games:
            record(play(job, game))
    version.refresh_from_db()
    assert version.forfeits == 0


def test_the_site_s_own_bots_are_left_to_its_staff(lose: Callable[[BotVersion, int], None]) -> None:
    version = make_version("Random", owner=None)
    lose(version, 4)
    version.refresh_from_db()
    assert version.state == BotVersion.State.VALID


def test_where_there_is_a_mail_server_an_owner_with_an_address_hears_by_mail(
    lose: Callable[[BotVersion, int], None], settings: Settings, on_commit: OnCommit
) -> None:
    settings.EMAIL_HOST, settings.SITE = "mail.example", "https://site.example"
    owner = make_user()
    EmailAddress.objects.create(user=owner, email="ada@example.org", verified=True, primary=True)
    version = make_version("Ada", owner=owner)
    with on_commit():
        lose(version, 3)
        end_games_of_withdrawn()
    message, ended = mail.outbox
    assert ended.subject.startswith("Duarena: t")  # it lost the other games of its tournament
    assert (message.subject, message.to) == ("Duarena: Ada", ["ada@example.org"])
    assert "https://site.example/bots/ada/1/" in message.body
