"""Dogon, a test a sentence of its rules. Boards are drawn as in position strings, Black's row above."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.rules import (
    UNDECIDED,
    IllegalMove,
    Outcome,
    Position,
    PositionError,
    Reason,
    Result,
    Side,
    find_game,
)
from engines.rules.dogon import DogonPosition, GagaraPosition, KuleiPosition

START = "4,4,4,4,4,4/4,4,4,4,4,4 w 0 0 - - 0"


def kulei(
    rank2: str, rank1: str, side: str = "w", stores: str = "", passed: str = "-", run: str = "-"
) -> KuleiPosition:
    """A position of these two rows, holes separated by spaces; Black's store holds what is missing."""
    held = sum(map(int, f"{rank2} {rank1}".split()))
    stores = stores or f"0 {48 - held}"
    board = f"{rank2}/{rank1}".replace(" ", ",")
    return KuleiPosition.parse(f"{board} {side} {stores} {passed} {run} {0 if side == 'w' else 1}")


def moves(position: Position) -> list[str]:
    return sorted(position.legal_moves())


def rows(position: Position) -> str:
    return str(position).split(" ")[0].replace(",", " ")


# Sowing


def test_white_starts() -> None:
    assert str(KuleiPosition.initial()) == START
    assert str(GagaraPosition.initial()) == "6,6,6,6,6,6,6,6/6,6,6,6,6,6,6,6 w 0 0 - - 0"


@pytest.mark.parametrize(
    ("token", "after"),
    [
        ("c1+", "4 4 4 4 4 5/4 4 0 5 5 5"),
        ("c1-", "5 5 4 4 4 4/5 5 0 4 4 4"),
        ("f1+", "4 4 5 5 5 5/4 4 4 4 4 0"),
        ("a1-", "5 5 5 5 4 4/0 4 4 4 4 4"),
        ("b1-", "5 5 5 4 4 4/5 0 4 4 4 4"),
    ],
)
def test_plus_is_counterclockwise_and_minus_the_reverse_for_white(token: str, after: str) -> None:
    assert rows(KuleiPosition.initial().play(token)) == after


@pytest.mark.parametrize(
    ("token", "after"),
    [
        ("c2+", "5 5 0 4 4 4/5 5 4 4 4 4"),
        ("d2-", "4 4 4 0 5 5/4 4 4 4 5 5"),
        ("a2+", "0 4 4 4 4 4/5 5 5 5 4 4"),
        ("f2-", "4 4 4 4 4 0/4 4 5 5 5 5"),
    ],
)
def test_plus_is_counterclockwise_and_minus_the_reverse_for_black(token: str, after: str) -> None:
    assert rows(kulei("4 4 4 4 4 4", "4 4 4 4 4 4", "b").play(token)) == after


def test_the_emptied_hole_is_skipped_on_every_lap() -> None:
    # 24 seeds are two laps of eleven holes and two more
    before = kulei("0 0 0 0 0 0", "0 0 0 24 0 0")
    assert rows(before.play("d1+")) == "2 2 2 2 2 2/2 2 2 0 3 3"


# Captures


@pytest.mark.parametrize(
    ("f2", "left", "captured"),
    [(0, 1, 0), (1, 0, 2), (2, 0, 3), (3, 4, 0)],
)
def test_a_last_seed_that_makes_an_opponent_s_hole_two_or_three_captures(
    f2: int, left: int, captured: int
) -> None:
    after = kulei(f"9 0 0 0 0 {f2}", "0 0 0 0 2 0").play("e1+")
    assert rows(after) == f"9 0 0 0 0 {left}/0 0 0 0 0 1"
    assert after.stores[Side.WHITE] == captured


def test_a_last_seed_in_an_own_hole_captures_nothing() -> None:
    after = kulei("0 0 0 0 0 2", "0 0 1 1 2 0", passed="p", stores="40 2").play("e1-")
    assert rows(after) == "0 0 0 0 0 2/0 0 2 2 0 0"


def test_captures_run_against_the_sowing_without_a_gap() -> None:
    # f1+ ends in b2; b2 c2 d2 fall, e2 holds 5 and ends the run, f2 stays
    before = kulei("0 1 2 1 4 1", "0 0 0 0 0 5")
    after = before.play("f1+")
    assert rows(after) == "0 0 0 0 5 2/0 0 0 0 0 0"
    assert after.stores[Side.WHITE] == 2 + 3 + 2


