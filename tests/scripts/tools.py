"""The tools that check the scripts of the pages, as ``package-lock.json`` pins them, installed by npm."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PINS = ("package.json", "package-lock.json")


class Uninstalled(Exception):
    """The tools could not be installed; the text is a sentence that says why."""


def installed(cache: Path) -> Path:
    """The folder of their commands below ``cache``, where each version of the lock file has a folder.

    Raises ``Uninstalled``.
    """
    pins = [(ROOT / name).read_bytes() for name in PINS]
    folder = cache / f"scripts-{hashlib.sha256(b''.join(pins)).hexdigest()[:12]}"
    if not folder.exists():
        for old in cache.glob("scripts-*"):
            shutil.rmtree(old, ignore_errors=True)
        _install(folder)
    return folder / "node_modules" / ".bin"


def _install(folder: Path) -> None:
    """Beside the folder first: one that exists is complete, whoever else installs or interrupts."""
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix="installing-") as made:
        for name in PINS:
            shutil.copy(ROOT / name, made)
        npm = ("npm", "ci", "--ignore-scripts", "--engine-strict", "--no-audit", "--no-fund")
        limits = ("--cache", f"{made}/npm", "--fetch-retries=1", "--fetch-retry-mintimeout=500")
        answer = subprocess.run(
            (*npm, *limits), cwd=made, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
        )
        if answer.returncode:
            raise Uninstalled(f"npm cannot install the tools that check them: {_reason(answer.stderr)}")
        shutil.rmtree(Path(made, "npm"), ignore_errors=True)
        Path(made).rename(folder)
        folder.chmod(0o755)
        Path(made).mkdir()


def _reason(printed: str) -> str:
    """npm's first line about an error that is a sentence."""
    lines = [line.partition("rror ")[2].strip() for line in printed.splitlines() if "rror " in line]
    return next((line for line in lines if line.count(" ") > 2), "it printed no reason").rstrip(".")
