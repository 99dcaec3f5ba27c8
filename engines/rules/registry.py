"""The registry of games and ladders, used by every generic tool and test."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from engines.rules import dogon, dualma, duovallis, duploline
from engines.rules.base import Position, Side, UnknownGame, quote


@dataclass(frozen=True, slots=True)
class Variant:
    """A game on one ladder.

    ``code`` is the ladder's code, the ``UGI_Variant`` value and the record's
    ``Game`` header. ``first`` moves first from the initial position (p1
    of the protocol). ``ply_limit`` is the default. ``rules`` is the rules page,
    in Markdown; ``credit`` names the inventor, in one line. ``draw_probability`` is the expected share of
    draws between equals; a change of it changes all ratings. ``typical_plies`` is the usual length of a
    game.
    """

    code: str
    name: str
    position: type[Position]
    first: Side
    ply_limit: int
    rules: str
    credit: str
    draw_probability: float
    typical_plies: int


_LADDERS: Final = (
    Variant(
        code="duovallis",
        name="Duovallis",
        position=duovallis.DuovallisPosition,
        first=Side.WHITE,
        ply_limit=500,
        rules=duovallis.__doc__ or "",
        credit=duovallis.CREDIT,
        draw_probability=0.05,
        typical_plies=90,
    ),
    Variant(
        code="dualma",
        name="DuAlma",
        position=dualma.DualmaPosition,
        first=Side.BLACK,
        ply_limit=400,
        rules=dualma.__doc__ or "",
        credit=dualma.CREDIT,
        draw_probability=0.10,
        typical_plies=70,
    ),
    Variant(
        code="dogon-kulei",
        name="Dogon kulei",
        position=dogon.KuleiPosition,
        first=Side.WHITE,
        ply_limit=500,
        rules=dogon.__doc__ or "",
        credit=dogon.CREDIT,
        draw_probability=0.05,
        typical_plies=60,
    ),
    Variant(
        code="dogon-gagara",
        name="Dogon gagara",
        position=dogon.GagaraPosition,
        first=Side.WHITE,
        ply_limit=700,
        rules=dogon.__doc__ or "",
        credit=dogon.CREDIT,
        draw_probability=0.05,
        typical_plies=110,
    ),
    Variant(
        code="duploline",
        name="DuploLine",
        position=duploline.DuplolinePosition,
        first=Side.WHITE,
        ply_limit=200,
        rules=duploline.__doc__ or "",
        credit=duploline.CREDIT,
        draw_probability=0.10,
        typical_plies=16,
    ),
)

GAMES: Final[dict[str, Variant]] = {game.code: game for game in _LADDERS}
"""Every game by its code, in the order of the ladders."""


def find_game(code: str) -> Variant:
    """The game of this code, spelled exactly; raises ``UnknownGame`` naming the known ones."""
    game = GAMES.get(code)
    if game is None:
        raise UnknownGame(f"unknown game {quote(code)}: the games are {', '.join(GAMES)}")
    return game
