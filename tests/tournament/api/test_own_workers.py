"""A user's own worker: it plays for this user alone, whatever it says of itself and reports."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from django.test import Client
from django.utils import timezone

from tests.support.door import DoorWorker
from tests.support.schedule import (
    LADDER,
    forfeit,
    make_event,
    make_test,
    make_user,
    make_version,
    make_worker,
    open_door,
    play_short,
    void,
)
from tournament import access
from tournament.formats.base import TournamentError
from tournament.models import (
    Act,
    Attempt,
    Bot,
    BotSearch,
    BotVersion,
    FeedEntry,
    Game,
    Job,
    LadderRating,
    Notice,
    RatingEvent,
    Seat,
    SlotUse,
    Token,
    Tournament,
    User,
    Worker,
)
from tournament.monitoring.values import halted_games, waits_since
from tournament.services.accounts.tokens import TokenError, create_token, revoke_all
from tournament.services.event_counts import store_counts
from tournament.services.fair_share import used_today
from tournament.services.ladders import matchmaking
from tournament.services.results.keeper import record_inbox
from tournament.services.schedule.tournaments import start
from tournament.services.uploads.availability import current_state
from tournament.services.version_tests.progress import tend_tests
from tournament.services.work.durations import free_slots, slots_by_worker
from tournament.views.polling import PART
from workers.failures import MAX_VOIDS
from workers.jobs import Batch, Work

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada() -> User:
    return make_user("ada")


@pytest.fixture
def home(ada: User) -> DoorWorker:
    """Ada's worker at home."""
    return home_of(ada)


def home_of(user: User, **changes: Any) -> DoorWorker:
    return DoorWorker(token=own_token(user), **({"name": f"home@{user.username}"} | changes))


def own_token(user: User) -> str:
    return create_token(user, "at home", [Token.Scope.OWN_WORKER])[1]


def make_match(owner: User, *versions: BotVersion, **terms: Any) -> Tournament:
    """A running match that the owner's own workers play, against a sample unless others are given."""
    players = versions or (make_version("Mine", owner=owner), make_version("Sample"))
    return make_event("round-robin", versions=players, owner=owner, rated=False, own_workers=True, **terms)


def report(home: DoorWorker, batch: Batch, change: Callable[..., Any] = lambda report: report) -> None:
    """Post all games of a batch, and let the record keeper record them."""
    for job in batch.jobs:
        home.post(batch.job, reports=tuple(change(one) for one in play_short(job)))
    record_inbox(60)


def publish(version: BotVersion) -> BotVersion:
    BotVersion.objects.filter(pk=version.pk).update(licence="MIT")
    return version


def fetch(token: str, version: BotVersion) -> int:
    """The status of the answer to a request of the bundle."""
    headers = {"Authorization": f"Bearer {token}"}
    return Client().get(f"/api/bundles/{version.bundle_id}", headers=headers).status_code


def test_it_plays_a_version_test_of_its_owner_to_the_end(ada: User, home: DoorWorker) -> None:
    test = make_test(ada, own_workers=True, most_games=4)

    report(home, home.take())
    tend_tests()
    while (batch := home.ask()) is not None:
        report(home, batch)
        tend_tests()

    test.refresh_from_db()
    assert test.is_over
    assert Game.objects.filter(tournament=test, result__isnull=False).count() == 4


def test_its_time_is_free(ada: User, home: DoorWorker) -> None:
    make_match(ada)
    batch = home.take()
    assert Job.objects.get(pk=batch.job).kind == Work.OWN
    assert used_today(ada, timezone.now()) == 0
    report(home, batch)
    assert not SlotUse.objects.exists()


def test_it_plays_on_when_the_hours_of_its_owner_are_used(ada: User, home: DoorWorker, settings: Any) -> None:
    settings.SLOT_HOURS = 1
    SlotUse.objects.create(owner=ada, day=timezone.now().date(), seconds=7200)
    make_match(ada)
    assert home.take()


def test_it_gets_nothing_but_what_its_owner_gave_to_own_workers(ada: User, home: DoorWorker) -> None:
    other = make_user("eve")
    make_match(other)
    make_event("round-robin", owner=ada, versions=[make_version("One", owner=ada), make_version("Two")])
    make_test(ada)
    home.beat()
    for takes in (Work.GAMES, Work.CHECKS, Work.ANALYSIS, Work.OWN):
        assert home.ask(takes=(takes,)) is None
    assert home.ask(takes=tuple(Work)) is None


