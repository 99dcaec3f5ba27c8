"""Which engines of a match could be started, and which options they do not take."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from workers.jobs import BOTH_UNABLE, EngineSpec
from workers.match.output.game_logs import evidence_lines
from workers.match.slots.messages import IntroducedEngine, SlotGame


class EngineStarts:
    """The starts of a match's engines, as far as slots have reported them."""

    def __init__(self, engines: Sequence[EngineSpec]) -> None:
        self._engines = engines
        self._introduced: set[str] = set()

    def add(self, engine: IntroducedEngine) -> Iterator[str]:
        """Note that an engine can be started; the first time, a sentence for each option it does not take."""
        if engine.name not in self._introduced:
            self._introduced.add(engine.name)
            yield from (f"{engine.name}: {why}" for why in engine.unsuited)

    def explain_failure(self, played: SlotGame) -> str:
        """A report on the engines that cannot be started: their commands, the exit code, standard error.

        Empty unless a game could not begin because of engines that never answered ``ugiok`` in this run.
        """
        result = played.game
        if result.is_void and played.evidence.startswith(BOTH_UNABLE):
            failed = [result.white, result.black]
        else:
            failed = [result.culprit] if result.culprit is not None and result.is_failed_start else []
        if not failed or self._introduced & set(failed):
            return ""
        commands = [_command_line(one) for one in self._engines if one.name in failed]
        return "\n".join((f"{' and '.join(failed)} never answered ugiok", *commands, *evidence_lines(played)))


def _command_line(spec: EngineSpec) -> str:
    where = f" (in {spec.directory})" if spec.directory else ""
    return f"  the command of {spec.name}: {shlex.join(spec.command)}{where}"
