"""The explorer counts what one pass over the records counts, whatever happened in between."""

from __future__ import annotations

import random
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from engines.records import Fault, RecordMove, RecordOutcome, Termination
from engines.rules.base import Position, Result
from engines.rules.registry import GAMES
from tests.support.explorer import Counts, recounted, stored_counts
from tests.support.filled_site import add_version, record_text
from tests.support.rated_games import play_rated
from tests.support.schedule import make_user
from tournament.models import (
    ExplorerMove,
    ExplorerProgress,
    ExplorerVisit,
    Game,
    GameRecord,
    Ladder,
    Tournament,
)
from tournament.services.annulments import annul, count_again
from tournament.services.explorer import counting
from tournament.services.explorer.positions import first_number, position_number, ranges
from tournament.services.results.rebuilding import rebuild, rebuild_outdated

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
PLIES = 50


@pytest.fixture
def games() -> list[Game]:
    """Rated games on all ladders, with moves drawn from the first and last ones, so that many games meet."""
    versions = [add_version(make_user(f"{name}s-owner"), name) for name in ("alpha", "beta", "gamma")]
    found = play_rated(None, "Winter", versions, pairs=4, ladders=list(GAMES))
    for game in found:
        _play(game, random.Random(game.pk))
    return found


def _play(game: Game, chance: random.Random) -> None:
    position: Position = GAMES[game.ladder_id].position.initial()
    moves = []
    for _ in range(PLIES):
        if not (number := position.count_moves()):
            break
        token, position = position.play_at(chance.choice([0, 0, number - 1]))
        moves.append(RecordMove(token))
    ending = RecordOutcome(Result(game.result or "*"), Termination.ADJUDICATION, Fault.NONE)
    GameRecord.objects.filter(pk=game.pk).update(text=record_text(game, moves, ending))


def caught_up() -> Counts:
    counting.catch_up()
    assert not counting.is_behind()
    return stored_counts()


def test_counts_are_those_of_the_records_before_and_after_annulments(games: list[Game]) -> None:
    first = caught_up()
    assert first == recounted()
    assert any(band >= 0 for _, _, band in first)
    assert len({number >> 56 for number, _, _ in first}) == len(GAMES)
    some = Game.objects.filter(pk__in=[game.pk for game in games[::4]])
    annul(some, "The clock was wrong.", timezone.now())
    counting.catch_up()
    assert stored_counts() == first, "the ratings come first"
    rebuild_outdated()
    second = caught_up()
    assert second == recounted() != first
    count_again(some, timezone.now())
    rebuild_outdated()
    assert caught_up() == first


def test_a_rebuild_gives_the_same_rows(games: list[Game]) -> None:
    first, visits = caught_up(), set(ExplorerVisit.objects.values_list("pk", flat=True))
    out = StringIO()
    call_command("rebuild_explorer", stdout=out)
    assert "duploline" in out.getvalue()
    assert not ExplorerProgress.objects.exists()
    assert caught_up() == first
    assert set(ExplorerVisit.objects.values_list("pk", flat=True)) == visits


@pytest.mark.parametrize("batch", [1, 7])
def test_the_size_of_a_batch_does_not_matter(
    games: list[Game], batch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counting, "BATCH", batch)
    monkeypatch.setattr(counting, "RANGE_ROWS", 50)
    monkeypatch.setattr(counting, "AT_ONCE", 3)
    assert caught_up() == recounted()
    ExplorerProgress.objects.update(revision=None)
    assert caught_up() == recounted()


def test_changed_ratings_are_counted_again(games: list[Game]) -> None:
    caught_up()
    game = Game.objects.filter(rated=True).earliest("sequence")
    game.rating_events.update(mu_before=60.0)
    rebuild(game.ladder_id)
    assert counting.is_behind()
    assert caught_up() == recounted()


