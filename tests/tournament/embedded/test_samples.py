"""The sample bots, and the status lines of a running site."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from pytest_django import Settings

from engines.bots import SAMPLE_BOTS, SampleBot
from engines.bundles.store import inspect_bundle
from engines.rules.registry import GAMES
from tournament.embedded import samples
from tournament.embedded.demo import format_ratings
from tournament.embedded.samples import register_samples, start_event
from tournament.embedded.up import describe_progress, describe_uploads, prepare
from tournament.models import BotVersion, Game, LadderRating, Tournament
from workers.bundles.samples import pack_sample

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


def start_demonstration(versions: Sequence[BotVersion]) -> Tournament:
    return start_event("Demonstration", versions, pairs=2, time_control="0.05/move")


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
    tournament = start_demonstration(register_samples())
    assert (tournament.state, tournament.rated, tournament.ladders) == ("running", True, list(GAMES))
    assert tournament.games_total == 60
    pairs = set(Game.objects.values_list("white__bot__name", "black__bot__name"))
    assert len(pairs) == 6


def test_an_empty_site_gets_one_tournament_and_no_second() -> None:
    prepare()
    prepare()
    assert Tournament.objects.get().owner is None


def test_the_progress_counts_running_tournaments_alone() -> None:
    assert describe_progress() == "No tournament is running."
    versions = register_samples()
    over = start_demonstration(versions)
    Tournament.objects.filter(pk=over.pk).update(state=Tournament.State.FINISHED)
    start_demonstration(versions)
    start_demonstration(versions)
    assert describe_progress() == "0/120 games"


def test_where_uploads_wait_the_command_is_named(settings: Settings) -> None:
    settings.IS_LOCAL = True
    assert describe_uploads()[0] == "Uploaded bots wait: no sandbox has been tested yet."
    assert describe_uploads()[-1] == (
        "The site's operator can let them play by starting it with: ./arena up --port 8123 --trust-uploads"
    )


def test_where_uploads_are_trusted_the_danger_is_named(settings: Settings) -> None:
    settings.TRUST_UPLOADS = True
    assert describe_uploads() == [
        "Uploaded bots are run without a sandbox, with all rights of the user who started this site."
    ]


def test_the_ratings_of_a_ladder_are_printed_best_first() -> None:
    for name, mu, version in zip(("Random", "Greedy"), (20.0, 30.0), register_samples(), strict=False):
        assert version.bot.name == name
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
    assert format_ratings(
        LadderRating.objects.placed(LadderRating.objects.places("dualma"))
    ).splitlines() == [
        "              rating      mu   sigma   games     won   drawn    lost",
        "Greedy         27.00   30.00    1.00       2       1       0       1",
        "Random         17.00   20.00    1.00       2       1       0       1",
    ]