def test_the_site_s_workers_play_none_of_it(ada: User) -> None:
    make_match(ada)
    for takes in ((Work.GAMES, Work.ANALYSIS), (Work.CHECKS,)):
        site = DoorWorker(name=f"{takes[0]}@site", takes=takes)
        site.beat()
        assert site.ask() is None
    assert site.send("/api/work/", site.new_ask(takes=(Work.OWN,))).status_code == 403


def test_the_site_does_not_count_on_it(ada: User, home: DoorWorker) -> None:
    home.beat(slots=16)
    assert slots_by_worker(Work.GAMES) == {}
    assert free_slots(Work.GAMES) == 0
    assert not Worker.objects.of_site().exists()
    assert not Worker.objects.has_another([], Work.GAMES)


@pytest.mark.parametrize(
    ("owner", "licence", "status"), [("ada", "", 200), ("eve", "", 404), ("eve", "MIT", 200), (None, "", 200)]
)
def test_it_fetches_own_and_published_bundles_and_no_other(
    owner: str | None, licence: str, status: int, ada: User, settings: Any
) -> None:
    user = None if owner is None else User.objects.filter(username=owner).first() or make_user(owner)
    version = make_version("Program", owner=user)
    BotVersion.objects.filter(pk=version.pk).update(licence=licence)
    version.bundle.path.parent.mkdir(parents=True, exist_ok=True)
    version.bundle.path.write_bytes(b"zip")
    assert fetch(own_token(ada), version) == status


def test_a_token_of_staff_for_an_own_worker_fetches_no_more(ada: User) -> None:
    version = make_version("Program", owner=ada)
    version.bundle.path.parent.mkdir(parents=True, exist_ok=True)
    version.bundle.path.write_bytes(b"zip")
    assert fetch(own_token(make_user("stan", staff=True)), version) == 404


def test_only_own_and_published_versions_are_played_at_home(ada: User) -> None:
    theirs = make_version("Theirs", owner=make_user("eve"))
    mine = make_version("Mine", owner=ada)
    with pytest.raises(TournamentError, match=r"'Theirs.*' is neither yours nor published"):
        make_match(ada, mine, theirs)
    assert make_match(ada, mine, publish(theirs)).games_total


def test_a_version_that_is_not_published_any_more_is_not_played_at_a_later_start(ada: User) -> None:
    theirs = publish(make_version("Theirs", owner=make_user("eve")))
    draft = make_match(ada, make_version("Mine", owner=ada), theirs, running=False)
    BotVersion.objects.filter(pk=theirs.pk).update(licence="")
    with pytest.raises(TournamentError, match="neither yours nor published"):
        start(draft)


def test_such_games_are_never_rated(ada: User, home: DoorWorker) -> None:
    players = [make_version("Mine", owner=ada), make_version("Sample")]
    with pytest.raises(TournamentError, match="rated: games of your own workers are not rated"):
        make_event("round-robin", owner=ada, versions=players, rated=True, own_workers=True)
    match = make_match(ada, *players)
    batch = home.take()
    Tournament.objects.filter(pk=match.pk).update(rated=True)  # whatever a later change stores
    report(home, batch)
    assert not Game.objects.filter(rated=True).exists()
    assert not RatingEvent.objects.exists()
    assert not LadderRating.objects.filter(games__gt=0).exists()


def test_invented_forfeits_withdraw_nobody(ada: User, home: DoorWorker) -> None:
    theirs = publish(make_version("Theirs", owner=make_user("eve")))
    make_match(ada, make_version("Mine", owner=ada), theirs, pairs=20)
    home.beat()
    while (batch := home.ask()) is not None:
        report(home, batch, forfeit)
    assert Game.objects.filter(fault__in=["white", "black"]).count() == 40
    theirs.refresh_from_db()
    assert theirs.state == BotVersion.State.VALID
    assert not Notice.objects.filter(user__username="eve").exists()


