"""The board as SVG: well formed, complete, and safe for any text as the last move."""

from __future__ import annotations

import random
import re
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Iterator
from xml.etree.ElementTree import Element

import pytest

from engines.rules.base import Position
from engines.rules.registry import GAMES
from engines.svg import (
    MATERIALS,
    PADDING,
    STRIP,
    STYLE,
    describe,
    draw,
    draw_names,
    draw_small,
    final_count,
    flat_style,
    is_wide,
    summarize,
)

SVG = "{http://www.w3.org/2000/svg}"
STACKS = "5/6/7/8/wb,1,wb,1,wb,1,wb,2/8/wb,1,wb,1,wb,1,wb/6/wb,1,wb,1,wb w 21"
STONES = "2b,0,0,0,0,0/0,1w,0,1b,0,1w/1w,0,0,0,0,1w1b/0,1b,2w,0,1b,0"


def parsed(
    position: Position,
    *,
    last_move: str = "",
    before: Position | None = None,
    flip: bool = False,
    players: bool = True,
    style: str = "",
) -> Element:
    text = draw(position, last_move=last_move, before=before, flip=flip, players=players, style=style)
    return ElementTree.fromstring(text)


def kinds(drawing: Element) -> Counter[str]:
    return Counter(part.get("class", "") for part in drawing.iter())


def texts(drawing: Element, kind: str) -> list[str]:
    return [part.text or "" for part in drawing.iter() if part.get("class") == kind]


def some_game(code: str, seed: int, plies: int) -> Iterator[tuple[Position, str]]:
    chance = random.Random(seed)
    position = GAMES[code].position.initial()
    for _ in range(plies):
        moves = list(position.legal_moves())
        if not moves:
            return
        token = chance.choice(moves)
        position = position.play(token)
        yield position, token


@pytest.mark.parametrize("code", GAMES)
@pytest.mark.parametrize("flip", [False, True])
def test_every_position_of_a_game_is_well_formed_and_described_for_screen_readers(
    code: str, flip: bool
) -> None:
    for position, token in some_game(code, seed=5, plies=25):
        drawing = parsed(position, last_move=token, flip=flip)
        title = drawing.find(f"{SVG}title")
        assert title is not None
        assert title.text == drawing.get("aria-label") == describe(position, token)
        assert f"Last move {token}" in (title.text or "")


@pytest.mark.parametrize("code", GAMES)
@pytest.mark.parametrize(
    "bad", ["", "z9", "<b>", '"&', "pass", "\x00\x01", "\ud800", "]]>", "e5-" * 9999, "-", ":"]
)
def test_an_untrusted_last_move_cannot_break_the_drawing(code: str, bad: str) -> None:
    position = GAMES[code].position.initial()
    text = draw(position, last_move=bad)
    ElementTree.fromstring(text)
    assert "<b>" not in text
    assert len(text) < len(draw(position)) + 4000


def test_a_drawing_has_the_given_size_and_scales_by_its_view_box() -> None:
    position = GAMES["dualma"].position.initial()
    small, large = (ElementTree.fromstring(draw(position, size=size)) for size in (240, 600))
    assert (small.get("width"), large.get("width")) == ("240", "600")
    assert small.get("viewBox") == large.get("viewBox")


@pytest.mark.parametrize("code", GAMES)
def test_without_the_players_nothing_is_left_of_their_lines_but_what_they_hold(code: str) -> None:
    position = GAMES[code].position.initial()
    whole, board = parsed(position), parsed(position, players=False)
    shown = [part for part in board.iter() if part.get("class") in {"name", "standing"}]
    strips = [part for part in board.iter(f"{SVG}g") if part.get("class") == "strip"]
    assert not shown
    heights = [float(drawing.get("viewBox", "").split()[3]) for drawing in (whole, board)]
    assert heights[1] == heights[0] - (0 if strips else 2 * STRIP)
    assert bool(strips) == (code in {"duovallis", "duploline"})
    assert (kinds(board)["holding"] > 0) == (code == "duploline")


def test_a_drawing_carries_the_style_that_is_given_and_no_other() -> None:
    position = GAMES["duploline"].position.initial()
    assert parsed(position).find(f"{SVG}style") is None
    for given in (STYLE, flat_style()):
        style = parsed(position, style=given).find(f"{SVG}style")
        assert style is not None
        assert style.text == given
    assert "prefers-color-scheme: dark" in STYLE


