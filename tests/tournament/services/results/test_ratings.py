"""The ratings in the database: live and rebuilt they are the same to the bit."""

from __future__ import annotations

import itertools
import math
import os
import random
import subprocess
import sys
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db.models import F

from engines.arithmetic.ratings import Rating, ladder_scale
from engines.records import Record, RecordError, read_records
from engines.rules.base import Result
from tests.support.remembered import remembered
from tests.support.schedule import (
    Deal,
    make_tournament,
    make_user,
    make_version,
    play_short,
    record_all,
    start_validation,
)
from tests.support.trueskill_package import rate_by_definition
from tournament.embedded.demo import write_records
from tournament.embedded.plan import ROOT
from tournament.models import Game, GameRecord, LadderRating, PairOutcome, PairScore, RatingEvent, Tournament
from tournament.services.results.corrections import RebuildError
from tournament.services.results.estimates import ladder_estimate
from tournament.services.results.exact import exact_from_records, exact_from_tables
from tournament.services.results.rebuilding import rebuild, rebuild_from_records
from tournament.services.schedule.tables import tournament_table

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
LADDER, OTHER = "dogon-kulei", "duovallis"


def table() -> dict[str, list[dict[str, Any]]]:
    """Everything ratings consist of, floats to the bit."""
    found = {}
    for model in (RatingEvent, LadderRating, PairScore, PairOutcome):
        rows = [dict(row) for row in model._default_manager.values()]
        for row in rows:
            row.pop("id")
        found[model.__name__] = sorted(rows, key=repr)
    return found


def play_out(deal: Deal, shuffle: int = 0) -> None:
    """Play everything that waits, reports coming in any order."""
    source = random.Random(shuffle)
    while jobs := deal():
        reports = [report for job in jobs for report in play_short(job)]
        source.shuffle(reports)
        record_all(reports)


@pytest.fixture
def played(db: None, deal: Deal) -> Tournament:
    """A validation, then two tournaments on two ladders, a new version in the second.

    Two bots of one owner and exact repeats are among the games.
    """
    return remembered(play, deal)


def play(deal: Deal) -> Tournament:
    both, owner = [LADDER, OTHER], make_user()
    versions = [make_version(name, games=both, owner=owner) for name in ("Ada", "Bob")]
    versions += [make_version(name, games=both) for name in ("Cy", 'Dora "\\" Ö')]
    start_validation(versions[0])
    play_out(deal)
    versions[0].refresh_from_db()
    first = make_tournament(versions=versions, ladders=both, pairs=2, opening_plies=1)
    play_out(deal)
    versions[2] = make_version("Cy", games=both)
    make_tournament(versions=versions, ladders=both, opening_plies=2, name="Second", seed=2)
    play_out(deal)
    assert not Game.objects.exclude(state=Game.State.DONE).exists()
    assert 0 < Game.objects.filter(rated=False).count() < Game.objects.count()
    return first


def published(ladder: str | None = None) -> list[Record | RecordError]:
    texts = GameRecord.objects.exclude(game__tournament__kind="validation").order_by(
        "game__ladder_id", "game__sequence"
    )
    if ladder:
        texts = texts.filter(game__ladder_id=ladder)
    return list(read_records(StringIO("\n".join(texts.values_list("text", flat=True))), "records.pgn"))


def test_a_rebuild_from_the_games_changes_nothing(played: Tournament) -> None:
    before = table()
    rebuilt = {one.ladder: one for one in rebuild()}
    assert not any(one.changed for one in rebuilt.values())
    assert table() == before
    assert rebuilt[LADDER].games == Game.objects.filter(ladder=LADDER, rated=True).count() > 0


def test_the_records_alone_give_the_same_bits_into_empty_tables(played: Tournament) -> None:
    before, records = table(), published()
    for model in (RatingEvent, LadderRating, PairScore, PairOutcome):
        model._default_manager.all().delete()
    rebuilt = list(rebuild_from_records([LADDER, OTHER], records))
    assert [(one.ladder, one.changed) for one in rebuilt] == [(LADDER, True), (OTHER, True)]
    assert table() == before
    assert not next(rebuild_from_records([LADDER], records)).changed


