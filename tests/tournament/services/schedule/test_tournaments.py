"""Round robins: the stored games, their order, and refused settings."""

from __future__ import annotations

import time
import tracemalloc
from typing import Any

import pytest

from engines.pairing.openings import draw_openings
from engines.rules.registry import GAMES
from tests.support.schedule import (
    LADDER,
    Deal,
    ask,
    make_tournament,
    make_user,
    make_version,
    make_worker,
    play_all,
    record,
)
from tournament.models import Attempt, BotVersion, Game, Pairing, Tournament
from tournament.services.calendar import tend
from tournament.services.results import keeper
from tournament.services.schedule.tournaments import TournamentError, cancel, create_round_robin, start
from tournament.services.work.durations import estimate_seconds

pytestmark = pytest.mark.django_db


LONG = " ".join(draw_openings(GAMES[LADDER], 41, 1, 1)[0])
START = str(GAMES[LADDER].position.initial().play("Dd3"))


def refusal(**changes: Any) -> str:
    """What is said to a form that would be fine but for these fields."""
    fields: dict[str, Any] = {
        "name": "Match",
        "versions": [],
        "ladders": [LADDER],
        "pairs": 1,
        "time_control": "1+0.1",
        "seed": 1,
        "opening_plies": 0,
    }
    with pytest.raises(TournamentError) as caught:
        create_round_robin(None, **(fields | changes))
    assert not Tournament.objects.exists()
    assert not Game.objects.exists()
    return str(caught.value)


def test_a_pairing_is_one_opening_with_both_colours() -> None:
    tournament = make_tournament(bots=3, opening_plies=2)
    assert tournament.games_total == 6
    for pairing in tournament.pairings.all():
        first, second = pairing.games.order_by("number")
        assert (first.white, first.black) == (pairing.first, pairing.second)
        assert (second.white, second.black) == (pairing.second, pairing.first)
        assert len(pairing.opening_moves) == 2


