"""Knock-outs and Swiss events: rounds that depend on the results of earlier ones."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.matches import QUICK, engine, game_of, run_match, terms_of
from workers.match.ledger import Ledger
from workers.match.options.options import Format, MatchOptionError
from workers.match.plan import EXTRA_PAIRS
from workers.match.results import GameResult

Outcome = Callable[[str, str], str]


def stronger(white: str, black: str) -> str:
    """The engine whose name comes first in the alphabet wins."""
    return "1-0" if white < black else "0-1"


def play_out(ledger: Ledger, outcome: Outcome, most: int = 1000) -> list[GameResult]:
    """Play the games that the ledger gives, one pair at a time."""
    played: list[GameResult] = []
    while len(played) < most and (pair := ledger.next_pair()) is not None:
        for game in pair.games:
            white, black = pair.players(game)
            result = game_of(game.key, white, black, outcome(white, black))
            ledger.record(result)
            played.append(result)
    return played


def knockout(names: str = "A B C D", ladders: str = "dogon-kulei", **more: int) -> Ledger:
    return Ledger(terms_of(names, ladders, format=Format.KNOCKOUT, **more))


def test_a_knockout_is_seeded_and_its_winners_meet() -> None:
    ledger = knockout("A B C D E")
    played = play_out(ledger, stronger)
    met = [(game.key.rpartition("/")[0], {game.white, game.black}) for game in played[::2]]
    assert met == [
        ("dogon-kulei/1/2", {"D", "E"}),
        ("dogon-kulei/2/2", {"B", "C"}),
        ("dogon-kulei/2/1", {"A", "D"}),
        ("dogon-kulei/3/1", {"A", "B"}),
    ]
    assert (ledger.done, ledger.total, ledger.left) == (8, 8, 0)
    assert ledger.event_lines[-1] == "dogon-kulei: A wins the knock-out."
    assert "dogon-kulei, round 3 of 3: A 2-0 B" in ledger.event_lines


def test_a_level_match_is_extended_and_at_last_the_better_seed_goes_on() -> None:
    ledger = knockout("A B")
    played = play_out(ledger, lambda white, black: "1-0")
    assert len(played) == ledger.total == 2 * (1 + EXTRA_PAIRS)
    assert [game.key for game in played[-2:]] == ["dogon-kulei/1/1/7", "dogon-kulei/1/1/8"]
    assert ledger.event_lines == [
        "dogon-kulei, round 1 of 1: A 4-4 B (level: the engine given first goes on)",
        "dogon-kulei: A wins the knock-out.",
    ]


def test_the_pair_that_is_added_to_a_level_match_is_counted_at_once() -> None:
    ledger = knockout("A B")
    totals = []
    while (pair := ledger.next_pair()) is not None:
        for game in pair.games:
            ledger.record(game_of(game.key, *pair.players(game), "1-0"))
            totals.append(ledger.total)
    assert totals == [2, 4, 4, 6, 6, 8, 8, 8]


def test_every_ladder_has_a_bracket_of_its_own() -> None:
    ledger = knockout("A B C", "dualma dogon-kulei")
    play_out(ledger, stronger)
    assert ledger.done == ledger.total == 8
    assert [line for line in ledger.event_lines if "wins" in line] == [
        "dualma: A wins the knock-out.",
        "dogon-kulei: A wins the knock-out.",
    ]


def test_all_openings_of_a_round_are_the_same_and_those_of_the_next_are_others() -> None:
    ledger = knockout("A B C D")
    openings: dict[int, set[int]] = {}
    while (pair := ledger.next_pair()) is not None:
        openings.setdefault(int(pair.key.split("/")[1]), set()).add(pair.opening)
        for game in pair.games:
            white, black = pair.players(game)
            ledger.record(game_of(game.key, white, black, stronger(white, black)))
    assert openings == {1: {0}, 2: {4}}


@pytest.mark.parametrize("done", [0, 1, 2, 3, 5, 6, 7, 8])
def test_a_restored_knockout_goes_on_where_it_was(done: int) -> None:
    whole = play_out(knockout("A B C D E"), stronger)
    ledger = knockout("A B C D E")
    ledger.restore(whole[:done])
    assert ledger.done == done
    rest = play_out(ledger, stronger)
    assert {game.key for game in [*whole[:done], *rest]} == {game.key for game in whole}
    assert (ledger.done, ledger.left) == (8, 0)


def test_games_of_another_knockout_are_refused() -> None:
    for game in (game_of("dogon-kulei/2/1/1", "A", "B"), game_of("dogon-kulei/1/1/1", "A", "B")):
        with pytest.raises(MatchOptionError, match=r"is not in this match|is from another match"):
            knockout("A B C D").restore([game])


def test_a_game_that_is_given_up_is_half_a_point_and_the_match_goes_on() -> None:
    ledger = knockout("A B")
    for _ in range(100):
        pair = ledger.next_pair()
        assert pair is not None
        bad = [game for game in pair.games if game.key.endswith("/1")]
        good = [game for game in pair.games if game not in bad]
        if bad:
            ledger.void(pair, bad[0], "broken")
        if good:
            ledger.give_back(pair, good, lost=False)
        if ledger.halted:
            break
    play_out(ledger, stronger)
    assert list(ledger.halted) == ["dogon-kulei/1/1/1"]
    assert ledger.event_lines[-1] == "dogon-kulei: A wins the knock-out."


def test_the_opponent_of_a_withdrawn_engine_goes_on() -> None:
    ledger = Ledger(terms_of("A B C", format=Format.KNOCKOUT, games=4), withdraw_after=2)
    pair = ledger.next_pair()
    assert pair is not None
    for game in pair.games:
        white, black = pair.players(game)
        fault = "white" if white == "B" else "black"
        ledger.record(game_of(game.key, white, black, stronger("C", "D"), termination="crash", fault=fault))
    assert ledger.withdrawn == ["B"]
    final = ledger.next_pair()
    assert final is not None
    assert set(final.players(final.games[0])) == {"A", "C"}


def test_a_knockout_is_restored_where_an_engine_was_withdrawn() -> None:
    terms = terms_of("A B C", format=Format.KNOCKOUT, games=4)
    played: list[GameResult] = []
    ledger = Ledger(terms, withdraw_after=2)
    while (pair := ledger.next_pair()) is not None:
        for game in pair.games:
            white, black = pair.players(game)
            forfeit = {"fault": "white" if white == "B" else "black"} if "B" in (white, black) else {}
            result = "0-1" if white == "B" else "1-0" if forfeit else stronger(white, black)
            played.append(game_of(game.key, white, black, result, **forfeit))
            ledger.record(played[-1])
    assert (ledger.done, ledger.left_out, ledger.withdrawn) == (6, 2, ["B"])
    for done in range(len(played) + 1):
        again = Ledger(terms, withdraw_after=2)
        again.restore(played[:done])
        assert again.done == done
        rest: list[str] = []
        while (pair := again.next_pair()) is not None:
            for game in pair.games:
                rest.append(game.key)
                again.record(next(one for one in played if one.key == game.key))
        assert sorted(rest) == sorted(one.key for one in played[done:])
        assert (again.event_lines, again.left_out, again.left) == (ledger.event_lines, 2, 0)


def test_a_swiss_event_pairs_leaders_and_counts_byes() -> None:
    ledger = Ledger(terms_of("A B C D E", format=Format.SWISS, rounds=3))
    played = play_out(ledger, stronger)
    assert (ledger.done, ledger.total) == (len(played), 12)
    meetings = [frozenset((game.white, game.black)) for game in played[::2]]
    assert len(set(meetings)) == 6
    assert ledger.event_lines[0].startswith("dogon-kulei, points with byes: A 6")


def play_with_forfeits(
    ledger: Ledger, bad: str, known: dict[str, GameResult] | None = None
) -> list[GameResult]:
    """Play the games that the ledger gives; ``bad`` crashes in all of its games, a known result stays."""
    played: list[GameResult] = []
    while (pair := ledger.next_pair()) is not None:
        for game in pair.games:
            white, black = pair.players(game)
            fault = "" if bad not in (white, black) else "white" if white == bad else "black"
            result = stronger(white, black) if not fault else "0-1" if fault == "white" else "1-0"
            forfeit = {"termination": "crash", "fault": fault} if fault else {}
            played.append((known or {}).get(game.key) or game_of(game.key, white, black, result, **forfeit))
            ledger.record(played[-1])
    return played


def players_by_round(games: list[GameResult]) -> dict[int, set[str]]:
    found: dict[int, set[str]] = {}
    for game in games:
        found.setdefault(int(game.key.split("/")[1]), set()).update((game.white, game.black))
    return found


@pytest.mark.parametrize("names", ["A B C D E F G", "A B C D"])
def test_a_withdrawn_engine_is_neither_paired_nor_has_a_bye_in_a_swiss(names: str) -> None:
    ledger = Ledger(terms_of(names, format=Format.SWISS, rounds=5), withdraw_after=2)
    rounds = players_by_round(play_with_forfeits(ledger, "A"))
    assert ledger.withdrawn == ["A"]
    others = set(names.split()) - {"A"}
    playing = len(others) // 2 * 2
    assert [len(rounds[number]) for number in range(2, 6)] == [playing] * 4
    assert all("A" not in rounds[number] for number in range(2, 6))
    assert (ledger.left, ledger.left_out, ledger.total) == (0, 0, ledger.done)
    (row,) = [row for row in ledger.rows(["dogon-kulei"]) if row.name == "A"]
    assert (row.points, row.is_withdrawn) == (0, True)


@pytest.mark.parametrize("ladders", ["dogon-kulei", "dogon-kulei dualma"])
def test_a_swiss_is_restored_where_an_engine_was_withdrawn(ladders: str) -> None:
    terms = terms_of("A B C D E", ladders, format=Format.SWISS, rounds=4, games=4)
    ledger = Ledger(terms, withdraw_after=2)
    played = play_with_forfeits(ledger, "A")
    known = {game.key: game for game in played}
    for done in range(len(played) + 1):
        again = Ledger(terms, withdraw_after=2)
        again.restore(played[:done])
        rest = play_with_forfeits(again, "A", known)
        assert sorted(game.key for game in [*played[:done], *rest]) == sorted(known), done
        assert (again.event_lines, again.left) == (ledger.event_lines, 0)


def test_a_round_that_was_drawn_with_an_engine_withdrawn_since_is_restored() -> None:
    """The game of another ladder for which it is withdrawn is recorded before all games of the round."""
    terms = terms_of("A B C D E", "dogon-kulei dualma", format=Format.SWISS, rounds=2)
    ledger = Ledger(terms, withdraw_after=1)
    played = play_out(ledger, stronger, most=8)
    given = []
    while (pair := ledger.next_pair()) is not None:
        given.append(pair)
    assert {pair.ladder for pair in given} == set(terms.ladders)
    crash = next(pair for pair in given if pair.ladder == "dualma" and "E" in pair.engines)
    order = [crash, *(pair for pair in given if pair is not crash and "E" not in pair.engines)]
    for pair in order:
        for game in pair.games:
            white, black = pair.players(game)
            is_lost = pair is crash and game is pair.games[0]
            forfeit = {"fault": "white" if white == "E" else "black"} if is_lost else {}
            result = ("0-1" if white == "E" else "1-0") if is_lost else stronger(white, black)
            played.append(game_of(game.key, white, black, result, **forfeit))
    again = Ledger(terms, withdraw_after=1)
    again.restore(played)
    assert (again.withdrawn, again.done) == (["E"], len(played))


def test_the_table_of_a_swiss_is_ordered_by_its_points_with_byes() -> None:
    ledger = Ledger(terms_of("A B C", format=Format.SWISS, rounds=1))
    play_out(ledger, lambda white, black: "1/2-1/2")
    assert [(row.name, row.points) for row in ledger.rows(["dogon-kulei"])] == [("C", 2), ("A", 1), ("B", 1)]


def test_the_table_of_a_knockout_is_ordered_by_matches_won() -> None:
    ledger = knockout("A B C D")
    play_out(ledger, lambda white, black: "1-0" if {white, black} != {"C", "B"} else stronger(white, black))
    assert [row.name for row in ledger.rows(["dogon-kulei"])][:2] == ["A", "B"]


def test_nobody_meets_an_engine_that_was_withdrawn_after_its_match_in_a_knockout() -> None:
    ledger = Ledger(terms_of("A B C D", "dogon-kulei", format=Format.KNOCKOUT), withdraw_after=1)
    played: list[GameResult] = []
    while (pair := ledger.next_pair()) is not None:
        for game in pair.games:
            white, black = pair.players(game)
            if "A" in (white, black) and game is pair.games[-1]:
                fault = "white" if white == "A" else "black"
                played.append(game_of(game.key, white, black, "1/2-1/2", fault=fault))
            else:
                played.append(game_of(game.key, white, black, stronger(white, black)))
            ledger.record(played[-1])
    assert ledger.withdrawn == ["A"]
    assert set(players_by_round(played)) == {1}
    assert ledger.event_lines[-2:] == [
        "dogon-kulei, round 2 of 2: A 0-0 B (A withdrawn)",
        "dogon-kulei: B wins the knock-out.",
    ]
    assert (ledger.left, ledger.total) == (0, 4)
    again = Ledger(ledger.terms, withdraw_after=1)
    again.restore(played)
    assert (again.next_pair(), again.event_lines) == (None, ledger.event_lines)


def test_nobody_wins_a_knockout_of_which_all_engines_were_withdrawn() -> None:
    ledger = Ledger(terms_of("A B", format=Format.KNOCKOUT), withdraw_after=1)
    pair = ledger.next_pair()
    assert pair is not None
    for game, name in zip(pair.games, "AB", strict=True):
        white, black = pair.players(game)
        fault = "white" if white == name else "black"
        result = "0-1" if fault == "white" else "1-0"
        ledger.record(game_of(game.key, white, black, result, termination="crash", fault=fault))
    assert (ledger.withdrawn, ledger.next_pair()) == (["A", "B"], None)
    assert ledger.event_lines[-1] == "dogon-kulei: nobody wins the knock-out."
    assert ledger.left == 0


@pytest.mark.slow
def test_a_knockout_is_played_on_this_machine_and_resumed(tmp_path: Path) -> None:
    words = [
        *engine("A"),
        *engine("B", "go:2", "leave", "3"),
        *engine("C"),
        *QUICK,
        "-tournament",
        "knockout",
    ]
    done = run_match(tmp_path, *words, "-concurrency", "2")
    assert done.code == 0, done
    assert "C wins the knock-out" in done.out or "A wins the knock-out" in done.out
    text = done.records.read_text().split("\n\n[Event")[0] + "\n\n"
    done.records.write_text(text)
    again = run_match(tmp_path, *words, "-resume")
    assert again.code == 0
    assert [line for line in again.out.splitlines() if "knock" in line]