def test_captures_stop_at_the_mover_s_own_row() -> None:
    after = kulei("0 0 0 0 1 1", "0 0 0 2 3 1").play("e1+")
    assert rows(after) == "0 0 0 0 0 0/0 0 0 2 0 2"
    assert after.stores[Side.WHITE] == 4


def test_captures_run_the_other_way_for_a_clockwise_sowing() -> None:
    before = kulei("1 1 0 0 0 0", "0 3 5 0 0 0")
    after = before.play("b1-")
    assert rows(after) == "0 0 0 0 0 0/1 0 5 0 0 0"
    assert after.stores[Side.WHITE] == 4


def test_capturing_everything_is_allowed() -> None:
    after = kulei("0 0 0 0 1 1", "0 0 0 0 3 0", stores="20 23").play("e1+")
    assert rows(after) == "0 0 0 0 0 0/0 0 0 0 0 1"
    assert after.stores == (24, 23)


# Which sowings are legal


def test_a_singleton_that_would_not_capture_cannot_be_sown() -> None:
    position = kulei("1 0 0 0 0 3", "1 1 0 0 0 1")
    assert moves(position) == ["a1-"]
    with pytest.raises(IllegalMove, match="a single seed may be sown only to capture"):
        position.play("f1+")
    with pytest.raises(IllegalMove, match="a single seed may be sown only to capture"):
        position.play("b1-")


def test_a_singleton_that_would_not_capture_cannot_be_sown_even_after_a_pass() -> None:
    assert moves(kulei("0 0 0 0 0 0", "1 0 0 0 2 1", passed="p")) == ["e1+", "e1-"]


def test_at_least_one_seed_must_fall_into_the_opponent_s_row() -> None:
    position = kulei("4 4 4 4 4 4", "2 2 3 3 2 2")
    assert moves(position) == ["a1-", "b1-", "c1-", "d1+", "e1+", "f1+"]
    with pytest.raises(IllegalMove, match="no seed would reach the opponent's row"):
        position.play("a1+")


def test_after_a_pass_any_hole_of_two_may_be_sown_in_either_direction() -> None:
    assert moves(kulei("4 4 4 4 4 4", "0 2 0 1 0 0", passed="p")) == ["b1+", "b1-"]


@pytest.mark.parametrize(
    "token", ["a2+", "f2-", "b2+", "a1", "a1*", "A1+", "a1+ ", "g1+", "a3+", "", "c1++", "+c1"]
)
def test_what_is_no_sowing_of_an_own_hole_is_illegal(token: str) -> None:
    position = KuleiPosition.initial()
    assert not position.is_legal(token)
    with pytest.raises(IllegalMove) as refusal:
        position.play(token)
    assert (refusal.value.token, refusal.value.position) == (token, position)
    assert repr(token) in str(refusal.value)
    assert START in str(refusal.value)


def test_an_empty_hole_cannot_be_sown() -> None:
    with pytest.raises(IllegalMove, match="the hole is empty"):
        kulei("4 4 4 4 4 4", "0 4 4 4 4 4").play("a1+")


# The turning limit


def run_of(position: Position) -> str:
    return str(position).split(" ")[5]


@pytest.mark.parametrize(
    ("run", "token", "after"),
    [
        ("-", "c1+", "+0"),
        ("-", "c1-", "-0"),
        ("+0", "c1+", "+0"),
        ("+0", "c1-", "-1"),
        ("-0", "c1+", "+1"),
        ("+1", "c1-", "-2"),
        ("-1", "c1+", "+2"),
        ("+2", "c1+", "+2"),
        ("-2", "c1-", "-2"),
    ],
)
def test_a_run_counts_its_changes_of_direction(run: str, token: str, after: str) -> None:
    position = kulei("0 0 0 0 0 1", "0 0 2 0 0 0", stores="22 23", passed="p", run=run)
    assert run_of(position.play(token)) == after


@pytest.mark.parametrize(("run", "token"), [("+2", "c1-"), ("-2", "c1+")])
def test_a_third_change_is_illegal(run: str, token: str) -> None:
    position = kulei("0 0 0 0 0 1", "0 0 2 0 0 0", stores="22 23", passed="p", run=run)
    assert not position.is_legal(token)
    with pytest.raises(
        IllegalMove, match="the direction may be changed only twice while the opponent passes"
    ):
        position.play(token)


@pytest.mark.parametrize("token", ["f1+", "e1+", "a1-"])
def test_a_sowing_that_reaches_the_opponent_s_row_is_never_limited_and_ends_the_run(token: str) -> None:
    limited = "-2" if token.endswith("+") else "+2"
    position = kulei("1 0 0 0 0 1", "1 0 2 0 2 2", stores="20 19", passed="p", run=limited)
    assert run_of(position.play(token)) == "-"