def test_the_drawing_itself_names_no_colour() -> None:
    for game in GAMES.values():
        assert "#" not in draw(game.position.initial())


@pytest.mark.parametrize("code", GAMES)
def test_every_class_drawn_is_styled_or_documented_as_a_hook(code: str) -> None:
    hooks = {"strip", "to-move", "board", f"board-{code}", "change", "seeds"}
    before = GAMES[code].position.initial()
    for position, token in some_game(code, seed=7, plies=10):
        drawing = parsed(position, last_move=token, before=before)
        before = position
        words = {word for kind in kinds(drawing) for word in kind.split()}
        assert {word for word in words - hooks if f".{word}" not in STYLE} == set()


@pytest.mark.parametrize("code", GAMES)
def test_a_board_of_names_has_every_cell_s_name_and_no_piece(code: str) -> None:
    position = list(some_game(code, seed=9, plies=9))[-1][0]
    drawing = ElementTree.fromstring(draw_names(position))
    assert set(position.board()) == set(texts(drawing, "count"))
    pieces = {"disc", "ring", "stone"}
    assert not [kind for kind in kinds(drawing) if pieces & set(kind.split())]
    assert "names of its cells" in drawing.get("aria-label", "")


def test_a_hole_shows_its_seeds_and_always_their_number() -> None:
    drawing = parsed(GAMES["dogon-kulei"].position.parse("0,1,0,0,0,3/1,0,0,0,1,0 w 16 26 - - 0"))
    assert kinds(drawing)["seed"] == 6 + 16 + 26
    assert sorted(texts(drawing, "count")) == sorted("010003100010")
    assert texts(drawing, "count total") == ["26", "16"]


def test_a_crowded_hole_stops_at_some_dots_but_tells_the_whole_number() -> None:
    drawing = parsed(GAMES["dogon-kulei"].position.parse("0,0,40,0,0,0/8,0,0,0,0,0 w 0 0 - - 0"))
    assert kinds(drawing)["seed"] == 24 + 8
    assert "40" in texts(drawing, "count")


def test_flipping_exchanges_the_stores() -> None:
    position = GAMES["dogon-kulei"].position.parse("0,1,0,0,0,3/1,0,0,0,1,0 w 16 26 - - 0")
    assert texts(parsed(position, flip=True), "count total") == ["16", "26"]


def test_stones_of_two_colours_differ_in_shape() -> None:
    drawing = parsed(GAMES["duovallis"].position.parse(f"{STONES} w 2 1 0"))
    white = [part for part in drawing.iter() if part.get("class") == "stone white"]
    black = [part for part in drawing.iter() if part.get("class") == "stone black"]
    assert {part.tag for part in white} == {f"{SVG}circle"}
    assert {part.tag for part in black} == {f"{SVG}path"}
    signs_white, signs_black = 5, 5
    assert len(white) == 6 + signs_white + 1
    assert len(black) == 6 + signs_black + 2


def test_both_discs_of_a_stack_are_drawn_the_upper_one_last() -> None:
    drawing = parsed(GAMES["dualma"].position.parse(STACKS))
    drawn = [kind for part in drawing.iter() if "disc" in (kind := part.get("class", ""))]
    black_strip, white_strip = ["disc black"], ["disc white"]
    assert drawn == black_strip + ["disc white", "disc black"] * 11 + white_strip


def test_a_disc_lies_inside_the_ring_of_its_cell() -> None:
    drawing = parsed(GAMES["duploline"].position.parse("4/5/6/3,Dr,3/3,R,2/5/4 w 2"))
    assert kinds(drawing)["ring black"] == kinds(drawing)["ring white"] == 1
    assert kinds(drawing)["disc white"] == 1 + 1


