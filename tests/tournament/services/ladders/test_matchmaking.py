"""The ladders' matchmakers in the database: when pairs are made, which bots meet, what cancels pairs."""

from __future__ import annotations

import datetime
from dataclasses import replace
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.utils import timezone
from pytest_django import Settings

from engines.rules.base import Result
from tests.support.schedule import (
    LADDER,
    Deal,
    OnCommit,
    all_drawn,
    begin_game,
    forfeit,
    make_tournament,
    make_user,
    make_version,
    make_worker,
    play_short,
    record,
    record_short,
    start_validation,
    void,
)
from tests.support.threads import at_once
from tournament.models import (
    Attempt,
    Bot,
    BotVersion,
    Game,
    Ladder,
    LadderRating,
    LatestPairing,
    Matchmaking,
    Pairing,
    PairScore,
    RatingEvent,
    Tournament,
    Worker,
)
from tournament.services.bots.activity import activate, switch
from tournament.services.calendar import tend
from tournament.services.ladders import matchmaking
from tournament.services.ladders.candidates import candidates_of
from tournament.services.ladders.matchmaking import cancel_stale, make_pair
from tournament.services.results import keeper
from tournament.services.results.rebuilding import rebuild
from tournament.services.results.withdrawal import withdraw
from tournament.services.schedule.tournaments import (
    TournamentError,
    cancel,
    extend,
    pause,
    resume,
    set_priority,
)
from tournament.services.schedule.walkovers import end_games_of_withdrawn
from tournament.services.work.attempts import end_attempt
from workers.jobs import GameJob

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
State = Tournament.State
NOW = timezone.now()
SECOND = datetime.timedelta(seconds=1)
HOUR = 3600 * SECOND