def test_all_pairings_of_a_cycle_share_an_opening_and_cycles_differ() -> None:
    tournament = make_tournament(bots=4, pairs=2, opening_plies=3)
    openings: dict[int, set[str]] = {}
    for pairing in tournament.pairings.all():
        openings.setdefault((pairing.round - 1) // 3, set()).add(pairing.opening)
    assert [len(used) for used in openings.values()] == [1, 1]
    assert openings[0] != openings[1]


def test_the_openings_of_a_book_are_used_in_turn() -> None:
    book = ["Dd3", "Dd4", "Dc3"]
    tournament = make_tournament(bots=3, pairs=5, book="\n".join(["# mine", "[duploline]", *book, book[0]]))
    cycles: dict[int, set[str]] = {}
    for pairing in tournament.pairings.order_by("round"):
        cycles.setdefault((pairing.round - 1) // 3, set()).add(pairing.opening)
    (used,) = {tuple(sorted(len(one) for one in cycles.values()))}
    assert used == (1, 1, 1, 1, 1)
    openings = [one.pop() for one in cycles.values()]
    assert sorted(openings[:3]) == sorted(book)
    assert openings[3:] == openings[:2]
    assert tournament.format.describe_openings(tournament).startswith("3 openings of a book")


@pytest.mark.parametrize(
    ("book", "sentence"),
    [
        ("Dd3 Dd3", "book: line 1, for duploline: illegal move 'Dd3'"),
        ("Dd3\n[chess]", "book: line 2: unknown game 'chess'"),
        (LONG, "book: an opening for 'duploline' has 41 plies, 40 are the most"),
        (START, f"book: openings begin at the initial position, not at {START!r}"),
    ],
)
def test_a_wrong_line_of_a_book_is_named(book: str, sentence: str) -> None:
    versions = [make_version("Ada"), make_version("Bob")]
    assert refusal(book=book, versions=versions).startswith(sentence)


def test_keys_tell_tournament_round_pairing_and_number() -> None:
    make_tournament(bots=2, ladders=["duploline", "dogon-kulei"], pairs=2)
    assert list(Game.objects.order_by("id").values_list("key", "ladder_id")) == [
        ("test-match/1/1/1", "duploline"),
        ("test-match/1/1/2", "duploline"),
        ("test-match/1/2/1", "dogon-kulei"),
        ("test-match/1/2/2", "dogon-kulei"),
        ("test-match/2/1/1", "duploline"),
        ("test-match/2/1/2", "duploline"),
        ("test-match/2/2/1", "dogon-kulei"),
        ("test-match/2/2/2", "dogon-kulei"),
    ]


def test_any_first_part_of_the_schedule_is_even() -> None:
    """After each cycle everybody has met everybody equally often on every ladder."""
    tournament = make_tournament(bots=4, ladders=["duploline", "dualma"], pairs=3)
    met = list(tournament.pairings.order_by("id").values_list("ladder", "first", "second"))
    cycle = len(met) // 3
    for number in range(3):
        part = {(ladder, *sorted(pair)) for ladder, *pair in met[number * cycle : (number + 1) * cycle]}
        assert len(part) == cycle == 12


def test_the_same_seed_gives_the_same_schedule() -> None:
    fields = ("ladder", "round", "number", "opening", "seed")
    versions = [make_version(name) for name in ("Ada", "Bob", "Cy")]
    one, two, other = (
        make_tournament(versions=versions, opening_plies=3, pairs=2, seed=seed) for seed in (5, 5, 6)
    )
    assert list(one.pairings.values_list(*fields)) == list(two.pairings.values_list(*fields))
    assert list(one.pairings.values_list("opening")) != list(other.pairings.values_list("opening"))
    assert (one.slug, two.slug) == ("test-match", "test-match-2")


def test_a_version_enters_only_the_ladders_it_plays() -> None:
    both = ["duploline", "dualma"]
    versions = [make_version("Ada", games=both), make_version("Bob", games=both), make_version("Cy")]
    tournament = make_tournament(versions=versions, ladders=both)
    players = Pairing.objects.filter(tournament=tournament, ladder="dualma").values_list("first", "second")
    assert {player for pair in players for player in pair} == {versions[0].pk, versions[1].pk}
    assert tournament.games_total == 2 + 6


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"name": " "}, "name: give it 1 to 80 characters, not 0"),
        ({"name": "x" * 81}, "name: give it 1 to 80 characters, not 81"),
        ({"pairs": 0}, "pairs: must be from 1 to 1000, not 0"),
        ({"pairs": 1001}, "pairs: must be from 1 to 1000, not 1001"),
        ({"seed": -1}, f"seed: must be from 0 to {2**63 - 1}, not -1"),
        ({"opening_plies": 41}, "opening plies: must be from 0 to 40, not 41"),
        ({"ply_limit": 0}, "ply limit: must be from 1 to 100000, not 0"),
        ({"book": "[dualma]\ne4:f5"}, "book: it has no opening for 'duploline'"),
        ({"book": " " * 100_001 + "Dd3"}, "book: 100004 characters are too many, a book has 100000"),
        ({"ladders": []}, "ladders: choose at least one"),
        ({"ladders": [LADDER, LADDER]}, "ladders: 'duploline' is named twice"),
    ],
)
def test_a_wrong_field_is_named(changes: dict[str, Any], sentence: str) -> None:
    versions = [make_version("Ada"), make_version("Bob")]
    assert refusal(versions=versions, **changes) == sentence


def test_an_unreadable_time_control_and_an_unknown_ladder_are_quoted() -> None:
    versions = [make_version("Ada"), make_version("Bob")]
    assert refusal(versions=versions, time_control="fast").startswith("time control: cannot read 'fast'")
    assert refusal(versions=versions, ladders=["chess"]).startswith("ladders: unknown game 'chess'")


