"""The turning points of a finished game: the few plies that a reader looks at first.

A pure function of the replay. Each kind has one rule; scores are compared in hundredths of expected points,
as the chart draws them:

* **Disagreement**: the first time that the last scores of both engines cannot both be right, because each
  engine sees itself ahead, or each behind, by ``CLEAR`` or more.
* **Behind for good**: the first score of the loser's engine since which it never saw itself level or ahead.
* **Announcement**: the first win that an engine announces.
* **Swing**: a score that differs by ``SWING`` or more from the one that the same engine gave a move before.
* **Capture**: a move that captures ``MANY`` or more.

The first three are always shown. Swings and captures fill the rest, the greatest first; one within ``NEAR``
plies of what is shown already is left out, because it tells of the same event.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from engines.records import format_score, turned_at
from engines.rules.base import Side
from tournament.views.games.chart import hundredths
from tournament.views.games.replay import Replay, ShownMove

MOST: Final = 6
"""Turning points of a game."""
CLEAR: Final = 10
"""Hundredths more or less than half a point."""
SWING: Final = 25
"""Hundredths of a point."""
MANY: Final = 6
"""Seeds, or stones of the opponent; about one capture of twelve in random play."""
NEAR: Final = 2


@dataclass(frozen=True, slots=True)
class TurningPoint:
    """What happened at a ply (from 1), as one sentence."""

    ply: int
    text: str


@dataclass(frozen=True, slots=True)
class _Found:
    ply: int
    text: str
    size: float
    """The size from 0 to 1 for swings and captures; more for what is always shown."""


def find_turning_points(replay: Replay, winner: Side | None) -> list[TurningPoint]:
    """At most ``MOST`` turning points of a finished game by ply; ``winner`` is None after a draw."""
    scored = [move for move in replay.moves if move.note.score is not None]
    found = [
        *_disagreement(scored, replay.rules.score_scale),
        *(_behind_for_good(scored, winner.other) if winner is not None else ()),
        *_announcements(scored),
        *_swings(replay),
        *_captures(replay),
    ]
    chosen: list[_Found] = []
    for one in sorted(found, key=lambda one: -one.size):
        near = 0 if one.size > 1 else NEAR
        if len(chosen) < MOST and all(abs(one.ply - other.ply) > near for other in chosen):
            chosen.append(one)
    return [TurningPoint(one.ply, one.text) for one in sorted(chosen, key=lambda one: one.ply)]


def _disagreement(scored: list[ShownMove], scale: float) -> Iterator[_Found]:
    for before, move in pairwise(scored):
        if move.side is before.side:
            continue
        for sign, word in ((1, "ahead"), (-1, "behind")):
            if all(sign * _lead(one, scale) >= CLEAR for one in (before, move)):
                first, second = (f"{_name(one.side)} {_written(one)}" for one in (before, move))
                yield _Found(move.ply, f"Both engines see themselves {word}: {first}, {second}.", 4)
                return


def _behind_for_good(scored: list[ShownMove], loser: Side) -> Iterator[_Found]:
    own = [move for move in scored if move.side is loser]
    scores = [move.note.score for move in own if move.note.score is not None]
    turned = turned_at([one.centipawns if one.mate is None else one.mate or -1 for one in scores])
    if turned is not None:
        before, move = own[turned - 1 : turned + 1]
        change = f"from {_written(before)} to {_written(move)}"
        yield _Found(move.ply, f"{_name(loser)}'s score falls {change} and stays below even.", 3)


def _announcements(scored: list[ShownMove]) -> Iterator[_Found]:
    for side in Side:
        for move in scored:
            mate = move.note.score.mate if move.note.score else None
            if move.side is side and mate is not None and mate > 0:
                plies = f"{mate} {'ply' if mate == 1 else 'plies'}"
                yield _Found(move.ply, f"{_name(side)}'s engine announces a win in {plies}.", 2)
                break


def _swings(replay: Replay) -> Iterator[_Found]:
    for before, reply, move in zip(replay.moves, replay.moves[1:], replay.moves[2:], strict=False):
        if before.note.score is None or move.note.score is None:
            continue
        change = _lead(move, replay.rules.score_scale) - _lead(before, replay.rules.score_scale)
        if abs(change) >= SWING:
            verb = "rises" if change > 0 else "falls"
            scores = f"from {_written(before)} to {_written(move)}"
            text = f"After {reply.token} {_name(move.side)}'s score {verb} {scores}."
            yield _Found(move.ply, text, abs(change) / 100)


def _captures(replay: Replay) -> Iterator[_Found]:
    unit = replay.rules.score_unit or "stone"
    for move, before, after in zip(replay.moves, replay.positions, replay.positions[1:], strict=False):
        captured = before.count_captured(after)
        if captured >= MANY:
            text = f"{_name(move.side)} plays {move.token} and captures {captured} {unit}s."
            yield _Found(move.ply, text, min(1.0, captured / (4 * MANY)))


def _lead(move: ShownMove, scale: float) -> int:
    """What its engine expected beyond half a point; 0 without a score."""
    expected = hundredths(move.note.score, Side.WHITE, scale)
    return 0 if expected is None else expected - 50


def _written(move: ShownMove) -> str:
    return format_score(move.note.score)


def _name(side: Side) -> str:
    return side.name.title()