def test_games_on_other_terms_are_left_out_of_a_rebuild_from_records(deal: Deal) -> None:
    versions = [make_version(name, games=[LADDER]) for name in ("Ada", "Bob")]
    make_tournament(versions=versions, ladders=[LADDER], name="Off terms", rated_off_terms=False, seed=7)
    play_out(deal)
    make_tournament(versions=versions, ladders=[LADDER], name="By staff", rated_off_terms=True, seed=8)
    play_out(deal)
    before, records = table(), published(LADDER)
    why = [one.header("Unrated") for one in records if isinstance(one, Record) and one.header("Rated")]
    assert "time-control" in why
    assert len(why) < len(records)
    for model in (RatingEvent, LadderRating, PairScore, PairOutcome):
        model._default_manager.all().delete()
    (rebuilt,) = rebuild_from_records([LADDER], records)
    assert (rebuilt.games, table()) == (len(records) - len(why), before)
    assert exact_from_records([LADDER], records) == [exact_from_tables(LADDER)]


def test_a_rebuild_repairs_damaged_ratings(played: Tournament) -> None:
    before = table()
    LadderRating.objects.filter(ladder=LADDER).update(mu=99)
    RatingEvent.objects.filter(ladder=OTHER).delete()
    assert [one.ladder for one in rebuild() if one.changed] == sorted([LADDER, OTHER])
    assert table() == before


def test_a_rebuild_that_fails_changes_nothing(played: Tournament) -> None:
    before, records = table(), published(LADDER)
    make_version("Ada")
    for spoiled, why in [
        ("GameId", "has recorded no such game"),
        ("White", "the site has no 'x' version"),
        ("WhiteVersion", "WhiteVersion 'x' is not a number"),
    ]:
        broken = [spoil(record, spoiled) for record in records]
        with pytest.raises(RebuildError, match=why):
            next(rebuild_from_records([LADDER], broken))
        assert table() == before
    with pytest.raises(RebuildError, match="torn"):
        next(rebuild_from_records([OTHER, LADDER], [*records, RecordError("torn")]))
    assert table() == before


def spoil(record: Record | RecordError, name: str) -> Record:
    assert isinstance(record, Record)
    headers = tuple((known, "x" if known == name else value) for known, value in record.headers)
    return Record(headers, record.moves, record.result)


def test_a_new_version_starts_from_its_parent(played: Tournament) -> None:
    version = make_version("Cy").bot.versions.get(number=2)
    parent = version.bot.versions.get(number=1)
    first = RatingEvent.objects.filter(version=version, ladder=LADDER).earliest("sequence")
    last = RatingEvent.objects.filter(version=parent, ladder=LADDER, sequence__lt=first.sequence).latest(
        "sequence"
    )
    assert first.mu_before == last.mu_after
    assert first.sigma_before == max(3.0, last.sigma_after)


def test_events_chain_up_to_the_ladder(played: Tournament) -> None:
    for row in LadderRating.objects.all():
        events = RatingEvent.objects.filter(ladder=row.ladder, version=row.version).order_by("sequence")
        chain = list(events)
        assert (chain[-1].mu_after, chain[-1].sigma_after) == (row.mu, row.sigma)
        assert row.conservative == row.mu - 3 * row.sigma
        assert row.games == len(chain) == row.wins + row.draws + row.losses
        for one, following in itertools.pairwise(chain):
            assert (one.mu_after, one.sigma_after) == (following.mu_before, following.sigma_before)


def test_a_tournaments_own_table_does_not_depend_on_the_order_of_completion(deal: Deal) -> None:
    versions = [make_version(f"Bot {n}", games=[LADDER]) for n in range(3)]
    tables = []
    for seed in (1, 2):
        tournament = make_tournament(versions=versions, ladders=[LADDER], pairs=2)
        play_out(deal, shuffle=seed)
        order = list(tournament.games.order_by("sequence").values_list("key", flat=True))
        tables.append((order, tournament_table(tournament, LADDER)))
        tournament.delete()  # the next one plays the same games under the same keys
    assert tables[0][0] != tables[1][0]
    assert tables[0][1] == tables[1][1]


