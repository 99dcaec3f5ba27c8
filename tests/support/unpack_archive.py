"""A process that reads and unpacks a zip like site and worker, to be measured from outside.

    unpack_archive.py FILE CACHE

Prints who refused it, ``site`` or ``worker``, and the refusal, or ``unpacked``. Its own line is for the
memory it took at most, in KiB: what the system says of an ended process counts its parent in.
"""

from __future__ import annotations

import re
import resource
import sys
from pathlib import Path

from engines.bundles.store import BundleError, hash_bundle, inspect_bundle, unpack_bundle

MEMORY_BYTES = 512 * 1024 * 1024
FILE_BYTES = 64 * 1024 * 1024
CPU_SECONDS = 30


def peak_kib() -> int:
    status = Path("/proc/self/status").read_text()
    return int(re.search(r"^VmHWM:\s*(\d+) kB$", status, re.MULTILINE)[1])  # type: ignore[index]


def take_in(path: Path, cache: Path) -> str:
    """Who refused the zip and the refusal, or ``unpacked``."""
    who = "site"
    try:
        with path.open("rb") as file:
            inspect_bundle(file)
            who = "worker"
            unpack_bundle(path, hash_bundle(file)[0], cache)
    except BundleError as refusal:
        return f"{who}: {refusal}"
    return "unpacked"


def main(path: Path, cache: Path) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES, FILE_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    print(take_in(path, cache))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
    print(peak_kib())
