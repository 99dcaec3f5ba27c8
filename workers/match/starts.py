"""Which engines of a match could be started, and which options they do not take."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from workers.jobs import BOTH_UNABLE
from workers.match.options.options import Entrant
from workers.match.output.game_logs import evidence_lines
from workers.match.slots.messages import IntroducedEngine, SlotGame


class EngineStarts:
    """The starts of a match's engines, as far as slots have reported them."""

    def __init__(self, entrants: Sequence[Entrant]) -> None:
        self._entrants = entrants
        self._introduced: set[str] = set()
        self._known: set[str] = set()

    def add(self, engine: IntroducedEngine) -> Iterator[str]:
        """Note that an engine can be started; a sentence for each new option that it does not take."""
        self._introduced.add(engine.name)
        for why in engine.unsuited:
            sentence = f"{engine.name}: {why}"
            if sentence not in self._known:
                self._known.add(sentence)
                yield sentence

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
        commands = [_command_line(one) for one in self._entrants if one.name in failed]
        reason = f"the match ends: {' and '.join(failed)} never answered ugiok"
        return "\n".join((reason, *commands, *evidence_lines(played)))


def _command_line(entrant: Entrant) -> str:
    spec = entrant.spec
    where = f" (in {spec.directory})" if spec.directory else ""
    return f"  the command of {entrant.name}: {shlex.join(spec.command)}{where}"
