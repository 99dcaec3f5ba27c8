"""A second implementation of the rules: slow, literal, and without code of `engines`.

Each module implements one game sentence by sentence with dictionaries keyed by
cell name. It is simple on purpose. A game is a class with
``parse``, ``text``, ``legal``, ``play`` and ``outcome``; an outcome is None or
``(result, reason, white_score, black_score)``. ``parse`` refuses what the rules refuse.
"""

from tests.literal.base import LiteralGame
from tests.literal.dogon import LiteralGagara, LiteralKulei
from tests.literal.dualma import LiteralDualma
from tests.literal.duovallis import LiteralDuovallis
from tests.literal.duploline import LiteralDuploline

LITERAL: dict[str, type[LiteralGame]] = {
    "duovallis": LiteralDuovallis,
    "dualma": LiteralDualma,
    "dogon-kulei": LiteralKulei,
    "dogon-gagara": LiteralGagara,
    "duploline": LiteralDuploline,
}
