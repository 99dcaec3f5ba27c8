"""Programs that some tests need: how to find each, and the package that contains it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest

from workers.sandbox.host import find_program


@dataclass(frozen=True, slots=True)
class Tool:
    """``package`` is that of Debian and Ubuntu, or several; ``arena`` installs the same."""

    name: str
    package: str


def link_programs(folder: Path, names: Iterable[str]) -> None:
    """Make a folder, for PATH, that has only these programs of this machine."""
    folder.mkdir()
    for name in names:
        found = shutil.which(name)
        assert found, name
        (folder / name).symlink_to(found)


TOOLS = {
    "bwrap": Tool("bubblewrap", "bubblewrap"),
    "cc": Tool("a C compiler", "gcc libc6-dev"),
    "Python.h": Tool("the headers of this Python", "python{}.{}-dev".format(*sys.version_info)),
    "node": Tool("Node", "nodejs"),
    "npm": Tool("npm", "npm"),
    "chromium": Tool("Chromium", "chromium"),
    "git": Tool("git", "git"),
    "unshare": Tool("unshare", "util-linux"),
    "ip": Tool("ip", "iproute2"),
    "redis-server": Tool("a Redis with TLS", "redis-server"),
    "openssl": Tool("openssl", "openssl"),
    "ssh-keygen": Tool("ssh-keygen", "openssh-client"),
    "promtool": Tool("promtool of Prometheus", "prometheus"),
}
"""By the name of the program or file."""
OPTIONAL_TOOLS = {
    "go": Tool("Go", "golang"),
    "javac": Tool("a Java compiler", "default-jdk-headless"),
    "rustc": Tool("a Rust compiler", "rustc"),
    "systemd-analyze": Tool("systemd", "systemd"),
}
"""Large tools that ``./arena test`` does not install; ``allowed_skips.txt`` names their tests."""
COMPILERS = ("cc", "gcc", "clang")
"""Any of these compiles the rules."""


def find_tool(name: str) -> str | None:
    """The path of a tool, None if this machine does not have it."""
    if name == "Python.h":
        header = Path(sysconfig.get_path("include"), name)
        return str(header) if header.exists() else None
    found = find_program(name) if name == "bwrap" else shutil.which(name)
    return found if name not in OPTIONAL_TOOLS or (found and _runs(found)) else None


def _runs(program: str) -> bool:
    """Whether it starts: the command of a version manager is there also without any version."""
    words = (program, "version" if Path(program).name == "go" else "--version")
    return subprocess.run(words, capture_output=True, check=False).returncode == 0


def need_root() -> None:
    """Skips a test marked ``root`` if another user started it."""
    if os.geteuid() != 0:
        pytest.skip("needs root: start ./arena test as root")


def need(name: str) -> str:
    """The path of a tool; skips the test if it is missing, and names the package to install."""
    found = find_tool(name)
    if found is None:
        tool = (TOOLS | OPTIONAL_TOOLS)[name]
        pytest.skip(f"needs {tool.name} (apt-get install {tool.package})")
    return found


def need_compiler() -> None:
    """Skips the test if the rules cannot be compiled here."""
    if not any(map(shutil.which, COMPILERS)):
        need("cc")
    need("Python.h")
