"""``./arena dev``: the site for those who change it. What they change is shown, without a command.

Templates, scripts and styles are read again for each request (``DUARENA_DEBUG``). After a change of a module,
a document or a data file (``.toml``, ``.txt``) of the packages all processes are killed and started again,
one by one, the site first: open streams keep nothing waiting, and requests wait at the listening socket. The
site is one process and has the terminal, so ``breakpoint()`` works in a view.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from django.utils.autoreload import ensure_echo_on

from tournament.embedded import StartError
from tournament.embedded.console import Console
from tournament.embedded.instance import Instance, running_instance
from tournament.embedded.options import Options
from tournament.embedded.plan import ROOT
from tournament.embedded.up import prepare

LOOK_SECONDS = 0.25
"""The interval at which the files are looked at; each look takes 15 ms."""
FOLDERS = ("engines", "workers", "tournament")
READ = (".py", ".md", ".toml", ".txt")
"""The programs, the pages' documents and examples, the positions."""


def dev(options: Options, console: Console) -> int:
    """Run the site until Ctrl-C, and start its processes again after each change of their files."""
    with running_instance(options, console, prepare) as instance:
        console.say(f"Duarena is at {instance.address.url}   (Ctrl-C stops it)")
        console.say(f"Changes are shown at once. The logs of its workers are in {options.data / 'logs'}.")
        seen, is_running = read_times(), True
        while not instance.supervisor.stopping:
            if (now := read_times()) != seen:
                changed = sorted({path for path, _ in now.items() ^ seen.items()})
                seen, is_running = now, _restart(instance, changed, console)
            elif is_running:
                instance.supervisor.tend()
            time.sleep(LOOK_SECONDS)
    ensure_echo_on()
    return 0


def read_times(root: Path = ROOT) -> dict[str, int]:
    """When each file that the processes read at their start was changed, by its path in the checkout."""
    times = {}
    for folder, _, names in (entry for top in FOLDERS for entry in os.walk(root / top)):
        for path in (Path(folder, name) for name in names if name.endswith(READ)):
            with suppress(FileNotFoundError):  # an editor's own file
                times[str(path.relative_to(root))] = path.stat().st_mtime_ns
    return times


def _restart(instance: Instance, changed: Sequence[str], console: Console) -> bool:
    """Whether everything runs again; else the next change is waited for."""
    console.say(f"Changed: {', '.join(changed)}")
    try:
        instance.supervisor.restart(instance.services)
    except StartError as error:
        console.say(f"{error}\nWaiting for the next change.")
        return False
    finally:
        ensure_echo_on()  # a debugger that was killed at its prompt has turned it off
    return True
