"""The match rules, literally: a game ends by its rules, then by repetition, then by the ply limit."""

from __future__ import annotations

from tests.literal.base import LiteralGame, LiteralOutcome


class LiteralMatch:
    def __init__(self, start: LiteralGame, ply_limit: int) -> None:
        self.position = start
        self.ply_limit = ply_limit
        # the start position is judged too and is a first occurrence
        self.seen = [self.all_but_the_ply()]

    def all_but_the_ply(self) -> str:
        """The same board, side to move and every field of the position string except the ply."""
        return self.position.text().rsplit(" ", 1)[0]

    def play(self, token: str) -> None:
        self.position = self.position.play(token)
        self.seen.append(self.all_but_the_ply())

    def outcome(self) -> LiteralOutcome | None:
        # The order of endings is: the rules of the game ...
        by_rules = self.position.outcome()
        if by_rules is not None:
            return by_rules
        # ... then repetition: a position that occurs for the third time ...
        if self.seen.count(self.all_but_the_ply()) >= 3:
            return self.position.outcome_by_match_rule("repetition")
        # ... then the ply limit, reached when the position string's ply field is not less than it.
        if self.position.ply >= self.ply_limit:
            return self.position.outcome_by_match_rule("ply-limit")
        return None
