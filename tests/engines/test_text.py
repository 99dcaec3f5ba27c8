"""The board as text."""

from __future__ import annotations

import pytest

from engines.rules.registry import GAMES
from engines.text import draw

KULEI = """\
Dogon kulei, ply 14

  Black   store 3

    ┌────┬────┬────┬────┬────┬────┐
  2 │  2 │  4 │ [0]│  5 │  3 │  5 │
    ├────┼────┼────┼────┼────┼────┤
  1 │  3 │  1 │  2 │ 12 │  6 │  2 │
    └────┴────┴────┴────┴────┴────┘
      a    b    c    d    e    f

  White   store 0   to move
"""

DUPLOLINE = """\
DuploLine, ply 14

  Black   13 discs, 12 rings

           g   .   r   .   .
         f   .   .   dR  .   .
       e   .   D   d   D   .   .
     d   R   .  [dr][.]  R   R   .
       c   Dr  R   .   Dr  r  [dR] 7
         b   .   d   .   D  [.]  6
           a   .   .   r   .   5
                 1   2   3   4

  White   13 discs, 12 rings   to move
"""

DUPLOLINE_FLIPPED = """\
DuploLine, ply 14

  White   13 discs, 12 rings   to move

           a   .   r   .   .
         b   .   D   .   d   .
       c   dR  r   Dr  .   R   Dr
     d   .   R   R   .   dr  .   R
       e   .   .   D   d   D   .   1
         f   .   .   dR  .   .   2
           g   .   .   r   .   3
                 7   6   5   4

  Black   13 discs, 12 rings
"""

DUPLOLINE_AT_14 = "1,r,2/2,dR,2/1,D,d,D,2/R,1,dr,1,R,R,1/Dr,R,1,Dr,r,dR/1,d,1,D,1/2,r,1 w 14"

DUOVALLIS_FLIPPED = """\
Duovallis, ply 0

  White   keeps 0   to move

    ┌────┬────┬────┬────┬────┬────┐
  1 │ 4w │ 4w │ 4w │ 4w │ 4w │ 4w │
    ├────┼────┼────┼────┼────┼────┤
  2 │  0 │ 4b │ 4b │ 4b │ 4b │  0 │
    ╞════╪════╪════╪════╪════╪════╡
  3 │  0 │ 4w │ 4w │ 4w │ 4w │  0 │
    ├────┼────┼────┼────┼────┼────┤
  4 │ 4b │ 4b │ 4b │ 4b │ 4b │ 4b │
    └────┴────┴────┴────┴────┴────┘
      f    e    d    c    b    a

  Black   keeps 0
"""


def test_a_row_of_holes_is_a_grid_with_the_origin_in_brackets() -> None:
    position = GAMES["dogon-kulei"].position.parse("2,4,0,5,3,5/3,1,2,12,6,2 w 0 3 - - 14")
    assert draw(position, last_move="c2+") == KULEI


def test_a_hexagon_brackets_every_cell_of_both_actions() -> None:
    position = GAMES["duploline"].position.parse(DUPLOLINE_AT_14)
    assert draw(position, last_move="Rd4-d3:Db5-c6") == DUPLOLINE


def test_a_flipped_hexagon_has_black_below_and_keeps_its_coordinates() -> None:
    assert draw(GAMES["duploline"].position.parse(DUPLOLINE_AT_14), flip=True) == DUPLOLINE_FLIPPED


def test_two_valleys_are_parted_by_a_double_line() -> None:
    assert draw(GAMES["duovallis"].position.initial(), flip=True) == DUOVALLIS_FLIPPED


def test_stacks_are_spelled_bottom_first_and_the_long_row_has_its_number_beneath() -> None:
    position = GAMES["dualma"].position.parse(
        "5/6/7/8/wb,1,wb,1,wb,1,wb,2/8/wb,1,wb,1,wb,1,wb/6/wb,1,wb,1,wb w 21"
    )
    lines = draw(position).splitlines()
    assert "     e   wb  .   wb  .   wb  .   wb  .   ." in lines
    assert "       d   .   .   .   .   .   .   .   .   9" in lines


def test_the_result_is_beside_the_winner_s_name_with_the_seeds() -> None:
    position = GAMES["dogon-kulei"].position.parse("0,1,0,0,0,0/0,0,1,0,0,0 b 25 21 - - 1")
    told = draw(position).splitlines()
    assert "  White   store 25   wins 26 to 22 (seeds)" in told
    assert "  Black   store 21" in told


def test_a_draw_is_shown_beside_both_names() -> None:
    position = GAMES["dogon-kulei"].position.parse("0,1,0,0,0,0/0,0,1,0,0,0 b 23 23 - - 1")
    assert draw(position).count("draw 24 to 24 (seeds)") == 2


@pytest.mark.parametrize("code", GAMES)
@pytest.mark.parametrize("last_move", ["", "z9", "pass", "::--", "D", "\x1b[31m", "c1+" * 50])
def test_a_last_move_of_any_text_changes_no_more_than_brackets(code: str, last_move: str) -> None:
    position = GAMES[code].position.initial()
    drawn = draw(position, last_move=last_move)
    assert drawn.replace("[", " ").replace("]", " ").split() == draw(position).split()
    assert drawn.replace("\n", "").isprintable()
