"""The ladders as environments of PettingZoo: ``env("dogon-kulei")``.

An action is a part of a move (``entry``), so an agent is selected again until its move is complete.
``player_0`` moves first. An observation has the planes of ``planes`` and the mask of the actions that may be
entered, which is empty for the agent that is not to move. A game that ends by the match rules is terminated,
not truncated.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from gymnasium import spaces
from gymnasium.utils import EzPickle
from pettingzoo import AECEnv
from pettingzoo.utils import wrappers

from engines import text
from engines.environments.entry import GameEntry, action_space, start_of
from engines.environments.planes import plane_writer
from engines.rules.history import History
from engines.rules.registry import find_game

AGENTS: Final = ("player_0", "player_1")


def env(code: str, render_mode: str | None = None, position: str = "") -> AECEnv:
    """The environment of a ladder; an illegal action ends a game, and its player loses.

    Games begin with the position of the string ``position``, or with that of the option of ``reset``.
    """
    wrapped = wrappers.TerminateIllegalWrapper(LadderEnv(code, render_mode, position), illegal_reward=-1)
    return wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(wrapped))


class LadderEnv(AECEnv, EzPickle):
    """The environment without wrappers: an illegal action raises ``IllegalMove``."""

    def __init__(self, code: str, render_mode: str | None = None, position: str = "") -> None:
        EzPickle.__init__(self, code, render_mode, position)
        super().__init__()
        self._position = position
        self.variant = find_game(code)
        version = self.variant.rules_version
        name = f"duarena_{code.replace('-', '_')}_v{version}"
        self.metadata = {"render_modes": ["ansi"], "is_parallelizable": False, "name": name}
        self.render_mode = render_mode
        self.possible_agents = list(AGENTS)
        self._writer = plane_writer(code)
        size = len(action_space(code))
        self.action_spaces = {agent: spaces.Discrete(size) for agent in AGENTS}
        self.observation_spaces = {
            agent: spaces.Dict(
                {
                    "observation": spaces.Box(0, self._writer.highest, self._writer.shape, np.float32),
                    "action_mask": spaces.Box(0, 1, (size,), np.int8),
                }
            )
            for agent in AGENTS
        }
        self.reset()

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin a new game, with the option ``position`` there; nothing in it is random."""
        start = start_of(self.variant, (options or {}).get("position", self._position))
        self.entry = GameEntry(History(self.variant, start))
        self.agents = list(AGENTS)
        self.rewards = dict.fromkeys(AGENTS, 0.0)
        self._cumulative_rewards = dict.fromkeys(AGENTS, 0.0)
        self.terminations = dict.fromkeys(AGENTS, False)
        self.truncations = dict.fromkeys(AGENTS, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in AGENTS}
        self.agent_selection = AGENTS[self.entry.player]

    def observe(self, agent: str) -> dict[str, Any]:
        planes = np.array(self._writer.planes(self.entry, AGENTS.index(agent)), np.float32)
        mask = np.zeros(len(self.entry.actions), np.int8)
        if agent == self.agent_selection:
            mask[self.entry.legal_actions()] = 1
        return {"observation": planes.reshape(self._writer.shape), "action_mask": mask}

    def step(self, action: int | None) -> None:
        if self.terminations[self.agent_selection] or self.truncations[self.agent_selection]:
            self._was_dead_step(action)
            return
        assert action is not None
        self._cumulative_rewards[self.agent_selection] = 0.0
        self._clear_rewards()
        self.entry.enter(action)
        if self.entry.is_over:
            self.rewards = dict(zip(AGENTS, self.entry.returns(), strict=True))
            self.terminations = dict.fromkeys(AGENTS, True)
        self.agent_selection = AGENTS[self.entry.player]
        self._accumulate_rewards()

    def render(self) -> str | None:
        """The board as text, where ``render_mode`` is ``ansi``."""
        return text.draw(self.entry.history.position) if self.render_mode == "ansi" else None

    def close(self) -> None:
        """Nothing is open."""
