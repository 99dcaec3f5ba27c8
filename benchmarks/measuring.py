"""What the benchmarks share: arguments, tables, the machine, processor times and a database of their own."""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from engines.bench import describe_form
from tests.support.postgres import running_postgres
from workers.sandbox.tree import descendants


class Broken(Exception):
    """A run that did not play the expected games, so that its figures mean nothing."""


def parser_of(name: str, text: str | None) -> argparse.ArgumentParser:
    """The parser of ``python -m benchmarks.NAME``, with the module's docstring as its help."""
    form = argparse.RawDescriptionHelpFormatter
    return argparse.ArgumentParser(
        prog=f"python -m benchmarks.{name}", description=text, formatter_class=form
    )


def head(*columns: str, texts: int = 1) -> str:
    """The two lines that begin a table; the columns after the first ``texts`` hold numbers."""
    return row(*columns) + "\n" + row(*("---" if n < texts else "---:" for n in range(len(columns))))


def row(*cells: object) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def describe_machine() -> Iterator[str]:
    """The processor, the system, the form of the rules, the time and the load, one a line."""
    info = Path("/proc/cpuinfo").read_text().splitlines()
    models = [line.partition(":")[2].strip() for line in info if line.startswith("model name")]
    processor = models[0] if models else platform.machine()
    yield f"- {len(os.sched_getaffinity(0))} cores of {processor}, {platform.system()} {platform.release()}"
    yield f"- rules {describe_form()}; {_describe_compiler()}"
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    now = datetime.datetime.now(datetime.UTC)
    yield f"- {now:%d %B %Y %H:%M} UTC; load {load} (1, 5 and 15 minutes) when it began"


def _describe_compiler() -> str:
    """The first line of what the C compiler says of its version."""
    if (compiler := shutil.which("cc")) is None:
        return "no C compiler"
    told = subprocess.run((compiler, "--version"), check=True, capture_output=True, text=True).stdout
    return told.splitlines()[0]


def cpu_seconds(pid: int) -> float:
    """Processor time of a process and its descendants, including those that ended and were waited for."""
    ticks = 0
    for one in (pid, *descendants(pid)):
        try:
            told = Path(f"/proc/{one}/stat").read_text()
        except OSError:
            continue
        ticks += sum(int(word) for word in told.rpartition(")")[2].split()[11:15])
    return ticks / os.sysconf("SC_CLK_TCK")


@contextmanager
def pinned(cores: frozenset[int]) -> Iterator[None]:
    """Processes that are started inside run only on these cores."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


@contextmanager
def opened_site(*, folder: str = "", postgresql: bool = False, **settings: str) -> Iterator[None]:
    """Set Django up with the tables of a site, in a folder or on PostgreSQL.

    The folder is temporary unless one is given. ``settings`` are more environment variables.
    Models must not be imported before.
    """
    with ExitStack() as stack:
        folder = folder or stack.enter_context(TemporaryDirectory(prefix="duarena-benchmark-"))
        database = stack.enter_context(running_postgres()) if postgresql else f"sqlite:///{folder}/db.sqlite3"
        os.environ |= {"DUARENA_DATA": folder, "DATABASE_URL": database, **settings}
        os.environ["DJANGO_SETTINGS_MODULE"] = "tournament.settings"
        import django
        from django.core.management import call_command
        from django.db import connection

        django.setup()
        call_command("migrate", verbosity=0)
        with connection.cursor() as cursor:  # these tables need not survive a crash
            cursor.execute("SET synchronous_commit TO off" if postgresql else "PRAGMA synchronous=OFF")
        yield
