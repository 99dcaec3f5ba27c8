"""Games of people against bots: turns, endings, and a bot whose search fails."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest
from django.test import Client
from django.utils import timezone

from engines.records import Record, find_disagreements, read_records
from engines.rules.base import IllegalMove
from engines.rules.registry import GAMES
from tests.support.door import DoorWorker
from tests.support.schedule import make_user, make_version, open_door
from tournament.models import Bot, BotVersion, PersonGame, User
from tournament.services import playing, searching
from tournament.services.playing import TooManyOpen, history_of, open_search, play, resign, start, take_over
from tournament.services.searching import SearchRefused
from workers.jobs import Evaluation, SearchNews, Work

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
LADDER = "dogon-kulei"


@pytest.fixture
def version() -> BotVersion:
    open_door(timezone.now())
    found = make_version("Oracle", owner=make_user("olga"), games=[LADDER])
    Bot.objects.update(answers=True)
    return BotVersion.objects.select_related("bot__owner").get(pk=found.pk)


Answer = Callable[..., PersonGame]


@pytest.fixture(autouse=True)
def worker(version: BotVersion) -> DoorWorker:
    one = DoorWorker(takes=(Work.CHECKS, Work.ANALYSIS), slots=1)
    one.beat()
    return one


@pytest.fixture
def answer(worker: DoorWorker) -> Answer:
    """Have the bot's slot answer with the first legal move or this one, or fail."""

    def answered(game: PersonGame, why: str = "", move: str = "") -> PersonGame:
        search = open_search(game)
        assert search is not None
        ply, move = search.plies[0], move or next(history_of(game).position.legal_moves())
        batch = worker.ask()
        assert batch is not None
        found = () if why else (Evaluation(ply, move, ""),)
        worker.post(batch.job, search=SearchNews(batch.job, f"{worker.name}/0", found, True, why))
        return take_over(game, timezone.now())

    return answered


@pytest.fixture
def person() -> User:
    return make_user("pia")


def begun(version: BotVersion, person: User, *, is_white: bool = True) -> PersonGame:
    return start(person, version, LADDER, is_white=is_white, ms=500, now=timezone.now())


def test_person_and_bot_take_turns_until_the_game_is_over(
    version: BotVersion, person: User, answer: Answer
) -> None:
    game = begun(version, person)
    while not game.ended_at:
        game = play(game, next(history_of(game).position.legal_moves()), timezone.now())
        if not game.ended_at:
            game = answer(game)
    outcome = history_of(game).outcome
    assert outcome.decided
    assert (game.result, game.end) == (str(outcome.result), PersonGame.End.RULES)
    assert open_search(game) is None


def test_the_bot_begins_if_the_person_is_second(version: BotVersion, person: User, answer: Answer) -> None:
    game = begun(version, person, is_white=False)
    with pytest.raises(IllegalMove, match="not your turn"):
        play(game, "c1+", timezone.now())
    assert len(answer(game).moves.split()) == 1


def test_the_bot_s_move_is_taken_over_once(version: BotVersion, person: User, answer: Answer) -> None:
    game = play(begun(version, person), "c1+", timezone.now())
    assert take_over(game, timezone.now()).moves == "c1+"
    after = answer(game)
    assert take_over(game, timezone.now()).moves.split() == take_over(after, timezone.now()).moves.split()
    assert len(after.moves.split()) == 2


def test_a_bot_that_fails_loses(version: BotVersion, person: User, answer: Answer) -> None:
    game = answer(play(begun(version, person), "c1+", timezone.now()), why="it crashed")
    assert (game.result, game.end, game.why) == ("1-0", PersonGame.End.FAILED, "it crashed")


def test_an_illegal_move_of_a_worker_ends_the_game(version: BotVersion, person: User) -> None:
    game = play(begun(version, person), "c1+", timezone.now())
    search = open_search(game)
    assert search is not None
    type(search).objects.update(found={"1": ["z9", ""]}, ended_at=timezone.now())
    game = take_over(game, timezone.now())
    assert (game.result, game.end, game.moves) == ("*", PersonGame.End.VOID, "c1+")