def test_a_pass_leaves_the_run_and_a_sowing_of_the_opponent_ends_it() -> None:
    passing = kulei("0 1 0 0 0 0", "0 0 2 0 0 0", "b", stores="22 23", run="-1")
    assert run_of(passing.play("pass")) == "-1"
    sowing = kulei("2 0 0 0 0 0", "0 0 2 0 0 0", "b", stores="22 22", run="-1")
    assert run_of(sowing.play("a2+")) == "-"


def test_a_sowing_that_is_not_made_after_a_pass_starts_no_run() -> None:
    assert run_of(KuleiPosition.initial().play("c1+")) == "-"


# Passing and the end


def test_a_player_without_a_sowing_must_pass_and_pays_two_seeds() -> None:
    position = kulei("4 0 0 0 0 0", "1 0 0 0 0 0", stores="2 41")
    assert moves(position) == ["pass"]
    assert position.outcome() is UNDECIDED
    assert str(position.play("pass")) == "4,0,0,0,0,0/1,0,0,0,0,0 b 0 43 p - 1"


def test_black_pays_white() -> None:
    position = kulei("1 0 0 0 0 0", "4 0 0 0 0 0", "b", stores="2 41")
    assert str(position.play("pass")) == "1,0,0,0,0,0/4,0,0,0,0,0 w 4 39 p - 2"


def test_a_player_who_can_sow_may_not_pass() -> None:
    position = KuleiPosition.initial()
    assert not position.is_legal("pass")
    with pytest.raises(IllegalMove, match="a player who can sow may not pass"):
        position.play("pass")


def test_the_game_ends_at_once_when_both_would_have_to_pass() -> None:
    position = kulei("0 1 0 0 0 0", "0 0 1 0 0 0", "b", stores="23 23")
    assert position.outcome() == Outcome(Result.DRAW, Reason.SEEDS, 24, 24)
    assert moves(position) == []
    with pytest.raises(IllegalMove, match="the game is over"):
        position.play("pass")


def test_when_both_would_pass_nobody_pays_and_each_receives_the_seeds_in_his_own_holes() -> None:
    position = kulei("0 1 0 1 0 1", "1 0 0 0 0 0", stores="0 44")
    assert position.outcome() == Outcome(Result.BLACK_WINS, Reason.SEEDS, 1, 47)


@pytest.mark.parametrize("store", [0, 1])
def test_a_player_who_cannot_pay_ends_the_game_and_the_opponent_takes_the_board(store: int) -> None:
    position = kulei("5 0 0 0 0 0", "0 1 0 0 0 0", stores=f"{store} {42 - store}")
    assert position.outcome() == Outcome(Result.BLACK_WINS, Reason.CANNOT_PAY, store, 48 - store)
    assert moves(position) == []
    assert not position.is_legal("pass")
    mirrored = kulei("0 1 0 0 0 0", "5 0 0 0 0 0", "b", stores=f"{42 - store} {store}")
    assert mirrored.outcome() == Outcome(Result.WHITE_WINS, Reason.CANNOT_PAY, 48 - store, store)


def test_the_opponent_s_sowing_after_the_pass_need_not_reach_the_other_row() -> None:
    # Black could not sow now, but after White's pass he can: so the pass is played and paid
    position = kulei("0 0 2 0 0 0", "0 1 0 0 0 0", stores="10 35")
    assert moves(position) == ["pass"]
    assert moves(position.play("pass")) == ["c2+", "c2-"]


def test_an_empty_board_ends_the_game() -> None:
    position = kulei("0 0 0 0 0 0", "0 0 0 0 0 0", stores="24 24")
    assert position.outcome() == Outcome(Result.DRAW, Reason.SEEDS, 24, 24)


def test_after_the_last_move_the_seeds_stay_where_they_lie() -> None:
    last = kulei("0 1 0 0 0 2", "0 0 0 0 2 0", stores="22 21").play("e1+")
    assert str(last) == "0,1,0,0,0,0/0,0,0,0,0,1 b 25 21 - - 1"
    assert last.outcome() == Outcome(Result.WHITE_WINS, Reason.SEEDS, 26, 22)


def test_a_match_rule_gives_each_player_the_seeds_in_his_own_holes() -> None:
    position = kulei("4 4 4 4 4 1", "4 4 4 4 4 4", stores="2 1")
    for reason in (Reason.REPETITION, Reason.PLY_LIMIT):
        assert position.outcome_by_match_rule(reason) == Outcome(Result.WHITE_WINS, reason, 26, 22)


