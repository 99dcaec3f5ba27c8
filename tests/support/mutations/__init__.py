"""The literal rules with one rule broken: ``MUTATIONS`` lists ways to get each rule of each game wrong.

A mutation replaces one piece of the source of a module in `tests/literal`, which follows the rules sentence
by sentence. So each entry names what it changes, and fails loudly when that text is no longer there.
"""

from tests.support.mutations.base import Mutation, break_rule
from tests.support.mutations.dogon import DOGON
from tests.support.mutations.dualma import DUALMA
from tests.support.mutations.duovallis import DUOVALLIS
from tests.support.mutations.duploline import DUPLOLINE

MUTATIONS: dict[str, tuple[Mutation, ...]] = {
    "duovallis": DUOVALLIS,
    "dualma": DUALMA,
    "dogon-kulei": DOGON,
    "dogon-gagara": DOGON,
    "duploline": DUPLOLINE,
}

__all__ = ["MUTATIONS", "Mutation", "break_rule"]