def test_bots_that_cannot_play_are_named() -> None:
    ada, bob = make_version("Ada"), make_version("Bob")
    refused = make_version("Cy", state=BotVersion.State.REFUSED)
    other = make_version("Dora", games=["dualma"])
    assert refusal(versions=[ada]) == "bots: a round robin needs at least two, not 1"
    assert refusal(versions=[ada, ada]) == "bots: 'Ada v1' is named twice"
    assert refusal(versions=[ada, refused]) == "bots: 'Cy v1' is refused, only valid versions play"
    assert refusal(versions=[ada, other]) == "bots: 'Dora v1' plays none of duploline"
    assert (
        refusal(versions=[ada, bob, other], ladders=[LADDER, "dualma"])
        == "ladders: only 'Dora v1' plays 'dualma', it needs two"
    )
    assert (
        refusal(versions=[ada, bob], ladders=[LADDER, "dualma"])
        == "ladders: none of the bots plays 'dualma', it needs two"
    )


def test_a_tournament_past_all_measure_is_refused() -> None:
    versions = [make_version(f"Bot {n}") for n in range(12)]
    assert refusal(versions=versions, pairs=1000) == (
        "pairs: 132000 games are too many, a tournament holds 100000"
    )


def test_only_a_draft_starts() -> None:
    tournament = make_tournament(running=False)
    make_worker()
    assert ask() is None
    start(tournament)
    assert (tournament.state, tournament.started_at is None) == (Tournament.State.RUNNING, False)
    with pytest.raises(TournamentError, match="'Test match' is running, only a draft"):
        start(tournament)


def test_a_cancelled_tournament_keeps_its_results_and_ignores_later_ones(deal: Deal) -> None:
    tournament = make_tournament(pairs=20)
    first, second, *_ = deal()
    for report in play_all(first):
        record(report)
    cancel(tournament)
    assert tournament.state == Tournament.State.CANCELLED
    assert tournament.games.filter(state=Game.State.DONE).count() == 2
    assert tournament.games.filter(state=Game.State.CANCELLED).count() == 38
    assert not Attempt.objects.filter(ended_at__isnull=True).exists()
    assert [record(report) for report in play_all(second)] == [keeper.IgnoredReport("late")] * 2
    assert deal() == []
    with pytest.raises(TournamentError, match="is cancelled already"):
        cancel(tournament)


def test_the_estimate_follows_the_limits_and_then_experience(deal: Deal) -> None:
    versions = [make_version("Ada", owner=make_user()), make_version("Bob")]

    def seconds(time_control: str, pairs: int = 1) -> float:
        return estimate_seconds({LADDER: 2 * pairs}, time_control)

    assert seconds("10+0") > seconds("1+0")
    assert seconds("0.1/move", pairs=20) == pytest.approx(2 * seconds("0.1/move", pairs=10))
    assert seconds("0.1/move", pairs=0) == 0
    assert seconds("60+1;nodes=100") == pytest.approx(seconds("nodes=100"))
    guessed = seconds("1+0.1")
    make_tournament(versions=versions)
    for job in deal():
        for report in play_all(job):
            record(report)
    assert seconds("1+0.1", pairs=3) == pytest.approx(6 * 1.3 / 2)
    assert seconds("1+0.1") == pytest.approx(2 * 1.3) != guessed  # one slot plays both games of a pair


@pytest.mark.thorough
def test_a_hundred_thousand_games_are_made_in_seconds_and_never_held_in_memory() -> None:
    """Ten seconds of processor time; ten times that here, while every allocation is traced."""
    versions = [make_version(f"Bot {n}") for n in range(1, 101)]
    make_tournament(versions=versions[:2], running=False)  # what is imported and cached once
    began = time.process_time()
    tracemalloc.start()
    try:
        tournament = make_tournament(versions=versions, pairs=10, opening_plies=4)
        while tend():
            pass
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert tournament.games.count() == tournament.games_total == 99_000
    assert peak < 20 * 2**20
    assert time.process_time() - began < 100
