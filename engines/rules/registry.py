"""The registry of games and ladders, used by every generic tool and test."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from engines.rules import dogon, dualma, duovallis, duploline
from engines.rules.base import Position, Reason, Side, UnknownGame, quote


@dataclass(frozen=True, slots=True)
class Traits:
    """What the page that compares the games says of one, in short phrases.

    ``plies`` and ``choices`` are the mean length of a game and the mean number of legal moves, measured over
    120 games of Alphabeta against itself, 0.05 seconds a move, after two random plies.
    """

    board: str
    pieces: str
    turn: str
    end: str
    draw: str
    plies: int
    choices: str


@dataclass(frozen=True, slots=True)
class Variant:
    """A game on one ladder.

    ``code`` is the ladder's code, the ``UGI_Variant`` value and the record's
    ``Game`` header. ``first`` moves first from the initial position (p1
    of the protocol). ``ply_limit`` is the default. ``rules`` is the rules page,
    in Markdown; ``credit`` names the inventor, in one line; ``summary`` is the game in one sentence.
    ``draw_probability`` is the expected share of
    draws between equals; a change of it changes all ratings. ``typical_plies`` is the usual length of a
    game. ``picture`` holds the first moves of a game that shows the board well. ``score_unit`` is what an
    outcome's scores count, in the singular; "" if the game has none. ``score_scale`` is the score of an
    engine, in hundredths, after which it gets 73 % of the points; after a score ``s`` it gets
    ``1 / (1 + e^(-s / score_scale))``. It was fitted to 80 to 120 games of Alphabeta against itself, 0.015
    seconds a move, after six random plies.
    """

    code: str
    name: str
    position: type[Position]
    first: Side
    ply_limit: int
    rules: str
    credit: str
    summary: str
    draw_probability: float
    typical_plies: int
    score_scale: float
    picture: str
    traits: Traits
    score_unit: str = ""
    rules_version: int = 1
    """Raised by a change after which some recorded games would be illegal or end otherwise."""

    @property
    def family(self) -> str:
        """The name of the game, which several ladders may share."""
        return self.name.split()[0]

    def pictured(self) -> Position:
        """The position after the moves of ``picture``."""
        position: Position = self.position.initial()
        for token in self.picture.split():
            position = position.play(token)
        return position


_LADDERS: Final = (
    Variant(
        code="duovallis",
        name="Duovallis",
        position=duovallis.DuovallisPosition,
        first=Side.WHITE,
        ply_limit=500,
        rules=duovallis.__doc__ or "",
        credit=duovallis.CREDIT,
        summary="Sow stones of two colours in two valleys and capture: a player without a legal move loses.",
        draw_probability=0.05,
        typical_plies=90,
        score_scale=600.0,
        picture="b1 e4 c1 d4 e1 b4 f1",
        traits=Traits(
            board="four rows of six holes",
            pieces="80 stones, 40 of each colour",
            turn="sow one hole, lap after lap",
            end="the player to move has no legal move and loses",
            draw="only by repetition or the ply limit",
            plies=35,
            choices="3",
        ),
    ),
    Variant(
        code="dualma",
        name="DuAlma",
        position=dualma.DualmaPosition,
        first=Side.BLACK,
        ply_limit=400,
        rules=dualma.__doc__ or "",
        credit=dualma.CREDIT,
        summary="Place eleven discs each, then climb on each other: three of your stacks in a row win.",
        draw_probability=0.10,
        typical_plies=70,
        score_scale=200.0,
        picture=(
            "d4:f6 f5:d5 e7:e3 g7:c4 c3:g6 g5:d7 c5:e4 d3:f7 f4:g4 d6:c6 e6:h6 d5-e5 f5-e4 "
            "f6-f7 d4-c4 e5-f6 d6-d7 g6-g7"
        ),
        traits=Traits(
            board="a hexagon of 61 cells",
            pieces="11 discs each",
            turn="place a disc of each colour; after eleven turns, move one disc",
            end="three stacks in a row with the own colour on top win",
            draw="only by repetition or the ply limit",
            plies=35,
            choices="2,500 while discs are placed, then 36",
        ),
    ),
    Variant(
        code="dogon-kulei",
        name="Dogon kulei",
        position=dogon.KuleiPosition,
        first=Side.WHITE,
        ply_limit=500,
        rules=dogon.__doc__ or "",
        credit=dogon.CREDIT,
        summary="Sow seeds around two rows of six holes, and capture holes of two and three: more seeds win.",
        draw_probability=0.05,
        typical_plies=60,
        score_scale=450.0,
        picture="c1+ c2- f1- b2+ a1+ a2-",
        traits=Traits(
            board="two rows of six holes",
            pieces="48 seeds of one colour",
            turn="sow one hole, to the left or to the right",
            end="nobody can sow, or a pass cannot be paid: more seeds win",
            draw="if both have the same number of seeds",
            plies=29,
            choices="5",
        ),
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
        summary="Dogon on two rows of eight holes with six seeds each: longer, and with larger captures.",
        draw_probability=0.05,
        typical_plies=110,
        score_scale=1600.0,
        picture="c1+ c2- h1- e2+ f1- h2+",
        traits=Traits(
            board="two rows of eight holes",
            pieces="96 seeds of one colour",
            turn="sow one hole, to the left or to the right",
            end="nobody can sow, or a pass cannot be paid: more seeds win",
            draw="if both have the same number of seeds",
            plies=56,
            choices="6",
        ),
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
        summary="Add and move discs and rings that share cells: four discs or four rings in a line win.",
        draw_probability=0.10,
        typical_plies=16,
        score_scale=1350.0,
        picture="Dd4 De5:Rd3 Dd5:Rc3 Dd6:Re4 Dd2:Rc2 De6:Rc4 De3:Rc3-d4",
        traits=Traits(
            board="a hexagon of 37 cells",
            pieces="18 discs and 18 rings each",
            turn="one action with a disc and one with a ring",
            end="four discs or four rings of a player in a line win",
            draw="if the board is full or no action is possible",
            plies=18,
            choices="340",
        ),
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
"""The clause for each reason that tells a reader why the game ended."""


def list_families() -> str:
    """The names of all games as a phrase: ``A, B and C``."""
    *names, last = family_credits()
    return f"{', '.join(names)} and {last}"


def family_credits() -> dict[str, str]:
    """The credit of each game by its family name, in the order of the ladders."""
    return {game.family: game.credit for game in GAMES.values()}


def find_game(code: str) -> Variant:
    """The game of this code, spelled exactly; raises ``UnknownGame`` naming the known ones."""
    game = GAMES.get(code)
    if game is None:
        raise UnknownGame(f"unknown game {quote(code)}: the games are {', '.join(GAMES)}")
    return game
