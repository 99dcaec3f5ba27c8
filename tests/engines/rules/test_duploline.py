"""DuploLine, rule by rule."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engines.rules import duploline
from engines.rules.base import UNDECIDED, IllegalMove, Outcome, PositionError, Reason, Result, Side
from engines.rules.duploline import BOARD, DuplolinePosition
from engines.rules.hexagon import cells_of
from engines.rules.perft import perft
from tests.support.hexagons import drawn
from tests.support.positions import DRAW

START = "4/5/6/7/6/5/4 w 0"
AFTER_TWO = "4/5/2,d,r,2/3,D,3/6/5/4 w 2"
BOTH_REPLACED = "d,d,d,r/d,D,D,d,d/D,D,d,d,D,D/D,d,d,D,D,d,d/d,D,D,d,d,D/D,D,d,D,d/1,D,D,d w 36"


def at(board: str, side: str = "w") -> DuplolinePosition:
    return DuplolinePosition.parse(f"{drawn(board)} {side} {10 if side == 'w' else 11}")


def first_actions(position: DuplolinePosition) -> str:
    return " ".join(sorted({token.partition(":")[0] for token in position.legal_moves()}))


def answers_to(position: DuplolinePosition, action: str) -> str:
    """The second actions of the legal turns that begin with this one; a turn of it alone shows as ``-``."""
    turns = [token.partition(":") for token in position.legal_moves()]
    return " ".join(sorted(second or "-" for first, _, second in turns if first == action))


def assert_illegal(position: DuplolinePosition, token: str, why: str) -> None:
    assert not position.is_legal(token)
    assert token not in set(position.legal_moves())
    with pytest.raises(IllegalMove, match=why) as refused:
        position.play(token)
    assert repr(token) in str(refused.value)
    assert str(position) in str(refused.value)


# a white disc and a white ring side by side, both beside a black ring
TRIO = at("""
       . . . .
      . . . . .
     . . r . . .
    . . D R . . .
     . . . . . .
      . . . . .
       . . . .
""")

# the same, with a black ring that hangs on the white disc alone
CHAIN = at("""
       . . . .
      . . . . .
     . . r . . .
    . r D R . . .
     . . . . . .
      . . . . .
       . . . .
""")

# no black piece, so nothing can be added; the disc on c4 holds the ring on c3 to the others
ALONE = at("""
       . . . .
      . . . . .
     . . . D . .
    . . . . DR . .
     . . R D . .
      . . . . .
       . . . .
