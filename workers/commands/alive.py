"""``python -m workers alive``: whether the worker here is well, for health checks of containers."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence

from engines.console import complain
from workers.bundles.cache import SILENT_SECONDS, CacheRefused, cache_folder, silent_seconds


def main(arguments: Sequence[str]) -> int:
    """Returns 0 if the worker is well, else prints why not and returns 2."""
    argparse.ArgumentParser(
        prog="python3 -m workers alive",
        description="Exit with 0 if the worker with this DUARENA_CACHE runs and reaches its site.",
    ).parse_args(arguments)
    try:
        silent = silent_seconds(cache_folder(os.environ))
    except CacheRefused as refused:
        return complain(str(refused))
    if silent is None:
        return complain("no worker has run here")
    if silent > SILENT_SECONDS:
        return complain(f"the worker has not reached its site for {silent:.0f} s")
    return 0