def test_a_rebuild_during_a_recount_is_not_forgotten(
    games: list[Game], monkeypatch: pytest.MonkeyPatch
) -> None:
    caught_up()
    ExplorerProgress.objects.update(revision=None)
    recount = counting._recount

    def interrupted(code: str, until: int) -> bool:
        done = recount(code, until)
        Game.objects.filter(ladder=code, rated=True).earliest("sequence").rating_events.update(mu_before=60.0)
        rebuild(code)
        return done

    monkeypatch.setattr(counting, "_recount", interrupted)
    counting.catch_up()
    assert counting.is_behind()
    monkeypatch.setattr(counting, "_recount", recount)
    assert caught_up() == recounted()


def test_annulments_come_before_the_counts(games: list[Game]) -> None:
    annul(Game.objects.filter(pk=games[0].pk), "The clock was wrong.", timezone.now())
    counting.catch_up()
    first = games[0].ladder_id
    assert not ExplorerProgress.objects.filter(pk=first).exists()
    assert not ExplorerVisit.objects.exists()
    rebuild_outdated()
    assert caught_up() == recounted()


def test_a_ladder_that_cannot_be_counted_stops_no_other(
    games: list[Game], monkeypatch: pytest.MonkeyPatch
) -> None:
    read = counting._read_visits

    def fail(code: str, until: int, last: int) -> list[counting.Row]:
        if code == "dogon-gagara":
            raise RuntimeError("a wrong record")
        return list(read(code, until, last))

    monkeypatch.setattr(counting, "_read_visits", fail)
    counting.catch_up()
    done = ExplorerProgress.objects.filter(until__gt=0).values_list("pk", flat=True)
    assert set(done) == set(GAMES) - {"dogon-gagara"}
    monkeypatch.setattr(counting, "_read_visits", read)
    assert caught_up() == recounted()


def test_a_batch_that_another_process_stored_is_not_stored_twice(
    games: list[Game], monkeypatch: pytest.MonkeyPatch
) -> None:
    read = counting._read_visits

    def overtaken(code: str, until: int, last: int) -> list[counting.Row]:
        monkeypatch.setattr(counting, "_read_visits", read)
        counting.catch_up()
        return list(read(code, until, last))

    monkeypatch.setattr(counting, "_read_visits", overtaken)
    assert caught_up() == recounted()


def test_an_unreadable_record_is_left_out(games: list[Game]) -> None:
    record = GameRecord.objects.filter(game__ladder="dualma").earliest("pk")
    record.text = record.text.replace("3. ", "3. i9:i9 ", 1)
    record.save()
    caught_up()
    numbers = next(iter(ranges("dualma", 1)))
    mine = ExplorerVisit.objects.filter(sequence=record.game.sequence or 0, position__range=numbers)
    assert not mine.exists()
    assert ExplorerProgress.objects.get(pk="dualma").until == Ladder.objects.get(pk="dualma").sequence


def test_validations_count_nowhere(games: list[Game]) -> None:
    Tournament.objects.filter(pk=games[0].tournament_id).update(kind="validation")
    caught_up()
    assert not ExplorerVisit.objects.exists()
    assert not ExplorerMove.objects.exists()


def test_the_command_names_an_unknown_ladder() -> None:
    with pytest.raises(CommandError, match="chess"):
        call_command("rebuild_explorer", "--ladder", "chess")


def test_the_positions_of_ladders_do_not_meet() -> None:
    numbers = [number for code in GAMES for pair in ranges(code, 3) for number in pair]
    assert len(set(numbers)) == len(numbers)
    assert len({first_number(code) for code in GAMES}) == len(GAMES)
    assert all(0 <= number < 2**63 for number in numbers)


@pytest.mark.parametrize("ply", [0, 1])
@pytest.mark.parametrize("code", GAMES)
def test_the_number_of_a_position_has_its_side(code: str, ply: int) -> None:
    position: Position = GAMES[code].position.initial()
    for _ in range(ply):
        position = position.play_at(0)[1]
    number = position_number(code, position.canonical()[0], position.side)
    assert number & 1 == position.side
    ((first, last),) = ranges(code, 1)
    assert first <= number <= last
