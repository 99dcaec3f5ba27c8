"""Compares the rules with their literal second implementation."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from engines.rules import IllegalMove, Outcome, Position, PositionError, Reason
from tests.literal.base import LiteralGame, LiteralOutcome, Refused

MATCH_RULES = (Reason.REPETITION, Reason.PLY_LIMIT)


def as_literal(outcome: Outcome) -> LiteralOutcome | None:
    if not outcome.decided:
        return None
    return str(outcome.result), str(outcome.reason), outcome.white_score, outcome.black_score


def result_in_words(outcome: LiteralOutcome | None) -> str:
    return "" if outcome is None else " ".join(str(part) for part in outcome if part is not None)


def assert_same(fast: Position, slow: LiteralGame) -> list[str]:
    """Both agree on the string, the outcome and the legal moves; returns the legal tokens, sorted."""
    text = slow.text()
    assert str(fast) == text
    assert as_literal(fast.outcome()) == slow.outcome(), text
    for reason in MATCH_RULES:
        assert as_literal(fast.outcome_by_match_rule(reason)) == slow.outcome_by_match_rule(str(reason)), text
    listed = list(fast.legal_moves())
    tokens = sorted(listed)
    assert tokens == sorted(slow.legal()), text
    assert fast.count_moves() == len(tokens), text
    for index in range(0, len(listed), 1 + len(listed) // 5):
        assert fast.move_at(index) == listed[index], text
        assert fast.play_at(index) == (listed[index], fast.play(listed[index])), text
    return tokens


def assert_same_verdict(fast: Position, token: str, legal: Sequence[str]) -> None:
    """``token`` is legal and played, or refused with the documented error."""
    where = (str(fast), token)
    assert fast.is_legal(token) == (token in legal), where
    try:
        fast.play(token)
    except IllegalMove:
        assert token not in legal, where
    else:
        assert token in legal, where


def assert_same_refusal(fast: type[Position], slow: type[LiteralGame], text: str) -> None:
    """Both parse ``text`` and format it again, or both refuse it."""
    try:
        read = str(fast.parse(text))
    except PositionError:
        read = None
    try:
        literally = slow.parse(text).text()
    except Refused:
        literally = None
    assert read == literally, text
    assert read in (None, text)


def misspelled(tokens: Sequence[str], rng: random.Random) -> Iterator[str]:
    """Slightly wrong tokens: a character changed, dropped or added, or parts of two tokens joined."""
    for token in tokens:
        place = rng.randrange(len(token))
        yield token[:place] + rng.choice("abcdefghiDRdr0123456789+-:_#=") + token[place + 1 :]
        yield token[:place] + token[place + 1 :]
        yield token[:place] + token[place:].swapcase()
        yield rng.choice(
            [f"{token} ", f" {token}", f"{token}\n", f"{token}:{token}", f"{token}-{token[-2:]}"]
        )
        for joint in ":-":
            yield token.partition(joint)[0]
            yield joint.join(reversed(token.split(joint)))
            yield token.rpartition(joint)[0] + joint + rng.choice(tokens).rpartition(joint)[2]
