"""Annulled games: everything is as if they had not been played, and everything can be taken back."""

from __future__ import annotations

import datetime
import random
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import transaction
from django.utils import timezone
from pytest_django import Settings

from engines.records import read_headers
from engines.rules.base import Result
from tests.support.schedule import (
    Deal,
    all_drawn,
    candidate_wins,
    first_name_wins,
    make_event,
    make_test,
    make_tournament,
    make_user,
    make_version,
    open_door,
    play_short,
    record,
    record_all,
    record_short,
    start_validation,
)
from tournament.models import (
    BotVersion,
    Correction,
    Game,
    GameRecord,
    Ladder,
    LadderRating,
    PairOutcome,
    PairScore,
    RatingEvent,
    Tournament,
    VersionTest,
    WorkerName,
    ladders,
)
from tournament.models.games import GameQuerySet
from tournament.services import annulments
from tournament.services.annulments import Selection, annul, count_again
from tournament.services.results import rebuilding
from tournament.services.results.corrections import (
    COLUMNS,
    RebuildError,
    published_corrections,
    read_corrections,
)
from tournament.services.results.estimates import compute
from tournament.services.results.exact import exact_from_records, exact_from_tables
from tournament.services.results.rebuilding import rebuild, rebuild_from_records, rebuild_outdated
from tournament.services.results.recomputing import Recomputer
from tournament.services.schedule.rounds import advance_all
from tournament.services.schedule.tables import tables_of, tournament_table
from tournament.services.version_tests.progress import tend_tests
from tournament.views.exports import attached_csv
from workers.jobs import GameJob

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
LADDER = "dogon-kulei"
REASON = "The worker's clock was wrong."


