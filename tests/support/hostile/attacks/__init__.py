"""Every attack, by subject."""

from tests.support.hostile.attack import Attack
from tests.support.hostile.attacks import channels, files, kernel, memory, network, output, processes

ATTACKS: tuple[Attack, ...] = (
    *processes.ATTACKS,
    *memory.ATTACKS,
    *files.ATTACKS,
    *network.ATTACKS,
    *kernel.ATTACKS,
    *channels.ATTACKS,
    *output.ATTACKS,
)