def test_what_it_reports_is_in_lists_for_its_owner_alone(ada: User, home: DoorWorker) -> None:
    theirs = publish(make_version("Theirs", owner=make_user("eve")))
    match = make_match(ada, make_version("Mine", owner=ada), theirs)
    report(home, home.take())

    for other in (access.PUBLIC, theirs.bot.owner):
        assert other is not None
        assert not access.visible_games(other, Game.objects.all()).exists()
        assert not access.visible_games(other, Seat.objects.all()).exists()
    assert access.visible_games(ada, Game.objects.all()).count() == 2
    assert not access.public_records(LADDER).exists()
    page = Client().get(match.get_absolute_url()).content.decode()
    assert "not of the site" in page
    game = Client().get(Game.objects.latest("pk").get_absolute_url()).content.decode()
    assert re.search(r"a worker of [^,]*\bada\b[^,]*, not of the site", game)


def test_its_voids_halt_its_owner_s_game_and_tell_staff_nothing(ada: User, home: DoorWorker) -> None:
    make_user("stan", staff=True)
    open_door()
    make_match(ada)
    home.beat()
    for _ in range(2 * MAX_VOIDS):
        if (batch := home.ask()) is not None:
            report(home, batch, void)
    assert {game.state for game in Game.objects.all()} == {Game.State.HALTED}
    assert not halted_games().exists()
    assert not Worker.objects.get(name=home.name).is_quarantined
    assert not Notice.objects.filter(user__is_staff=True).exists()


def test_its_results_blame_no_worker_of_the_site(ada: User, home: DoorWorker) -> None:
    mine, sample = make_version("Mine", owner=ada), make_version("Sample")
    bad = make_event("round-robin", owner=ada, versions=[mine, sample], rated=False, pairs=4)
    site = DoorWorker(name="players@site")
    site.beat()
    open_door()
    make_match(ada, mine, sample, pairs=4)
    home.beat()
    for _ in range(6):
        if (batch := home.ask()) is not None:
            report(home, batch)
        if (batch := site.ask()) is not None:
            report(site, batch, void)
    assert Attempt.objects.filter(game__tournament=bad, end=Attempt.End.VOID).count() >= 3
    assert not Worker.objects.get(name="players@site").is_quarantined


def test_it_has_no_name_of_the_site_s_workers_and_gives_way_to_them(ada: User, home: DoorWorker) -> None:
    site = DoorWorker(name="players@east")
    site.beat()
    home.name = site.name
    answer = home.send("/api/workers/", home.heartbeat())
    assert answer.status_code == 403
    assert "one of the site's workers: take another name" in answer.json()["error"]
    revoke_all(User.objects.get(username="stan"))
    assert home.send("/api/workers/", home.heartbeat()).status_code == 403

    home.name = "players@west"
    home.beat()
    stan = make_user("stella", staff=True)
    west = DoorWorker(name="players@west", token=create_token(stan, "site", [Token.Scope.WORKER])[1])
    west.beat()
    assert Worker.objects.get(name="players@west").owner is None
    assert home.send("/api/work/", home.new_ask()).status_code == 403


def test_another_user_has_neither_its_name_nor_its_work(ada: User, home: DoorWorker) -> None:
    make_match(ada)
    batch = home.take()
    eve = home_of(make_user("eve"), name=home.name)
    assert eve.send("/api/workers/", eve.heartbeat()).status_code == 403
    eve.name = "home@eve"
    eve.beat()
    assert eve.ask() is None
    (job,) = batch.jobs
    reports = tuple(play_short(job))
    assert eve.post(batch.job, reports=reports).stop
    record_inbox(60)
    assert not Game.objects.filter(result__isnull=False).exists()


