"""Lets the processes of the site share their measurements, in files of a folder.

The package of Prometheus reads the folder's name, ``PROMETHEUS_MULTIPROC_DIR``, when it is imported.
Therefore nothing of that package is imported here.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile

FOLDER = "PROMETHEUS_MULTIPROC_DIR"


def share_measurements() -> None:
    """Have this process and its children share measurements; called before the children are forked.

    A folder that the environment does not name is removed when this process ends.
    """
    if given := os.environ.get(FOLDER):
        os.makedirs(given, exist_ok=True)
    else:
        os.environ[FOLDER] = folder = tempfile.mkdtemp(prefix="duarena-metrics-")
        atexit.register(_remove, folder, os.getpid())


def _remove(folder: str, owner: int) -> None:
    if os.getpid() == owner:  # children inherit the call
        shutil.rmtree(folder, ignore_errors=True)
