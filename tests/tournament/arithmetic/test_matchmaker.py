"""The properties of the matchmaker that its docstring promises."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import pytest
import trueskill
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engines.arithmetic.ratings import SETTLED_SIGMA, Rating, ladder_scale
from engines.rules.base import Result
from tournament.arithmetic.matchmaker import (
    Candidate,
    DrawnPair,
    can_play,
    draw_pairs,
    is_uniform,
    log_quality,
)

RATINGS = st.builds(Rating, st.floats(-20, 70), st.floats(0.3, 9))
OWNERS = st.one_of(st.none(), st.integers(1, 4))
NUMBERS = st.integers(41, 10**6)
"""Pair numbers greater than those in ``CANDIDATES``."""
CANDIDATES = st.lists(
    st.tuples(OWNERS, RATINGS, st.integers(0, 200), st.one_of(st.none(), st.integers(0, 40))), max_size=12
).map(lambda rows: [Candidate(version, *row) for version, row in enumerate(rows, start=1)])

PATIENT = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""Hundreds of pairs are drawn in an example."""


def settled(version: int, *, owner: int | None = None, mu: float = 25.0) -> Candidate:
    """A version with a new owner, unless one is given."""
    return Candidate(version, version if owner is None else owner, Rating(mu, 1.0), 100, 0)


def new(version: int, *, owner: int | None = None, mu: float = 25.0) -> Candidate:
    return Candidate(version, version if owner is None else owner, Rating(mu, 25 / 3), 0, 0)


def of_site(candidate: Candidate) -> Candidate:
    return replace(candidate, owner=None)


def count_pairs(pairs: Sequence[DrawnPair]) -> Counter[frozenset[int]]:
    return Counter(frozenset((pair.first, pair.second)) for pair in pairs)


@given(CANDIDATES, NUMBERS, st.integers(0, 2**31))
@PATIENT
def test_one_owner_s_bots_never_meet_unless_the_site_is_alone(
    candidates: list[Candidate], number: int, seed: int
) -> None:
    by_version = {candidate.version: candidate for candidate in candidates}
    is_alone = all(candidate.owner is None for candidate in candidates)
    for pair in draw_pairs(candidates, number, 20, seed):
        first, second = by_version[pair.first], by_version[pair.second]
        assert first.version != second.version
        if is_alone:
            assert first.is_new or second.is_new
        else:
            assert first.owner != second.owner


@given(CANDIDATES, NUMBERS, st.integers(0, 2**31))
@PATIENT
def test_a_pair_is_drawn_exactly_if_two_bots_may_meet(
    candidates: list[Candidate], number: int, seed: int
) -> None:
    pairs = draw_pairs(candidates, number, 3, seed)
    playable = can_play(candidates)
    assert [pair.number for pair in pairs] == ([number, number + 1, number + 2] if playable else [])
    assert {version for pair in pairs for version in (pair.first, pair.second)} <= playable


@given(CANDIDATES, NUMBERS, st.integers(0, 2**31), st.randoms())
@PATIENT
def test_a_pair_depends_on_seed_number_and_bots_alone(
    candidates: list[Candidate], number: int, seed: int, source: random.Random
) -> None:
    pairs = draw_pairs(candidates, number, 5, seed)
    shuffled = source.sample(candidates, len(candidates))
    assert draw_pairs(shuffled, number, 5, seed) == pairs
    assert draw_pairs(candidates, number, 2, seed) == pairs[:2]


