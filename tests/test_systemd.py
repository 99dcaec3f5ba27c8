"""The units of docs/systemd: systemd accepts them, and they start what ``./arena up`` starts."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from configparser import ConfigParser
from pathlib import Path

import pytest

from tests.support.needs import need
from tournament.embedded.plan import ROOT, Address, services

UNITS = ROOT / "docs" / "systemd"
PYTHON = "/opt/duarena/.venv/bin/python"
SERVICES = ("site", "keeper", "beat", "webhooks", "players", "validators")
OWN_OPTIONS = re.compile(r"--(schedule|name|slots|bind|app|hostname)\b")
"""Options whose values differ between one machine and several."""


def unit(name: str) -> ConfigParser:
    """A unit; of a key that is given several times, the last."""
    parser = ConfigParser(strict=False, interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read(UNITS / f"duarena-{name}.service")
    return parser


def options(words: list[str]) -> set[str]:
    """The words of a command but its program, without the values that differ."""
    joined = re.sub(r" --(app|schedule) ", r" --\1=", " ".join(words))
    return {word for word in joined.split() if not OWN_OPTIONS.match(word)}


def test_systemd_accepts_every_unit(tmp_path: Path) -> None:
    analyze = need("systemd-analyze")
    for path in UNITS.iterdir():
        (tmp_path / path.name).write_text(path.read_text().replace(PYTHON, sys.executable))
    files = sorted(map(str, tmp_path.iterdir()))
    assert len(files) == len(SERVICES) + 4
    run = subprocess.run((analyze, "verify", *files), capture_output=True, text=True, check=False)
    complaints = [line for line in run.stderr.splitlines() if "duarena" in line]
    assert (run.returncode, complaints) == (0, [])
    broken = tmp_path / "duarena-site.service"
    broken.write_text(broken.read_text().replace("Restart=always", "Restart=perhaps"))
    run = subprocess.run((analyze, "verify", str(broken)), capture_output=True, text=True, check=False)
    assert "perhaps" in run.stderr


@pytest.mark.parametrize("name", SERVICES)
def test_a_unit_starts_the_command_of_the_start_script(name: str, tmp_path: Path) -> None:
    planned = {
        one.name: one for one in services(Address("127.0.0.1", 8000), workers=2, data=tmp_path, token="t")
    }
    words = shlex.split(unit(name)["Service"]["ExecStart"])
    assert words[0] == PYTHON
    assert options(words[1:]) == options(list(planned[name].command[1:]))


@pytest.mark.parametrize("name", SERVICES)
def test_a_unit_is_started_again_and_runs_as_an_ordinary_user(name: str) -> None:
    service = unit(name)["Service"]
    assert service["Restart"] == "always"
    assert service["User"] == ("duarena-players" if name in {"players", "validators"} else "duarena")
    assert service["NoNewPrivileges"] == "yes"


def test_a_backup_is_written_every_night_where_the_site_runs() -> None:
    service = unit("backup")["Service"]
    words = shlex.split(service["ExecStart"])
    assert "manage.py backup" in words[-1].replace('"', "")
    assert service["EnvironmentFile"] == unit("keeper")["Service"]["EnvironmentFile"]
    assert "duarena-backup.timer" in (UNITS / "duarena.target").read_text()


@pytest.mark.parametrize("name", ["players", "validators"])
def test_workers_have_a_control_group_no_secret_of_the_site_and_may_mount_proc(name: str) -> None:
    """A mount that hides a part of /proc would prevent the sandbox's own."""
    service = unit(name)["Service"]
    assert service["Delegate"] == "yes"
    assert service["EnvironmentFile"] == "/etc/duarena/worker.env"
    hiding = {"ProtectKernelTunables", "ProtectKernelLogs", "ProtectProc", "ProcSubset", "RestrictNamespaces"}
    assert not hiding & set(service)
