"""The registry of games and ladders, used by every generic tool and test."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from engines.rules import dogon, dualma, duovallis, duploline
from engines.rules.base import Position, Reason, Side, UnknownGame, quote


@dataclass(frozen=True, slots=True)
class Variant:
    """A game on one ladder.

    ``code`` is the ladder's code, the ``UGI_Variant`` value and the record's
    ``Game`` header. ``first`` moves first from the initial position (p1
    of the protocol). ``ply_limit`` is the default. ``rules`` is the rules page,
    in Markdown; ``credit`` names the inventor, in one line. ``draw_probability`` is the expected share of
    draws between equals; a change of it changes all ratings. ``typical_plies`` is the usual length of a
    game. ``score_unit`` is what an outcome's scores count, in the singular; "" if the game has none.
    ``picture`` holds the first moves of a game that shows the board well; the home page shows the first
    game of ``GAMES`` that has them.
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
    score_unit: str = ""
    picture: tuple[str, ...] = ()
    rules_version: int = 1
    """Raised by a change after which some recorded games would be illegal or end otherwise."""

    @property
    def family(self) -> str:
        """The name of the game, which several ladders may share."""
        return self.name.split()[0]


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
        picture=("d4:f6", "f5:d5", "e7:e3", "g7:c4", "c3:g6"),
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
        score_unit="seed",
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
        score_unit="seed",
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

ENDINGS: Final[dict[Reason, str]] = {
    Reason.THREE_IN_A_ROW: "three stacks in a row",
    Reason.FOUR_DISCS: "four discs in a row",
    Reason.FOUR_RINGS: "four rings in a row",
    Reason.NO_MOVE: "no legal move was left",
    Reason.SEEDS: "both players would have had to pass",
    Reason.CANNOT_PAY: "a pass could not be paid",
    Reason.BOARD_FULL: "the board is full",
    Reason.NO_ACTION: "no action was possible",
    Reason.REPETITION: "the position occurred for the third time",
    Reason.PLY_LIMIT: "the ply limit was reached",
}
"""For each reason: the clause that tells a reader why the game ended."""


def list_families() -> str:
    """The names of all games as a phrase: ``A, B and C``."""
    *names, last = family_credits()
    return f"{', '.join(names)} and {last}"


def family_credits() -> dict[str, str]:
    """The credit of each game by its family name, in the order of the ladders."""
    return {game.family: game.credit for game in GAMES.values()}


def picture() -> Position:
    """The position after ``Variant.picture``, or a game's initial position if no game has any."""
    game = next((game for game in GAMES.values() if game.picture), _LADDERS[0])
    position: Position = game.position.initial()
    for token in game.picture:
        position = position.play(token)
    return position


def find_game(code: str) -> Variant:
    """The game of this code, spelled exactly; raises ``UnknownGame`` naming the known ones."""
    game = GAMES.get(code)
    if game is None:
        raise UnknownGame(f"unknown game {quote(code)}: the games are {', '.join(GAMES)}")
    return game
