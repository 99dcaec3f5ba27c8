"""DuAlma, rule by rule."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engines.rules import dualma
from engines.rules.base import UNDECIDED, IllegalMove, Outcome, PositionError, Reason, Result, Side
from engines.rules.dualma import BOARD, DualmaPosition
from engines.rules.hexagon import cells_of
from engines.rules.perft import perft
from tests.support.hexagons import drawn
from tests.support.positions import DRAW

START = "5/6/7/8/9/8/7/6/5 b 0"
STUCK = "5/6/7/8/wb,1,wb,1,wb,1,wb,2/8/wb,1,wb,1,wb,1,wb/6/wb,1,wb,1,wb w 21"

WHITE_HAS_A_ROW = Outcome(Result.WHITE_WINS, Reason.THREE_IN_A_ROW)
BLACK_HAS_A_ROW = Outcome(Result.BLACK_WINS, Reason.THREE_IN_A_ROW)

MIDDLE = drawn("""
            b w b w b
           w . . . . b
          . . wb . . . .
         . . . . . . . .
        . . b . bw b w . .
         . . . w . . . .
          . . . . . . .
           b . . . . w
            w b w b w
""")


def placed(text: str, side: str = "w") -> DualmaPosition:
    """The cells given as ``e5=bw e6=b``, in the movement phase; the other discs stand in rows a, b, h, i."""
    held = dict(word.split("=") for word in text.split())
    spelled = "".join(held.values())
    others = "w" * (11 - spelled.count("w")) + "b" * (11 - spelled.count("b"))
    free = [name for name in BOARD.numbers if name[0] in "abhi" and name not in held]
    held.update(zip(free, others, strict=False))
    rows = BOARD.format_rows(lambda cell: held.get(BOARD.names[cell], ""))
    return DualmaPosition.parse(f"{rows} {side} {31 if side == 'w' else 32}")


def middle(side: str = "w") -> DualmaPosition:
    return DualmaPosition.parse(f"{MIDDLE} {side} {21 if side == 'w' else 22}")


def moves_from(position: DualmaPosition, cell: str) -> str:
    """What the legal moves from a cell have after its name, sorted."""
    return " ".join(sorted(token[3:] for token in position.legal_moves() if token.startswith(f"{cell}-")))


def random_game(seed: int, plies: int = 120) -> Iterator[DualmaPosition]:
    rng = random.Random(seed)
    position = DualmaPosition.initial()
    yield position
    while position.ply < plies and not position.outcome().decided:
        position = position.play(rng.choice(list(position.legal_moves())))
        yield position


# --- placement phase


def test_the_board_is_empty_at_first_and_black_starts() -> None:
    start = DualmaPosition.initial()
    assert str(start) == START
    assert start == DualmaPosition.parse(START)
    assert start.side is Side.BLACK
    assert set(start.board().values()) == {""}
    assert len(start.board()) == 61


def test_a_placement_puts_the_first_disc_for_black_and_the_second_for_white() -> None:
    position = DualmaPosition.initial().play("e4:f5")
    assert str(position) == "5/6/7/3,w,4/3,b,5/8/7/6/5 w 1"
    assert (position.board()["e4"], position.board()["f5"]) == ("b", "w")


def test_perft_one_is_every_ordered_pair_of_different_cells_without_the_centre() -> None:
    tokens = list(DualmaPosition.initial().legal_moves())
    assert len(tokens) == len(set(tokens)) == 60 * 59 == perft(DualmaPosition.initial(), 1) == 3540
    assert not [token for token in tokens if "e5" in token]


def test_perft_two_gives_every_placement_as_many_answers() -> None:
    assert perft(DualmaPosition.initial(), 2) == 3540 * 58 * 57 == 11703240


def test_the_first_of_many_placements_is_had_without_the_others() -> None:
    moves = DualmaPosition.initial().legal_moves()
    assert next(moves) == "a1:a2"
    assert next(moves) == "a1:a3"


@pytest.mark.parametrize(
    ("token", "why"),
    [
        ("e5:f5", "centre"),
        ("f5:e5", "centre"),
        ("f5:f5", "both discs on one cell"),
        ("a1:b2", "occupied"),
        ("b2:a2", "occupied"),
        ("f5-f6", "two cells joined by a colon"),
        ("f5", "two cells"),
        ("f5:", "two cells"),
        (":f5", "two cells"),
        ("f5:f6:f7", "two cells"),
        ("F5:f6", "two cells"),
        ("f1:f6", "two cells"),
        ("j1:f6", "two cells"),
        (" f5:f6", "two cells"),
        ("pass", "two cells"),
        ("", "two cells"),
    ],
)
def test_a_placement_takes_two_different_empty_cells_neither_of_them_the_centre(token: str, why: str) -> None:
    position = DualmaPosition.initial().play("a1:a2")
    assert not position.is_legal(token)
    with pytest.raises(IllegalMove, match=why) as refused:
        position.play(token)
    assert repr(token) in str(refused.value)


def test_after_eleven_turns_the_movement_phase_begins_with_white() -> None:
    position = DualmaPosition.initial()
    cells = iter("a1 a2 a3 a4 a5 b1 b2 b3 b4 b5 b6 i5 i6 i7 i8 i9 h4 h5 h6 h7 h8 h9".split())
    sides = []
    for black, white in zip(cells, cells, strict=True):
        assert position.placing
        sides.append(position.side)
        position = position.play(f"{black}:{white}")
    assert (sides.count(Side.BLACK), sides.count(Side.WHITE)) == (6, 5)
    assert not position.placing
    assert position.side is Side.WHITE
    assert str(position) == "w,b,w,b,w/b,w,b,w,b,w/7/8/9/8/7/w,b,w,b,w,b/b,w,b,w,b w 11"
    assert position.is_legal("a2-a3")
    assert not position.is_legal("e4:f5")


# --- movement


def test_a_single_disc_moves_exactly_one_cell_to_an_empty_cell_or_a_single_disc() -> None:
    assert moves_from(middle(), "d4") == "c3 c4 d3 d5 e4"  # e5 holds a stack of two
    assert moves_from(middle(), "e7") == "d6 d7 e6 e8 f7 f8"


def test_the_top_of_a_stack_jumps_exactly_two_cells_whatever_lies_between_or_bounces() -> None:
    onto_b = "e3 e3-d2 e3-d3 e3-e2 e3-e4 e3-f3 e3-f4"
    onto_w = "e7 e7-d6 e7-d7 e7-e8 e7-f7 e7-f8"  # e6, jumped over, is not empty
    assert moves_from(middle(), "e5") == f"c3 c5 {onto_b} {onto_w} g7"  # g5 holds a stack of two


def test_a_bounce_may_use_the_cell_jumped_over() -> None:
    position = placed("e5=bw e7=b")
    assert position.is_legal("e5-e7-e6")
    after = position.play("e5-e7-e6").board()
    assert (after["e5"], after["e6"], after["e7"]) == ("b", "w", "b")


def test_a_bounce_stays_on_the_board() -> None:
    assert moves_from(placed("e7=bw e9=b"), "e7") == "c5 c7 e5 e9 e9-d8 e9-e8 e9-f9 g7 g9"


def test_the_disc_beneath_is_not_active_until_it_is_uncovered() -> None:
    assert not moves_from(middle("b"), "e5")
    uncovered = middle().play("e5-g7")
    assert uncovered.board()["e5"] == "b"
    assert moves_from(uncovered, "e5") == "d4 d5 e4 e6 f5 f6"


def test_a_player_moves_his_own_colour_alone() -> None:
    assert {token[:2] for token in middle().legal_moves()}.isdisjoint({"e3", "e6", "g5"})
    assert (
        moves_from(middle("b"), "g5")
        == "e3 e3-d2 e3-d3 e3-e2 e3-e4 e3-f3 e3-f4 g3 g7 i5 i5-h5 i7 i7-h6 i7-h7"
    )


@pytest.mark.parametrize(
    ("token", "cells"),
    [
        ("d4-d5", {"d4": "", "d5": "w"}),
        ("e7-e6", {"e7": "", "e6": "bw"}),
        ("e5-e7", {"e5": "b", "e6": "b", "e7": "ww"}),
        ("e5-e3", {"e5": "b", "e3": "bw"}),
        ("e5-c3", {"e5": "b", "c3": "w", "d4": "w"}),
        ("e5-e3-f4", {"e5": "b", "e3": "b", "f4": "w"}),
    ],
)
def test_a_movement_changes_the_cells_it_names_and_nothing_else(token: str, cells: dict[str, str]) -> None:
    before = middle()
    after = before.play(token)
    assert after.board() == {**before.board(), **cells}
    assert (after.side, after.ply) == (Side.BLACK, 22)
    assert str(before) == f"{MIDDLE} w 21"


def test_the_centre_may_be_used_in_the_movement_phase() -> None:
    position = placed("e4=w d3=bw")
    assert position.play("e4-e5").board()["e5"] == "w"
    assert position.play("d3-f5").board()["f5"] == "w"
    assert placed("c3=bw").play("c3-e5").board()["e5"] == "w"


@pytest.mark.parametrize(
    ("token", "why"),
    [
        ("d4-d6", "exactly as many cells"),
        ("e5-e6", "exactly as many cells"),
        ("d4-e5", "stack of two"),
        ("e5-g5", "stack of two"),
        ("e5-g7-g8", "only off a single disc"),
        ("e5-e7-e6", "only to an empty cell"),
        ("e5-e7-e5", "spelled"),
        ("e5-g5-g6", "stack of two"),
        ("d4-d5-d6", "spelled"),
        ("e7-e6-e5", "spelled"),
        ("e3-e4", "no active disc"),
        ("g5-g7", "no active disc"),
        ("f5-f6", "no active disc"),
        ("a1-a0", "spelled"),
        ("e5-e8", "spelled"),
        ("d4-d4", "spelled"),
        ("d4-f5", "spelled"),
        ("d4:d5", "spelled"),
        ("d4d5", "spelled"),
        ("D4-d5", "spelled"),
        ("d4-d5 ", "spelled"),
        ("d4-", "spelled"),
        ("", "spelled"),
        ("pass", "there is a legal move"),
    ],
)
def test_every_other_movement_is_illegal_and_the_error_says_why(token: str, why: str) -> None:
    position = middle()
    assert not position.is_legal(token)
    assert token not in set(position.legal_moves())
    with pytest.raises(IllegalMove, match=why) as refused:
        position.play(token)
    assert repr(token) in str(refused.value)
    assert str(position) in str(refused.value)


# --- passing


def test_a_player_without_a_legal_move_must_pass() -> None:
    position = DualmaPosition.parse(STUCK)
    assert list(position.legal_moves()) == ["pass"]
    assert position.outcome() is UNDECIDED
    after = position.play("pass")
    assert str(after) == STUCK.replace("w 21", "b 22")
    assert not after.is_legal("pass")
    assert "pass" not in set(after.legal_moves())


def test_a_player_whose_moves_are_all_blocked_must_pass_as_well() -> None:
    # White's one active disc is in the corner and looks onto stacks of two
    position = DualmaPosition.parse(
        drawn("""
            . . . . .
           . . . . . .
          . . . . . . .
         . . . b . . . .
        wb . wb . wb . wb . .
         . . . . . . . .
          wb . wb . wb . .
           wb wb . . . .
            w wb . . .
        """)
        + " w 33"
    )
    assert list(position.legal_moves()) == ["pass"]


@given(st.integers(0, 10**9))
@settings(max_examples=60, deadline=None)
def test_both_players_are_never_stuck(seed: int) -> None:
    position = DualmaPosition.parse(DRAW["dualma"](random.Random(seed)))
    if position.is_legal("pass"):
        assert not position.play("pass").is_legal("pass")


def test_cells_linked_by_jumps_of_two_form_classes_too_large_for_eleven_stacks() -> None:
    sizes = []
    left = set(BOARD.cells)
    while left:
        linked, border = set(), {min(left)}
        while border:
            linked |= border
            border = {to for cell in border for to in BOARD.at_distance(cell, 2)} - linked
        left -= linked
        sizes.append(len(linked))
        assert (BOARD.centre in linked) == (len(linked) == 19)
    assert sorted(sizes) == [14, 14, 14, 19]


# --- end


@pytest.mark.parametrize(
    ("cells", "move"),
    [
        ("e4=bw e5=ww e6=b f6=w", "f6-e6"),  # along the row; what lies beneath does not matter
        ("e4=bw e6=ww e5=b c3=bw", "c3-e5"),  # the middle one last, by a jump
        ("d4=bw e5=bw f6=w g6=w", "g6-f6"),  # up to the right
        ("f4=bw e4=bw g4=b g5=w", "g5-g4"),  # up to the left
        ("e3=bw e4=bw e5=w e6=bw e7=bw f5=w", "f5-e5"),  # five in a row
    ],
)
def test_three_stacks_of_two_with_his_colour_on_top_in_a_row_win_at_once(cells: str, move: str) -> None:
    before = placed(cells)
    assert before.outcome() is UNDECIDED
    after = before.play(move)
    assert after.outcome() == WHITE_HAS_A_ROW
    assert list(after.legal_moves()) == []
    assert DualmaPosition.parse(str(after)).outcome() == WHITE_HAS_A_ROW


def test_no_move_is_legal_after_the_end() -> None:
    over = placed("e4=bw e5=ww e6=b f6=w").play("f6-e6")
    assert not any(over.is_legal(token) for token in ("pass", "a4-a3", "h4-g4", "e4-e5"))
    with pytest.raises(IllegalMove, match="the game is over"):
        over.play("pass")


@pytest.mark.parametrize(
    "cells",
    [
        "e4=bw e5=ww e7=bw",  # not consecutive
        "e4=bw e5=bw f6=bw",  # not on one line
        "e4=bw e5=wb e6=bw",  # not all with one colour on top
        "e4=bw e5=w e6=bw",  # not all of height two
        "e4=w e5=w e6=w e7=w",
        "e9=bw f9=bw d8=w",
    ],
)
def test_nothing_less_than_such_a_row_wins(cells: str) -> None:
    assert placed(cells).outcome() is UNDECIDED


def test_a_row_does_not_run_over_the_edge_of_the_board() -> None:
    # in the order of the cells c7, d1, d2 and e9, f2, f3 follow each other
    assert placed("c7=bw d1=bw d2=bw e9=bw f2=bw").outcome() is UNDECIDED


@pytest.mark.parametrize("side", "wb")
def test_a_given_row_wins_for_its_owner_whoever_is_to_move(side: str) -> None:
    assert placed("e4=wb e5=wb e6=bb", side).outcome() == BLACK_HAS_A_ROW
    assert placed("e4=bw e5=bw e6=bw", side).outcome() == WHITE_HAS_A_ROW
    assert list(placed("e4=bw e5=bw e6=bw", side).legal_moves()) == []


def test_of_two_given_rows_that_of_the_player_who_moved_last_counts() -> None:
    both = "e4=wb e5=wb e6=wb g4=bw g5=bw g6=bw"
    assert placed(both, "w").outcome() == BLACK_HAS_A_ROW
    assert placed(both, "b").outcome() == WHITE_HAS_A_ROW


@pytest.mark.parametrize("reason", [Reason.REPETITION, Reason.PLY_LIMIT])
def test_the_match_rules_make_a_draw(reason: Reason) -> None:
    assert middle().outcome_by_match_rule(reason) == Outcome(Result.DRAW, reason)


def test_the_key_holds_everything_but_the_ply() -> None:
    later = DualmaPosition.parse(f"{MIDDLE} w 23")
    assert later.key() == middle().key()
    assert later != middle()
    assert middle("b").key() != middle().key()
    assert placed("e4=bw").key() != placed("e4=wb").key()
    assert placed("e4=ww d4=bb").key() != placed("e4=bw d4=wb").key()


# --- position strings

PLACING = "5/6/7/3,w,4/3,b,5/8/7/6/5"
ELEVEN_PAIRS = "b,w,b,w,b/w,b,w,b,w,w/7/8/9/8/7/w,b,w,b,w,b/b,w,b,w,b"


@pytest.mark.parametrize(
    "text", [START, STUCK, f"{PLACING} w 1", f"{ELEVEN_PAIRS} w 11", f"{MIDDLE} b 999999998"]
)
def test_a_position_string_reads_and_writes_the_same(text: str) -> None:
    assert str(DualmaPosition.parse(text)) == text


def test_the_rules_page_shows_positions_that_are_read() -> None:
    assert f"`{START}`" in str(dualma.__doc__)
    assert f"`{STUCK}`" in str(dualma.__doc__)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ["position", "1 fields instead of 3"]),
        (f"{PLACING} w", ["position", "2 fields"]),
        (f"{PLACING} w 1 -", ["position", "4 fields"]),
        (f"{PLACING}  w 1", ["position", "4 fields"]),
        (f"{PLACING} w 1 ", ["position", "4 fields"]),
        (f"{PLACING}\tw 1", ["position", "2 fields"]),
        (f"{PLACING} W 1", ["side 'W'"]),
        (f"{PLACING} x 1", ["side 'x'"]),
        (f"{PLACING} b 1", ["side 'b'", "ply 1"]),
        (f"{PLACING} w 01", ["ply '01'"]),
        (f"{PLACING} w -1", ["ply '-1'"]),
        (f"{PLACING} w 1.0", ["ply '1.0'"]),
        (f"{MIDDLE} b 1000000000", ["ply '1000000000'"]),
        (f"{PLACING} w 3", ["ply '3'", "1 discs"]),
        (f"{MIDDLE} w 9", ["ply '9'", "11 plies"]),
        (f"{ELEVEN_PAIRS} b 10", ["ply '10'"]),
        ("5/6/7/3,w,4/9/8/7/6/5 w 1", ["rows", "1 white and 0 black"]),
        ("5/6/7/8/4,w,4/3,b,4/7/6/5 w 1", ["rows", "centre"]),
        ("5/6/7/3,wb,4/9/8/7/6/5 w 1", ["rows", "stack"]),
        (f"{ELEVEN_PAIRS.replace('/7/8/', '/7/w,7/')} w 11", ["rows", "12 white"]),
        (f"{ELEVEN_PAIRS.replace('/7/8/', '/7/w,b,6/')} w 11", ["rows", "12 white and 12 black"]),
        (STUCK.replace("8/wb,1", "8/wbb,1"), ["rows", "'wbb'"]),
        (STUCK.replace("8/wb,1", "8/Wb,1"), ["rows", "'Wb'"]),
        (STUCK.replace("5/6", "5/1,5"), ["rows", "row h", "'1,5'"]),
        (STUCK.replace("5/6", "5/7"), ["rows", "row h", "'7'"]),
        (STUCK.replace("5/6", "5/5"), ["rows", "row h", "5 cells instead of 6"]),
        (STUCK.replace("5/6", "5/6/"), ["rows", "10 rows instead of 9"]),
    ],
)
def test_a_malformed_or_impossible_position_is_refused_and_the_field_named(
    text: str, words: list[str]
) -> None:
    with pytest.raises(PositionError) as refused:
        DualmaPosition.parse(text)
    assert all(word in str(refused.value) for word in words), str(refused.value)


# --- properties


@pytest.mark.parametrize("seed", range(4))
def test_discs_are_placed_in_pairs_and_never_change_in_number_afterwards(seed: int) -> None:
    for position in random_game(seed):
        discs = "".join(position.board().values())
        assert discs.count("w") == discs.count("b") == min(position.ply, 11)
        assert position.side is (Side.WHITE if position.ply % 2 else Side.BLACK)
        assert DualmaPosition.parse(str(position)) == position


@pytest.mark.parametrize("seed", range(3))
def test_only_the_player_who_moved_can_have_won(seed: int) -> None:
    for position in random_game(seed, plies=400):
        if position.outcome().decided:
            assert position.outcome().result is Result.win_for(position.side.other)


@given(st.integers(0, 10**9))
@settings(max_examples=60, deadline=None)
def test_a_token_is_legal_exactly_when_it_is_among_the_legal_moves(seed: int) -> None:
    rng = random.Random(seed)
    position = DualmaPosition.parse(DRAW["dualma"](rng))
    tokens = list(position.legal_moves())
    legal = set(tokens)
    assert len(legal) == len(tokens)
    for token in mutations(rng, rng.sample(tokens, min(20, len(tokens)))):
        assert position.is_legal(token) == (token in legal), token


def mutations(rng: random.Random, tokens: list[str]) -> Iterator[str]:
    """The tokens themselves, each a little changed, and movements drawn from all over the board."""
    for token in tokens:
        at = rng.randrange(len(token))
        yield token
        yield token[:at] + rng.choice("abcdefghi123456789-:") + token[at + 1 :]
        yield token[:at] + token[at + 1 :]
        yield token[:at] + token[at:].swapcase()
        yield token + "-" + rng.choice(list(BOARD.numbers))
    for cell in BOARD.cells:
        near = rng.choice(list(cells_of(BOARD.around[cell])))
        far = rng.choice(BOARD.at_distance(cell, 2))
        landing = rng.choice(list(cells_of(BOARD.around[far])))
        for path in ((cell, near), (cell, far), (cell, far, landing)):
            yield "-".join(BOARD.names[each] for each in path)