@pytest.mark.parametrize(
    ("code", "fen", "token", "expected"),
    [
        ("dogon-kulei", "0,1,0,0,0,3/1,0,0,0,1,0 w 16 26 - - 0", "c1+", {"last from": 1, "last way": 1}),
        ("dogon-kulei", "0,1,0,0,0,3/1,0,0,0,1,0 w 16 26 - - 0", "pass", {"last from": 0, "last way": 0}),
        ("dualma", "5/6/7/8/2,b,3,w,2/8/7/6/5 w 1", "e4:e6", {"tile last": 1, "path": 0}),
        ("dualma", "5/6/7/8/2,b,3,w,2/8/7/6/5 w 1", "e4-e6-f6", {"tile last": 1, "path": 1, "start": 1}),
        ("duploline", "4/5/6/3,Dr,3/3,R,2/5/4 w 2", "Dc3-d4:Re5", {"tile last": 1, "path": 1}),
    ],
)
def test_the_last_move_is_marked(code: str, fen: str, token: str, expected: dict[str, int]) -> None:
    found = kinds(parsed(GAMES[code].position.parse(fen), last_move=token))
    assert {kind: found[kind] for kind in expected} == expected


def test_the_line_that_won_is_marked() -> None:
    position = GAMES["duploline"].position.parse("4/5/1,D,D,D,D,1/3,r,d,d,1/3,r,r,1/5/4 b 7")
    assert position.outcome().decided
    assert kinds(parsed(position, last_move="De3"))["tile win"] == 1
    assert "wins (four discs)" in texts(parsed(position), "standing")


def test_a_position_is_described_in_words() -> None:
    stacks = describe(GAMES["dualma"].position.parse(STACKS))
    assert stacks.startswith(
        "DuAlma after 21 plies, White to move. On the board: a1 black on white, a3 black on"
    )
    stones = describe(GAMES["duovallis"].position.parse(f"{STONES} b 2 1 1"))
    assert "f2 1 white 1 black" in stones
    assert stones.endswith("f3 1 white. White: keeps 2. Black: keeps 1.")


@pytest.mark.parametrize("code", GAMES)
def test_nobody_is_to_move_after_a_game_that_the_rules_have_not_ended(code: str) -> None:
    start = GAMES[code].position.initial()
    for drawn in (draw(start, over=True), describe(start, over=True), summarize(start, over=True)):
        assert "to move" not in drawn
        assert "to-move" not in drawn
        assert ", ." not in drawn
    assert "to move" in draw(start)


@pytest.mark.parametrize(
    ("fen", "text"),
    [
        (
            "0,0,2,2,1,0/0,0,0,0,0,1 b 17 25 - - 17",
            "The seeds left on the board count, 1 for White and 5 for Black: White has 18 and Black has 30.",
        ),
        (
            "5,0,4,6,10,2/1,0,2,2,0,0 w 0 16 - - 12",
            "The seeds left on the board count, 32 for Black: White has 0 and Black has 48.",
        ),
        ("0,0,0,0,0,0/0,0,0,0,0,0 w 33 15 - - 56", ""),
        ("4,4,4,4,4,4/4,4,4,4,4,4 w 0 0 - - 0", ""),
    ],
)
def test_the_end_says_what_the_seeds_left_on_the_board_add(fen: str, text: str) -> None:
    assert final_count(GAMES["dogon-kulei"].position.parse(fen)) == text


@pytest.mark.parametrize(
    ("code", "fen", "text"),
    [
        (
            "dogon-kulei",
            "0,1,0,0,0,3/1,0,0,0,1,0 w 16 26 - - 0",
            "White to move. White: 2 seeds in its holes, store 16. Black: 4 seeds in its holes, store 26.",
        ),
        (
            "duovallis",
            f"{STONES} b 2 1 1",
            "Black to move. White: 6 stones, keeps 2. Black: 6 stones, keeps 1.",
        ),
        (
            "dualma",
            STACKS,
            "White to move. White: 0 single discs and 0 stacks. Black: 0 single discs and 11 stacks.",
        ),
        (
            "duploline",
            "4/5/6/3,Dr,3/3,R,2/5/4 w 2",
            "White to move. White: 1 disc and 1 ring on the board. Black: 0 discs and 1 ring on the board.",
        ),
    ],
)
def test_a_position_is_summarized_by_its_numbers(code: str, fen: str, text: str) -> None:
    position = GAMES[code].position.parse(fen)
    assert summarize(position) == text
    assert summarize(position, "a1+") == f"Last move a1+. {text}"
    assert summarize(position, "<b>") == text


