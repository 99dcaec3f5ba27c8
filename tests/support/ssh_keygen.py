"""``ssh-keygen`` for tests, which may run as a user without an account: it refuses to run for one."""

from __future__ import annotations

import os
import pwd
from pathlib import Path

import pytest

from tests.support.needs import need


def put_in_path(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make it run for this user, as root of a user namespace if need be; skips where it is missing."""
    program = need("ssh-keygen")
    try:
        pwd.getpwuid(os.getuid())
    except KeyError:
        script = folder / "ssh-keygen"
        script.write_text(f'#!/bin/sh\nexec {need("unshare")} --map-root-user {program} "$@"\n')
        script.chmod(0o755)
        monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