def test_the_estimate_reads_the_pairs(played: Tournament) -> None:
    found = ladder_estimate(LADDER)
    assert found is not None
    assert set(found.strengths) == set(
        LadderRating.objects.filter(ladder=LADDER).values_list("version", flat=True)
    )
    counts = PairScore.objects.filter(ladder=LADDER).values_list("wins", "draws", "losses")
    assert sum(map(sum, counts)) == Game.objects.filter(ladder=LADDER, rated=True).count()


def test_the_command_rebuilds_from_exported_files_and_says_what_changed(
    played: Tournament, tmp_path: Path
) -> None:
    before = table()
    files = list(map(str, write_records(tmp_path).values()))
    LadderRating.objects.filter(ladder=LADDER).update(mu=99)
    told = StringIO()
    call_command("rebuild_ratings", "--from-records", *files, stdout=told)
    count = Game.objects.filter(ladder=LADDER, rated=True).count()
    assert f"{LADDER}: {count} rated games, changed" in told.getvalue()
    assert (
        f"{OTHER}: {Game.objects.filter(ladder=OTHER, rated=True).count()} rated games, nothing changed"
        in (told.getvalue())
    )
    assert table() == before
    with pytest.raises(CommandError, match="unknown game 'chess'"):
        call_command("rebuild_ratings", "--ladder", "chess")


def test_the_exact_ratings_of_the_records_are_those_of_the_tables(played: Tournament) -> None:
    for code in (LADDER, OTHER):
        told = exact_from_tables(code)
        assert told.games == Game.objects.filter(ladder=code, rated=True).count() > 0
        assert exact_from_records([code], published()) == [told]
    bent = RatingEvent.objects.filter(ladder=LADDER).earliest("sequence", "id")
    RatingEvent.objects.filter(pk=bent.pk).update(mu_after=math.nextafter(bent.mu_after, math.inf))
    kulei, duovallis = exact_from_records([LADDER, OTHER], published())
    assert exact_from_tables(LADDER).steps != kulei.steps
    LadderRating.objects.filter(ladder=OTHER).update(wins=F("wins") + 1)
    assert str(exact_from_tables(OTHER)) != str(duovallis)


def test_a_player_against_itself_is_named(played: Tournament) -> None:
    record = next(one for one in published(LADDER) if isinstance(one, Record) and not one.header("Rated"))
    black = {f"Black{end}": record.header(f"White{end}") for end in ("", "Version")}
    headers = tuple((name, black.get(name, value)) for name, value in record.headers)
    with pytest.raises(RebuildError, match="plays itself"):
        exact_from_records([LADDER], [Record(headers, record.moves, record.result)])


def test_a_stranger_with_the_files_alone_comes_to_the_same_text(played: Tournament, tmp_path: Path) -> None:
    """In a process of its own, without a database."""
    files = list(map(str, write_records(tmp_path).values()))
    told = StringIO()
    call_command("rebuild_ratings", "--print", stdout=told)
    environment = {**os.environ, "DUARENA_DATA": str(tmp_path / "new"), "DJANGO_SETTINGS_MODULE": ""}
    environment["DATABASE_URL"] = f"sqlite:///{tmp_path / 'new' / 'none.sqlite3'}"
    answer = subprocess.run(
        (sys.executable, "manage.py", "rebuild_ratings", "--print", "--from-records", *files),
        cwd=ROOT,
        env={name: value for name, value in environment.items() if value},
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.stdout == told.getvalue(), answer.stderr
    assert "Ada v1: mu " in answer.stdout


@pytest.mark.parametrize("ladder", [LADDER, OTHER])
def test_the_stored_ratings_are_those_of_the_trueskill_package(played: Tournament, ladder: str) -> None:
    games = Game.objects.by_completion(ladder).filter(rated=True)
    assert games
    for game in games:
        events = [RatingEvent.objects.get(game=game, version=version) for version in (game.white, game.black)]
        white, black = (Rating(event.mu_before, event.sigma_before) for event in events)
        right = rate_by_definition(ladder_scale(ladder), white, black, Result(game.result or "*"))
        for event, rating in zip(events, right, strict=True):
            assert (event.mu_after, event.sigma_after) == pytest.approx(rating, abs=1e-9, rel=0)