@pytest.fixture(autouse=True)
def an_hour_s_worth(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pair a minute on each ladder, on two slots, and an extra pair only for a version without any."""
    monkeypatch.setattr(matchmaking, "MAX_EARLY_PAIRS", 1)
    settings.LADDER_GAMES = 120
    make_worker(slots=2)


def owned(*names: str) -> list[BotVersion]:
    """Bots of as many owners."""
    return [make_version(name, owner=make_user(name.lower())) for name in names]


def the_ladder() -> Tournament:
    return Tournament.objects.get(kind="ladder")


def play(job: GameJob, result: Result = Result.DRAW) -> None:
    told = record_short([job], lambda *_: result)
    assert all(isinstance(one, keeper.Recorded) for one in told)


def play_on(deal: Deal, pairs: int, now: datetime.datetime = NOW) -> datetime.datetime:
    """Let so many pairs be made and played, a minute apart; returns the moment after them."""
    for number in range(pairs):
        assert tend(now + number * 60 * SECOND) == 1
        (job,) = deal()
        play(job)
    return now + pairs * 60 * SECOND


def test_bots_of_two_owners_are_paired_on_their_ladder(deal: Deal) -> None:
    ada, bob = owned("Ada", "Bob")
    assert tend(NOW) == 1
    ladder = the_ladder()
    assert (ladder.name, ladder.slug, ladder.state, ladder.rated, ladder.owner) == (
        "DuploLine ladder",
        "ladder-duploline",
        State.RUNNING,
        True,
        None,
    )
    (job,) = deal()
    assert job.time_control == "5+0.05"
    assert len(job.opening) == 4
    assert [game.white for game in job.games] == [0, 1]
    assert {spec.name for spec in job.engines} == {"Ada", "Bob"}
    play(job)
    ladder.refresh_from_db()
    assert (ladder.state, ladder.games_done, ladder.games_total) == (State.RUNNING, 2, 2)
    assert LadderRating.objects.filter(version__in=[ada, bob], games=2).count() == 2
    assert PairScore.objects.count() == 2


def test_each_pair_has_an_opening_of_its_own_and_numbers_count_on(deal: Deal) -> None:
    owned("Ada", "Bob", "Cy")
    play_on(deal, 5)
    assert list(Pairing.objects.order_by("id").values_list("round", "number")) == [
        (n, 1) for n in range(1, 6)
    ]
    assert len(set(Pairing.objects.values_list("opening", flat=True))) == 5
    assert Matchmaking.objects.get(pk=LADDER).pairs_made == 5
    last = dict(LatestPairing.objects.values_list("version", "pair"))
    latest = Pairing.objects.latest("id")
    assert {last[latest.first_id], last[latest.second_id]} == {5}


@pytest.mark.parametrize("owners", [[], ["ada"], ["ada", "ada"]])
def test_without_a_bot_of_another_owner_nothing_is_made(owners: list[str]) -> None:
    users = {name: make_user(name) for name in set(owners)}
    for number, name in enumerate(owners):
        make_version(f"Bot {number}", owner=users[name])
    assert tend(NOW) == 0
    assert not Tournament.objects.exists()


def test_an_opponent_who_appears_is_met_within_seconds() -> None:
    owned("Ada")
    assert tend(NOW) == 0
    owned("Bob")
    assert tend(NOW + 5 * SECOND) == 1


def test_nothing_is_made_where_the_site_sets_no_rate(settings: Settings) -> None:
    owned("Ada", "Bob")
    settings.LADDER_GAMES = 0
    assert tend(NOW) == 0
    Matchmaking.objects.filter(pk=LADDER).update(games_an_hour=60)
    assert tend(NOW) == 1
    settings.LADDER_GAMES = 120
    Matchmaking.objects.filter(pk=LADDER).update(games_an_hour=0)
    assert tend(NOW + HOUR) == 0


def test_pairs_are_made_at_the_rate_set_and_no_faster(deal: Deal) -> None:
    owned("Ada", "Bob")
    made = {}
    for second in sorted({*range(0, 200, 15), 59, 121, 199}):
        made[second] = tend(NOW + second * SECOND)
        for job in deal():
            play(job)
    assert [second for second, count in made.items() for _ in range(count)] == [0, 60, 120, 180]


def test_a_new_bot_need_not_wait_until_the_next_pair_is_due(deal: Deal) -> None:
    owned("Ada", "Bob")
    now = play_on(deal, 3) - 30 * SECOND
    (cy,) = owned("Cy")
    for second in range(1, 4):
        tend(now + second * SECOND)
        for job in deal():
            play(job)
    assert LadderRating.objects.get(version=cy).games >= 2


@pytest.mark.thorough
def test_a_new_bot_speeds_nothing_up_but_its_own_first_pair(deal: Deal) -> None:
    owned("Ada", "Bob")
    assert tend(NOW) == 1
    made = []
    for second in range(1, 600):
        if second == 10:
            owned("Cy")
        made += [second] * tend(NOW + second * SECOND)
        for job in deal():
            play(job)
    regular = [second for second in made if second % 60 == 0]
    early = [second for second in made if second % 60]
    assert regular == list(range(60, 600, 60))
    assert early in ([10], [10, 11])  # a pair that is drawn uniformly may be without it


def play_for(deal: Deal, seconds: int) -> int:
    """Let so many seconds pass while every game ends at once; returns how many pairs were made."""
    made = 0
    for second in range(1, seconds + 1):
        made += tend(NOW + second * SECOND)
        for job in deal():
            play(job)
    return made


@pytest.fixture
def early_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matchmaking, "MAX_EARLY_PAIRS", 60)


@pytest.mark.usefixtures("early_pairs")
def test_provisional_versions_play_on_idle_workers_without_the_limit(deal: Deal) -> None:
    owned("Ada", "Bob")
    assert 5 < play_for(deal, 20) < 15
    assert not any(one.is_new for one in candidates_of([LADDER])[LADDER])
    assert LadderRating.objects.filter(games__gt=10).count() == 2


@pytest.mark.usefixtures("early_pairs")
def test_settled_versions_keep_to_the_limit(deal: Deal) -> None:
    for version in owned("Ada", "Bob"):
        LadderRating.objects.create(
            ladder_id=LADDER, version=version, mu=25, sigma=1.2, conservative=21.4, games=3, draws=3
        )
    assert play_for(deal, 20) == 1


@pytest.mark.usefixtures("early_pairs")
def test_extra_pairs_wait_while_a_game_of_a_tournament_waits(deal: Deal) -> None:
    versions = owned("Ada", "Bob")
    assert tend(NOW) == 1
    for job in deal():
        play(job)
    make_tournament(versions=versions, pairs=6)
    assert tend(NOW + SECOND) == 0


def test_a_version_whose_games_are_never_rated_gets_no_endless_extra_pairs(
    deal: Deal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matchmaking, "MAX_EARLY_PAIRS", 3)
    owned("Ada", "Bob")
    assert play_for(deal, 20) == 3
    assert set(LatestPairing.objects.values_list("pairs", flat=True)) == {3}


def test_a_bot_that_may_meet_nobody_yet_makes_no_pair(deal: Deal) -> None:
    ada, _ = owned("Ada", "Bob")
    assert tend(NOW) == 1
    for job in deal():
        play(job)
    switch(Bot.objects.get(name="Bob"), LADDER, on=False)
    make_version("Ada's other", owner=ada.bot.owner)
    assert tend(NOW + SECOND) == 0


def test_early_pairs_are_made_once_however_many_ask(deal: Deal) -> None:
    owned("Ada", "Bob")
    assert tend(NOW) == 1
    owned("Cy")
    assert tend(NOW + SECOND) == 1
    assert not any(make_pair(LADDER, NOW + SECOND, early=True) for _ in range(2))


def test_a_pause_of_the_site_leads_to_no_burst(deal: Deal) -> None:
    owned("Ada", "Bob")
    now = play_on(deal, 3)
    assert tend(now + 24 * HOUR) == 1
    for job in deal():
        play(job)
    assert tend(now + 24 * HOUR + 30 * SECOND) == 0
    assert tend(now + 24 * HOUR + 60 * SECOND) == 1


def test_a_clock_put_back_holds_the_ladder_up_for_one_interval_at_most(deal: Deal) -> None:
    owned("Ada", "Bob")
    play_on(deal, 3)
    back = NOW - 24 * HOUR
    assert tend(back) == 0
    for job in deal():
        play(job)
    assert sum(tend(back + second * SECOND) for second in range(0, 62, 5)) == 1


def test_a_faster_rate_counts_at_once() -> None:
    owned("Ada", "Bob")
    Matchmaking.objects.ensure()
    Matchmaking.objects.filter(pk=LADDER).update(games_an_hour=1)
    assert tend(NOW) == 1
    assert tend(NOW + 60 * SECOND) == 0
    Matchmaking.objects.filter(pk=LADDER).update(games_an_hour=120)
    assert sum(tend(NOW + (60 + second) * SECOND) for second in range(0, 62, 5)) == 1


@pytest.mark.django_db(transaction=True)
def test_two_ticks_at_once_make_one_pair() -> None:
    owned("Ada", "Bob")
    Matchmaking.objects.ensure()
    assert sorted(at_once(*[lambda: tend(NOW)] * 4)) == [0, 0, 0, 1]
    assert Pairing.objects.count() == 1
    assert Game.objects.count() == 2
    assert Tournament.objects.count() == 1


@pytest.mark.parametrize(
    "barred",
    [
        {"state": Worker.State.LOST},
        {"quarantined_at": NOW},
        {"barred": "others do"},
        {"held": 2},
        {"takes": "checks"},
    ],
)
def test_nothing_is_made_for_workers_that_take_no_games(barred: dict[str, Any]) -> None:
    owned("Ada", "Bob")
    Worker.objects.update(**barred)
    assert tend(NOW) == 0
    make_worker(slots=1, name="players@west")
    assert tend(NOW) == 1


def test_ladders_fill_idle_workers_alone(settings: Settings, deal: Deal) -> None:
    """Never more than a pair that is played and one that waits for each slot, over all ladders."""
    settings.LADDER_GAMES = 100_000
    for name in ("Ada", "Bob", "Cy"):
        make_version(name, owner=make_user(name), games=[LADDER, "dualma"])
    for second in range(30):
        tend(NOW + second * SECOND)
        deal()
    assert Game.objects.count() == 8
    assert set(Game.objects.values_list("ladder", flat=True)) == {LADDER, "dualma"}
    job = Attempt.objects.earliest("sent_at").job_id
    for game in Game.objects.filter(attempts__job=job):
        Game.objects.filter(pk=game.pk).update(state=Game.State.HALTED)
    tend(NOW + 30 * SECOND)
    assert Game.objects.count() == 10


def test_a_ladder_waits_until_the_tournaments_have_no_game_to_give_out(deal: Deal) -> None:
    versions = owned("Ada", "Bob")
    tournament = make_tournament(versions=versions, pairs=6)
    assert tend(NOW) == 0
    jobs = deal()
    assert tend(NOW + SECOND) == 0
    for job in jobs:
        play(job)
    while not tend(NOW + 2 * SECOND):
        jobs = deal()
        assert jobs
        for job in jobs:
            play(job)
    tournament.refresh_from_db()
    assert not tournament.games.filter(state=Game.State.WAITING).exists()


def test_a_paused_tournament_and_a_validation_hold_no_ladder_up() -> None:
    versions = owned("Ada", "Bob")
    tournament = make_tournament(versions=versions, pairs=30)
    start_validation(versions[0])
    assert tend(NOW) == 0
    pause(tournament)
    assert tend(NOW + SECOND) == 1


def test_staff_may_raise_a_ladder_above_a_tournament(deal: Deal) -> None:
    versions = owned("Ada", "Bob")
    now = play_on(deal, 1)
    tournament = make_tournament(versions=versions, pairs=30)
    assert tend(now) == 0
    set_priority(the_ladder(), 1)
    assert tend(now) == 1
    assert deal()[0].games[0].key.startswith("ladder-duploline/2/")
    set_priority(tournament, 2)
    assert tend(now + 60 * SECOND) == 0


def test_a_tournament_that_starts_comes_before_the_pairs_that_wait(settings: Settings, deal: Deal) -> None:
    settings.LADDER_GAMES = 100_000
    versions = owned("Ada", "Bob")
    tend(NOW)
    tend(NOW + SECOND)
    make_tournament(versions=versions, pairs=30)
    assert {job.games[0].key.partition("/")[0] for job in deal()} == {"test-match"}


def test_a_bot_switched_off_leaves_at_once(deal: Deal) -> None:
    ada, *_ = owned("Ada", "Bob")
    tend(NOW)
    switch(ada.bot, LADDER, on=False)
    tend(NOW + SECOND)
    assert deal() == []
    assert set(Game.objects.values_list("state", flat=True)) == {Game.State.CANCELLED}
    ladder = the_ladder()
    assert (ladder.games_total, ladder.games_done, ladder.state) == (0, 0, State.RUNNING)
    assert not Attempt.objects.filter(ended_at=None).exists()


def test_a_game_that_is_being_played_is_played_to_its_end(deal: Deal) -> None:
    ada, *_ = owned("Ada", "Bob")
    tend(NOW)
    (job,) = deal()
    begin_game(job.games[0])
    withdraw(ada, "it is done for")
    for second in range(3):
        assert cancel_stale() == 0, second
    play(job)
    assert the_ladder().games_done == 2


def test_a_withdrawn_version_leaves_its_place_to_the_one_before(deal: Deal) -> None:
    owned("Bob")
    owner = make_user("ada")
    elder, ada = make_version("Ada", owner=owner), make_version("Ada", owner=owner)
    tend(NOW)
    assert Game.objects.filter(white=ada).exists()
    withdraw(ada, "it is done for")
    tend(NOW + 60 * SECOND)
    waiting = Game.objects.filter(state=Game.State.WAITING)
    assert {player for game in waiting.values_list("white", "black") for player in game} >= {elder.pk}
    assert not waiting.filter(white=ada).exists()


def test_a_new_version_takes_the_place_of_the_one_before(deal: Deal) -> None:
    ada, _ = owned("Ada", "Bob")
    now = play_on(deal, 1)
    tend(now)
    newer = make_version("Ada")
    tend(now + 60 * SECOND)
    waiting = Game.objects.filter(state=Game.State.WAITING)
    assert waiting.count() == 2
    assert all(newer.pk in players for players in waiting.values_list("white", "black"))
    activate(ada, LADDER)
    tend(now + 61 * SECOND)
    assert Game.objects.filter(state=Game.State.WAITING).count() == 0


def test_a_ladder_is_paused_and_resumed_like_a_tournament(deal: Deal) -> None:
    owned("Ada", "Bob")
    now = play_on(deal, 1)
    tend(now)
    pause(the_ladder())
    assert deal() == []
    assert tend(now + 60 * SECOND) == 0
    resume(the_ladder())
    assert len(deal()) == 1
    assert tend(now + 60 * SECOND) == 1


def test_a_ladder_has_no_end(deal: Deal) -> None:
    owned("Ada", "Bob")
    play_on(deal, 1)
    with pytest.raises(TournamentError, match="'DuploLine ladder' has no end: pause it instead"):
        cancel(the_ladder())
    with pytest.raises(TournamentError, match="a ladder cannot be extended"):
        extend(the_ladder(), 1)
    assert the_ladder().state == State.RUNNING


def test_other_terms_begin_another_tournament(deal: Deal) -> None:
    owned("Ada", "Bob")
    now = play_on(deal, 1)
    tend(now)
    (under_way,) = deal()
    begin_game(under_way.games[0])
    set_priority(the_ladder(), -7)
    Matchmaking.objects.filter(pk=LADDER).update(time_control="1+0.1", opening_plies=0)
    assert tend(now + 60 * SECOND) == 1
    before, after = Tournament.objects.order_by("id")
    assert (before.state, after.state, after.slug, after.priority) == (
        State.FINISHED,
        State.RUNNING,
        "ladder-duploline-2",
        -7,
    )
    (job,) = deal()
    assert (job.time_control, job.opening) == ("1+0.1", ())
    assert job.games[0].key == "ladder-duploline-2/3/1/1"
    play(under_way)
    before.refresh_from_db()
    assert (before.state, before.games_done, before.games_total) == (State.FINISHED, 4, 4)


def test_a_game_that_comes_back_to_an_ended_tournament_is_given_up(deal: Deal) -> None:
    owned("Ada", "Bob")
    tend(NOW)
    (job,) = deal()
    begin_game(job.games[0])
    Matchmaking.objects.filter(pk=LADDER).update(opening_plies=0)
    assert tend(NOW + 60 * SECOND) == 1
    for game in Game.objects.filter(key__startswith="ladder-duploline/"):
        end_attempt(Attempt.objects.get(game=game), Attempt.End.LOST, NOW)
    cancel_stale()
    ended = Tournament.objects.earliest("id")
    assert set(ended.games.values_list("state", flat=True)) == {Game.State.CANCELLED}
    assert ended.games_total == 0


def test_a_game_that_cannot_be_played_halts_and_the_ladder_goes_on(deal: Deal) -> None:
    owned("Ada", "Bob")
    tend(NOW)
    for _ in range(3):
        (job,) = deal()
        for report in play_short(job):
            record(void(report))
    assert set(Game.objects.values_list("state", flat=True)) == {Game.State.HALTED}
    assert the_ladder().state == State.RUNNING
    assert tend(NOW + 60 * SECOND) == 1


def test_forfeits_on_a_ladder_withdraw_a_version(settings: Settings, deal: Deal) -> None:
    settings.MAX_FORFEITS = 2
    ada, bob = owned("Ada", "Bob")
    now = NOW
    while BotVersion.objects.valid().count() == 2:
        assert tend(now) == 1
        (job,) = deal()
        for report in play_short(job):
            record(forfeit(report) if Game.objects.get(key=report.key).white_id == ada.pk else report)
        BotVersion.objects.filter(pk=bob.pk).update(forfeits=0)
        BotVersion.objects.filter(pk=ada.pk, forfeits__gt=0).update(forfeits=1)
        now += 60 * SECOND
    ada.refresh_from_db()
    assert ada.state == BotVersion.State.WITHDRAWN
    tend(now)  # ends her open games
    assert tend(now + HOUR) == 0


def test_the_ladder_games_of_a_withdrawn_version_are_stopped_and_taken_back(
    deal: Deal, on_commit: OnCommit
) -> None:
    owned("Ada", "Bob", "Cy")
    assert tend(NOW) == 1
    (job,) = deal()
    begin_game(job.games[0])
    player = BotVersion.objects.get(bot__name=job.engines[0].name)
    with on_commit():
        assert withdraw(player, "it is out of order")
        end_games_of_withdrawn()
    assert set(begin_game(job.games[0]).stop) == {game.attempt for game in job.games}
    assert deal() == []
    assert set(Game.objects.values_list("state", flat=True)) == {Game.State.CANCELLED}


def test_ladder_games_are_rated_and_rebuilt_to_the_bit(deal: Deal) -> None:
    owned("Ada", "Bob", "Cy")
    play_on(deal, 10)
    assert RatingEvent.objects.count() == 2 * Ladder.objects.get(pk=LADDER).sequence == 40
    (rebuilt,) = rebuild(LADDER)
    assert not rebuilt.changed


def test_an_exact_repeat_on_a_ladder_is_not_rated(settings: Settings, deal: Deal) -> None:
    settings.LADDER_OPENING_PLIES = 0
    owned("Ada", "Bob")
    for number in range(2):
        tend(NOW + number * 60 * SECOND)
        (job,) = deal()
        for report in play_short(job, all_drawn):
            record(replace(report, moves=report.moves[:2]))
    assert Game.objects.done().filter(rated=True).count() == 2
    assert Game.objects.done().filter(rated=False).count() == 2


def test_a_new_version_is_believed_to_be_its_parent_s_equal(deal: Deal) -> None:
    ada, _ = owned("Ada", "Bob")
    play_on(deal, 20)
    known = LadderRating.objects.get(version=ada)
    newer = make_version("Ada")
    (candidate,) = [one for one in candidates_of([LADDER])[LADDER] if one.version == newer.pk]
    assert (candidate.rating.mu, candidate.rating.sigma) == (known.mu, max(known.sigma, 3.0))
    assert (candidate.games, candidate.last, candidate.is_new) == (0, None, True)
    activate(ada, LADDER)
    (candidate,) = [one for one in candidates_of([LADDER])[LADDER] if one.version == ada.pk]
    assert (candidate.rating.sigma, candidate.games, candidate.last) == (known.sigma, 40, 20)


def test_what_the_site_may_ask_of_a_matchmaker_is_checked() -> None:
    Ladder.objects.ensure()
    row = Matchmaking(ladder_id=LADDER, games_an_hour=200_000, time_control="soon", opening_plies=99)
    with pytest.raises(ValidationError) as caught:
        row.full_clean()
    assert set(caught.value.message_dict) == {"games_an_hour", "time_control", "opening_plies"}