def test_a_user_has_few_workers_of_one_s_own(ada: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tournament.services.work.workers.MAX_OWN_WORKERS", 2)
    for number in range(2):
        home_of(ada, name=f"home{number}@ada").beat()
    third = home_of(ada, name="home3@ada")
    answer = third.send("/api/workers/", third.heartbeat())
    assert answer.status_code == 403
    assert "2 workers of your own within a day" in answer.json()["error"]


def test_without_a_sandbox_it_gets_no_work_and_is_told_why(ada: User, home: DoorWorker) -> None:
    make_match(ada)
    admission = home.beat(refusal="the sandbox has level C")
    assert not admission.admitted
    assert "the sandbox has level C" in admission.why
    assert home.send("/api/work/", home.new_ask()).status_code == 403


def test_it_is_no_worker_that_runs_uploads_of_the_site(ada: User, home: DoorWorker) -> None:
    before = current_state()
    home.beat(refusal="no sandbox")
    home_of(ada, name="second@ada").beat()
    assert current_state() == before


def test_everybody_makes_such_tokens_and_only_staff_those_of_the_site(ada: User) -> None:
    assert own_token(ada)
    with pytest.raises(TokenError, match="only staff"):
        create_token(ada, "both", [Token.Scope.OWN_WORKER, Token.Scope.WORKER])


@pytest.mark.parametrize("scope", [Token.Scope.LOGS, Token.Scope.UPLOAD])
def test_other_tokens_open_no_door(scope: Token.Scope, ada: User) -> None:
    text = create_token(ada, "other", [scope])[1]
    worker = DoorWorker(token=text)
    assert worker.send("/api/workers/", worker.heartbeat()).status_code == 403
    assert worker.send("/api/work/", worker.new_ask()).status_code == 403


def test_the_page_of_workers_says_whose_it_is_and_counts_the_site_s_slots(
    ada: User, home: DoorWorker
) -> None:
    make_worker(slots=3)
    home.beat(slots=16)
    page = Client().get("/workers/").content.decode()
    assert "of 3 slots busy" in page
    assert "for this user alone" in page
    Token.objects.filter(user=ada).delete()  # as when an account is closed
    assert "of 3 slots busy" in Client().get("/workers/").content.decode()


def test_the_form_gives_a_version_test_to_own_workers(ada: User, client: Client) -> None:
    versions = [make_version("Mine", owner=ada) for _ in range(2)]
    client.force_login(ada)
    fields = {"ladder": LADDER, "bounds": "gain", "most_games": 10, "time_control": "1+0.1"}
    chosen = {"candidate": versions[1].pk, "baseline": versions[0].pk, "opening_plies": 2}
    answer = client.post("/version-tests/new/", {**fields, **chosen, "own_workers": "on"})
    assert answer.status_code == 302, answer.content.decode()
    assert Tournament.objects.get().own_workers
    assert not Act.objects.exists()
    assert "not of the site" in client.get(answer["Location"]).content.decode()


def test_games_that_wait_for_it_hold_up_no_ladder(ada: User) -> None:
    make_worker(slots=2)
    for name in ("eve", "bob"):
        make_version(name, owner=make_user(name))
    make_match(ada)
    assert matchmaking.may_make_pair(matchmaking.PRIORITY)


def test_games_that_it_plays_take_no_place_of_a_ladder_s(ada: User, home: DoorWorker) -> None:
    make_worker(slots=1)
    make_match(ada, *(make_version("Mine", owner=ada), *(make_version(f"Sample {n}") for n in range(6))))
    home.beat()
    for slot in range(8):
        home.ask(slot=slot)
    assert Game.objects.filter(state=Game.State.CLAIMED).count() == 16
    Game.objects.filter(state=Game.State.WAITING).update(state=Game.State.CANCELLED)
    assert matchmaking.may_make_pair(0)


def test_no_value_that_alerts_watch_is_of_it(ada: User, home: DoorWorker, settings: Any) -> None:
    waiting = make_event("round-robin", rated=False)
    make_match(ada, pairs=2)
    home.beat(slots=8, held=8)
    batch = home.ask()
    assert batch is not None
    report(home, batch, void)
    home.take()
    Worker.objects.filter(name=home.name).update(state=Worker.State.LOST)
    hour = datetime.timedelta(hours=1)
    Tournament.objects.update(started_at=timezone.now() - hour)
    store_counts()
    settings.METRICS_TOKEN = "metrics"
    text = Client().get("/metrics", headers={"Authorization": "Bearer metrics"}).content.decode()
    assert "own" not in re.findall(r'takes="([^"]*)"', text)
    assert 'duarena_attempts{state="taken"} 0' in text
    assert 'end="void"' not in text
    assert f'duarena_games{{state="waiting"}} {waiting.games_total}' in text
    since = waits_since()
    assert since is not None
    assert timezone.now() - since >= hour


def test_no_feed_of_others_and_no_list_tells_of_its_places(ada: User, home: DoorWorker) -> None:
    theirs = publish(make_version("Theirs", owner=make_user("eve")))
    match = make_match(ada, make_version("Mine", owner=ada), theirs)
    report(home, home.take())
    match.refresh_from_db()
    assert match.state == Tournament.State.FINISHED
    assert not FeedEntry.objects.filter(tournament=match).exists()
    assert Notice.objects.filter(user=ada, tournament=match).exists()
    listed = Client().get("/tournaments/").content.decode()
    row = re.search(r"<tr(?:(?!</tr>).)*Test event.*?</tr>", listed, re.DOTALL)
    assert row
    assert "Mine" not in row[0]
    assert "Theirs" not in row[0]


def test_voids_of_a_name_that_the_site_takes_over_are_not_its_new_worker_s(
    ada: User, home: DoorWorker
) -> None:
    make_match(ada, *(make_version("Mine", owner=ada), *(make_version(f"Sample {n}") for n in range(4))))
    home.name = "players@west"
    home.beat()
    for _ in range(4):
        if (batch := home.ask()) is not None:
            report(home, batch, void)
    make_event("round-robin", rated=False)
    Job.objects.update(ended_at=timezone.now())
    west = DoorWorker(name="players@west")
    report(west, west.take(), void)
    assert not Worker.objects.get(name="players@west").is_quarantined


def test_no_broadcast_announces_its_games(ada: User) -> None:
    make_match(ada, name="Match at home")
    assert "Match at home" not in Client().get("/tv/").content.decode()


def test_no_bot_evaluates_its_games_for_a_broadcast(ada: User, home: DoorWorker) -> None:
    voice = make_version("Voice")
    Bot.objects.filter(pk=voice.bot_id).update(answers=True)
    make_worker(takes="games,analysis")
    make_match(ada)
    batch = home.take()
    home.post(batch.job, progress=home.progress(batch.jobs[0].games[0]))
    game = Game.objects.get(key=batch.jobs[0].games[0].key)
    assert hasattr(game, "live")
    answer = Client().get("/tv/", {"game": game.pk}, headers={PART: "1"})
    assert answer.status_code == 200
    assert not BotSearch.objects.exists()


def test_its_games_of_a_day_are_limited(ada: User, home: DoorWorker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tournament.services.schedule.limits.MAX_GAMES_AT_HOME", 2)
    first = make_match(ada)
    report(home, home.take())
    with pytest.raises(TournamentError, match="have played 2 games, and 2 are the most: begin the next one"):
        make_test(ada, own_workers=True)
    make_test(ada)
    Tournament.objects.filter(pk=first.pk).update(started_at=timezone.now() - datetime.timedelta(days=1))
    make_test(ada, own_workers=True)


def test_lists_say_which_tournaments_and_tests_it_plays(ada: User) -> None:
    make_match(ada)
    make_test(ada, own_workers=True)
    for page in ("/tournaments/", "/version-tests/"):
        assert "on workers of its owner" in Client().get(page).content.decode()


def test_no_comparison_shows_its_tests(ada: User, home: DoorWorker) -> None:
    baseline, candidate = (make_version(name, owner=ada) for name in ("One", "Two"))
    test = make_test(ada, own_workers=True, candidate=candidate, baseline=baseline)
    page = Client().get(f"/bots/{candidate.bot.slug}/against/{baseline.bot.slug}/")
    assert page.status_code == 200
    assert test.get_absolute_url() not in page.content.decode()


def test_it_gets_no_work_while_the_record_keeper_is_behind(
    ada: User, home: DoorWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tournament.api.work.MAX_WAITING", 100)
    make_match(ada, pairs=20)
    home.beat()
    posted = 0
    while (answer := home.send("/api/work/", home.new_ask())).status_code == 200:
        batch = msgspec.convert(answer.json()["batch"], Batch)
        for job in batch.jobs:
            home.post(batch.job, reports=tuple(play_short(job)))
            posted += len(job.games)
    assert answer.status_code == 503
    assert posted < 20
    site = DoorWorker(name="players@site")
    make_event("round-robin", rated=False)
    assert site.take()


def test_a_worker_may_say_that_it_takes_every_kind_of_work() -> None:
    worker = DoorWorker(takes=tuple(Work))
    worker.beat()
    stored = Worker.objects.get()
    assert stored.work == frozenset(Work) - {Work.OWN}, "only a token makes a worker a user's own"
    assert len(stored.takes) <= (Worker._meta.get_field("takes").max_length or 0)  # PostgreSQL checks it
