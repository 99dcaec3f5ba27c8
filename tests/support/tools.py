"""Programs that may be missing; a test that needs one is then skipped and names the package."""

from __future__ import annotations

import shutil
import sys
import sysconfig
from pathlib import Path

import pytest

COMPILERS = ("cc", "gcc", "clang")


def need_compiler(*names: str) -> None:
    """One of these; without names, any that the rules could be compiled with, and this Python's headers."""
    if not any(map(shutil.which, names or COMPILERS)):
        pytest.skip("needs a C compiler: apt-get install gcc libc6-dev")
    if not names and not Path(sysconfig.get_path("include"), "Python.h").exists():
        package = f"python{sys.version_info.major}.{sys.version_info.minor}-dev"
        pytest.skip(f"needs the headers of this Python: apt-get install {package}")


def need_ip() -> None:
    if shutil.which("ip") is None:
        pytest.skip("needs ip: apt-get install iproute2")
