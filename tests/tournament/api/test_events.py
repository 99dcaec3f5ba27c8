"""The events of objects: in their order, once each, and from any of their ids on."""

from __future__ import annotations

import datetime
import json
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser
from django.db import connection
from django.http import Http404
from django.test import RequestFactory
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from tests.support.parts import PART
from tests.support.schedule import (
    Deal,
    begin_game,
    candidate_wins,
    make_event,
    make_test,
    make_tournament,
    make_user,
    make_version,
    make_worker,
    news,
    open_door,
    record_short,
)
from tests.support.schedule import ask as take
from tournament.api.v1.events import batches, mine, tournaments
from tournament.api.v1.events.batches import EventBatch, answer
from tournament.api.v1.events.cursors import MAX_CURSOR, read_cursor, write_cursor
from tournament.api.v1.events.games import GameCursor, game_batch
from tournament.api.v1.events.ladders import LadderCursor, ladder_batch
from tournament.api.v1.events.mine import NoticeCursor, notice_batch
from tournament.api.v1.events.tournaments import TournamentCursor, tournament_batch
from tournament.api.v1.events.tv import TvCursor, tv_batch
from tournament.api.v1.events.version_tests import VersionTestCursor, version_test_batch
from tournament.api.v1.events.versions import VersionCursor, version_batch
from tournament.models import BotVersion, Game, Ladder, LiveGame, Notice, Tournament, User
from tournament.services.accounts.notices import notify
from tournament.services.annulments import Selection, annul
from tournament.services.bots.verdicts import accept
from tournament.services.schedule.rounds import advance_all
from tournament.services.schedule.tournaments import cancel, pause
from tournament.services.uploads import validation
from tournament.services.version_tests.progress import tend_tests
from workers.jobs import ComplianceEnding, Finding

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
LADDER = "duploline"
Ask = Callable[[str], EventBatch]


def asking(of: Callable[..., EventBatch], *what: object, user: User | None = None) -> Ask:
    """Asks for the events of an object after an id."""

    def ask(after: str = "") -> EventBatch:
        request = RequestFactory().get("/api/v1/x/events/", {"after": after} if after else {}, headers=PART)
        request.user = user or AnonymousUser()
        return of(request, *what)

    return ask


def told(batch: EventBatch) -> list[tuple[str, Any]]:
    """The types and data of events, as a program reads them."""
    request = RequestFactory().get("/api/v1/x/events/", headers=PART)
    request.user = AnonymousUser()
    lines = [json.loads(line) for line in answer(request, batch).content.splitlines()]
    assert all(line.keys() == {"type", "id", "at", "data"} for line in lines)
    assert all(datetime.datetime.fromisoformat(line["at"]).tzinfo for line in lines)
    return [(line["type"], line["data"]) for line in lines]


def types_of(batch: EventBatch) -> list[str]:
    return [kind for kind, _ in told(batch)]


def check_resumes(ask: Ask, begin: str = "") -> list[str]:
    """Whoever goes on after any event, or looks at any time, gets exactly the others; returns their types."""
    whole = ask(begin)
    all_told = told(whole)
    for number, event in enumerate(whole.events, 1):
        assert told(ask(event.id)) == all_told[number:]
    assert not ask(whole.cursor).events
    return [kind for kind, _ in all_told]


def step(ask: Ask, seen: list[Any], cursor: str) -> str:
    """Add what is new to ``seen``; the cursor after it."""
    batch = ask(cursor)
    seen += told(batch)
    return batch.cursor