@pytest.mark.parametrize("code", GAMES)
def test_a_summary_is_short_and_names_both_sides_and_who_is_to_move(code: str) -> None:
    for position, token in some_game(code, seed=6, plies=60):
        text = summarize(position, token)
        assert len(text) < 140
        assert text.startswith(f"Last move {token}. ")
        assert (" to move. " in text) is not position.outcome().decided
        assert "White: " in text
        assert "Black: " in text


def drawn_move(code: str, fen: str, token: str, *, flip: bool = False) -> Element:
    before = GAMES[code].position.parse(fen)
    return parsed(before.play(token), last_move=token, before=before, flip=flip)


@pytest.mark.parametrize("flip", [False, True])
def test_a_dogon_move_shows_its_way_its_captures_and_every_change(flip: bool) -> None:
    drawing = drawn_move("dogon-kulei", "1,1,1,0,0,0/0,0,0,0,0,15 w 15 15 - - 0", "f1+", flip=flip)
    seen = kinds(drawing)
    assert (seen["last from"], seen["last track"], seen["last to"], seen["last captured"]) == (1, 1, 1, 4)
    assert Counter(texts(drawing, "delta seeds")) == {"+1": 7, "\N{MINUS SIGN}1": 1, "\N{MINUS SIGN}15": 1}
    orders = [int(part.get("data-order", "")) for part in drawing.iter() if part.get("class") == "change"]
    assert sorted(orders) == [0, *range(4, 12)]


def test_a_duovallis_move_shows_the_changes_of_both_colours() -> None:
    fen = "4b,4b,4b,4b,4b,4b/0,4w,4w,4w,4w,0/0,4b,4b,4b,4b,0/4w,4w,4w,4w,4w,4w w 0 0 0"
    before = GAMES["duovallis"].position.parse(fen)
    after = before.play("a1")
    drawing = parsed(after, last_move="a1", before=before)
    change = sum(int(text.replace("\N{MINUS SIGN}", "-")) for text in texts(drawing, "delta white"))
    assert change == after.stones[0] - before.stones[0]  # type: ignore[attr-defined]
    assert texts(drawing, "delta white")


def test_a_slide_leaves_a_mark_where_the_piece_stood() -> None:
    position = next(p for p, _ in some_game("dualma", seed=4, plies=15) if p.ply == 12)
    token = next(token for token in position.legal_moves() if "-" in token)
    drawing = parsed(position.play(token), last_move=token, before=position)
    assert kinds(drawing)["ghost"] == 1
    assert len([part for part in drawing.iter() if part.get("data-from")]) == 1
    assert kinds(parsed(position.play(token), last_move=token))["ghost"] == 0


@pytest.mark.parametrize("code", GAMES)
def test_nothing_is_drawn_outside_the_view_box_from_either_side(code: str) -> None:
    before = GAMES[code].position.initial()
    for position, token in some_game(code, seed=8, plies=25):
        for flip in (False, True):
            drawing = parsed(position, last_move=token, before=before, flip=flip, players=False)
            left, top, width, height = map(float, drawing.get("viewBox", "").split())
            for part in drawing.iter(f"{SVG}rect"):
                x, y = float(part.get("x", "")), float(part.get("y", ""))
                assert left <= x <= x + float(part.get("width", "")) <= left + width
                assert top <= y <= y + float(part.get("height", "")) <= top + height
            for part in drawing.iter(f"{SVG}circle"):
                x, y, radius = (float(part.get(key, "")) for key in ("cx", "cy", "r"))
                assert left <= x - radius <= x + radius <= left + width
                assert top <= y - radius <= y + radius <= top + height
        before = position


def small_pictures(code: str) -> Iterator[str]:
    for position, token in some_game(code, seed=11, plies=40):
        yield draw_small(position, last_move=token, alone=True)


@pytest.mark.parametrize("code", GAMES)
def test_a_small_picture_has_no_text_below_9_pixels_and_lies_in_its_view_box(code: str) -> None:
    """Two units are a pixel, and 18 units are the size of all its texts."""
    assert ".small text { font-size: 18px" in STYLE
    for text in small_pictures(code):
        drawing = ElementTree.fromstring(text)
        _, _, width, height = map(float, drawing.get("viewBox", "").split())
        assert width == 240
        assert all((part.text or "").isdigit() for part in drawing.iter(f"{SVG}text"))
        assert not {kind for kind in kinds(drawing) if kind in {"label", "name", "holding"}}
        for part in drawing.iter(f"{SVG}circle"):
            x, y, radius = (float(part.get(key, "")) for key in ("cx", "cy", "r"))
            assert 0 <= x - radius <= x + radius <= width
            assert 0 <= y - radius <= y + radius <= height


