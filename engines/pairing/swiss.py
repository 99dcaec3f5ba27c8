"""Swiss rounds: every player plays in every round, against a new opponent with about as many points.

A round is the pairing of all players with the lowest cost. ``pair_cost`` and ``bye_cost`` define the cost of
a pair by several criteria. The costs of a round are added for each criterion and compared lexicographically,
so an earlier criterion always outweighs all later ones. The cheapest round is a matching of maximum weight
(J. Edmonds, "Paths, trees, and flowers", 1965), which networkx computes.

Each meeting is played with both colours, so colours need not be balanced between rounds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from engines.pairing.berger import Pair
from engines.pairing.results import NO_ABSENCES, Absences, MeetingResult, find_byes

MAX_PLAYERS = 400
"""The most players of a Swiss. The worst time grows with the cube of the players; this many take some
seconds."""
CANDIDATES = 24
"""The number of cheapest opponents that are considered first for each player of a large field."""
BYE = 0
"""The number of the opponent in a bye."""

Cost = tuple[int, ...]
"""The cost of a pair for each criterion, the most important first."""


@dataclass(frozen=True, slots=True)
class SwissPlayer:
    """A player before a round: points, opponents and place."""

    player: int
    half_points: int
    """Twice the points."""
    met: Counter[int]
    """The number of meetings with each opponent; ``BYE`` counts the byes."""
    place: int
    """The place by points and then by seed, from 0."""
    place_in_group: int
    """The place among the players with the same points, from 0."""
    group: int
    """The number of players with the same points."""


def swiss_round(
    players: int, met: Sequence[MeetingResult], bye_points: int, absent: Absences = NO_ABSENCES
) -> list[Pair]:
    """The next round as (first, second), the leaders first; with an odd number one player is left out.

    That player has a bye, which counts ``bye_points``: the number of games of a meeting. The better placed
    player is first in odd rounds, second in even ones. Who is absent from this round is neither paired nor
    has a bye; with fewer than two others there is no round: the list is empty. Raises ``ValueError`` for
    fewer than two players or more than ``MAX_PLAYERS``.
    """
    if not 2 <= players <= MAX_PLAYERS:
        raise ValueError(f"a Swiss has from 2 to {MAX_PLAYERS} players, not {players}")
    number = next_round(met)
    ranked = rank_players(players, met, bye_points, absent, without=absent.get(number, ()))
    if len(ranked) < 2:
        return []
    chosen = _cheapest_round(ranked)
    ordered = [(a.player, b.player) for a, b in sorted(chosen, key=lambda pair: pair[0].place)]
    return ordered if number % 2 else [(second, first) for first, second in ordered]


def next_round(met: Iterable[MeetingResult]) -> int:
    """The number of the round that follows these meetings."""
    return 1 + max((one.round for one in met), default=0)


def swiss_points(
    players: int, met: Sequence[MeetingResult], bye_points: int, absent: Absences = NO_ABSENCES
) -> dict[int, float]:
    """The points of each player, including byes."""
    points = dict.fromkeys(range(1, players + 1), 0.0)
    for one in met:
        points[one.first] += one.first_points
        points[one.second] += one.second_points
    for player, byes in find_byes(players, met, absent).items():
        points[player] += bye_points * len(byes)
    return points


def rank_players(
    players: int,
    met: Sequence[MeetingResult],
    bye_points: int,
    absent: Absences = NO_ABSENCES,
    without: Collection[int] = (),
) -> list[SwissPlayer]:
    """The players in the order of their places, as if those in ``without`` did not exist."""
    points = swiss_points(players, met, bye_points, absent)
    opponents: dict[int, Counter[int]] = {player: Counter() for player in points}
    for one in met:
        opponents[one.first][one.second] += 1
        opponents[one.second][one.first] += 1
    for player, byes in find_byes(players, met, absent).items():
        opponents[player][BYE] = len(byes)
    order = sorted(points.keys() - set(without), key=lambda player: (-points[player], player))
    groups = Counter(points[player] for player in order)
    filled: Counter[float] = Counter()
    ranked = []
    for place, player in enumerate(order):
        mine = points[player]
        ranked.append(
            SwissPlayer(player, round(2 * mine), opponents[player], place, filled[mine], groups[mine])
        )
        filled[mine] += 1
    return ranked


def pair_cost(better: SwissPlayer, worse: SwissPlayer) -> Cost:
    """The cost of a pair for each criterion; ``bye_cost`` has the second and third.

    First: how many times the two have met. Fourth: the square of the difference of their half points. Fifth,
    with equal points: the square of how far their distance is from half the group, so that the first half
    of a group meets the second; else the square of the number of places between them.
    """
    if better.half_points == worse.half_points:
        stray = worse.place_in_group - better.place_in_group - better.group // 2
    else:
        stray = worse.place - better.place - 1
    gap = better.half_points - worse.half_points
    return (better.met[worse.player], 0, 0, gap * gap, stray * stray)


def bye_cost(player: SwissPlayer, players: int) -> Cost:
    """The cost of a bye. Second: the player's earlier byes. Third: the number of players below."""
    return (0, player.met[BYE], players - 1 - player.place, 0, 0)


