"""What a move costs on the clock: wall time, less the time that the machine withheld from the engine."""

from __future__ import annotations

from dataclasses import dataclass

from workers.game.fastpath.clock import NS_PER_MS


@dataclass(frozen=True, slots=True)
class Charge:
    """The measured times of one move, in nanoseconds.

    ``withheld_ns`` is the time in which the machine kept the engine from its core; at most ``most_ns`` of
    it count. ``cpu_ns`` is the engine's own processor time; it may be 0 where nothing was withheld.
    ``is_proof``: the engine cannot have caused what was withheld.
    """

    wall_ns: int
    withheld_ns: int
    cpu_ns: int
    most_ns: int
    is_proof: bool = False

    @property
    def used_ns(self) -> int:
        """The time that is charged; never less than the processor time used."""
        return max(self.cpu_ns, self.wall_ns - min(self.withheld_ns, self.most_ns))

    @property
    def extension_ns(self) -> int:
        """How much later the flag falls than by wall time."""
        return max(0, self.wall_ns - self.used_ns)

    def is_void(self, allowance_ns: int) -> bool:
        """Whether the machine is at fault for a late move: proven, and more was withheld than counts."""
        fair_ns = max(self.cpu_ns, self.wall_ns - self.withheld_ns)
        return self.is_proof and self.used_ns > allowance_ns >= fair_ns

    @property
    def sentence(self) -> str:
        """The three times, as in the evidence of a time forfeit."""
        wall_ms, withheld_ms, used_ms = (
            ns // NS_PER_MS for ns in (self.wall_ns, self.withheld_ns, self.used_ns)
        )
        return f"wall time {wall_ms} ms, withheld by the machine {withheld_ms} ms, charged {used_ms} ms"
