"""Lets the processes of the site share their measurements, in files of a folder.

The package of Prometheus reads the folder's name, ``PROMETHEUS_MULTIPROC_DIR``, when it is imported.
Therefore nothing of that package is imported here.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

FOLDER = "PROMETHEUS_MULTIPROC_DIR"


@contextmanager
def shared_measurements() -> Iterator[None]:
    """Within the block new child processes share measurements.

    A folder that the environment does not name is removed after the block.
    """
    if given := os.environ.get(FOLDER):
        os.makedirs(given, exist_ok=True)
        yield
        return
    with tempfile.TemporaryDirectory(prefix="duarena-metrics-") as folder:
        os.environ[FOLDER] = folder
        yield