@pytest.fixture(autouse=True)
def many_slots(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that games which are never reported stop no others; and no rating is provisional."""
    settings.SLOTS = 500
    monkeypatch.setattr(ladders, "SETTLED_GAMES", 1)


def make_site() -> None:
    """Two tournaments with openings and without, so that games repeat others, and bots of one owner."""
    owner = make_user()
    versions = [make_version(name, games=[LADDER], owner=owner) for name in ("Ada", "Bob")]
    versions += [make_version(name, games=[LADDER]) for name in ("Cy", "Dora")]
    make_tournament(versions=versions, ladders=[LADDER], pairs=3, name="Spring")
    make_tournament(versions=versions, ladders=[LADDER], opening_plies=2, pairs=2, name="Summer", seed=2)
    newest = [*versions[:2], make_version("Cy", games=[LADDER]), versions[3]]
    make_tournament(versions=newest, ladders=[LADDER], pairs=2, name="Autumn", seed=3)
    make_tournament(versions=newest, ladders=[LADDER], name="Friendly", seed=4, rated=False)


def play(deal: Deal, *, without: frozenset[str] = frozenset()) -> None:
    """Record all games but those with these keys, in the order of their keys."""
    jobs: list[GameJob] = []
    while more := deal():
        jobs += more
    reports = {report.key: report for job in jobs for report in play_short(job)}
    record_all([reports[key] for key in sorted(reports) if key not in without])


def chosen(seed: int) -> frozenset[str]:
    """A third of the recorded games; among them games that others repeat."""
    keys = sorted(Game.objects.done().values_list("key", flat=True))
    return frozenset(random.Random(seed).sample(keys, len(keys) // 3))


def contents() -> dict[str, Any]:
    """Everything that counts games, to the bit, without the numbers of rows and of games."""
    names = {version.pk: str(version) for version in BotVersion.objects.select_related("bot")}
    events = [
        (names[event.version_id], event.before, event.after, event.game.key)
        for event in RatingEvent.objects.select_related("game").order_by("sequence", "version")
    ]
    ratings = sorted(
        (names[row.version_id], row.mu, row.sigma, row.conservative, row.games, row.wins, row.draws)
        for row in LadderRating.objects.all()
    )
    scores = sorted(
        (names[row.white_id], names[row.black_id], row.wins, row.draws, row.losses)
        for row in PairScore.objects.all()
    )
    pairs = sorted(
        (names[row.one_id], names[row.other_id], row.first, row.second, row.count)
        for row in PairOutcome.objects.all()
    )
    strengths = {names[pk]: strength for pk, strength in compute(LADDER).strengths.items()}
    leader = Ladder.objects.get(pk=LADDER).leader_id
    return {
        "events": events,
        "ratings": ratings,
        "scores": scores,
        "pairs": pairs,
        "strengths": strengths,
        "leader": leader and names[leader],
        "tables": [standings(event, names) for event in Tournament.objects.order_by("name")],
    }


def standings(event: Tournament, names: dict[int, str]) -> list[Any]:
    versions = [entry.version for entry in event.entries.order_by("number")]
    found: list[Any] = [event.name]
    for table in tables_of(event, versions):
        for row in table.crosstable.rows:
            versus = {names[other]: score for other, score in sorted(row.versus.items())}
            found.append((names[row.player], replace(row, player=0, versus={}), versus))
        found.append({names[pk]: standing for pk, standing in tournament_table(event, table.ladder).items()})
    return found


def annul_keys(keys: frozenset[str]) -> int:
    return annul(of(keys), REASON, timezone.now())


def of(keys: frozenset[str]) -> GameQuerySet:
    return Game.objects.filter(key__in=keys)


def recorded_text() -> str:
    texts = GameRecord.objects.order_by("game__ladder_id", "game__sequence")
    return "\n".join(texts.values_list("text", flat=True))


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.thorough)])
def test_after_a_rebuild_everything_is_as_if_the_games_had_never_been_played(deal: Deal, seed: int) -> None:
    with transaction.atomic():
        make_site()
        play(deal)
        keys = chosen(seed)
        assert annul_keys(keys) == len(keys)
        assert rebuild_outdated() == 1
        annulled = contents()
        repeats = Correction.objects.filter(effect=Correction.Effect.RATED).count()
        transaction.set_rollback(True)
    make_site()
    play(deal, without=keys)
    assert annulled == contents()
    assert annulled["leader"]
    assert repeats, "some games count because the ones that they repeat are annulled"


def test_after_annulments_are_taken_back_everything_is_as_before(deal: Deal) -> None:
    make_site()
    play(deal)
    before, flags = contents(), sorted(Game.objects.values_list("key", "rated", "annulled"))
    for seed in (1, 2):
        annul_keys(chosen(seed))
        rebuild_outdated()
    assert contents() != before
    assert count_again(Game.objects.all(), timezone.now()) > len(chosen(1))
    assert Ladder.objects.get(pk=LADDER).is_outdated
    rebuild_outdated()
    assert not Ladder.objects.get(pk=LADDER).is_outdated
    assert contents() == before
    assert sorted(Game.objects.values_list("key", "rated", "annulled")) == flags
    assert not Correction.objects.exists()


def test_games_in_any_number_of_transactions_are_annulled_once(
    deal: Deal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(annulments, "CHUNK", 2)
    make_tournament(bots=3)
    play(deal)
    assert annul(Game.objects.all(), REASON, timezone.now()) == 6
    assert annul(Game.objects.all(), "another reason", timezone.now()) == 0
    assert set(Correction.objects.values_list("reason", flat=True)) == {REASON}
    rebuild_outdated()
    assert not LadderRating.objects.exists()
    assert not RatingEvent.objects.exists()
    assert Ladder.objects.get(pk="duploline").leader is None


def test_records_stay_as_published(deal: Deal) -> None:
    make_tournament(bots=3)
    play(deal)
    before = recorded_text()
    annul(Game.objects.all(), REASON, timezone.now())
    assert recorded_text() == before


# The published list


@pytest.mark.parametrize("kind", ["csv", "json"])
def test_the_records_and_the_list_alone_give_the_same_bits(
    deal: Deal, tmp_path: Path, kind: str, client: Any
) -> None:
    make_site()
    play(deal)
    annul_keys(chosen(1))
    rebuild_outdated()
    records, annulled = tmp_path / "records.pgn", tmp_path / f"annulled.{kind}"
    records.write_text(recorded_text(), "utf-8")
    annulled.write_bytes(client.get(f"/records/annulled.{kind}").content)
    corrections = read_corrections(annulled.read_text("utf-8"), "annulled")
    (alone,) = exact_from_records([LADDER], read_headers(StringIO(recorded_text()), "records"), corrections)
    assert str(alone) == str(exact_from_tables(LADDER))
    before = contents()
    LadderRating.objects.update(mu=1.0)
    call_command("rebuild_ratings", ladder=LADDER, from_records=[records], annulled=annulled)
    assert contents() == before


def test_a_rebuild_from_records_needs_the_list_of_the_site(deal: Deal) -> None:
    make_tournament(bots=3)
    play(deal)
    records = list(read_headers(StringIO(recorded_text()), "records"))
    first, second = Game.objects.order_by("sequence")[:2]
    annul(Game.objects.filter(pk=first.pk), REASON, timezone.now())
    with pytest.raises(
        RebuildError, match=f"game '{first.key}' is annulled on the site, but not in the list"
    ):
        next(rebuild_from_records(["duploline"], records))
    more = {one.key: Correction.Effect.ANNULLED for one in (first, second)}
    with pytest.raises(
        RebuildError, match=f"game '{second.key}' is annulled in the list .* but not on the site"
    ):
        next(rebuild_from_records(["duploline"], records, corrections=more))
    rebuild_outdated()
    annulled = {first.key: Correction.Effect.ANNULLED}
    assert not next(rebuild_from_records(["duploline"], records, corrections=annulled)).changed


@pytest.mark.parametrize("text", ["", "a,b\n1,2\n", "{}", '{"games": [1]}', "GameId,effect\nx,gone\n"])
def test_another_file_is_refused_as_a_list(text: str) -> None:
    if not text:
        assert read_corrections(text, "list") == {}
        return
    with pytest.raises(RebuildError, match="list is not a list of annulled games"):
        read_corrections(text, "list")


# Repeats


def test_a_repeat_is_rated_in_place_of_an_annulled_game_and_only_then(deal: Deal) -> None:
    versions = [make_version(name) for name in ("Ada", "Bob")]
    for name in ("First", "Second", "Third"):
        make_tournament(versions=versions, name=name)
    play_equally(deal)
    games = list(Game.objects.filter(number=1).order_by("sequence"))
    assert [game.rated for game in games] == [True, False, False]

    def rated() -> list[bool]:
        return list(Game.objects.filter(number=1).order_by("sequence").values_list("rated", flat=True))

    annul(Game.objects.filter(pk=games[0].pk), REASON, timezone.now())
    assert rated() == [False, True, False]
    assert [(key, effect) for _, key, _, effect, *_ in published_corrections()] == [
        (games[0].key, "annulled"),
        (games[1].key, "rated"),
    ]
    annul(Game.objects.filter(pk=games[1].pk), REASON, timezone.now())
    assert rated() == [False, False, True]
    count_again(Game.objects.filter(pk=games[0].pk), timezone.now())
    assert rated() == [True, False, False]
    count_again(Game.objects.all(), timezone.now())
    assert not Correction.objects.exists()


def test_a_repeat_on_other_terms_does_not_count_in_place_of_an_annulled_game(deal: Deal) -> None:
    versions = [make_version(name) for name in ("Ada", "Bob")]
    make_tournament(versions=versions, name="First")
    make_tournament(versions=versions, name="Off terms", rated_off_terms=False)
    play_equally(deal)
    annul(Game.objects.filter(tournament__name="First"), REASON, timezone.now())
    assert not Game.objects.filter(rated=True).exists()
    count_again(Game.objects.all(), timezone.now())
    assert set(Game.objects.filter(rated=True).values_list("tournament__name", flat=True)) == {"First"}


def test_a_game_that_repeats_an_annulled_one_counts_until_that_counts_again(deal: Deal) -> None:
    versions = [make_version(name) for name in ("Ada", "Bob")]
    make_tournament(versions=versions, name="First")
    play_equally(deal)
    annul(Game.objects.all(), REASON, timezone.now())
    make_tournament(versions=versions, name="Second")
    play_equally(deal)
    second = Game.objects.filter(tournament__name="Second")
    assert all(second.values_list("rated", flat=True))
    count_again(Game.objects.all(), timezone.now())
    assert not any(second.values_list("rated", flat=True))
    assert set(Correction.objects.values_list("effect", flat=True)) == {"unrated"}
    rebuild_outdated()
    corrections = read_corrections(
        attached_csv(COLUMNS, published_corrections(), "annulled.csv").content.decode(), "annulled.csv"
    )
    (alone,) = exact_from_records(
        ["duploline"], read_headers(StringIO(recorded_text()), "records"), corrections
    )
    assert alone.games == 2
    assert str(alone) == str(exact_from_tables("duploline"))


def play_equally(deal: Deal) -> None:
    """All games are drawn after the same two plies."""
    while jobs := deal():
        for job in jobs:
            for report in play_short(job, all_drawn):
                record(replace(report, moves=report.moves[:2]))


# Rebuilding


def test_an_annulment_during_a_rebuild_ends_it_and_is_rebuilt_next(
    deal: Deal, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_tournament(bots=3)
    play(deal)
    first, second = Game.objects.order_by("sequence")[:2]
    annul(Game.objects.filter(pk=first.pk), REASON, timezone.now())

    def annul_another(*_: object) -> None:
        annul(Game.objects.filter(pk=second.pk), REASON, timezone.now())

    before = RatingEvent.objects.count()
    with pytest.raises(RebuildError, match="annulled or counted again at the same time"):
        rebuild("duploline", annul_another)
    assert Ladder.objects.get(pk="duploline").is_outdated
    assert rebuild_outdated() == 1
    assert RatingEvent.objects.count() == before - 4


def test_a_rebuild_that_cannot_be_stored_leaves_the_ladder_outdated(
    deal: Deal, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_tournament(bots=3)
    play(deal)
    annul(Game.objects.all(), REASON, timezone.now())

    def fail(code: str) -> None:
        raise RebuildError("another rebuild")

    monkeypatch.setattr(rebuilding, "rebuild", fail)
    assert rebuild_outdated() == 0
    assert Ladder.objects.get(pk="duploline").is_outdated


# Tournaments


def test_a_swiss_keeps_its_rounds_and_pairs_the_next_without_annulled_games(deal: Deal) -> None:
    event = make_event("swiss", bots=4, opening_plies=2)
    advance_all()
    record_short(deal(), first_name_wins)
    annul(event.games.filter(pairing__round=1), REASON, timezone.now())
    advance_all()
    paired = event.pairings.filter(round=2).count()
    assert (event.pairings.filter(round=1).count(), paired) == (2, 2)
    record_short(deal(), first_name_wins)
    advance_all()
    record_short(deal(), first_name_wins)
    advance_all()
    event.refresh_from_db()
    assert (event.state, event.games_done, event.games_total) == (Tournament.State.FINISHED, 12, 12)
    (table,) = tables_of(event, [entry.version for entry in event.entries.all()])
    assert sum(row.points for row in table.crosstable.rows) == 8


def test_a_knock_out_goes_on_with_the_winners_that_are_paired(deal: Deal) -> None:
    event = make_event("knock-out", bots=4, opening_plies=2, extra_pairs=1)
    advance_all()
    record_short(deal(), lambda job, game: other(first_name_wins(job, game)))
    advance_all()
    finalists = set(event.pairings.filter(round=2).values_list("first", "second"))
    annul(event.games.filter(pairing__round=1), REASON, timezone.now())
    advance_all()
    record_short(deal(), first_name_wins)
    advance_all()
    event.refresh_from_db()
    assert event.state == Tournament.State.FINISHED
    assert set(event.pairings.filter(round=2).values_list("first", "second")) == finalists
    assert event.games.count() == 6, "no game is played again"
    annul(event.games.all(), REASON, timezone.now())
    (table,) = tables_of(event, [entry.version for entry in event.entries.all()])
    (final,) = table.bracket[-1]
    assert (final.winner, final.by_last_resort) == (min(final.first or 0, final.second or 0), True)


def other(result: Result) -> Result:
    return Result.BLACK_WINS if result is Result.WHITE_WINS else Result.WHITE_WINS


def test_games_of_a_running_tournament_are_not_played_again(deal: Deal) -> None:
    event = make_tournament(bots=3)
    first, *others = deal()
    record_short([first])
    assert annul(event.games.all(), REASON, timezone.now()) == 2
    record_short(others)
    assert deal() == []
    event.refresh_from_db()
    assert (event.state, event.games_done, event.games_total) == (Tournament.State.FINISHED, 6, 6)
    (table,) = tables_of(event, [entry.version for entry in event.entries.all()])
    assert table.crosstable.games == 4


def test_validations_are_never_annulled(deal: Deal) -> None:
    start_validation(make_version("Ada"))
    play(deal)
    assert Game.objects.done().exists()
    assert annul(Selection(Game.objects.earliest("pk")).games(), REASON, timezone.now()) == 0


# Version tests


def play_test(deal: Deal, tournament: Tournament) -> VersionTest:
    while jobs := deal():
        record_short(jobs, candidate_wins)
        tend_tests()
    tournament.refresh_from_db()
    return VersionTest.objects.get(pk=tournament.pk)


@pytest.fixture
def decided(settings: Settings, deal: Deal) -> VersionTest:
    settings.SLOTS = 1
    open_door()
    return play_test(deal, make_test(make_user()))


def test_a_decided_version_test_is_counted_again_without_the_pairs_of_annulled_games(
    decided: VersionTest,
) -> None:
    assert decided.outcome == VersionTest.Outcome.H1
    before = (decided.counts, decided.ratio, decided.looked_at, list(decided.counted.values_list("ratio")))
    pairs = sum(decided.counts)
    game = Game.objects.filter(pairing__round=1, number=2)
    annul(game, REASON, timezone.now())
    test = VersionTest.objects.get(pk=decided.pk)
    assert sum(test.counts) in {pairs - 1, pairs}, "a later pair may take its place"
    assert not test.counted.filter(number=1).exists()
    annul(Game.objects.filter(pairing__round__gt=2), REASON, timezone.now())
    test = VersionTest.objects.get(pk=decided.pk)
    assert (test.outcome, sum(test.counts)) == (VersionTest.Outcome.STOPPED, 1)
    assert "staff annulled games" in test.tournament.state_reason
    assert test.tournament.state == Tournament.State.FINISHED
    count_again(Game.objects.all(), timezone.now())
    test = VersionTest.objects.get(pk=decided.pk)
    assert (test.counts, test.ratio, test.looked_at, list(test.counted.values_list("ratio"))) == before
    assert (test.outcome, test.tournament.state_reason) == (VersionTest.Outcome.H1, "")


def test_a_running_version_test_goes_on_after_an_annulment(settings: Settings, deal: Deal) -> None:
    settings.SLOTS = 1
    open_door()
    tournament = make_test(make_user())
    first, *others = deal()
    record_short([first], candidate_wins)
    tend_tests()
    annul(Game.objects.filter(pairing__round=1), REASON, timezone.now())
    test = VersionTest.objects.get(pk=tournament.pk)
    assert (sum(test.counts), test.left_out, test.is_over) == (0, 0, False)
    record_short(others, candidate_wins)
    test = play_test(deal, tournament)
    assert test.outcome == VersionTest.Outcome.H1
    assert not test.counted.filter(number=1).exists()


# Selections and the list


def test_the_games_of_a_worker_in_a_period_are_chosen(deal: Deal) -> None:
    make_tournament(bots=4)
    play(deal)
    worker = WorkerName.objects.get()
    assert worker.name == "host"
    assert Selection(worker=worker).games().count() == 12
    assert Selection(worker=WorkerName.objects.create(name="other")).games().count() == 0
    second = datetime.timedelta(seconds=1)
    ended = Game.objects.earliest("pk").finished_at
    assert ended is not None
    assert Selection(worker=worker, since=ended, until=ended + second).games().count() == 12
    assert Selection(worker=worker, since=ended + second).games().count() == 0
    assert Selection(worker=worker, until=ended).games().count() == 0


def test_the_list_belongs_to_records() -> None:
    with pytest.raises(CommandError, match="belongs to --from-records"):
        call_command("rebuild_ratings", annulled=Path("annulled.csv"))


# In the record keeper


@pytest.mark.django_db(transaction=True)
def test_a_thread_rebuilds_outdated_ladders_one_at_a_time(deal: Deal) -> None:
    make_tournament(bots=3)
    play(deal)
    recomputer = Recomputer()
    assert recomputer.start_if_due(), "the explorer has not counted the games"
    recomputer.wait()
    assert not recomputer.start_if_due(), "nothing is annulled"
    annul(Game.objects.all(), REASON, timezone.now())
    assert recomputer.start_if_due()
    recomputer.wait()
    assert not LadderRating.objects.exists()
    assert not Ladder.objects.outdated().exists()
    assert not recomputer.start_if_due()