def test_a_bot_may_resign(version: BotVersion, person: User, answer: Answer) -> None:
    game = answer(play(begun(version, person), "c1+", timezone.now()), move="resign")
    assert (game.result, game.end, game.moves) == ("1-0", PersonGame.End.RESIGNED, "c1+")
    page = Client().get(game.get_absolute_url()).content.decode()
    assert "pia won: Oracle v1 resigned." in page


def test_faults_of_the_site_are_nobody_s(version: BotVersion, person: User, worker: DoorWorker) -> None:
    game = play(begun(version, person), "c1+", timezone.now())
    BotVersion.objects.update(state=BotVersion.State.WITHDRAWN)
    assert worker.ask() is None
    game = take_over(game, timezone.now())
    assert (game.result, game.end) == ("*", PersonGame.End.VOID)
    assert "no longer valid" in game.why


def test_a_game_may_be_stopped_while_the_bot_is_awaited(version: BotVersion, person: User) -> None:
    game = resign(play(begun(version, person), "c1+", timezone.now()), timezone.now())
    assert (game.result, game.end) == ("*", PersonGame.End.VOID)
    assert open_search(game) is None


def test_moves_wait_while_the_hours_of_the_day_are_used_up(
    version: BotVersion, person: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    game = begun(version, person)
    monkeypatch.setattr(searching, "is_exhausted", lambda *_: True)
    with pytest.raises(SearchRefused, match="slot-hours"):
        play(game, "c1+", timezone.now())


def test_a_person_may_resign_once(version: BotVersion, person: User) -> None:
    game = resign(begun(version, person), timezone.now())
    assert (game.result, game.end) == ("0-1", PersonGame.End.RESIGNED)
    assert resign(game, timezone.now()).ended_at == game.ended_at
    with pytest.raises(IllegalMove):
        play(game, "c1+", timezone.now())


def test_names_are_shown_as_they_are_spelled(version: BotVersion) -> None:
    game = resign(begun(version, make_user("Young")), timezone.now())
    assert "Oracle v1 won: Young resigned." in Client().get(game.get_absolute_url()).content.decode()


def test_open_games_are_limited(version: BotVersion, person: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(playing, "MOST_OPEN", 1)
    begun(version, person)
    with pytest.raises(TooManyOpen, match="not over"):
        begun(version, person)
    client = Client()
    client.force_login(person)
    form = {"bot": version.pk, "ms": "500", "colour": "black"}
    page = client.post(f"/play/{LADDER}/", form).content.decode()
    assert 'end one first. <a href="/play/#open-games">See your open games</a>' in page
    assert PersonGame.objects.count() == 1


def test_all_open_games_are_listed_and_counted(version: BotVersion, person: User, answer: Answer) -> None:
    client = Client()
    client.force_login(person)
    assert "Your open games" not in client.get("/play/").content.decode()
    games = [begun(version, person, is_white=at % 2 == 0) for at in range(playing.MOST_OPEN)]
    over = resign(games.pop(), timezone.now())
    answer(games[1])
    for address in ("/", "/play/", "/account/"):
        response = client.get(address)
        page = response.content.decode()
        assert all(f'href="/play/game/{game.pk}/"' in page for game in games), address
        assert str(over.pk) not in page
        assert (page.count("your move"), page.count("the bot thinks")) == (6, 3)
        assert response.context["open_games"]() == len(games)
    assert "Your open games" not in Client().get("/").content.decode()


def test_the_page_to_play_has_a_form_for_each_ladder_with_bots(version: BotVersion) -> None:
    page = Client().get("/play/").content.decode()
    assert page.count('aria-label="Play ') == page.count("Oracle") == 1
    assert f'action="/play/{LADDER}/"' in page
    assert page.count("No bot answers here") == len(GAMES) - 1


def test_games_in_a_short_time_are_limited(version: BotVersion, person: User) -> None:
    now = timezone.now()

    def begin_and_resign() -> None:
        resign(start(person, version, LADDER, is_white=True, ms=500, now=now), now)

    for _ in range(24):
        begin_and_resign()
    with pytest.raises(SearchRefused, match="in a short time: try again in"):
        begin_and_resign()


def test_records_are_verified_and_marked(version: BotVersion, person: User, answer: Answer) -> None:
    games = [
        resign(begun(version, person), timezone.now()),
        answer(play(begun(version, person), "c1+", timezone.now()), why="it crashed"),
        begun(version, person, is_white=False),
        resign(begun(version, person, is_white=False), timezone.now()),
        answer(play(begun(version, person), "c1+", timezone.now()), move="resign"),
    ]
    for game in games:
        text = Client().get(f"/play/game/{game.pk}.pgn").content.decode()
        record = next(read_records(io.StringIO(text), "record"))
        assert isinstance(record, Record)
        assert (record.header("Rated"), record.header("Person")) == ("no", game.person_side.name.lower())
        assert list(find_disagreements(record)) == []


def test_others_look_on_and_do_not_play(version: BotVersion, person: User) -> None:
    game = begun(version, person)
    other = Client()
    other.force_login(make_user("otto"))
    assert other.get(game.get_absolute_url()).status_code == 200
    assert other.post(game.get_absolute_url(), {"token": "c1+"}).status_code == 404
    own = Client()
    own.force_login(person)
    page = own.post(game.get_absolute_url(), {"token": "c1+", "ply": 0}, follow=True).content.decode()
    assert "Oracle v1" in page
    assert PersonGame.objects.get().moves == "c1+"
    wrong = own.post(game.get_absolute_url(), {"token": "c1+", "ply": 1}, headers={"X-Part": "true"})
    assert wrong.status_code == 400


@pytest.mark.parametrize("form", [{"token": "d1+"}, {"action": "resign"}])
@pytest.mark.parametrize("ply", ["0", "1", "", "x", "9" * 30])
def test_a_page_that_shows_an_earlier_ply_changes_nothing(
    version: BotVersion, person: User, answer: Answer, form: dict[str, str], ply: str
) -> None:
    game = answer(play(begun(version, person), "c1+", timezone.now()))
    own = Client()
    own.force_login(person)
    page = own.post(game.get_absolute_url(), {**form, "ply": ply}, follow=True).content.decode()
    assert "The game has gone on" in page
    by_script = own.post(game.get_absolute_url(), {**form, "ply": ply}, headers={"X-Part": "true"})
    assert (by_script.status_code, "The game has gone on" in by_script.content.decode()) == (400, True)
    assert PersonGame.objects.get().moves == game.moves
    assert PersonGame.objects.get().ended_at is None
    assert '<input type="hidden" name="ply" value="2">' in page


def test_the_record_of_a_game_that_goes_on_says_so(version: BotVersion, person: User) -> None:
    game = play(begun(version, person), "c1+", timezone.now())
    text = Client().get(f"/play/game/{game.pk}.pgn").content.decode()
    (record,) = read_records(io.StringIO(text), "record")
    assert isinstance(record, Record)
    ends = [record.header(name) for name in ("Result", "Termination", "Fault", "Evidence")]
    assert ends == ["*", "unterminated", "none", ""]


def test_a_game_is_begun_on_a_page(version: BotVersion, person: User) -> None:
    client = Client()
    assert client.get(f"/play/{LADDER}/").status_code == 302
    client.force_login(person)
    assert "Oracle" in client.get(f"/play/{LADDER}/").content.decode()
    form = {"bot": version.pk, "ms": "500", "colour": "black"}
    answered = client.post(f"/play/{LADDER}/", form)
    assert answered.status_code == 302
    assert PersonGame.objects.get().get_absolute_url() == answered["Location"]
    for wrong in ({"bot": "0"}, {"ms": "7"}, {"colour": "red"}):
        page = client.post(f"/play/{LADDER}/", {**form, **wrong})
        assert "Choose" in page.content.decode()