""")


# --- turns


def test_white_starts_with_a_single_disc_or_ring_on_any_cell() -> None:
    start = DuplolinePosition.initial()
    assert str(start) == START
    assert start == DuplolinePosition.parse(START)
    assert start.side is Side.WHITE
    assert list(start.legal_moves()) == [f"{kind}{cell}" for kind in "DR" for cell in BOARD.numbers]
    assert start.outcome() is UNDECIDED


@pytest.mark.parametrize("token", ["Dd4:Re5", "Dd4-d5", "Rd4:", "d4", "rd4", "Xd4", "Dd8", "De1", "", "pass"])
def test_the_first_turn_is_nothing_else(token: str) -> None:
    assert_illegal(DuplolinePosition.initial(), token, "first turn adds a single piece|spelled")


@pytest.mark.parametrize(("depth", "count"), [(1, 74), (2, 3000), (3, 282288)])
def test_perft_from_the_start(depth: int, count: int) -> None:
    assert perft(DuplolinePosition.initial(), depth) == count


def test_every_later_turn_is_a_disc_action_and_a_ring_action_in_either_order() -> None:
    position = DuplolinePosition.initial().play("Dd4")
    assert position.side is Side.BLACK
    assert str(position.play("De4:Re5")) == str(position.play("Re5:De4")) == AFTER_TWO
    for token in ("De4:De5", "Re4:Re5"):
        assert_illegal(position, token, "a disc action and a ring action")
    assert_illegal(position, "De4", "a second action is possible")


# --- actions


def test_an_add_goes_to_an_empty_cell_beside_an_opponents_piece() -> None:
    position = DuplolinePosition.initial().play("Dd4")
    assert answers_to(position, "De4") == "Rc3 Rc4 Rd3 Rd5 Re5"
    assert_illegal(position, "Df4:Re5", "must touch an opponent's piece")
    assert_illegal(position, "De4:Rf4", "must touch an opponent's piece")  # f4 touches Black's own e4 alone


def test_an_add_beside_a_shared_cell_counts_the_opponents_half() -> None:
    position = at("""
           . . . .
          . . . . .
         . . . . . .
        . . . Dr . . .
         . . . . . .
          . . . . .
           . . . .
    """)
    assert position.is_legal("De4:Re5")


def test_the_actions_of_a_turn_are_adds_and_moves_onto_the_other_kind_of_any_colour() -> None:
    assert first_actions(TRIO) == "Dd3-d4 Dd3-e4 De3 De5 Df4 Df5 Rd4-d3 Re3 Re5 Rf4 Rf5"


def test_the_second_action_is_taken_on_the_board_the_first_one_leaves() -> None:
    assert answers_to(TRIO, "De3") == "Rd4-d3 Re5 Rf4 Rf5"
    assert answers_to(TRIO, "Dd3-d4") == "Rd3 Re3 Re5 Rf4 Rf5"  # d3 is empty now, the ring on d4 locked
    assert answers_to(TRIO, "Rd4-d3") == "Dd4 De3 De5 Df4 Df5"  # the disc on d3 is locked
    assert answers_to(TRIO, "Re3") == "Dd3-d4 Dd3-e3 Dd3-e4 De5 Df4 Df5"
    assert answers_to(TRIO, "De5") == "Rd4-d3 Rd4-e5 Re3 Rf4 Rf5"  # onto the disc just added


@pytest.mark.parametrize(
    ("token", "why"),
    [
        ("Dd3-c3:Re3", "single piece of the other kind"),  # an empty cell
        ("Dd3-d5:Re3", "spelled"),  # not adjacent
        ("Dd3-d3:Re3", "spelled"),
        ("De4:Re3", "only an action with no legal form is replaced"),
        ("Dd3:Re3", "holds a piece of this kind"),
        ("De3-e4:Rf4", "no such piece"),
        ("Dd4-d3:Re3", "no such piece"),  # a ring, not a disc
        ("Re4-d3:De3", "no such piece"),  # Black's
        ("De3:Dd3-d4", "a disc action and a ring action"),
        ("De3:Re3", "only an action with no legal form is replaced"),
        ("De3:Rd4-d3:Re5", "spelled"),
        ("De3:", "spelled"),
        (":De3", "spelled"),
        ("De3 :Re5", "spelled"),
        ("de3:re5", "spelled"),
        ("pass", "spelled"),
    ],
)
def test_every_other_turn_is_illegal_and_the_error_says_why(token: str, why: str) -> None:
    assert_illegal(TRIO, token, why)


def test_a_move_onto_a_cell_with_both_kinds_is_illegal() -> None:
    position = at("""
           . . . .
          . . . . .
         . . dr . . .
        . . D R . . .
         . . . . . .
          . . . . .
           . . . .
    """)
    assert position.is_legal("Dd3-d4:Re3")
    assert_illegal(position, "Dd3-e4:Re3", "single piece of the other kind")
    assert_illegal(position, "Rd4-e4:De3", "single piece of the other kind")


def test_a_disc_and_a_ring_that_share_a_cell_are_locked_for_good() -> None:
    after = TRIO.play("Dd3-d4:Re3").play("De2:Rd2")
    assert after.board()["d4"] == "DR"
    assert_illegal(after, "Dd4-e4:Rf4", "locked")
    assert_illegal(after, "Rd4-e4:Df4", "locked")


def test_a_turn_changes_the_cells_it_names_and_nothing_else() -> None:
    after = TRIO.play("Rd4-d3:Df5")
    assert after.board() == {**TRIO.board(), "d4": "", "d3": "DR", "f5": "D"}
    assert (after.side, after.ply) == (Side.BLACK, 11)


def test_a_move_that_leaves_more_than_one_group_is_illegal() -> None:
    for move in ("Dd3-d2", "Dd3-d4", "Dd3-e4"):
        assert_illegal(CHAIN, f"{move}:Rf4", "would not form one group")
    assert CHAIN.is_legal("Rd4-d3:De3")


def test_the_connection_rule_is_judged_after_each_action() -> None:
    # a ring on the cell left would join the groups again, but comes too late
    assert_illegal(CHAIN, "Dd3-d4:Rd3", "would not form one group")
    # a piece added first keeps them together
    assert CHAIN.is_legal("Re3:Dd3-d4")


# --- replacement


def test_replacement_is_decided_action_by_action() -> None:
    # Disc first: e5 and c4 have no legal move, so the ring on c3 is joined by a disc from the supply;
    # then no ring can move, so a ring joins a disc. Ring first: c3-c4 is a move, so nothing is
    # replaced; then there is no disc to move and no single ring to join, and the turn ends.
    assert list(ALONE.legal_moves()) == ["Dc3:Rc4", "Dc3:Re5", "Rc3-c4"]


def test_a_turn_of_one_action_may_be_chosen_even_if_another_would_have_had_two() -> None:
    after = ALONE.play("Rc3-c4")
    assert after.side is Side.BLACK
    assert after.board()["c4"] == "DR"
    assert_illegal(ALONE, "Rc3-c4:De5", "holds a piece of this kind")
    assert_illegal(ALONE, "Dc3", "a second action is possible")


def test_an_action_with_a_legal_form_is_not_replaced() -> None:
    assert_illegal(ALONE, "Re5:Dc3", "only an action with no legal form is replaced")


def test_the_mover_may_begin_with_the_one_kind_that_has_a_replacement() -> None:
    lonely = DuplolinePosition.parse("4/5/6/3,D,3/6/5/4 w 2")
    assert list(lonely.legal_moves()) == ["Rd4"]
    assert str(lonely.play("Rd4")) == "4/5/6/3,DR,3/6/5/4 b 3"


def test_both_actions_may_be_replaced() -> None:
    position = DuplolinePosition.parse(BOTH_REPLACED)
    tokens = list(position.legal_moves())
    assert len(tokens) == len(set(tokens)) == 70
    assert all("-" not in token for token in tokens)
    assert position.is_legal("Dg7:Rg6")
    assert position.is_legal("Rg6:Dg7")
    assert not position.is_legal("Da1:Rg6")


def test_a_used_up_supply_leaves_moves_alone() -> None:
    # Black has all eighteen discs on the board, and many rings left
    position = DuplolinePosition.parse(BOTH_REPLACED.replace("w 36", "b 37"))
    assert_illegal(position, "Da1:Rg7-g6", "supply is used up")
    assert first_actions(position).split()[:3] == ["Df6-g7", "Df7-g7", "Dg6-g7"]
    assert position.is_legal("Ra1:Dg6-g7")


# --- end

THREE_DISCS = at("""
       . . . .
      . . . . .
     . . r . . .
    Dr D DR . . . .
     . . . . . .
      . . . . .
       . . . .
