"""Games of people against bots: turns, endings, and a bot whose search fails."""

from __future__ import annotations

import io
import re
from collections.abc import Callable

import pytest
from django.conf import settings
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from engines.records import Record, find_disagreements, read_records
from engines.rules.base import IllegalMove
from engines.rules.registry import GAMES
from tests.support.door import DoorWorker
from tests.support.parts import PART, followed_address
from tests.support.schedule import make_user, make_version, open_door
from tournament.models import Bot, BotVersion, PersonGame, User
from tournament.services.searches import asking, playing
from tournament.services.searches.asking import SearchRefused
from tournament.services.searches.playing import (
    TooManyOpen,
    history_of,
    open_search,
    play,
    resign,
    start,
    take_back,
    take_over,
)
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
    monkeypatch.setattr(asking, "is_exhausted", lambda *_: True)
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
    monkeypatch.setattr(playing, "MAX_OPEN", 1)
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
    games = [begun(version, person, is_white=at % 2 == 0) for at in range(playing.MAX_OPEN)]
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
        assert record.header("Unrated") == "person"
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
    client.force_login(person)
    assert "Oracle" in client.get(f"/play/{LADDER}/").content.decode()
    form = {"bot": version.pk, "ms": "500", "colour": "black"}
    answered = client.post(f"/play/{LADDER}/", form)
    assert answered.status_code == 302
    assert PersonGame.objects.get().get_absolute_url() == answered["Location"]
    for wrong in ({"bot": "0"}, {"ms": "7"}, {"colour": "red"}):
        page = client.post(f"/play/{LADDER}/", {**form, **wrong})
        assert "Choose" in page.content.decode()


FORM = {"ms": "500", "colour": "white"}


@pytest.fixture
def sample(version: BotVersion) -> BotVersion:
    """The same as a bot of the site."""
    Bot.objects.update(owner=None)
    return BotVersion.objects.select_related("bot__owner").get(pk=version.pk)


def guest_game(version: BotVersion, client: Client) -> PersonGame:
    """The game that a visitor without an account begins."""
    answered = client.post(f"/play/{LADDER}/", {**FORM, "bot": version.pk})
    assert answered.status_code == 302, answered.content.decode()
    return PersonGame.objects.get(pk=answered["Location"].split("/")[-2])


def sentences(client: Client, path: str, form: dict[str, object]) -> str:
    """The message in the answer to a form."""
    page = client.post(path, form, follow=True).content.decode()
    return page.partition('role="status">')[2].partition("</p>")[0]


def test_a_guest_plays_and_others_do_not(sample: BotVersion, answer: Answer) -> None:
    guest, other = Client(), Client()
    game = guest_game(sample, guest)
    page = guest.post(game.get_absolute_url(), {"token": "c1+", "ply": 0}, follow=True).content.decode()
    assert "Only this browser knows this game as yours" in page
    game = answer(PersonGame.objects.get())
    assert game.plies == 2
    for address in ("/", "/play/"):
        assert f'href="{game.get_absolute_url()}"' in guest.get(address).content.decode()
        assert guest.get(address).context["open_games"]() == 1
        assert game.get_absolute_url() not in other.get(address).content.decode()
        assert other.get(address).context["open_games"]() == 0
    assert "Guest" in other.get(game.get_absolute_url()).content.decode()
    for client in (other, Client()):
        client.force_login(User.objects.filter(username="otto").first() or make_user("otto"))
        assert client.post(game.get_absolute_url(), {"token": "d1+", "ply": 2}).status_code == 404
    game = resign(game, timezone.now())
    assert "Oracle v1 won: you resigned." in guest.get(game.get_absolute_url()).content.decode()
    record = guest.get(f"/play/game/{game.pk}.pgn").content.decode()
    assert '[White "Guest"]' in record


