"""The stored estimates: what they are computed from, when they are renewed, and what pages get."""

from __future__ import annotations

import datetime
from collections import defaultdict

import pytest
from django.test import Client
from django.utils import timezone

from engines.estimation.estimates import Estimate
from engines.rules.base import Result
from tests.support.estimating import PairTally, Tally, estimate
from tests.support.rated_games import play_rated
from tests.support.schedule import make_version
from tournament.caches import cache
from tournament.models import (
    ActiveVersion,
    BotVersion,
    Game,
    Ladder,
    LadderEstimate,
    LadderRating,
    PairOutcome,
    PairScore,
)
from tournament.services.results import estimates
from tournament.services.results.estimates import (
    compute,
    ladder_advantage,
    ladder_estimate,
    refresh_estimates,
)

pytestmark = pytest.mark.django_db
LADDER = "duploline"
NOW = timezone.now()


@pytest.fixture
def players() -> tuple[int, int]:
    """Two versions with ten games; eight of them are four pairs with both games won by the first."""
    one, other = (make_version(name) for name in ("Ada", "Bob"))
    for version in (one, other):
        LadderRating.objects.create(ladder_id=LADDER, version=version, mu=25, sigma=2, conservative=19)
    PairScore.objects.create(ladder_id=LADDER, white=one, black=other, wins=5)
    PairScore.objects.create(ladder_id=LADDER, white=other, black=one, losses=4, wins=1)
    PairOutcome.objects.create(
        ladder_id=LADDER,
        one=one,
        other=other,
        first=str(Result.WHITE_WINS),
        second=str(Result.BLACK_WINS),
        count=4,
    )
    Ladder.objects.filter(pk=LADDER).update(sequence=10)
    return one.pk, other.pk


def shown() -> Estimate:
    """What pages get, if there is any."""
    found = ladder_estimate(LADDER)
    assert found is not None
    return found


def test_a_game_counts_once_in_a_pair_or_alone(players: tuple[int, int]) -> None:
    found = compute(LADDER)
    assert found.games == 10
    assert found.opening_spread > 0
    assert found.difference(*players).elo > 0


def test_the_columns_of_the_tables_are_the_games_and_pairs_one_by_one(players: tuple[int, int]) -> None:
    """Of ten games, won by the first nine times, eight are in pairs."""
    one, other = players
    pairs = [PairTally(one, other, Result.WHITE_WINS, Result.BLACK_WINS)] * 4
    singles = [Tally(one, other, Result.WHITE_WINS), Tally(other, one, Result.WHITE_WINS)]
    assert compute(LADDER) == estimate(players, singles, pairs)


def test_openings_that_repeat_widen_the_interval_of_the_advantage() -> None:
    """Also those of different tournaments; games of an opening are those of all meetings of a cycle."""
    versions = [make_version(name) for name in ("Ada", "Bob", "Cy")]
    play_rated(None, "First", versions, pairs=8, ladders=[LADDER])
    play_rated(None, "Second", versions, pairs=8, ladders=[LADDER], seed=8)
    rows = Game.objects.filter(rated=True).values_list("pairing__opening", "white", "black", "result")
    games: dict[tuple[str, int, int], list[Result]] = defaultdict(list)
    for opening, white, black, result in rows:
        games[opening, white, black].append(Result(str(result)))
    pairs = [
        PairTally(white, black, first, second, opening=opening)
        for (opening, white, black), results in games.items()
        if white < black
        for first, second in zip(results, games[opening, black, white], strict=True)
    ]
    assert len({pair.opening for pair in pairs}) * 6 == len(pairs)
    found = compute(LADDER)
    assert found == estimate([version.pk for version in versions], [], pairs)
    assert found.widening.factor != 1.0


