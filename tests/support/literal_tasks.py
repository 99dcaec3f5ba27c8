"""Which moves solve a task, found in the plainest way with the literal rules."""

from __future__ import annotations

import re

from engines.tasks import Kind
from tests.literal.base import LiteralGame, win_for


def literal_solve(kind: Kind, game: LiteralGame) -> set[str]:
    """All moves that solve a task of this kind."""
    after = {token: game.play(token) for token in game.legal()}
    if kind is Kind.CAPTURE:
        most = max(captured(game, one) for one in after.values())
        return {token for token, one in after.items() if captured(game, one) == most > 0}
    if kind is Kind.FORCE_PASS:
        return {token for token, one in after.items() if one.legal() == ["pass"]}
    if kind is Kind.WIN_IN_ONE:
        return {token for token, one in after.items() if won(one, game.side)}
    if kind is Kind.DEFEND:
        return {token for token, one in after.items() if not can_win(one) and not won(one, one.side)}
    return {token for token, one in after.items() if one.outcome() is None and cannot_escape(one, game.side)}


def cannot_escape(game: LiteralGame, winner: str) -> bool:
    replies = (game.play(token) for token in game.legal())
    return all(won(one, winner) or can_win(one) for one in replies)


def can_win(game: LiteralGame) -> bool:
    """Whether the side to move wins with one move."""
    return any(won(game.play(token), game.side) for token in game.legal())


def won(game: LiteralGame, side: str) -> bool:
    outcome = game.outcome()
    return outcome is not None and outcome[0] == win_for(side)


def captured(before: LiteralGame, after: LiteralGame) -> int:
    """What the mover of ``before`` captured: seeds in his store, or stones of the opponent off the board."""
    fields, later = before.text().split(), after.text().split()
    if "w" in fields[0] or "b" in fields[0]:
        stone = "b" if before.side == "w" else "w"
        return stones(fields[0], stone) - stones(later[0], stone)
    store = 2 if before.side == "w" else 3
    return int(later[store]) - int(fields[store])


def stones(board: str, colour: str) -> int:
    return sum(int(number) for number in re.findall(rf"(\d+){colour}", board))
