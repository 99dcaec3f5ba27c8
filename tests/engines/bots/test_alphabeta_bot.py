"""Alphabeta: its announcements are true, and it keeps to its limits and to the match rules."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from engines.bots.candidates import GUIDES, Candidates, Guide, guide_of
from engines.bots.evaluation import final_score
from engines.bots.table import DECIDED
from engines.protocol import Info
from engines.rules.base import Position, Result
from engines.rules.history import History
from engines.rules.registry import GAMES
from tests.engines.bots.test_bots import ask, best_move, infos, some_positions

BOT = "alphabeta_bot"
SOWING = ["duovallis", "dogon-kulei", "dogon-gagara"]
REPEATING = "pass f2- e1+ pass f1- pass d1- pass c1- pass b1- pass a1- b2+ pass a2- pass c2- pass d2- pass"
"""From ``REPEATED`` on; with ``e2-`` that position is there again."""
REPEATED = "0,1,0,0,0,3/1,0,0,0,1,1 w 16 25 - - 0"


def told_score(said: list[str]) -> Info:
    """The last that was told of the game; the count of nodes comes after it."""
    return [info for info in infos(said) if info.score is not None][-1]


def mate_of(code: str, position: Position, go: str) -> int | None:
    score = told_score(ask(BOT, code, f"fen {position}", go)).score
    assert score is not None
    return score.mate


def late_positions(code: str, plies: int, seeds: int) -> Iterator[Position]:
    """The position so many plies before the end of random games."""
    for seed in range(seeds):
        positions = list(some_positions(code, seed, plies=400))
        if len(positions) > plies:
            yield positions[-plies]


def true_mate(position: Position, plies: int) -> int | None:
    """In how many plies the mover wins, or loses as a negative number, by trying everything so far."""
    outcome = position.outcome()
    if outcome.decided or plies == 0:
        return None
    values = []
    for token in position.legal_moves():
        after = position.play(token)
        ended = after.outcome()
        if ended.decided:
            values.append((final_score(ended, position.side) > 0) - (final_score(ended, position.side) < 0))
            continue
        reply = true_mate(after, plies - 1)
        values.append(0 if reply is None else -reply - 1 if reply > 0 else 1 - reply)
    wins = [value for value in values if value > 0]
    if wins:
        return min(wins)
    return min(values) if values and all(value < 0 for value in values) else None


@pytest.mark.parametrize("code", SOWING)
@pytest.mark.parametrize("plies", [2, 3, 4])
def test_mates_are_announced_as_trying_everything_finds_them(code: str, plies: int) -> None:
    found = 0
    for position in late_positions(code, plies, seeds=25):
        mate = true_mate(position, 4)
        found += mate is not None
        assert mate_of(code, position, "go depth 4") == mate, position
    assert found


def test_a_loss_is_proven_and_the_end_put_off() -> None:
    """Black has one sowing, after which White cannot be stopped: the seeds are counted."""
    for position in late_positions("dogon-kulei", 2, seeds=60):
        mate = true_mate(position, 4)
        if mate is not None and mate < 0:
            assert mate_of("dogon-kulei", position, "go depth 6") == mate
            return
    raise AssertionError("no loss among these games")


@pytest.mark.parametrize("code", ["dualma", "duploline"])
def test_a_mate_in_three_of_a_wide_game_holds_against_every_reply(code: str) -> None:
    proven = 0
    for position in positions_won_in_three(code):
        said = ask(BOT, code, f"fen {position}", "go depth 3")
        score = told_score(said).score
        assert score is not None
        if score.mate != 3:
            continue
        after = position.play(best_move(said))
        for token in after.legal_moves():
            reply = after.play(token)
            assert reply.outcome().result is not Result.win_for(after.side)
            assert guide_of(code).winning_move(reply) is not None, (position, token)
        proven += 1
        if proven == 2:
            return
    raise AssertionError("no mate in three among these games")


def positions_won_in_three(code: str) -> Iterator[Position]:
    """Three plies before the end of games between equals that look one move ahead."""
    for seed in range(20):
        history = History(GAMES[code])
        positions = []
        while not history.outcome.decided:
            positions.append(history.position)
            history.play(best_move(ask("greedy_bot", code, f"fen {history.position}", seed=seed)))
        if len(positions) > 3 and history.outcome.result is not Result.DRAW:
            yield positions[-3]


def test_a_win_in_one_is_played_that_is_no_candidate() -> None:
    """Black's disc on e3 stands in the way of his fourth ring, and steps aside."""
    position = GAMES["duploline"].position.parse(
        "1,d,D,r/1,d,D,R,1/r,d,Dr,r,R,1/1,D,d,R,R,r,1/2,d,R,2/2,D,2/4 b 11"
    )
    moves, _ = guide_of("duploline").candidates(position)
    assert not any(position.play(token).outcome().decided for token in moves)
    said = ask(BOT, "duploline", f"fen {position}", "go depth 2")
    assert position.play(best_move(said)).outcome().result is Result.BLACK_WINS