@pytest.fixture(autouse=True)
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Starts of games are told at once."""
    monkeypatch.setattr(tournaments, "SETTLED", datetime.timedelta())
    monkeypatch.setattr(tournaments, "STEP", tournaments.MICROSECOND)


@pytest.fixture
def ada() -> User:
    open_door()
    return make_user()


# Games


def live(game: Game, plies: int, attempt: str = "a" * 8) -> None:
    """So many first legal moves are shown of an attempt."""
    position, moves = Game.objects.get(pk=game.pk).ladder_id, []
    from engines.rules.registry import GAMES

    board = GAMES[position].position.initial()
    for _ in range(plies):
        token = next(iter(board.legal_moves()))
        moves.append([token, "+0.42/7 0.500s"])
        board = board.play(token)
    key = uuid.UUID(attempt + "0" * 24)
    Game.objects.filter(pk=game.pk).update(state=Game.State.CLAIMED, attempt=key)
    now = timezone.now()
    LiveGame.objects.update_or_create(game=game, defaults={"moves": moves, "updated_at": now})


@pytest.fixture
def game() -> Game:
    found = make_tournament(time_control="60+1").games.order_by("pk").first()
    assert found is not None
    return found


def test_the_moves_of_a_game_come_as_they_are_played_with_scores_and_clocks(game: Game) -> None:
    ask = asking(game_batch, game.pk)
    seen: list[Any] = []
    cursor = step(ask, seen, "")
    assert seen == []
    for plies in (1, 2, 2, 5):
        live(game, plies)
        cursor = step(ask, seen, cursor)
    assert [kind for kind, _ in seen] == ["game.move"] * 5
    assert [move["ply"] for _, move in seen] == [1, 2, 3, 4, 5]
    first = seen[0][1]
    assert (first["side"], first["score"], first["depth"], first["ms"]) == ("white", 42, 7, 500)
    assert (first["white_ms"], first["black_ms"]) == (60_500, 60_000)
    assert check_resumes(ask) == ["game.move"] * 5
    assert ask("").followed == (f"game-{game.pk}",)


def test_a_game_that_is_begun_again_tells_its_moves_again(game: Game) -> None:
    ask = asking(game_batch, game.pk)
    live(game, 4)
    cursor = ask("").cursor
    live(game, 2, attempt="b" * 8)
    batch = ask(cursor)
    assert types_of(batch) == ["reset", "game.move", "game.move"]
    assert check_resumes(ask, cursor) == types_of(batch)


def test_a_game_ends_with_its_result_and_then_nothing_follows(deal: Deal) -> None:
    tournament = make_tournament()
    record_short(deal())
    game = tournament.games.order_by("pk")[0]
    ask = asking(game_batch, game.pk)
    types = check_resumes(ask)
    assert types == ["game.move"] * game.plies + ["game.ended"]
    batch = ask("")
    row = told(batch)[-1][1]
    assert (row["id"], row["result"], row["plies"]) == (game.pk, game.result, game.plies)
    assert row["page"] == f"http://testserver/games/{game.pk}/"
    assert batch.followed == ask(batch.cursor).followed == ()


def test_a_game_that_will_not_be_played_ends_without_a_result(game: Game) -> None:
    cancel(game.tournament)
    (kind, row), *others = told(asking(game_batch, game.pk)(""))
    assert (kind, row["result"], others) == ("game.ended", None, [])


# Tournaments


def test_clients_that_came_at_different_times_soon_share_a_cursor(
    deal: Deal, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask = asking(tournament_batch, make_tournament().slug)
    early = ask("").cursor
    late = ask("").cursor
    assert early != late
    monkeypatch.setattr(tournaments, "STEP", datetime.timedelta(days=1))
    assert ask(early).cursor == ask(late).cursor


def test_a_tournament_tells_starts_ends_and_its_end_once_each(deal: Deal) -> None:
    tournament = make_tournament(bots=3)
    ask = asking(tournament_batch, tournament.slug)
    begin = ask("")
    assert types_of(begin) == ["reset"]
    seen: list[Any] = []
    cursor = begin.cursor
    while jobs := deal():
        for game in jobs[0].games:
            begin_game(game)
        cursor = step(ask, seen, cursor)
        record_short(jobs)
        cursor = step(ask, seen, cursor)
    advance_all()
    cursor = step(ask, seen, cursor)
    types = [kind for kind, _ in seen]
    ended = [row["id"] for kind, row in seen if kind == "game.ended"]
    assert sorted(ended) == sorted(tournament.games.values_list("pk", flat=True))
    started = {row["id"] for kind, row in seen if kind == "game.started"}
    assert started
    assert started <= set(ended)
    assert types[-1] == "tournament.state"
    assert seen[-1][1]["state"] == "finished"
    assert set(types) == {"game.started", "game.ended", "tournament.state"}
    assert check_resumes(ask, begin.cursor) == ["game.ended"] * len(ended) + ["tournament.state"]
    assert ask(cursor).followed == ()


def test_a_swiss_tells_its_rounds(deal: Deal) -> None:
    tournament = make_event("swiss", bots=4)
    ask = asking(tournament_batch, tournament.slug)
    cursor = ask("").cursor
    record_short(deal())
    advance_all()
    rounds = [data for kind, data in told(ask(cursor)) if kind == "tournament.round"]
    assert rounds == [{"tournament": tournament.slug, "ladder": LADDER, "round": 2}]
    check_resumes(ask, cursor)


def test_games_of_several_ladders_are_told_and_no_others(deal: Deal) -> None:
    versions = [make_version(f"Bot {n}", games=[LADDER, "duovallis"]) for n in (1, 2)]
    both = make_event("round-robin", versions=versions, ladders=["duovallis", LADDER], name="Both")
    make_event("round-robin", versions=versions, ladders=[LADDER], name="Other")
    ask = asking(tournament_batch, both.slug)
    cursor = ask("").cursor
    while jobs := deal():
        record_short(jobs)
    ended = [row["id"] for kind, row in told(ask(cursor)) if kind == "game.ended"]
    assert sorted(ended) == sorted(both.games.values_list("pk", flat=True))
    check_resumes(ask, cursor)


def test_a_state_that_comes_and_goes_is_told_each_time(ada: User) -> None:
    tournament = make_tournament(owner=ada)
    ask = asking(tournament_batch, tournament.slug)
    cursor = ask("").cursor
    pause(tournament)
    ((kind, row),) = told(ask(cursor))
    assert (kind, row["state"], row["slug"]) == ("tournament.state", "paused", tournament.slug)
    check_resumes(ask, cursor)


def test_a_client_far_behind_reads_again(deal: Deal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tournaments, "MAX_BEHIND", 2)
    tournament = make_tournament(pairs=2)
    ask = asking(tournament_batch, tournament.slug)
    cursor = ask("").cursor
    while jobs := deal():
        record_short(jobs)
    assert types_of(ask(cursor)) == ["reset"]


def test_annulled_games_tell_to_read_again(deal: Deal) -> None:
    tournament = make_tournament()
    asks = [asking(tournament_batch, tournament.slug), asking(ladder_batch, LADDER)]
    cursors = [ask("").cursor for ask in asks]
    record_short(deal())
    annul(Selection(game=tournament.games.first()).to_annul(), "a fault", timezone.now())
    assert types_of(asks[0](cursors[0])) == ["reset"]
    Ladder.objects.update(rated_revision=7)
    assert types_of(asks[1](cursors[1])) == ["reset"]


def test_many_events_come_in_parts(deal: Deal, monkeypatch: pytest.MonkeyPatch) -> None:
    tournament = make_tournament(bots=3)
    asks = [asking(tournament_batch, tournament.slug), asking(ladder_batch, LADDER)]
    cursors = [ask("").cursor for ask in asks]
    while jobs := deal():
        record_short(jobs)
    for module in (batches, tournaments, __import__("tournament.api.v1.events.ladders", fromlist=["x"])):
        monkeypatch.setattr(module, "MAX_EVENTS", 2)
    for ask, cursor, kind in zip(asks, cursors, ("game.ended", "game.rated"), strict=True):
        seen: list[Any] = []
        parts = 0
        while not (batch := ask(cursor)).is_whole:
            assert len(batch.events) == 2
            assert batch.followed, "a stream goes on with the others"
            cursor, parts = step(ask, seen, cursor), parts + 1
        step(ask, seen, cursor)
        found = [row.get("id") or row["game"]["id"] for name, row in seen if name == kind]
        assert sorted(found) == sorted(tournament.games.values_list("pk", flat=True))
        assert parts > 1


# Ladders


def test_a_ladder_tells_rated_games_with_ratings_and_new_versions(deal: Deal) -> None:
    tournament = make_tournament()
    ask = asking(ladder_batch, LADDER)
    cursor = ask("").cursor
    record_short(deal())
    seen = told(ask(cursor))
    assert check_resumes(ask, cursor) == ["game.rated"] * 2 + ["version.listed"] * 2
    one, other = (data for kind, data in seen if kind == "game.rated")
    assert {one["game"]["id"], other["game"]["id"]} == set(tournament.games.values_list("pk", flat=True))
    for side in ("white", "black"):
        assert one[side]["bot"] == one["game"][side]
        assert one[side]["before"] == 0
        assert one[side]["after"] == pytest.approx(one[side]["mu_after"] - 3 * one[side]["sigma_after"])
    assert one["white"]["after"] == pytest.approx(other["black"]["before"])
    listed = [data for kind, data in seen if kind == "version.listed"]
    assert {row["bot"] for row in listed} == {"Bot 1", "Bot 2"}
    assert ask(cursor).followed == ("ladder-duploline",)


def test_a_ladder_tells_nothing_of_games_that_are_hidden_or_unrated(deal: Deal) -> None:
    hidden, unrated = make_tournament(name="Hidden"), make_tournament(name="Unrated", rated=False)
    ask = asking(ladder_batch, LADDER)
    cursor = ask("").cursor
    while jobs := deal():
        record_short(jobs)
    assert hidden.games.done().count() == unrated.games.done().count() == 2
    Tournament.objects.filter(pk=hidden.pk).update(own_workers=True)
    assert "game.rated" not in types_of(ask(cursor))


# TV


def test_tv_tells_its_game_the_moves_and_the_end_and_goes_on_to_another(deal: Deal) -> None:
    tournament = make_tournament(pairs=2)
    ask = asking(tv_batch, "")
    assert types_of(ask("")) == []
    (job, *_) = deal()
    one, other = (Game.objects.get(key=game.key) for game in job.games)
    live(one, 2)
    batch = ask("")
    assert types_of(batch) == ["tv.game", "game.move", "game.move"]
    assert told(batch)[0][1]["id"] == one.pk
    assert check_resumes(ask) == ["tv.game", "game.move", "game.move"]
    live(other, 1)
    assert not ask(batch.cursor).events, "a game stays until its end"
    LiveGame.objects.filter(game=one).delete()
    long_ago = timezone.now() - datetime.timedelta(minutes=1)
    Game.objects.filter(pk=one.pk).update(
        state="done", result="1-0", sequence=1, finished_at=long_ago, plies=0
    )
    seen = told(ask(batch.cursor))
    assert [(kind, data.get("id")) for kind, data in seen][:1] == [("tv.game", other.pk)]
    assert tournament.pk


# Versions


def test_a_version_tells_its_owner_the_check_the_games_and_the_verdict(ada: User, deal: Deal) -> None:
    version = make_version("Stone Age", owner=ada, games=[LADDER], state=BotVersion.State.WAITING)
    own, public = (asking(version_batch, "stone-age", version.number, user=user) for user in (ada, None))
    seen: list[Any] = []
    cursor = step(own, seen, "")
    validation.begin(version, timezone.now())
    cursor = step(own, seen, cursor)
    checker = make_worker(name="checker", takes="checks")
    assert take(checker) is not None
    found = [Finding("legal moves", LADDER), Finding("clock", LADDER, fault="late", advice="be quick")]
    for count in (1, 2):
        validation.record_news(news(version, ComplianceEnding.NONE, *found[:count]), timezone.now())
        cursor = step(own, seen, cursor)
    validation.record_news(news(version, ComplianceEnding.DONE, *found), timezone.now())
    record_short(deal())
    version.refresh_from_db()
    accept(version)
    cursor = step(own, seen, cursor)
    assert [kind for kind, _ in seen] == [
        *["version.state"] * 2,
        *["version.check"] * 2,
        "game.ended",
        "version.state",
    ]
    assert [data["state"] for kind, data in seen if kind == "version.state"] == [
        *("waiting", "validating", "valid")
    ]
    assert seen[3][1]["fault"] == "late"
    assert own(cursor).followed == ()
    assert check_resumes(own) == ["version.check"] * 2 + ["game.ended", "version.state"]
    assert types_of(public("")) == ["version.state"]
    assert (own("").is_personal, public("").is_personal) == (True, False)


def test_why_a_version_is_in_its_state_is_told_to_its_owner_alone(ada: User) -> None:
    make_version("Stone Age", owner=ada, games=[LADDER])
    make_version("Stone Age", owner=ada, games=[LADDER], state=BotVersion.State.WAITING)
    BotVersion.objects.update(state_reason="its owner is ill")
    reasons = {}
    for user in (ada, make_user("stan", staff=True), make_user("eve"), None):
        ((_, data),) = told(asking(version_batch, "stone-age", 2, user=user)(""))
        reasons[user and user.username] = data["reason"]
    ill = "Its owner is ill."
    assert reasons == {"ada": ill, "stan": ill, "eve": "", None: ""}


def test_a_hidden_version_is_followed_by_its_owner_alone(ada: User) -> None:
    make_version("Stone Age", owner=ada, games=[LADDER], state=BotVersion.State.VALIDATING)
    for user in (None, make_user("eve")):
        with pytest.raises(Http404):
            asking(version_batch, "stone-age", 1, user=user)("")
    batch = asking(version_batch, "stone-age", 1, user=ada)("")
    assert (types_of(batch), batch.is_personal) == (["version.state"], True)
    assert batch.followed == ("games",)


# Version tests


def test_a_version_test_tells_its_pairs_and_its_verdict(ada: User, deal: Deal) -> None:
    test = make_test(ada, most_games=4)
    ask = asking(version_test_batch, test.slug)
    seen: list[Any] = []
    cursor = step(ask, seen, "")
    assert ask("").followed == (f"tournament-{test.pk}",)
    while jobs := deal():
        record_short(jobs, candidate_wins)
        tend_tests()
        cursor = step(ask, seen, cursor)
    assert [kind for kind, _ in seen] == ["test.pair", "test.pair", "test.verdict"]
    assert [data["pair"] for kind, data in seen if kind == "test.pair"] == [1, 2]
    assert check_resumes(ask) == ["test.pair", "test.pair", "test.verdict"]
    assert ask(cursor).followed == ()
    Tournament.objects.filter(pk=test.pk).update(revision=1)
    assert types_of(ask(cursor)) == ["reset", "test.pair", "test.pair", "test.verdict"]


# Notices


def notice(user: User, text: str, seconds_ago: float = 0.0) -> Notice:
    made = Notice.objects.create(user=user, text=text, path="/games/7/")
    at = timezone.now() - datetime.timedelta(seconds=seconds_ago)
    Notice.objects.filter(pk=made.pk).update(created_at=at)
    return made


def test_a_user_gets_the_unread_notices_and_then_each_new_one_once(ada: User) -> None:
    ask = asking(notice_batch, ada, user=ada)
    notice(make_user("eve"), "of somebody else")
    read = notice(ada, "read", 300)
    Notice.objects.filter(pk=read.pk).update(read_at=timezone.now())
    notice(ada, "old", 200)
    seen: list[Any] = []
    cursor = step(ask, seen, "")
    notify(make_version("Stone Age", owner=ada), "new")
    cursor = step(ask, seen, cursor)
    notice(ada, "newest")
    cursor = step(ask, seen, cursor)
    assert [data["text"] for _, data in seen] == ["old", "new", "newest"]
    assert seen[0][1]["page"] == "http://testserver/games/7/"
    assert seen[1][1]["page"] == "http://testserver/bots/stone-age/1/"
    assert ask("").is_personal
    assert check_resumes(ask) == ["notice"] * 3


def test_a_notice_whose_transaction_ends_later_is_told_too(ada: User) -> None:
    ask = asking(notice_batch, ada, user=ada)
    late, early = notice(ada, "late"), notice(ada, "early")
    Notice.objects.filter(pk=late.pk).delete()
    cursor = ask("").cursor
    Notice.objects.create(pk=late.pk, user=ada, text="late")
    batch = ask(cursor)
    assert [data["text"] for _, data in told(batch)] == ["late"]
    assert not ask(batch.cursor).events
    assert early.pk > late.pk


def test_a_flood_of_notices_keeps_its_cursor_short(ada: User) -> None:
    ask = asking(notice_batch, ada, user=ada)
    Notice.objects.bulk_create(Notice(user=ada, text=f"{n}") for n in range(400))
    seen: list[Any] = []
    cursor = ""
    while not (batch := ask(cursor)).is_whole:
        assert len(batch.cursor) < MAX_CURSOR / 2
        cursor = step(ask, seen, cursor)
    step(ask, seen, cursor)
    assert [data["text"] for _, data in seen] == [str(n) for n in range(400)]
    assert mine.MAX_TOLD < 400


# Cursors


@pytest.mark.parametrize("text", ["x", "%%%", "k", "A" * 5000, "é", "=", write_cursor(NoticeCursor(1, (2,)))])
def test_an_id_that_does_not_fit_gets_one_reset_and_then_goes_on(
    text: str, game: Game, ada: User, deal: Deal
) -> None:
    record_short(deal())
    test = make_test(ada, most_games=4)
    tournament = game.tournament.slug
    asks = {
        "game": asking(game_batch, game.pk),
        "tournament": asking(tournament_batch, tournament),
        "ladder": asking(ladder_batch, LADDER),
        "version": asking(version_batch, "bot-1", 1),
        "test": asking(version_test_batch, test.slug),
        "tv": asking(tv_batch, ""),
    }
    for ask in asks.values():
        batch = ask(text)
        types = types_of(batch)
        assert (types[0], types.count("reset")) == ("reset", 1)
        assert "reset" not in types_of(ask(batch.events[0].id))
        assert not ask(batch.cursor).events


def test_an_id_of_any_numbers_gets_an_answer(game: Game, ada: User) -> None:
    most, event = 2**63 - 1, game.tournament
    there = dict.fromkeys(event.ladders, (0, 0))
    test = make_test(ada, most_games=4)
    for ask, cursor in (
        (asking(game_batch, game.pk), GameCursor("", most)),
        (asking(tournament_batch, event.slug), TournamentCursor("x", event.revision, (most, most), there)),
        (asking(tournament_batch, event.slug), TournamentCursor("x", event.revision, (10**17, 0), there)),
        (asking(ladder_batch, LADDER), LadderCursor(most, most, most)),
        (asking(version_batch, "bot-1", 1), VersionCursor("\0", "\0", most, most, (most,))),
        (asking(version_test_batch, test.slug), VersionTestCursor(most, most, "\0")),
        (asking(tv_batch, ""), TvCursor(most, GameCursor("", most))),
        (asking(notice_batch, ada), NoticeCursor(most, (most,))),
    ):
        told(ask(write_cursor(cursor)))


def test_cursors_are_read_as_they_were_written() -> None:
    cursor = GameCursor("abcd", 2**63 - 1, True)
    assert read_cursor(write_cursor(cursor), GameCursor) == cursor
    too_large = write_cursor(GameCursor("", 2**63, False))
    assert read_cursor(too_large, GameCursor) is None


def test_an_idle_look_takes_few_queries(game: Game, deal: Deal) -> None:
    record_short(deal())
    for ask, most in (
        (asking(game_batch, game.pk), 4),
        (asking(tournament_batch, game.tournament.slug), 4),
        (asking(ladder_batch, LADDER), 4),
    ):
        cursor = ask("").cursor
        with CaptureQueriesContext(
            connection,
        ) as queries:
            assert not ask(cursor).events
        assert len(queries) <= most
