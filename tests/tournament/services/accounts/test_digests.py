"""What is new for a user: own bots and what the user follows, since a time, of public things only."""

from __future__ import annotations

import datetime

import pytest
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from engines.protocol import Score
from engines.records import Fault, MoveNote, RecordMove, RecordOutcome, Termination
from engines.rules.base import Result
from tests.support.filled_site import LADDER, Site, fill_site, record_text, set_done
from tests.support.remembered import remembered
from tests.support.schedule import make_user, make_version
from tournament.models import (
    Bot,
    BotVersion,
    Game,
    GameRecord,
    LadderRating,
    RatingEvent,
    Seat,
    Tournament,
    User,
)
from tournament.services.accounts import digests
from tournament.services.accounts.digests import Digest, make_digest
from tournament.services.accounts.follows import follow
from tournament.services.bots.verdicts import accept
from tournament.services.schedule.tournaments import cancel

pytestmark = pytest.mark.django_db
HOUR = datetime.timedelta(hours=1)


@pytest.fixture
def site() -> Site:
    return remembered(fill_site)


def new_for(user: User, ago: datetime.timedelta = HOUR) -> Digest:
    return make_digest(user, timezone.now() - ago)


def lines_of(digest: Digest) -> list[tuple[str, str, int, int, int]]:
    return [
        (str(one.version), one.ladder, one.score.wins, one.score.draws, one.score.losses)
        for one in digest.lines
    ]


def titles_of(digest: Digest) -> list[str]:
    return [entry.title.replace("\u2068", "").replace("\u2069", "") for entry in digest.entries]


def decide(game: Game, result: Result, **more: object) -> None:
    set_done(game, RecordOutcome(result, Termination.RULES, Fault.NONE), 20, **more)


def rate(game: Game, version: BotVersion, before: float, after: float) -> None:
    numbers = {"mu_before": before + 3, "sigma_before": 1, "mu_after": after + 3, "sigma_after": 1}
    RatingEvent.objects.create(
        ladder_id=game.ladder_id, sequence=1000 + game.pk, game=game, version=version, **numbers
    )


def test_a_new_account_has_no_subjects(site: Site) -> None:
    digest = new_for(site.staff)
    assert (digest.has_subjects, digest.is_empty) == (False, True)
    follow(site.staff, site.white.bot)
    assert new_for(site.staff).has_subjects


def test_own_and_followed_bots_have_a_line_a_ladder_with_score_and_opponents(site: Site) -> None:
    decide(site.live, Result.WHITE_WINS)
    for user in (site.owner, site.rival):
        digest = new_for(user)
        (line,) = digest.lines
        assert line.score.games == 2
        assert [bot.owner for bot in line.bots] == [site.rival if user == site.owner else site.owner]
    assert new_for(site.staff).lines == []
    follow(site.staff, site.white.bot)
    assert [str(line.version) for line in new_for(site.staff).lines] == ["Stone Age v1"]
    follow(site.staff, site.rival)
    assert len(new_for(site.staff).lines) == 2
    assert lines_of(new_for(site.owner))[0][:2] == ("Stone Age v1", LADDER)


def test_only_what_happened_since_is_new(site: Site) -> None:
    assert new_for(site.owner).lines
    assert not new_for(site.owner, datetime.timedelta(0)).lines


