"""The ladders as games of OpenSpiel; importing this module registers them.

    import pyspiel
    from engines.environments import spiel

    state = pyspiel.load_game("duarena_dualma").new_initial_state()

An action is a part of a move (``entry``), so the same player is to move until the move is complete. The
player who moves first is player 0. Games end by the match rules too.

The parameter ``position`` is a position string to begin with; its commas are written as semicolons, because a
comma separates parameters: ``load_game("duarena_dogon_kulei(position=0;4;…)")``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

import numpy as np
import pyspiel
from open_spiel.python.observation import IIGObserverForPublicInfoGame

from engines.environments.entry import GameEntry, action_space, start_of
from engines.environments.planes import ENCODINGS, plane_writer
from engines.rules.history import History
from engines.rules.registry import Variant, find_game


class SpielGame(pyspiel.Game):
    """A ladder; the classes that are registered derive from this one."""

    variant: ClassVar[Variant]

    def __init__(self, params: Mapping[str, Any] | None = None) -> None:
        given = dict(params or {})
        self.start = start_of(self.variant, given.get("position", "").replace(";", ","))
        super().__init__(_type(self.variant), _info(self.variant), given)

    def new_initial_state(self, state: None = None) -> SpielState:
        return SpielState(self, self.variant)

    def make_py_observer(
        self, iig_obs_type: pyspiel.IIGObservationType | None = None, params: Mapping[str, Any] | None = None
    ) -> SpielObserver | IIGObserverForPublicInfoGame:
        if iig_obs_type is None or (iig_obs_type.public_info and not iig_obs_type.perfect_recall):
            return SpielObserver(self.variant.code, params)
        return IIGObserverForPublicInfoGame(iig_obs_type, params)


class SpielState(pyspiel.State):
    """A position and the parts of the next move that are entered so far, in ``entry``."""

    def __init__(self, game: SpielGame, variant: Variant) -> None:
        super().__init__(game)
        self.entry = GameEntry(History(variant, game.start))

    def current_player(self) -> int:
        return int(pyspiel.PlayerId.TERMINAL) if self.entry.is_over else self.entry.player

    def _legal_actions(self, player: int) -> list[int]:
        return self.entry.legal_actions()

    def _apply_action(self, action: int) -> None:
        self.entry.enter(action)

    def _action_to_string(self, player: int, action: int) -> str:
        return self.entry.actions.names[action]

    def is_terminal(self) -> bool:
        return self.entry.is_over

    def returns(self) -> list[float]:
        return self.entry.returns()

    def __str__(self) -> str:
        return str(self.entry)


class SpielObserver:
    """The planes of ``planes``, as the tensor ``planes``."""

    def __init__(self, code: str, params: Mapping[str, Any] | None) -> None:
        if params:
            raise ValueError(f"observers have no parameters, but there are {params}")
        self._writer = plane_writer(code)
        self.tensor = np.zeros(int(np.prod(self._writer.shape)), np.float32)
        self.dict = {"planes": self.tensor.reshape(self._writer.shape)}

    def set_from(self, state: SpielState, player: int) -> None:
        self.tensor[:] = self._writer.planes(state.entry, player)

    def string_from(self, state: SpielState, player: int) -> str:
        return str(state)


def spiel_name(code: str) -> str:
    """The name of a ladder in OpenSpiel."""
    return f"duarena_{code.replace('-', '_')}"


def _info(variant: Variant) -> pyspiel.GameInfo:
    return pyspiel.GameInfo(
        num_distinct_actions=len(action_space(variant.code)),
        max_chance_outcomes=0,
        num_players=2,
        min_utility=-1.0,
        max_utility=1.0,
        utility_sum=0.0,
        max_game_length=variant.ply_limit * ENCODINGS[variant.code].most_parts,
    )


def _type(variant: Variant) -> pyspiel.GameType:
    return pyspiel.GameType(
        short_name=spiel_name(variant.code),
        long_name=variant.name,
        dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
        chance_mode=pyspiel.GameType.ChanceMode.DETERMINISTIC,
        information=pyspiel.GameType.Information.PERFECT_INFORMATION,
        utility=pyspiel.GameType.Utility.ZERO_SUM,
        reward_model=pyspiel.GameType.RewardModel.TERMINAL,
        max_num_players=2,
        min_num_players=2,
        provides_information_state_string=True,
        provides_information_state_tensor=False,
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification={"position": ""},
    )


NAMES: Final = tuple(map(spiel_name, ENCODINGS))
"""The names of all ladders in OpenSpiel."""


def _register(variant: Variant) -> None:
    """Each game needs a class: OpenSpiel keeps what it is given until after the interpreter has ended."""
    game = type(f"SpielGame_{variant.code.replace('-', '_')}", (SpielGame,), {"variant": variant})
    pyspiel.register_game(_type(variant), game)


for _code in ENCODINGS:
    _register(find_game(_code))