@given(CANDIDATES, NUMBERS, st.integers(0, 2**31))
@PATIENT
def test_everybody_who_has_an_opponent_plays_at_a_guaranteed_pace(
    candidates: list[Candidate], number: int, seed: int
) -> None:
    window = 4 * len(candidates) + 4
    pairs = draw_pairs(candidates, number, 3 * window, seed)
    for start in range(0, len(pairs) - window + 1, window // 2):
        seen = {v for pair in pairs[start : start + window] for v in (pair.first, pair.second)}
        assert seen == can_play(candidates)


def test_the_pace_holds_in_a_large_field_with_many_newcomers() -> None:
    candidates = [new(version) if version % 3 else settled(version, mu=40) for version in range(1, 61)]
    window = 4 * len(candidates) + 4
    pairs = draw_pairs(candidates, 1, 3 * window, 1)
    for start in range(0, 2 * window, 10):
        assert {v for p in pairs[start : start + window] for v in (p.first, p.second)} == set(range(1, 61))


@pytest.mark.parametrize("start", [0, 1, 7, 123_456])
def test_three_of_ten_pairs_are_drawn_uniformly(start: int) -> None:
    for length in (10, 100, 1_000):
        assert sum(is_uniform(number) for number in range(start, start + length)) * 10 == 3 * length


def test_a_uniform_draw_gives_every_pair_that_may_meet_the_same_chance() -> None:
    """Chi-square over pairs that differ in everything but their right to meet."""
    candidates = [
        settled(1, owner=7, mu=0),
        settled(2, owner=7, mu=50),
        new(3, owner=7),
        settled(4, owner=8, mu=25),
        new(5, owner=8),
        of_site(settled(6, mu=90)),
    ]
    numbers = [number for number in range(40_000) if is_uniform(number)]
    drawn = count_pairs([draw_pairs(candidates, number, 1, 5)[0] for number in numbers])
    allowed = {frozenset(pair) for pair in [(1, 4), (1, 5), (2, 4), (2, 5), (3, 4), (3, 5)]}
    allowed |= {frozenset((other, 6)) for other in range(1, 6)}
    assert set(drawn) == allowed
    expected = len(numbers) / len(allowed)
    assert sum((count - expected) ** 2 / expected for count in drawn.values()) < 29.6  # 0.1 % of chi² with 10


def test_at_least_three_tenths_of_a_settled_bot_s_games_have_a_random_opponent() -> None:
    """Checked for the bot at the end of the ladder, where most opponents are far away."""
    candidates = [settled(version, mu=2.0 * version) for version in range(1, 21)]
    pairs = draw_pairs(candidates, 1, 20_000, 3)
    far = sum(1 for pair in pairs if abs(pair.first - pair.second) >= 10)
    share_of_far_pairs = 55 / 190
    assert far / len(pairs) > 0.27 * share_of_far_pairs


def test_directed_pairs_are_of_about_equal_strength() -> None:
    candidates = [settled(version, mu=2.0 * version) for version in range(1, 21)]
    pairs = [pair for pair in draw_pairs(candidates, 1, 10_000, 4) if not is_uniform(pair.number)]
    gaps = [2.0 * abs(pair.first - pair.second) for pair in pairs]
    assert sum(gaps) / len(gaps) < 6 < 2.0 * 20 / 3  # the mean gap of all pairs


def test_a_new_version_plays_most_of_the_pairs_until_it_has_settled() -> None:
    field = [settled(version, mu=20 + version) for version in range(1, 20)]
    pairs = draw_pairs([*field, new(20)], 1, 1_000, 6)
    share = sum(20 in (pair.first, pair.second) for pair in pairs) / len(pairs)
    assert 0.4 < share < 0.8
    pairs = draw_pairs([*field, settled(20)], 1, 1_000, 6)
    assert sum(20 in (pair.first, pair.second) for pair in pairs) / len(pairs) < 0.2


def test_the_least_known_of_two_new_versions_seeks_more_often() -> None:
    field = [settled(version) for version in range(1, 9)]
    nearly = replace(new(9), rating=Rating(25, 1.6))
    counts = Counter(
        version
        for pair in draw_pairs([*field, nearly, new(10)], 1, 2_000, 7)
        for version in (pair.first, pair.second)
    )
    assert counts[10] > 2 * counts[9]


def play_ladder(
    skills: dict[int, float], candidates: Sequence[Candidate], pairs: int, seed: int
) -> dict[int, Candidate]:
    """Pairs drawn and played one after the other, results by the skills, ratings by the ladder's fold."""
    now, source, scale = {one.version: one for one in candidates}, random.Random(seed), ladder_scale("dualma")
    for number in range(1, pairs + 1):
        (pair,) = draw_pairs(list(now.values()), number, 1, seed)
        for white, black in ((pair.first, pair.second), (pair.second, pair.first)):
            gap = source.gauss(skills[white] - skills[black], math.sqrt(2) * 25 / 6)
            result = Result.WHITE_WINS if gap > 0 else Result.BLACK_WINS
            ratings = scale.rate(now[white].rating, now[black].rating, result)
            for version, rating in zip((white, black), ratings, strict=True):
                one = now[version]
                now[version] = replace(one, rating=rating, games=one.games + 1, last=number)
    return now


@pytest.mark.parametrize("seed", range(5))
def test_new_versions_converge_first(seed: int) -> None:
    """Two newcomers of a field of thirty are known after fifty pairs, when the field has had few."""
    skills = {version: 15 + 20 * version / 30 for version in range(1, 33)} | {31: 30.0, 32: 18.0}
    field = [replace(settled(version), rating=Rating(skills[version], 1.0)) for version in range(1, 31)]
    after = play_ladder(skills, [*field, new(31), new(32)], 50, seed)
    for version in (31, 32):
        assert after[version].rating.sigma < 1.3 * SETTLED_SIGMA
        assert abs(after[version].rating.mu - skills[version]) < 4 * after[version].rating.sigma
    others = [after[version].games - 100 for version in range(1, 31)]
    assert max(others) < min(after[version].games for version in (31, 32))


def test_two_bots_of_one_owner_and_one_bot_alone_are_not_paired() -> None:
    for candidates in ([], [new(1)], [new(1, owner=5), new(2, owner=5)], [of_site(new(1))]):
        assert draw_pairs(candidates, 1, 10, 1) == []
        assert can_play(candidates) == set()


def test_the_site_s_own_bots_stop_once_they_are_settled_and_alone() -> None:
    known = [of_site(settled(version)) for version in (1, 2)]
    assert draw_pairs(known, 1, 10, 1) == []
    pairs = count_pairs(draw_pairs([*known, of_site(new(3))], 1, 60, 1))
    assert set(pairs) == {frozenset((1, 3)), frozenset((2, 3))}
    with_guest = count_pairs(draw_pairs([*known, of_site(new(3)), settled(4)], 1, 60, 1))
    assert set(with_guest) == {frozenset((site, 4)) for site in (1, 2, 3)}


def test_a_bot_far_from_all_others_still_finds_the_nearest() -> None:
    candidates = [settled(1, mu=-20_000), settled(2, mu=0), settled(3, mu=1)]
    pairs = count_pairs(draw_pairs(candidates, 1, 50, 1))
    assert pairs[frozenset((1, 2))] > 0


@given(RATINGS, RATINGS)
@PATIENT
def test_the_match_quality_is_trueskill_s(one: Rating, other: Rating) -> None:
    environment = trueskill.TrueSkill(mu=25, sigma=25 / 3, beta=25 / 6)
    rated = [(environment.create_rating(r.mu, r.sigma),) for r in (one, other)]
    assert math.exp(log_quality(one, other)) == pytest.approx(environment.quality(rated), rel=1e-9, abs=1e-12)
