"""The benchmark of the containers, with a stand-in for ``docker`` that answers as a site does."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml

from benchmarks import containers
from benchmarks.containers import CHECK, COUNT, SERVICES, START, main, settings_of
from benchmarks.measuring import describe_machine
from tests.support.schedule import make_version
from tournament.embedded.plan import ROOT

COMPOSE = (ROOT / "docker-compose.yml").read_text()
DOCKER = """#!/bin/sh
echo "$@" | head -1 >>"{folder}/calls"
case "$*" in
*\\ ps\\ *)
    echo "a warning"
    for service in {services}; do
        state=healthy
        [ -e "{folder}/looked" ] || state=starting
        echo "{{\\"Service\\": \\"$service\\", \\"Health\\": \\"$state\\", \\"State\\": \\"running\\"}}"
    done
    touch "{folder}/looked" ;;
*start\\(event*) echo 48 ;;
*print\\(Game*) wc -l <"{folder}/calls" | tr -d ' '; echo "{done}" ;;
*json*) echo '{{"games": 48, "done": 48, "records": {records}, "recorded attempts": 48,' \\
    '"changed by a rebuild": false}}' ;;
esac
"""


@pytest.fixture
def docker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A command ``docker`` whose site has so many records of 48 games; its calls are in a file."""
    monkeypatch.setattr(containers, "LOOK_SECONDS", 0.0)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    return stand_in(tmp_path)


def stand_in(folder: Path, records: int = 48, done: int = 48) -> Path:
    program = folder / "docker"
    services = " ".join(sorted(SERVICES))
    program.write_text(DOCKER.format(folder=folder, services=services, records=records, done=done))
    program.chmod(0o755)
    return folder


def calls(folder: Path) -> list[str]:
    """The first word of each call after those of every call."""
    return re.findall(r"--env-file=\S+ (\S+)", (folder / "calls").read_text())


def test_games_are_played_counted_and_checked_and_the_containers_are_deleted(
    docker: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--games", "50"]) == 0
    assert calls(docker) == ["up", "ps", "ps", "exec", "exec", "exec", "down"]
    assert "- 48 games played in " in (said := capsys.readouterr().out)
    assert "all recorded once" in said


def test_a_missing_record_is_exit_code_1_and_the_containers_are_deleted(
    docker: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stand_in(docker, records=47)
    assert main([]) == 1
    assert "'records': 47" in capsys.readouterr().out
    assert calls(docker)[-1] == "down"


def test_secrets_services_and_programs_fit_the_compose_file() -> None:
    given = set(settings_of(8460))
    assert given <= set(re.findall(r"\$\{(\w+)", COMPOSE))
    assert set(re.findall(r"\$\{(\w+):\?", COMPOSE)) <= given
    assert set(yaml.safe_load(COMPOSE)["services"]) - {"migrate", "proxy"} == SERVICES


@pytest.mark.django_db
def test_the_programs_start_and_count_games(capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(1, 4):
        make_version(f"Bot {number}", games=["dogon-kulei"])
    for program in (START.format(games=20), COUNT, CHECK):
        exec(program, {})
    started, counted, found = capsys.readouterr().out.splitlines()
    assert (started, counted) == ("18", "0")
    assert json.loads(found) == {
        "games": 18, "done": 0, "records": 0, "recorded attempts": 0, "changed by a rebuild": False,
    }  # fmt: skip


def test_a_machine_without_a_compiler_is_described_too(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert any(line.endswith("; no C compiler") for line in describe_machine())