def _cheapest_round(ranked: Sequence[SwissPlayer]) -> list[tuple[SwissPlayer, SwissPlayer]]:
    """The pairs of the cheapest round, in each the better placed player first.

    For a large field only each player's cheapest new opponents are tried first, which is many times faster;
    if that does not pair all players, all opponents are considered.
    """
    costs = {
        (a, b): pair_cost(ranked[a], ranked[b]) for a in range(len(ranked)) for b in range(a + 1, len(ranked))
    }
    if (
        len(ranked) > 2 * CANDIDATES
        and (pairs := _match(ranked, _candidates(len(ranked), costs))) is not None
    ):
        return pairs
    pairs = _match(ranked, costs)
    assert pairs is not None, "a complete graph has a perfect matching"
    return pairs


def _candidates(players: int, costs: dict[Pair, Cost]) -> dict[Pair, Cost]:
    """The ``CANDIDATES`` cheapest pairs of each player with opponents not met yet."""
    by_player: list[list[tuple[Cost, Pair]]] = [[] for _ in range(players)]
    for pair, cost in costs.items():
        if cost[0] == 0:
            for place in pair:
                by_player[place].append((cost, pair))
    return {pair: cost for offers in by_player for cost, pair in sorted(offers)[:CANDIDATES]}


def _match(
    ranked: Sequence[SwissPlayer], costs: dict[Pair, Cost]
) -> list[tuple[SwissPlayer, SwissPlayer]] | None:
    """The cheapest pairing of all players by these pairs; None if there is none."""
    from networkx import (
        Graph,
        max_weight_matching,
    )  # the import takes half a second, which only Swiss events need

    offers = dict(costs)
    if len(ranked) % 2:  # the place after the last is the bye
        offers |= {(player.place, len(ranked)): bye_cost(player, len(ranked)) for player in ranked}
    radix = 1 + max(max(cost) for cost in offers.values()) * len(ranked)
    graph = Graph()
    graph.add_nodes_from(range(len(ranked) + len(ranked) % 2))
    graph.add_weighted_edges_from((a, b, -_as_number(cost, radix)) for (a, b), cost in offers.items())
    matched = [sorted(edge) for edge in max_weight_matching(graph, maxcardinality=True)]
    if 2 * len(matched) < graph.number_of_nodes():
        return None
    return [(ranked[a], ranked[b]) for a, b in matched if b < len(ranked)]


def _as_number(cost: Iterable[int], radix: int) -> int:
    """A cost as one number with a digit for each criterion; the sum of a round never carries over."""
    number = 0
    for digit in cost:
        number = number * radix + digit
    return number
