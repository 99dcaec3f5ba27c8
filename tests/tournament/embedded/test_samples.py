"""The sample bots, and the status lines of a running site."""

from __future__ import annotations

import pytest
from pytest_django import Settings

from engines.bots import SAMPLE_BOTS, SampleBot
from engines.rules.base import Result
from engines.rules.registry import GAMES
from tournament.arithmetic.standings import Tally, crosstable
from tournament.embedded import samples
from tournament.embedded.administrator import set_administrator
from tournament.embedded.console import Count
from tournament.embedded.options import OptionError
from tournament.embedded.samples import DEMO_EVENT, register_samples, start_event
from tournament.embedded.tables import describe_ladder, format_crosstable
from tournament.embedded.up import count_games, describe_uploads, prepare
from tournament.models import Bot, BotVersion, Game, LadderRating, Tournament, User
from workers.bundles.samples import pack_sample
from workers.bundles.store import inspect_bundle

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


def test_samples_are_registered_once_however_often_the_site_starts() -> None:
    first = register_samples()
    assert [version.pk for version in register_samples()] == [version.pk for version in first]
    assert [str(version.bot) for version in first] == ["Random", "Greedy", "Alphabeta"]
    assert {version.state for version in first} == {"valid"}
    assert all(version.bundle.path.exists() for version in first)


def test_a_changed_sample_is_the_next_version_of_its_bot(monkeypatch: pytest.MonkeyPatch) -> None:
    register_samples()
    # As if the file had been rewritten: other bytes under the same name.
    rewritten = SampleBot("greedy_bot", "Random", "", tuple(GAMES))
    monkeypatch.setattr(samples, "SAMPLE_BOTS", (rewritten,))
    assert [version.number for version in register_samples()] == [2]


@pytest.mark.parametrize("sample", SAMPLE_BOTS, ids=lambda sample: str(sample.name))
def test_a_sample_is_an_ordinary_bundle(sample: SampleBot) -> None:
    manifest = inspect_bundle(pack_sample(sample))
    assert (manifest.name, manifest.games) == (sample.name, tuple(GAMES))


def test_the_demonstration_is_a_rated_round_robin_of_all_on_all_ladders() -> None:
    tournament = start_event(DEMO_EVENT, register_samples())
    assert (tournament.state, tournament.rated, tournament.ladders) == ("running", True, list(GAMES))
    assert tournament.games_total == 60
    pairs = set(Game.objects.values_list("white__bot__name", "black__bot__name"))
    assert len(pairs) == 6


def test_an_empty_site_gets_one_tournament_and_no_second() -> None:
    prepare()
    prepare()
    assert Tournament.objects.get().owner is None


def test_the_progress_counts_running_tournaments_alone() -> None:
    assert count_games(2) == Count(0, 0, 0)
    versions = register_samples()
    over = start_event(DEMO_EVENT, versions)
    Tournament.objects.filter(pk=over.pk).update(state=Tournament.State.FINISHED)
    start_event(DEMO_EVENT, versions)
    assert count_games(2) == Count(0, 60, 0)


def test_waiting_uploads_are_counted_and_the_command_named(settings: Settings) -> None:
    settings.IS_LOCAL = True
    assert describe_uploads()[0] == "Uploaded bots wait: no sandbox has been tested yet."
    version = register_samples()[0]
    BotVersion.objects.filter(pk=version.pk).update(state=BotVersion.State.WAITING)
    assert describe_uploads()[1] == "1 uploaded version waits."
    assert describe_uploads()[-1] == (
        "The site's operator can let them play by starting it with: ./arena up --port 8123 --trust-uploads"
    )


def test_where_uploads_are_trusted_the_danger_is_named(settings: Settings) -> None:
    settings.TRUST_UPLOADS = True
    assert describe_uploads() == [
        "Uploaded bots are run without a sandbox, with all rights of the user who started this site."
    ]


def test_a_crosstable_shows_who_won_against_whom() -> None:
    names = {1: "Random", 2: "Greedy"}
    tallies = [Tally(1, 2, Result.BLACK_WINS, 2), Tally(2, 1, Result.DRAW)]
    assert format_crosstable(crosstable([1, 2], tallies), names).splitlines() == [
        "            points        1.        2.",
        "1.  Greedy   2.5/3         -  +2 =1 -0",
        "2.  Random   0.5/3  +0 =1 -2         -",
    ]


def test_ratings_stand_beneath_it_best_first() -> None:
    tournament = start_event(DEMO_EVENT, register_samples())
    for name, mu in (("Random", 20.0), ("Greedy", 30.0)):
        version = Bot.objects.get(name=name).versions.get()
        LadderRating.objects.create(
            ladder_id="dualma",
            version=version,
            mu=mu,
            sigma=1,
            conservative=mu - 3,
            games=2,
            wins=1,
            losses=1,
        )
    lines = describe_ladder(tournament, "dualma").splitlines()
    assert lines[-2].split() == ["1.", "Greedy", "27.00", "30.00", "1.00", "2", "1", "0", "1"]
    assert lines[-1].split()[:2] == ["2.", "Random"]


def test_an_administrator_is_made_and_later_gets_a_new_password() -> None:
    assert not set_administrator("ada", "correct horse battery")
    assert set_administrator("ada", "another horse battery")
    ada = User.objects.get()
    assert ada.is_staff
    assert ada.is_superuser
    assert ada.check_password("another horse battery")


@pytest.mark.parametrize(
    ("name", "password", "complaint"),
    [
        ("ada", "short", "too short"),
        ("a b", "correct horse battery", "valid username"),
        ("", "x" * 20, "blank"),
    ],
)
def test_names_and_passwords_that_sign_up_refuses_make_no_administrator(
    name: str, password: str, complaint: str
) -> None:
    with pytest.raises(OptionError, match=complaint):
        set_administrator(name, password)
    assert not User.objects.exists()
