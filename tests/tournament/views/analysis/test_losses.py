"""Which moves of a game lost most, by a bot's evaluations."""

from __future__ import annotations

from engines.protocol import Score
from engines.rules.base import Side
from tournament.views.analysis.losses import MOST, Judged, Loss, find_losses

MOVES = ("c1+", "c2-", "d1+", "d2-")


def judged(*scores: Score, best: str = "a1+") -> dict[int, Judged]:
    """Evaluations of successive positions, White to move in the first; scores are of the side to move."""
    sides = (Side.WHITE, Side.BLACK) * len(scores)
    return {ply: Judged(ply, sides[ply], score, best) for ply, score in enumerate(scores)}


def pawns(*numbers: float) -> list[Score]:
    return [Score(centipawns=round(100 * number)) for number in numbers]


def test_what_a_move_lost_is_the_difference_for_its_side() -> None:
    (loss,) = find_losses(judged(*pawns(0.4, 0.1, -0.1)), MOVES)
    assert (loss.ply, loss.side, loss.token, loss.better) == (1, Side.WHITE, "c1+", "a1+")
    assert loss.text == "0.50 lost"
    assert find_losses(judged(*pawns(0.4, 0.1, -0.1)), MOVES, given=2) == []
    (black,) = find_losses(judged(*pawns(0, 0, 1.25)), MOVES)
    assert (black.ply, black.side, black.text) == (2, Side.BLACK, "1.25 lost")


def test_the_best_move_and_gaps_are_no_losses() -> None:
    assert find_losses(judged(*pawns(3, 3), best="c1+"), MOVES) == []
    assert find_losses({0: judged(*pawns(3))[0], 2: judged(*pawns(0, 0, -3))[2]}, MOVES) == []
    assert find_losses(judged(*pawns(0.1, -0.05)), MOVES) == []


def test_a_side_that_moves_twice_keeps_its_sign() -> None:
    twice = {0: Judged(0, Side.WHITE, Score(100), "a1+"), 1: Judged(1, Side.WHITE, Score(-100), "a1+")}
    (loss,) = find_losses(twice, MOVES)
    assert loss.text == "2.00 lost"


def test_announced_wins_are_named_as_they_are_written() -> None:
    (loss,) = find_losses(judged(Score(mate=3), *pawns(0.2)), MOVES)
    assert loss.text == "from #+3 to -0.20"
    (thrown,) = find_losses(judged(*pawns(0.5), Score(mate=2)), MOVES)
    assert thrown.text == "from +0.50 to #-2"


def test_the_largest_are_named_in_the_order_of_the_game() -> None:
    line = tuple("c1+" for _ in range(40))
    scores = pawns(*(0 if ply % 2 == 0 else ply / 10 for ply in range(41)))
    found = find_losses(judged(*scores), line)
    assert len(found) == MOST
    assert [loss.ply for loss in found] == sorted(loss.ply for loss in found)
    every = {loss.ply: loss for loss in _all(scores, line)}
    least = min(loss.height for loss in found)
    assert all(loss.height <= least for ply, loss in every.items() if ply not in {one.ply for one in found})


def _all(scores: list[Score], line: tuple[str, ...]) -> list[Loss]:
    """The losses of every pair of successive positions alone."""
    known = judged(*scores)
    found = []
    for ply in range(1, len(scores)):
        found += find_losses({at: known[at] for at in (ply - 1, ply)}, line)
    return found