# Positions


def test_every_field_but_the_ply_counts_for_repetition() -> None:
    texts = [
        "4,4,4,4,4,2/4,4,4,4,4,4 w 1 1 - - 0",
        "4,4,4,4,4,2/4,4,4,4,4,4 b 1 1 - - 1",
        "4,4,4,4,4,2/4,4,4,4,4,4 w 2 0 - - 0",
        "4,4,4,4,4,2/4,4,4,4,4,4 w 1 1 p - 0",
        "4,4,4,4,4,2/4,4,4,4,4,4 w 1 1 - +0 0",
        "4,4,4,4,4,2/4,4,4,4,4,4 w 1 1 - +1 0",
        "4,4,4,4,2,4/4,4,4,4,4,4 w 1 1 - - 0",
    ]
    assert len({KuleiPosition.parse(text).key() for text in texts}) == len(texts)
    later = KuleiPosition.parse("4,4,4,4,4,2/4,4,4,4,4,4 w 1 1 - - 8")
    assert later.key() == KuleiPosition.parse(texts[0]).key()
    assert later != KuleiPosition.parse(texts[0])


def test_the_board_names_every_hole() -> None:
    board = KuleiPosition.parse("1,2,3,4,5,6/7,8,9,0,1,2 w 0 0 - - 0").board()
    assert [board[file + "2"] for file in "abcdef"] == list("123456")
    assert [board[file + "1"] for file in "abcdef"] == list("789012")
    assert len(board) == 12


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "bad position ''"),
        ("4,4,4,4,4,4/4,4,4,4,4,4 w 0 0 - 0", "bad position"),
        ("4,4,4,4,4,4 w 0 0 - - 0", "bad rank2/rank1 '4,4,4,4,4,4': 1 ranks instead of 2"),
        ("4,4,4,4,4,4/4,4,4,4,4,4/ w 0 0 - - 0", "3 ranks instead of 2"),
        ("4,4,4,4,4/4,4,4,4,4,8 w 0 0 - - 0", "bad rank2 '4,4,4,4,4': 5 holes instead of 6"),
        ("4,4,4,4,4,4/4,4,4,4,4,4,0 w 0 0 - - 0", "bad rank1 '4,4,4,4,4,4,0': 7 holes instead of 6"),
        ("4,4,x,4,4,4/4,4,4,4,4,4 w 0 0 - - 0", "bad rank2 hole c2 'x'"),
        ("4,4,4,4,4,4/4,04,4,4,4,4 w 0 0 - - 0", "bad rank1 hole b1 '04'"),
        ("4,4,4,4,4,4/4,,4,4,4,8 w 0 0 - - 0", "bad rank1 hole b1 ''"),
        ("4,4,4,4,4,4/4,-4,4,4,4,12 w 0 0 - - 0", "bad rank1 hole b1 '-4'"),
        ("4,4,4,4,4,4/4,1000000000,4,4,4,4 w 0 0 - - 0", "bad rank1 hole b1 '1000000000'"),
        ("4,4,4,4,4,4/4,4,4,4,4,3 w 0 0 - - 0", "47 seeds with the stores instead of 48"),
        ("4,4,4,4,4,4/4,4,4,4,4,4 w 1 0 - - 0", "49 seeds with the stores instead of 48"),
        ("4,4,4,4,4,4/4,4,4,4,4,4 W 0 0 - - 0", "bad side 'W'"),
        ("4,4,4,4,4,4/4,4,4,4,4,4 b 0 0 - - 0", "bad side 'b'"),
        ("4,4,4,4,4,4/4,4,4,4,4,4 w 00 0 - - 0", "bad whiteStore '00'"),
        ("4,4,4,4,4,4/4,4,4,4,4,4 w 0 x - - 0", "bad blackStore 'x'"),
        ("4,4,4,4,4,4/4,4,4,4,4,4 w 0 0 P - 0", "bad passed 'P'"),
        ("4,4,4,4,4,4/4,4,4,4,4,4 w 0 0 + - 0", "bad passed '+'"),
        ("4,4,4,4,4,4/4,4,4,4,4,4 w 0 0 - + 0", "bad run '+'"),
        ("4,4,4,4,4,4/4,4,4,4,4,4 w 0 0 - +3 0", "bad run '+3'"),
        ("4,4,4,4,4,4/4,4,4,4,4,4 w 0 0 - +00 0", "bad run '+00'"),
        ("4,4,4,4,4,4/4,4,4,4,4,4 w 0 0 - 0 0", "bad run '0'"),
        ("4,4,4,4,4,4/4,4,4,4,4,4 w 0 0 - - 1000000000", "bad ply '1000000000'"),
        ("4,4,4,4,4,4/4,4,4,4,4,4 w 0 0 - - x", "bad ply 'x'"),
        ("6,6,6,6,6,6,6,6/6,6,6,6,6,6,6,6 w 0 0 - - 0", "8 holes instead of 6"),
    ],
)
def test_a_position_string_that_is_not_canonical_or_impossible_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(PositionError) as refusal:
        KuleiPosition.parse(text)
    assert complaint in str(refusal.value)