@pytest.mark.parametrize("code", GAMES)
def test_a_small_picture_brings_the_style_of_its_own_classes_and_is_short(code: str) -> None:
    for text in small_pictures(code):
        assert len(text) < 10_000
        style = ElementTree.fromstring(text).findtext(f"{SVG}style", "")
        drawn = {word for kind in kinds(ElementTree.fromstring(text)) for word in kind.split()}
        assert {word for word in drawn - {"board", "small"} if f".{word}" not in style} == set()
        assert set(re.findall(r"url\(#(\w+)\)", style)) == set(re.findall(r'id="(\w+)"', text))
        assert set(re.findall(r"var\((--[a-z-]+)\)", style)) == set(re.findall(r"(--[a-z-]+):", style))


def test_a_small_hole_shows_few_seeds_as_dots_and_more_as_a_number() -> None:
    position = GAMES["dogon-kulei"].position.parse("0,4,0,0,0,0/5,0,0,0,13,0 w 10 16 - - 0")
    drawing = ElementTree.fromstring(draw_small(position))
    assert texts(drawing, "on-seed") == ["5", "13"]
    assert texts(drawing, "halo") == ["16", "10"]
    heaps, fills = 2, 2
    assert kinds(drawing)["seed"] == 4 + heaps + fills


def test_a_small_hole_with_many_stones_of_both_colours_has_both_numbers() -> None:
    position = GAMES["duovallis"].position.parse(
        "6b,6b,0,0,4b,4b/0,7w,0,1w,7w,0/3w2b,0,4b,4b,4b,3w/7w4b,2w,0,6w,1w,2w b 1 0 5"
    )
    drawing = ElementTree.fromstring(draw_small(position))
    assert texts(drawing, "on-white") == ["7", "7", "7"]
    assert texts(drawing, "on-black") == ["4"]


def test_a_small_stack_has_both_its_discs() -> None:
    drawing = ElementTree.fromstring(draw_small(GAMES["dualma"].position.parse(STACKS)))
    assert kinds(drawing)["disc white"] == kinds(drawing)["disc black"] == 11


@pytest.mark.parametrize("bad", ["z9", "<b>", '"&', "e5-" * 99])
def test_an_untrusted_last_move_cannot_break_a_small_picture(bad: str) -> None:
    for game in GAMES.values():
        text = draw_small(game.position.initial(), last_move=bad, alone=True)
        ElementTree.fromstring(text)
        assert "<b>" not in text


def test_every_gradient_that_the_style_names_is_among_the_materials() -> None:
    named = set(re.findall(r"url\(#(\w+)\)", STYLE))
    assert named == set(re.findall(r'id="(\w+)"', MATERIALS))
    stops = {
        kind for part in ElementTree.fromstring(MATERIALS).iter("stop") for kind in [part.get("class", "")]
    }
    assert all(f"stop.{kind.replace(' ', '.')} " in STYLE for kind in stops)


@pytest.mark.parametrize("dark", [False, True])
def test_the_flat_style_has_the_same_colours_without_variables(dark: bool) -> None:
    flat = flat_style(dark=dark)
    assert not [word for word in ("var(", ":is", "@media", "--board") if word in flat]
    assert flat.count("{") == flat.count("}") == STYLE.count("{") - 2
    assert ".board .white.stone, .board .white.disc, .board .white.ring" in flat
    assert ("#66513a" in flat) is dark


@pytest.mark.parametrize("code", GAMES)
def test_a_wide_board_is_more_than_twice_as_wide_as_high(code: str) -> None:
    """The strips of the players above and beneath the board do not count."""
    position = GAMES[code].position.initial()
    _, _, width, height = map(float, parsed(position).get("viewBox", "").split())
    assert is_wide(position) == (width - 2 * PADDING > 2 * (height - 2 * STRIP - 2 * PADDING))
