"""What a sowing does hole by hole agrees with the position that the rules give."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from engines.rules.base import Position
from engines.rules.registry import find_game
from engines.svg.sowings import Sowing, trace_sowing

SOWING_GAMES = ["duovallis", "dogon-kulei", "dogon-gagara"]


def random_moves(code: str, games: int, seed: int = 1) -> Iterator[tuple[Position, Position, str]]:
    chance = random.Random(seed)
    for _ in range(games):
        position = find_game(code).position.initial()
        while not position.outcome().decided and position.ply < 120:
            token = chance.choice(list(position.legal_moves()))
            after = position.play(token)
            yield position, after, token
            position = after


def traced(before: Position, after: Position, token: str) -> Sowing:
    sowing = trace_sowing(before, after, token)
    assert sowing is not None
    return sowing


@pytest.mark.parametrize("code", SOWING_GAMES)
def test_only_captured_holes_and_the_capturing_hole_differ_from_the_stones_sown(code: str) -> None:
    captures = 0
    for before, after, token in random_moves(code, games=12):
        if token == "pass":
            assert trace_sowing(before, after, token) is None
            continue
        sowing = traced(before, after, token)
        assert sowing.origin == token.rstrip("+-")
        counts = {name: size(content) for name, content in before.board().items()}
        for origin, *fallen in sowing.laps:
            assert len(fallen) == counts[origin], (str(before), token)
            counts[origin] = 0
            for name in fallen:
                counts[name] += 1
        found = {name: size(content) for name, content in after.board().items()}
        differing = {name for name in counts if counts[name] != found[name]}
        assert set(sowing.captured) <= differing <= {*sowing.captured, sowing.last}, (str(before), token)
        assert all(found[name] == 0 for name in sowing.captured)
        assert set(sowing.changes) == {
            n for n, content in before.board().items() if after.board()[n] != content
        }
        captures += len(sowing.captured)
    assert captures


def size(content: str) -> int:
    return sum(int(number) for number in content.replace("b", "w").rstrip("w").split("w") if number)


def test_a_dogon_sowing_skips_its_origin_and_captures_backwards() -> None:
    before = find_game("dogon-kulei").position.parse("1,1,1,0,0,0/0,0,0,0,0,15 w 15 15 - - 0")
    after = before.play("f1+")
    sowing = traced(before, after, "f1+")
    assert sowing.laps[0][:3] == ("f1", "f2", "e2")
    assert sowing.laps[0].count("f1") == 1
    assert sowing.last == "c2"
    assert sowing.captured == ("f2", "e2", "d2", "c2")
    assert sowing.order["f2"] == 1


def test_duovallis_sows_on_lap_after_lap() -> None:
    before = find_game("duovallis").position.initial()
    after = before.play("a1")
    sowing = traced(before, after, "a1")
    assert sowing.laps[0] == ("a1", "b1", "c1", "d1", "e1")
    assert sowing.laps[1][0] == "e1"
    assert sowing.laps[1] == ("e1", "f1", "f2", "f3", "e3", "d3")
    assert sowing.changes["b1"] == (1, 0)


def test_games_without_sowing_have_no_trace() -> None:
    for before, after, token in random_moves("duploline", games=1):
        assert trace_sowing(before, after, token) is None