def test_own_bots_come_first_and_further_ones_are_counted(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(digests, "MAX_LINES", 1)
    follow(site.rival, site.white.bot)
    digest = new_for(site.rival)
    assert [line.version for line in digest.lines] == [site.black]
    assert digest.more_lines == 1


def test_only_the_latest_games_are_counted(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    decide(site.live, Result.DRAW)
    assert not new_for(site.owner).is_cut
    monkeypatch.setattr(digests, "MAX_GAMES", 1)
    digest = new_for(site.owner)
    assert digest.is_cut
    assert [(line.score.draws, line.score.games) for line in digest.lines] == [(1, 1)]


def test_a_line_has_the_ratings_before_and_after_each_rated_game(site: Site) -> None:
    decide(site.live, Result.WHITE_WINS)
    rate(site.played, site.white, 10.0, 11.0)
    rate(site.live, site.white, 11.0, 13.5)
    (line,) = new_for(site.owner).lines
    assert line.ratings == [10.0, 11.0, 13.5]
    assert line.change == 3.5
    assert new_for(site.rival).lines[0].ratings == []


@pytest.mark.parametrize(("games", "best", "told"), [(62, 13.5, 13.5), (61, 13.5, None), (62, 14.0, None)])
def test_a_new_best_rating_is_told_if_the_earlier_ones_were_settled(
    site: Site, games: int, best: float, told: float | None
) -> None:
    decide(site.live, Result.WHITE_WINS)
    rate(site.played, site.white, 10.0, 13.5)
    rate(site.live, site.white, 13.5, 13.0)
    LadderRating.objects.filter(version=site.white).update(games=games, best=best)
    (line,) = new_for(site.owner).lines
    assert line.best == told


def test_lost_games_are_those_of_own_bots(site: Site) -> None:
    white = site.live.white
    loser = site.owner if white == site.white else site.rival
    decide(site.live, Result.BLACK_WINS)
    Game.objects.filter(pk=site.played.pk).update(result=Result.DRAW)
    (lost,) = new_for(loser).lost
    assert (lost.game, lost.version, lost.turned) == (site.live, white, None)
    other = site.owner if loser == site.rival else site.rival
    follow(other, white.bot)
    assert not new_for(other).lost
    Bot.objects.update(owner=loser)
    assert not new_for(loser).lost


def scored(game: Game, *scores: int | None) -> str:
    """A record whose moves have these scores, of White and Black in turn."""
    moves = [
        RecordMove("a1", MoveNote(None if score is None else Score(centipawns=score))) for score in scores
    ]
    return record_text(game, moves, RecordOutcome(Result.WHITE_WINS, Termination.RESIGNATION, Fault.NONE))


def test_the_turn_is_told_with_a_lost_game(site: Site) -> None:
    decide(site.live, Result.BLACK_WINS)
    GameRecord.objects.create(game=site.live, text=scored(site.live, 20, 0, -10, 10))
    loser = site.live.white.bot.owner
    assert loser is not None
    assert [lost.turned for lost in new_for(loser).lost if lost.game == site.live] == [3]


def test_events_of_followed_feeds_are_told_once(site: Site) -> None:
    user = make_user("ida")
    version = make_version("Nova", owner=site.rival, state=BotVersion.State.VALIDATING)
    for subject in (version.bot, site.rival):
        follow(user, subject)
    accept(version)
    assert titles_of(new_for(user)) == ["New bot: Nova v1"]
    assert titles_of(new_for(site.rival)) == ["New bot: Nova v1"]
    assert titles_of(new_for(user, -HOUR)) == []


def test_what_is_hidden_meanwhile_is_not_shown(site: Site) -> None:
    user = make_user("ida")
    for subject in (site.running, site.white.bot, site.owner):
        follow(user, subject)
    assert titles_of(new_for(user)) == ["Begun: Spring"]
    Tournament.objects.filter(pk=site.running.pk).update(state=Tournament.State.DRAFT)
    BotVersion.objects.filter(pk=site.white.pk).update(state=BotVersion.State.REFUSED)
    digest = new_for(user)
    assert (digest.is_empty, list(digest.lost)) == (True, [])


def test_games_of_a_draft_and_of_a_validation_are_not_counted(site: Site) -> None:
    for event in (site.draft, site.validation):
        decide(event.games.earliest("pk"), Result.WHITE_WINS)
    assert [line.score.games for line in new_for(site.owner).lines] == [1]
    Seat.objects.filter(tournament=site.draft).delete()  # no game of a draft is ever recorded
    cancel(site.draft)
    assert [line.score.games for line in new_for(site.owner).lines] == [1]


def test_a_digest_costs_the_same_queries_whatever_happened(
    site: Site, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    versions = [make_version(f"Bot {n}", owner=site.owner, games=[LADDER]) for n in range(19)]
    for one in versions:
        follow(site.rival, one.bot)
    decide(site.live, Result.BLACK_WINS)
    with django_assert_num_queries(10):
        new_for(site.owner)
    with django_assert_num_queries(10):
        new_for(site.rival)
