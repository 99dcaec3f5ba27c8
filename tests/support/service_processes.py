"""Free ports, and the processes of a supervisor's services."""

from __future__ import annotations

from tournament.embedded.options import listen
from tournament.embedded.processes.supervisor import Supervisor


def find_port(host: str, wanted: int) -> int:
    """The wanted port or the next free one, which another process may take at once."""
    with listen(host, wanted) as listener:
        return int(listener.getsockname()[1])


def guards_of(supervisor: Supervisor) -> dict[str, int]:
    """The guard's process id for each service's name: the ancestor of all its processes."""
    return {kept.process.service.name: kept.process._guard.pid for kept in supervisor._kept}