def test_openings_are_counted_again_when_a_ladder_has_grown(
    players: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    refresh_estimates(NOW)
    PairScore.objects.filter(white=players[0]).update(wins=9)
    assert compute(LADDER).widening.games == 14
    monkeypatch.setattr(estimates, "GROWTH", 1.5)
    assert compute(LADDER).widening.games == 10


def test_of_many_versions_the_active_and_the_newest_are_estimated_from_their_games(
    players: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = compute(LADDER)
    old, active = players
    newest = make_version("Cy")
    PairScore.objects.create(ladder_id=LADDER, white_id=old, black=newest, wins=3)
    ActiveVersion.objects.filter(ladder=LADDER).update(enabled=False)
    ActiveVersion.objects.filter(ladder=LADDER, version__in=players).update(enabled=True)
    monkeypatch.setattr(estimates, "MAX_ESTIMATED", 2)
    assert compute(LADDER) == expected
    ActiveVersion.objects.filter(ladder=LADDER, version=active).update(enabled=False)
    found = compute(LADDER)
    assert (set(found.strengths), found.games) == ({old, newest.pk}, 3)


def test_the_advantage_is_read_without_the_whole_estimate(
    players: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    computed = compute(LADDER).advantage
    assert ladder_advantage(LADDER) == computed
    monkeypatch.setattr(estimates, "AT_ONCE", 1)
    assert ladder_advantage(LADDER) is None
    refresh_estimates(NOW)
    LadderEstimate.objects.update(content=b"")
    assert ladder_advantage(LADDER) == computed


def test_the_stored_estimate_is_the_computed_one(players: tuple[int, int]) -> None:
    assert refresh_estimates(NOW) == 1
    cache.clear()
    found, computed = shown(), compute(LADDER)
    assert found.strengths == computed.strengths
    assert found.superiority(*players) == pytest.approx(computed.superiority(*players), abs=1e-5)


def test_an_estimate_is_renewed_after_new_games_and_a_wait(players: tuple[int, int]) -> None:
    assert refresh_estimates(NOW) == 1
    assert refresh_estimates(NOW + datetime.timedelta(hours=1)) == 0
    Ladder.objects.filter(pk=LADDER).update(sequence=11)
    assert refresh_estimates(NOW + datetime.timedelta(seconds=1)) == 0
    assert refresh_estimates(NOW + datetime.timedelta(hours=1)) == 1
    assert LadderEstimate.objects.get().sequence == 11


def test_a_long_ladder_shows_the_stored_estimate_and_a_short_one_the_latest(
    players: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    refresh_estimates(NOW)
    old = shown().strengths
    PairScore.objects.filter(white=players[0]).update(wins=9)
    Ladder.objects.filter(pk=LADDER).update(sequence=14)
    monkeypatch.setattr(estimates, "AT_ONCE", 1)
    assert shown().strengths == old
    monkeypatch.setattr(estimates, "AT_ONCE", 2)
    assert shown().strengths[players[0]].elo > old[players[0]].elo


def test_a_long_ladder_has_no_estimate_until_the_keeper_has_computed_one(
    players: tuple[int, int], client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(estimates, "AT_ONCE", 1)
    assert ladder_estimate(LADDER) is None
    page = client.get(f"/ladders/{LADDER}/").content.decode()
    assert "The estimate from all games is being computed." in page
    (row,) = client.get(f"/ladders/{LADDER}/ratings.json").json()["ratings"][:1]
    assert row["elo"] is None
    first, second = BotVersion.objects.select_related("bot").in_bulk(players).values()
    compared = client.get(f"/bots/{first.bot.slug}/against/{second.bot.slug}/")
    assert compared.context["gaps"] == []
    refresh_estimates(NOW)
    assert ladder_estimate(LADDER) is not None


def test_a_stored_form_of_another_version_of_the_program_is_computed_again(players: tuple[int, int]) -> None:
    refresh_estimates(NOW)
    LadderEstimate.objects.update(content=b"{}\n")
    cache.clear()
    assert shown().strengths == compute(LADDER).strengths