@pytest.mark.parametrize(
    "text",
    [
        "48,0,0,0,0,0/0,0,0,0,0,0 b 0 0 p -2 999999999",
        "0,0,0,0,0,0/0,0,0,0,0,0 w 48 0 - +2 0",
        "0,0,0,0,0,0/0,0,0,0,0,0 w 0 48 p - 0",
    ],
)
def test_an_unreachable_position_is_read_and_written_back(text: str) -> None:
    position = KuleiPosition.parse(text)
    assert str(position) == text
    assert position == KuleiPosition.parse(text)
    assert position.outcome().decided == (not moves(position))


def test_gagara_has_ninety_six_seeds() -> None:
    with pytest.raises(PositionError, match="95 seeds with the stores instead of 96"):
        GagaraPosition.parse("6,6,6,6,6,6,6,6/6,6,6,6,6,6,6,5 w 0 0 - - 0")
    assert moves(GagaraPosition.initial())[:3] == ["a1-", "b1-", "c1+"]


# Properties


@st.composite
def positions(draw: st.DrawFn, game: type[DogonPosition]) -> DogonPosition:
    """Any valid position, reachable or not: seeds laid out by cutting their row at random places."""
    tables = game.tables
    places = len(tables.names) + 2
    cuts = sorted(draw(st.lists(st.integers(0, tables.seeds), min_size=places - 1, max_size=places - 1)))
    parts = [high - low for low, high in zip([0, *cuts], [*cuts, tables.seeds], strict=True)]
    parts = draw(st.permutations(parts))
    width = len(tables.files)
    board = "/".join(",".join(map(str, row)) for row in (parts[:width], parts[width : 2 * width]))
    ply = draw(st.integers(0, 700))
    passed = draw(st.sampled_from("p-"))
    run = draw(st.sampled_from(["-", "+0", "-0", "+1", "-1", "+2", "-2"]))
    return game.parse(f"{board} {'wb'[ply % 2]} {parts[-2]} {parts[-1]} {passed} {run} {ply}")


ANY_DOGON = st.sampled_from([KuleiPosition, GagaraPosition]).flatmap(positions)


@given(ANY_DOGON)
def test_no_seed_is_ever_lost(position: DogonPosition) -> None:
    for token in position.legal_moves():
        after = position.play(token)
        assert sum(map(int, after.board().values())) + sum(after.stores) == position.tables.seeds


@given(ANY_DOGON)
def test_the_game_is_over_exactly_when_there_is_no_move(position: DogonPosition) -> None:
    assert position.outcome().decided == (not list(position.legal_moves()))


@given(ANY_DOGON)
def test_scores_always_add_up_to_all_seeds(position: DogonPosition) -> None:
    outcomes = [position.outcome_by_match_rule(Reason.PLY_LIMIT), position.outcome()]
    for outcome in outcomes:
        if outcome.decided:
            assert (outcome.white_score or 0) + (outcome.black_score or 0) == position.tables.seeds


@given(ANY_DOGON)
def test_every_token_is_legal_exactly_when_it_is_listed(position: DogonPosition) -> None:
    tokens = {name + letter for name in position.tables.names for letter in "+-"} | {"pass"}
    listed = set(position.legal_moves())
    assert {token for token in tokens if position.is_legal(token)} == listed
    for token in tokens - listed:
        with pytest.raises(IllegalMove):
            position.play(token)


def test_random_games_end_in_both_ways() -> None:
    rng = random.Random(3)
    reasons = set()
    for _ in range(60):
        position = find_game("dogon-kulei").position.initial()
        while position.ply < 500 and not position.outcome().decided:
            position = position.play(rng.choice(moves(position)))
        reasons.add(position.outcome().reason)
    assert {Reason.SEEDS, Reason.CANNOT_PAY} <= reasons
