"""What an agent observes: documented planes that tell every state from every other."""

from __future__ import annotations

import re

import pytest

from engines.environments.entry import GameEntry, action_space
from engines.environments.planes import COMMON, ENCODINGS, plane_writer
from engines.positions import read_hard_positions
from engines.rules import GAMES
from tests.support.documents import read
from tests.support.entries import new_entry, random_states

BOUNCE = "5/6/7/8/w,8/bb,ww,2,b,3/bb,wb,5/ww,bb,wb,3/b,bw,ww,1,w b 16"

CROWDED = "6b,6b,0,0,4b,4b/0,7w,0,1w,7w,0/3w2b,0,4b,4b,4b,3w/7w,2w,0,6w,1w,2w b 1 0 5"


def planes_of(entry: GameEntry, player: int) -> dict[str, list[list[float]]]:
    """The rows of each plane by its name."""
    writer = plane_writer(entry.history.game.code)
    numbers = list(writer.planes(entry, player))
    _, rows, columns = writer.shape
    lines = [numbers[start : start + columns] for start in range(0, len(numbers), columns)]
    return {name: lines[place * rows : (place + 1) * rows] for place, name in enumerate(writer.names)}


def test_every_ladder_has_planes() -> None:
    assert list(ENCODINGS) == list(GAMES)


@pytest.mark.parametrize("code", GAMES)
def test_two_states_of_a_game_with_the_same_planes_are_the_same(code: str) -> None:
    writer = plane_writer(code)
    seen: dict[bytes, str] = {}
    for seed in range(2):
        for entry in random_states(code, seed):
            for player in (0, 1):
                planes = writer.planes(entry, player)
                assert 0 <= min(planes) <= max(planes) <= writer.highest
                state = f"{entry}, {entry.history.occurrence}, {player}"
                assert seen.setdefault(planes.tobytes(), state) == state


@pytest.mark.parametrize("code", GAMES)
def test_the_longest_moves_have_as_many_parts_as_the_ladder_says(code: str) -> None:
    game = GAMES[code].position
    starts = [game.initial(), *(game.parse(hard.position) for hard in read_hard_positions(code))]
    tokens = {token for start in starts for token in start.legal_moves()}
    parts = action_space(code).parts
    assert max(len(parts(token)) for token in tokens) == ENCODINGS[code].most_parts


@pytest.mark.parametrize(
    ("code", "fen", "cell", "seen"),
    [
        ("dogon-kulei", "3,1,2,1,2,1/2,0,2,0,0,5 w 14 15 - - 20", (0, 5), ([5], [5])),
        ("duovallis", CROWDED, (1, 0), ([2, 3], [3, 2])),
        ("dualma", BOUNCE, (1, 2), ([1, 0, 0, 1], [0, 1, 1, 0])),
        ("duploline", "4/5/2,d,r,2/3,Dr,3/6/5/4 w 2", (3, 3), ([1, 0, 0, 1], [0, 1, 1, 0])),
    ],
)  # fmt: skip
def test_each_player_sees_what_is_his_first(
    code: str, fen: str, cell: tuple[int, int], seen: tuple[list[float], list[float]]
) -> None:
    entry = new_entry(code, fen)
    row, column = cell
    for player, numbers in zip((entry.player, 1 - entry.player), seen, strict=True):
        planes = planes_of(entry, player)
        assert [planes[name][row][column] for name in ENCODINGS[code].cells] == numbers


def test_the_facts_of_a_position_are_numbers_of_a_whole_plane() -> None:
    entry = new_entry("dogon-kulei", "0,1,0,0,0,3/1,0,0,0,1,1 w 16 25 p +1 50")
    first = {name: plane[0][0] for name, plane in planes_of(entry, 0).items()}
    assert {name: first[name] for name in ENCODINGS["dogon-kulei"].facts} == {
        "own store": 16,
        "opponent's store": 25,
        "passed": 1,
        "run +": 1,
        "run -": 0,
        "run's changes": 1,
    }
    assert [first[name] for name in COMMON] == pytest.approx([1, 1, 0.1, 1 / 3])
    assert all(len({*row}) == 1 for row in planes_of(entry, 1)["own store"])
    other = {name: plane[0][0] for name, plane in planes_of(entry, 1).items()}
    assert (other["own store"], other["to move"], other["white"]) == (25, 0, 0)


def test_entered_parts_have_a_plane_for_their_place_and_words_their_place() -> None:
    entry = new_entry("duploline", "4/5/2,d,r,2/3,D,3/6/5/4 w 2")
    for name in ("R", "f5"):
        entry.enter(entry.actions.numbers[name])
    planes = planes_of(entry, 0)
    assert planes["R"][0][0] == pytest.approx(1 / 6)
    assert planes["D"][0][0] == 0
    assert [sum(map(sum, planes[f"part {place}"])) for place in range(1, 6)] == [0, 1, 0, 0, 0]
    assert planes["part 2"][4][5] == 1


@pytest.mark.parametrize("code", GAMES)
def test_the_page_lists_the_planes_and_sizes_of_each_ladder(code: str) -> None:
    writer, actions = plane_writer(code), new_entry(code).actions
    row = rf"^\| `{code}` \| (\d+) \| ([\d × ]+) \| (.*) \|$"
    encoding = ENCODINGS[code]
    named = ", ".join((*encoding.cells, *encoding.facts))
    expected = (str(len(actions)), " × ".join(map(str, writer.shape)), named)
    assert re.findall(row, read("docs/research.md"), re.MULTILINE) == [expected]