def test_a_visitor_who_never_played_costs_no_query(
    sample: BotVersion, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    client = Client()
    page = client.get("/about/")
    with django_assert_num_queries(0):
        assert page.context["open_games"]() == 0
    assert "sessionid" not in client.cookies


def test_a_page_that_follows_a_guest_s_game_is_made_for_the_guest(sample: BotVersion) -> None:
    guest = Client()
    address = guest_game(sample, guest).get_absolute_url()
    for client, is_personal in ((guest, True), (Client(), False)):
        assert client.get(address, headers=PART).is_personal == is_personal  # type: ignore[attr-defined]
    assert "no-store" in guest.get(address)["Cache-Control"]


@pytest.mark.parametrize("way", ["sign up", "log in"])
def test_a_guest_s_games_stay_after_a_log_in(sample: BotVersion, answer: Answer, way: str) -> None:
    guest = Client()
    game = guest_game(sample, guest)
    guest.post(game.get_absolute_url(), {"token": "c1+", "ply": 0})
    if way == "sign up":
        form = {"username": "nina", "password1": "a long enough one", "password2": "a long enough one"}
        guest.post("/sign-up/", form)
    else:
        make_user("nina")
        guest.post("/log-in/", {"login": "nina", "username": "nina", "password": "pw"})
    game.refresh_from_db()
    assert (game.person, game.guest, game.network) == (User.objects.get(username="nina"), "", "")
    game = answer(game)
    assert game.get_absolute_url() in guest.get("/account/").content.decode()
    assert guest.post(game.get_absolute_url(), {"token": "d1+", "ply": 2}).status_code == 302
    assert PersonGame.objects.get().plies == 3
    guest.post("/log-out/")
    assert "Your open games" not in guest.get("/play/").content.decode()


def test_only_bots_that_are_no_samples_use_up_a_guest_s_seconds(
    version: BotVersion, answer: Answer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "GUEST_SECONDS", 1)
    game = guest_game(version, Client())
    page, guest = game.get_absolute_url(), Client()
    for move, refused in (("c1+", False), ("d1+", False), ("e1+", True)):
        found = play_as_guest(game, move)
        assert ("searches take 1 seconds a day" in found) == refused
        game = PersonGame.objects.get()
        game = game if refused else answer(game, move=first_reply(game))
    Bot.objects.update(owner=None)
    assert play_as_guest(game, "e1+") == ""
    assert guest.get(page).status_code == 200


def play_as_guest(game: PersonGame, move: str) -> str:
    """Play the move for the game's guest; the sentence of a refusal."""
    try:
        play(PersonGame.objects.get(pk=game.pk), move, timezone.now())
    except SearchRefused as refused:
        return str(refused)
    return ""


def first_reply(game: PersonGame) -> str:
    return next(history_of(game).position.legal_moves())


@pytest.mark.parametrize(
    ("limit", "sentence"),
    [
        ({"GUEST_MS": 100}, "Without an account a bot has at most 0.1 seconds a move"),
        ({"MAX_GUESTS": 0}, "Many visitors ask at this time"),
    ],
)
def test_guests_are_told_of_their_limits(
    sample: BotVersion, monkeypatch: pytest.MonkeyPatch, limit: dict[str, int], sentence: str
) -> None:
    for name, value in limit.items():
        monkeypatch.setattr(asking, name, value)
    client = Client()
    assert sentence in sentences(client, f"/play/{LADDER}/", {**FORM, "bot": sample.pk})
    assert not PersonGame.objects.exists()


def test_games_that_guests_of_one_network_begin_are_limited(
    sample: BotVersion, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(playing, "GUEST_GAMES", 1)
    guest_game(sample, Client())
    form = {**FORM, "bot": sample.pk}
    assert "1 games a day" in sentences(Client(), f"/play/{LADDER}/", form)
    elsewhere = Client(REMOTE_ADDR="203.0.113.9")
    assert elsewhere.post(f"/play/{LADDER}/", form).status_code == 302


def test_a_move_is_taken_back_with_the_bot_s_answer(
    version: BotVersion, person: User, answer: Answer
) -> None:
    own = Client()
    own.force_login(person)
    game = begun(version, person)
    address = game.get_absolute_url()
    assert "Take back" not in own.get(address).content.decode()
    game = answer(play(game, "c1+", timezone.now()))
    game = answer(play(game, "d1+", timezone.now()))
    kept = game.moves.split()[:2]
    assert "Take back" in own.get(address).content.decode()
    assert "Take back" not in Client().get(address).content.decode()
    own.post(address, {"action": "take back", "ply": 4})
    game = PersonGame.objects.get()
    assert (game.moves.split(), game.taken_back, game.end) == (kept, 1, "")
    assert "1 move of pia taken back" in Client().get(address).content.decode()
    game = answer(play(game, "e1+", timezone.now()))
    assert game.moves.split()[:3] == [*kept, "e1+"]
    (record,) = read_records(
        io.StringIO(Client().get(f"/play/game/{game.pk}.pgn").content.decode()), "record"
    )
    assert isinstance(record, Record)
    assert (record.header("TakenBack"), record.header("Rated")) == ("1", "no")
    assert list(find_disagreements(record)) == []


def test_a_move_is_taken_back_while_the_bot_thinks(
    version: BotVersion, person: User, worker: DoorWorker, answer: Answer
) -> None:
    game = play(begun(version, person), "c1+", timezone.now())
    batch = worker.ask()
    assert batch is not None
    game = take_back(game, timezone.now())
    assert (game.moves, open_search(game), take_over(game, timezone.now()).end) == ("", None, "")
    found = (Evaluation(1, "c2+", ""),)
    worker.post(batch.job, search=SearchNews(batch.job, f"{worker.name}/0", found, True, ""))
    game = play(take_over(game, timezone.now()), "c1+", timezone.now())
    assert take_over(game, timezone.now()).moves == "c1+"
    assert answer(game).plies == 2


def test_an_answer_to_a_move_that_was_taken_back_is_not_played(
    version: BotVersion, person: User, answer: Answer
) -> None:
    game = answer(play(begun(version, person), "c1+", timezone.now()))
    game = play(take_back(game, timezone.now()), "d1+", timezone.now())
    assert take_over(game, timezone.now()).moves == "d1+"
    assert answer(game).moves.split()[0] == "d1+"


def test_the_first_move_of_the_bot_is_never_taken_back(
    version: BotVersion, person: User, answer: Answer
) -> None:
    game = answer(begun(version, person, is_white=False))
    with pytest.raises(SearchRefused, match="no move of yours"):
        take_back(game, timezone.now())
    game = play(game, first_reply(game), timezone.now())
    assert take_back(game, timezone.now()).plies == 1


def test_nothing_is_taken_back_after_the_end_or_from_an_old_page(
    version: BotVersion, person: User, answer: Answer
) -> None:
    game = answer(play(begun(version, person), "c1+", timezone.now()))
    with pytest.raises(SearchRefused, match="gone on"):
        take_back(game, timezone.now(), shown=1)
    game = resign(game, timezone.now())
    with pytest.raises(SearchRefused, match="no move of yours"):
        take_back(game, timezone.now())


def test_onlookers_see_that_a_move_was_taken_back(version: BotVersion, person: User, answer: Answer) -> None:
    game = answer(play(begun(version, person), "c1+", timezone.now()))
    address = followed_address(Client().get(game.get_absolute_url()).content.decode())
    game = take_back(game, timezone.now())
    answer(play(game, "d1+", timezone.now()))
    changed = Client().get(address, headers=PART)
    assert (changed.status_code, "d1+" in changed.content.decode()) == (200, True)


@pytest.mark.parametrize("is_white", [True, False])
def test_white_is_first_in_the_heading_and_names_stand_beside_the_board(
    version: BotVersion, person: User, is_white: bool
) -> None:
    page = Client().get(begun(version, person, is_white=is_white).get_absolute_url()).content.decode()
    heading = page.partition("<h1>")[2].partition("</h1>")[0]
    names = re.findall(r"pia|Oracle", re.sub("<[^>]*>", "", heading))
    assert names == (["pia", "Oracle"] if is_white else ["Oracle", "pia"])
    assert re.findall("<title>.*(?:pia – Oracle|Oracle – pia)", page)
    beside = {place: page.partition(f'id="{place}"')[2].partition("</div>")[0] for place in ("top", "bottom")}
    assert ("Oracle" in beside["top"], "pia" in beside["bottom"]) == (True, True)
    own, other = ("White", "Black") if is_white else ("Black", "White")
    assert (f"{other}: " in beside["top"], f"{own}: " in beside["bottom"]) == (True, True)
    assert ("to move" in beside["bottom"], "to move" in beside["top"]) == (is_white, not is_white)


def test_earlier_positions_of_a_game_have_addresses(
    version: BotVersion, person: User, answer: Answer
) -> None:
    game = answer(play(begun(version, person), "c1+", timezone.now()))
    own = Client()
    own.force_login(person)
    page = own.get(game.get_absolute_url(), {"ply": 1}).content.decode()
    assert "Position after move 1 of 2. Last move c1+. Black to move." in page
    assert re.search(r'<a href="\?ply=1" aria-current="true"\s*><b>c1\+</b', " ".join(page.split()))
    assert '<p id="earlier"><a' in page
    assert '<input type="hidden" name="ply" value="2">' in page
    for query in ({}, {"ply": 2}, {"ply": 9}):
        page = own.get(game.get_absolute_url(), query).content.decode()
        assert ("Position after" in page, '<p id="earlier" hidden>' in page) == (False, True)


@pytest.mark.parametrize("code", GAMES)
def test_the_page_of_a_game_says_how_a_move_is_written(version: BotVersion, person: User, code: str) -> None:
    fill = {"ladder_id": code, "version": version, "person": person, "is_white": True, "ms": 500}
    game = PersonGame.objects.create(**fill, started_at=timezone.now())
    own = Client()
    own.force_login(person)
    page = own.get(game.get_absolute_url()).content.decode()
    first = GAMES[code].position.initial()
    example = re.findall(r"[Ff]or example,? <code>([^<]+)</code>", page)[0]
    assert first.is_legal(example)
    if first.side is game.person_side:
        assert f"for example, <code>{example}</code>" in page


def test_nobody_is_to_move_after_the_end(version: BotVersion, person: User) -> None:
    game = begun(version, person)
    assert "to move" in Client().get(game.get_absolute_url()).content.decode()
    resign(game, timezone.now())
    assert "to move" not in Client().get(game.get_absolute_url()).content.decode()


def test_the_form_proposes_what_a_link_names_and_keeps_what_was_refused(
    version: BotVersion, person: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = make_version("Zulu", games=[LADDER])
    for bot in (version, other):
        page = Client().get(f"/play/{LADDER}/", {"bot": bot.pk}).content.decode()
        assert re.findall(r'<option value="(\d+)" selected', page) == [str(bot.pk)]
    monkeypatch.setattr(playing, "MAX_OPEN", 0)
    client = Client()
    client.force_login(person)
    form = {"bot": other.pk, "colour": "black", "ms": "2000"}
    page = client.post(f"/play/{LADDER}/", form).content.decode()
    assert re.findall(r'<option value="(\w+)" selected', page) == [str(other.pk), "black", "2000"]


def test_the_document_has_the_limits_of_the_program() -> None:
    page = (settings.ROOT / "docs" / "tournaments.md").read_text(encoding="utf-8")
    said = " ".join(page.partition("## Games against bots")[2].partition("\n## ")[0].split())
    assert playing.MAX_OPEN == 10
    assert asking.GUESTS_SECONDS == 600
    for limit in (
        "up to ten may be open",
        f"the {asking.GUEST_SECONDS} seconds of a day for one network and the ten minutes of an hour",
        f"at most {asking.GUEST_MS // 1000} seconds,",
        f"a network begins at most {playing.GUEST_GAMES} games a day",
    ):
        assert limit in said