""")
THREE_RINGS = at(
    """
       . . . .
      . . . . .
     . . . D . .
    . . . . r . .
     . . . r . .
      . . Dr . .
       . . . .
    """,
    "b",
)


def test_a_line_of_four_discs_wins_at_once_and_ends_the_turn() -> None:
    after = THREE_DISCS.play("Dd4")
    assert after.outcome() == Outcome(Result.WHITE_WINS, Reason.FOUR_DISCS)
    assert list(after.legal_moves()) == []
    assert DuplolinePosition.parse(str(after)).outcome() == after.outcome()
    assert_illegal(THREE_DISCS, "Dd4:Re5", "the first action wins already")
    assert_illegal(after, "De5:Re6", "the game is over")


def test_the_second_action_may_win() -> None:
    assert THREE_DISCS.play("Re5:Dd4").outcome() == Outcome(Result.WHITE_WINS, Reason.FOUR_DISCS)
    assert THREE_DISCS.play("Re5:Df4").outcome() is UNDECIDED


def test_a_line_of_four_rings_wins_for_either_colour() -> None:
    assert str(THREE_RINGS).split()[1] == "b"
    assert THREE_RINGS.play("Re6").outcome() == Outcome(Result.BLACK_WINS, Reason.FOUR_RINGS)


@pytest.mark.parametrize(
    ("rows", "outcome"),
    [
        ("4/5/6/D,D,D,D,3/6/5/4", Outcome(Result.WHITE_WINS, Reason.FOUR_DISCS)),
        ("4/5/6/1,D,D,D,D,D,1/6/5/4", Outcome(Result.WHITE_WINS, Reason.FOUR_DISCS)),
        ("4/5/6/3,r,3/3,r,2/3,r,1/3,r", Outcome(Result.BLACK_WINS, Reason.FOUR_RINGS)),
        ("4/5/6/3,dR,3/2,R,3/1,R,3/R,3", Outcome(Result.WHITE_WINS, Reason.FOUR_RINGS)),
        ("4/5/6/dR,dr,d,dR,3/6/5/4", Outcome(Result.BLACK_WINS, Reason.FOUR_DISCS)),
        ("4/5/6/D,D,D,4/6/5/4", UNDECIDED),
        ("4/5/6/D,D,D,d,D,2/6/5/4", UNDECIDED),
        ("4/5/6/D,D,D,R,3/6/5/4", UNDECIDED),
        ("4/5/2,D,3/D,D,D,4/6/5/4", UNDECIDED),
    ],
)
@pytest.mark.parametrize("turn", ["w 8", "b 9"])
def test_only_four_consecutive_cells_with_one_kind_and_colour_win(
    rows: str, outcome: Outcome, turn: str
) -> None:
    assert DuplolinePosition.parse(f"{rows} {turn}").outcome() == outcome


def test_of_several_given_lines_that_of_the_player_who_moved_last_counts_and_discs_before_rings() -> None:
    both = "4/5/6/DR,DR,DR,DR,3/d,d,d,d,2/5/4"
    assert DuplolinePosition.parse(f"{both} w 8").outcome() == Outcome(Result.BLACK_WINS, Reason.FOUR_DISCS)
    assert DuplolinePosition.parse(f"{both} b 9").outcome() == Outcome(Result.WHITE_WINS, Reason.FOUR_DISCS)


# one empty cell, a1; white rings on d1, d2 and d3
NEARLY_FULL = at("""
       d d d r
      d D D d d
     D D d d D D
    DR dR dR D D d d
     d D r d d D
      D D d D d
       . Dr D d
