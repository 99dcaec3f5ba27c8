"""Swiss rounds: everybody plays every round, against somebody new who stands about as well.

A round is the cheapest way to seat everybody. What a pair costs is written down in ``pair_cost`` and
``bye_cost``; the costs of a round are added up criterion by criterion and compared like words in a
dictionary, so that no gain in a later criterion outweighs a loss in an earlier one. The cheapest
round is a matching of maximum weight (J. Edmonds, "Paths, trees, and flowers", 1965), found by networkx.

Each meeting is played with both colours, so nothing has to be balanced between rounds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from workers.pairing.berger import Pair
from workers.pairing.met import Met, find_byes

MAX_PLAYERS = 400
"""A matching takes the cube of their number at worst: some seconds for these."""
CANDIDATES = 24
"""Opponents considered at first for each player of a large field, the cheapest ones."""
BYE = 0
"""Stands for the opponent of whoever rests."""

Cost = tuple[int, ...]
"""What a pair costs by each criterion, the gravest first."""


@dataclass(frozen=True, slots=True)
class SwissPlayer:
    """A player before a round: what he has scored, whom he met, where he stands."""

    player: int
    half_points: int
    """Twice the points."""
    met: Counter[int]
    """How often each opponent was met; ``BYE`` for rounds at rest."""
    place: int
    """From 0, by points and then by seed."""
    place_in_group: int
    """From 0, among those with the same points."""
    group: int
    """How many have the same points."""


def swiss_round(players: int, met: Sequence[Met], bye_points: int) -> list[Pair]:
    """The next round as (first, second), the leaders first; with an odd number one is in no pair and rests.

    A bye counts ``bye_points``: as many as a meeting has games. The better placed player is first in odd
    rounds, second in even ones. Raises ``ValueError`` for fewer than two players or too many.
    """
    if not 2 <= players <= MAX_PLAYERS:
        raise ValueError(f"a Swiss has from 2 to {MAX_PLAYERS} players, not {players}")
    seats = take_seats(players, met, bye_points)
    chosen = _cheapest(seats)
    number = 1 + max((one.round for one in met), default=0)
    ordered = [(a.player, b.player) for a, b in sorted(chosen, key=lambda pair: pair[0].place)]
    return ordered if number % 2 else [(second, first) for first, second in ordered]


def swiss_points(players: int, met: Sequence[Met], bye_points: int) -> dict[int, float]:
    """Points by player, byes included."""
    points = dict.fromkeys(range(1, players + 1), 0.0)
    for one in met:
        points[one.first] += one.first_points
        points[one.second] += one.second_points
    for player, byes in find_byes(players, met).items():
        points[player] += bye_points * len(byes)
    return points


def take_seats(players: int, met: Sequence[Met], bye_points: int) -> list[SwissPlayer]:
    """The players in the order of their places."""
    points = swiss_points(players, met, bye_points)
    opponents: dict[int, Counter[int]] = {player: Counter() for player in points}
    for one in met:
        opponents[one.first][one.second] += 1
        opponents[one.second][one.first] += 1
    for player, byes in find_byes(players, met).items():
        opponents[player][BYE] = len(byes)
    order = sorted(points, key=lambda player: (-points[player], player))
    groups = Counter(points.values())
    filled: Counter[float] = Counter()
    seats = []
    for place, player in enumerate(order):
        mine = points[player]
        seats.append(
            SwissPlayer(player, round(2 * mine), opponents[player], place, filled[mine], groups[mine])
        )
        filled[mine] += 1
    return seats


def pair_cost(better: SwissPlayer, worse: SwissPlayer) -> Cost:
    """What it costs that two meet, by criterion; the second and third are those of ``bye_cost``.

    First, how often they have met. Fourth, the square of the difference of their points, in halves.
    Fifth, with equal points, how far they are from being half their group apart, so that its first
    half meets its second; else how many places lie between them; the square of it, too.
    """
    if better.half_points == worse.half_points:
        stray = worse.place_in_group - better.place_in_group - better.group // 2
    else:
        stray = worse.place - better.place - 1
    gap = better.half_points - worse.half_points
    return (better.met[worse.player], 0, 0, gap * gap, stray * stray)


def bye_cost(seat: SwissPlayer, players: int) -> Cost:
    """What it costs that one rests: second, how often he did; third, how many stand below him."""
    return (0, seat.met[BYE], players - 1 - seat.place, 0, 0)


def _cheapest(seats: Sequence[SwissPlayer]) -> list[tuple[SwissPlayer, SwissPlayer]]:
    """The pairs of the cheapest round, the better placed first.

    A large field is first tried with each player's cheapest new opponents alone, which is
    many times faster; if they do not do for everybody, all are considered.
    """
    costs = {
        (a, b): pair_cost(seats[a], seats[b]) for a in range(len(seats)) for b in range(a + 1, len(seats))
    }
    if (
        len(seats) > 2 * CANDIDATES
        and (pairs := _match(seats, _cheap_and_new(len(seats), costs))) is not None
    ):
        return pairs
    pairs = _match(seats, costs)
    assert pairs is not None, "a complete graph seats everybody"
    return pairs


def _cheap_and_new(players: int, costs: dict[Pair, Cost]) -> dict[Pair, Cost]:
    by_player: list[list[tuple[Cost, Pair]]] = [[] for _ in range(players)]
    for pair, cost in costs.items():
        if cost[0] == 0:
            for place in pair:
                by_player[place].append((cost, pair))
    return {pair: cost for offers in by_player for cost, pair in sorted(offers)[:CANDIDATES]}


def _match(
    seats: Sequence[SwissPlayer], costs: dict[Pair, Cost]
) -> list[tuple[SwissPlayer, SwissPlayer]] | None:
    """The cheapest way to seat everybody by these pairs, None if there is no way."""
    from networkx import Graph, max_weight_matching  # half a second that only Swiss events spend

    offers = dict(costs)
    if len(seats) % 2:  # the place after the last is the bye's
        offers |= {(seat.place, len(seats)): bye_cost(seat, len(seats)) for seat in seats}
    radix = 1 + max(max(cost) for cost in offers.values()) * len(seats)
    graph = Graph()
    graph.add_nodes_from(range(len(seats) + len(seats) % 2))
    graph.add_weighted_edges_from((a, b, -_as_number(cost, radix)) for (a, b), cost in offers.items())
    matched = [sorted(edge) for edge in max_weight_matching(graph, maxcardinality=True)]
    if 2 * len(matched) < graph.number_of_nodes():
        return None
    return [(seats[a], seats[b]) for a, b in matched if b < len(seats)]


def _as_number(cost: Iterable[int], radix: int) -> int:
    """Costs as one number of which each digit is a criterion: a round's sum never carries over."""
    number = 0
    for digit in cost:
        number = number * radix + digit
    return number