@pytest.mark.parametrize("code", GAMES)
@pytest.mark.parametrize("nodes", [1, 7, 100])
def test_the_limit_of_nodes_is_exact(code: str, nodes: int) -> None:
    position = list(some_positions(code, seed=2, plies=8))[-1]
    assert infos(ask(BOT, code, f"fen {position}", f"go nodes {nodes}"))[-1].nodes == nodes


@pytest.mark.parametrize("code", GAMES)
def test_the_limit_of_depth_is_exact(code: str) -> None:
    position = list(some_positions(code, seed=2, plies=8))[-1]
    assert told_score(ask(BOT, code, f"fen {position}", "go depth 2")).depth == 2


@pytest.mark.parametrize(
    ("code", "position", "nodes"),
    [
        ("dogon-kulei", "3,1,3,10,0,5/10,3,4,8,1,0 w 0 0 - - 10", 900),
        ("duploline", "4/5/1,d,4/D,d,D,r,3/D,R,r,3/1,R,3/4 b 5", 550),
        ("dualma", "3,w,b/5,w/6,w/8/7,b,w/8/7/3,b,b,1/3,w,b w 5", 600),
    ],
)
def test_a_better_move_of_a_search_that_was_stopped_is_a_line_of_its_own(
    code: str, position: str, nodes: int
) -> None:
    said = ask(BOT, code, f"fen {position}", f"go nodes {nodes}")
    lines = [info for info in infos(said) if info.pv]
    assert lines[-1].pv == (best_move(said),)
    assert lines[-2].pv[0] != best_move(said)


def test_a_loss_among_the_candidates_makes_it_look_at_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given nothing but a candidate that loses, it finds a move that does not."""
    guide = guide_of("dogon-kulei")
    position, bad = next(
        (position, bad)
        for plies in (3, 5, 7)
        for position in late_positions("dogon-kulei", plies, seeds=60)
        if (true_mate(position, 5) or 0) >= 0
        for bad in position.legal_moves()
        if (true_mate(position.play(bad), 3) or 0) > 0
    )

    def candidates(asked: Position) -> Candidates:
        return ([bad], False) if asked == position else guide.candidates(asked)

    monkeypatch.setitem(GUIDES, "dogon-kulei", Guide(candidates, guide.winning_move))
    said = ask(BOT, "dogon-kulei", f"fen {position}", "go depth 4")
    assert best_move(said) != bad
    scores = [info.score for info in infos(said) if info.score is not None]
    assert scores
    assert all(abs(score.centipawns or 0) < DECIDED for score in scores), "an unproven loss is no score"


def test_the_third_occurrence_is_seen_to_end_the_game() -> None:
    """Black's last move of the round ends the game by repetition, and counting makes it his."""
    played = f"fen {REPEATED} moves {REPEATING} e2- {REPEATING}"
    said = ask(BOT, "dogon-kulei", played, "go depth 3")
    score = told_score(said).score
    assert score is not None
    assert (best_move(said), score.mate) == ("e2-", 1)


def test_the_ply_limit_is_seen_coming() -> None:
    """One ply before the limit White, behind in the store but not at home, takes a win by counting."""
    position = f"fen 0,1,0,0,0,0/0,0,12,12,0,0 w 11 12 - - {GAMES['dogon-kulei'].ply_limit - 2}"
    score = told_score(ask(BOT, "dogon-kulei", position, "go depth 4")).score
    assert score is not None
    assert score.mate == 2