""")


def test_a_full_board_at_the_end_of_a_turn_is_a_draw() -> None:
    after = NEARLY_FULL.play("Da1:Ra1")
    assert after.outcome() == Outcome(Result.DRAW, Reason.BOARD_FULL)
    assert list(after.legal_moves()) == []
    assert_illegal(after, "Dg7:Rg6", "the game is over")
    assert DuplolinePosition.parse(str(after)).outcome() == after.outcome()


def test_a_board_filled_by_the_first_action_may_still_be_won_by_the_second() -> None:
    assert NEARLY_FULL.play("Da1:Rd4").outcome() == Outcome(Result.WHITE_WINS, Reason.FOUR_RINGS)


def test_a_player_without_any_action_draws() -> None:
    position = DuplolinePosition.parse("4/5/6/3,DR,3/6/5/4 w 2")
    assert position.outcome() == Outcome(Result.DRAW, Reason.NO_ACTION)
    assert list(position.legal_moves()) == []
    assert not any(position.is_legal(token) for token in ("Dd4", "Rd4", "De4", "Dd4-d5"))
    assert DuplolinePosition.parse("4/5/6/3,DR,3/6/5/4 b 3").outcome() is UNDECIDED


@pytest.mark.parametrize("reason", [Reason.REPETITION, Reason.PLY_LIMIT])
def test_the_match_rules_make_a_draw(reason: Reason) -> None:
    assert TRIO.outcome_by_match_rule(reason) == Outcome(Result.DRAW, reason)


def test_the_key_holds_everything_but_the_ply() -> None:
    later = DuplolinePosition.parse(f"{str(TRIO).split()[0]} w 12")
    assert later.key() == TRIO.key()
    assert later != TRIO
    assert DuplolinePosition.parse(f"{str(TRIO).split()[0]} b 11").key() != TRIO.key()


# --- position strings


@pytest.mark.parametrize("text", [START, AFTER_TWO, BOTH_REPLACED, "4/5/6/3,DR,3/6/5/4 b 999999999"])
def test_a_position_string_reads_and_writes_the_same(text: str) -> None:
    assert str(DuplolinePosition.parse(text)) == text


def test_the_rules_page_shows_positions_that_are_read() -> None:
    assert f"`{START}`" in str(duploline.__doc__)
    assert f"`{AFTER_TWO}`" in str(duploline.__doc__)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ["position", "1 fields instead of 3"]),
        ("4/5/6/7/6/5/4 w", ["position", "2 fields"]),
        ("4/5/6/7/6/5/4 w 0 0", ["position", "4 fields"]),
        ("4/5/6/7/6/5/4  w 0", ["position", "4 fields"]),
        ("4/5/6/7/6/5/4 b 0", ["side 'b'", "ply 0"]),
        ("4/5/6/7/6/5/4 W 0", ["side 'W'"]),
        (AFTER_TWO.replace("w 2", "w 3"), ["side 'w'", "ply 3"]),
        (AFTER_TWO.replace("w 2", "w 02"), ["ply '02'"]),
        (AFTER_TWO.replace("w 2", "w +2"), ["ply '+2'"]),
        (AFTER_TWO.replace("w 2", "w 1000000000"), ["ply '1000000000'"]),
        ("4/5/6/7/6/5/4 w 2", ["rows", "empty only at the start"]),
        ("4/5/6/7/6/5/4 b 1", ["rows", "empty only at the start"]),
        ("4/5/6/D,1,D,4/6/5/4 w 2", ["rows", "one connected group"]),
        ("4/5/6/6,D/D,5/5/4 w 2", ["rows", "one connected group"]),
        ("4/5/6/3,rD,3/6/5/4 w 2", ["rows", "row d", "'rD'"]),
        ("4/5/6/3,Dd,3/6/5/4 w 2", ["rows", "row d", "'Dd'"]),
        ("4/5/6/3,RR,3/6/5/4 w 2", ["rows", "row d", "'RR'"]),
        ("4/5/6/3,DRr,3/6/5/4 w 2", ["rows", "row d", "'DRr'"]),
        ("4/5/6/3,w,3/6/5/4 w 2", ["rows", "row d", "'w'"]),
        ("4/5/6/1,2,D,3/6/5/4 w 2", ["rows", "row d", "'1,2,D,3'"]),
        ("4/5/6/3,D,4/6/5/4 w 2", ["rows", "row d", "8 cells instead of 7"]),
        ("4/5/6/3,D,3/6/5 w 2", ["rows", "6 rows instead of 7"]),
        ("D,D,D,D/D,D,D,D,D/D,D,D,D,D,D/D,D,D,D,3/6/5/4 w 36", ["rows", "19 pieces 'D'"]),
        ("r,r,r,r/r,r,r,r,r/r,r,r,r,r,r/r,r,r,r,3/6/5/4 w 36", ["rows", "19 pieces 'r'"]),
    ],
)
def test_a_malformed_or_impossible_position_is_refused_and_the_field_named(
    text: str, words: list[str]
) -> None:
    with pytest.raises(PositionError) as refused:
        DuplolinePosition.parse(text)
    assert all(word in str(refused.value) for word in words), str(refused.value)


def test_eighteen_pieces_of_a_kind_are_allowed() -> None:
    text = "D,D,D,D/D,D,D,D,D/D,D,D,D,D,D/D,D,D,4/6/5/4 w 36"
    assert str(DuplolinePosition.parse(text)) == text


# --- properties


@pytest.mark.parametrize("seed", range(6))
def test_play_keeps_the_group_the_supplies_and_the_turns(seed: int) -> None:
    rng = random.Random(seed)
    position = DuplolinePosition.initial()
    while not position.outcome().decided:
        before = "".join(position.board().values())
        token = rng.choice(list(position.legal_moves()))
        after = position.play(token)
        spelled = "".join(after.board().values())
        assert len(spelled) - len(before) == sum("-" not in action for action in token.split(":"))
        assert max(map(spelled.count, "DRdr")) <= 18
        assert after.side is position.side.other
        # parse refuses more than one group and more than a supply
        assert DuplolinePosition.parse(str(after)) == after
        assert DuplolinePosition.parse(str(after)).outcome() == after.outcome()
        position = after
    if position.outcome().result is not Result.DRAW:
        assert position.outcome().result is Result.win_for(position.side.other)


@given(st.integers(0, 10**9))
@settings(max_examples=60, deadline=None)
def test_a_token_is_legal_exactly_when_it_is_among_the_legal_moves(seed: int) -> None:
    rng = random.Random(seed)
    position = DuplolinePosition.parse(DRAW["duploline"](rng))
    tokens = list(position.legal_moves())
    legal = set(tokens)
    assert len(legal) == len(tokens)
    assert bool(tokens) != position.outcome().decided
    for token in mutations(rng, rng.sample(tokens, min(20, len(tokens)))):
        assert position.is_legal(token) == (token in legal), token


def mutations(rng: random.Random, tokens: list[str]) -> Iterator[str]:
    """The tokens themselves, each a little changed, and turns drawn from all over the board."""
    for token in tokens:
        where = rng.randrange(len(token))
        yield token
        yield token[:where] + rng.choice("abcdefg1234567-:DR") + token[where + 1 :]
        yield token[:where] + token[where + 1 :]
        yield token.partition(":")[0]
        yield ":".join(reversed(token.split(":")))
    for cell in BOARD.cells:
        actions = [any_action(rng, "D", cell), any_action(rng, "R", rng.choice(BOARD.cells))]
        rng.shuffle(actions)
        yield ":".join(actions)
        yield actions[0]


def any_action(rng: random.Random, kind: str, cell: int) -> str:
    add = kind + BOARD.names[cell]
    to = rng.choice(list(cells_of(BOARD.around[cell])))
    return rng.choice([add, f"{add}-{BOARD.names[to]}"])
