"""docker-compose.yml: its shape, and every command in it run as a plain process.

No container is started here; ``benchmarks.containers`` does that. The commands and health checks are taken
from the file as they are; only addresses, ports and folders that exist in containers alone are replaced.
"""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.documents import blocks, read
from tests.support.jobs import wait_until
from tests.support.service_processes import find_port
from tournament import settings
from tournament.embedded.plan import ROOT
from tournament.embedded.processes.process import Service
from tournament.embedded.processes.redis_server import find_redis_server
from tournament.embedded.processes.supervisor import Supervisor

COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
OURS = ("migrate", "site", "keeper", "beat", "webhooks", "players", "validators")
SECRETS = {
    "POSTGRES_PASSWORD": "a-password-of-tests",
    "REDIS_PASSWORD": "another-password-of-tests",
    "DUARENA_SECRET_KEY": "a-key-of-tests",
    "DUARENA_WORKER_TOKEN": "duarena_" + 32 * "t",
}
PUBLIC = {"DUARENA_SITE": "https://duarena.example", "DUARENA_HOSTS": "duarena.example"}
"""The settings of a site behind a proxy, as docs/deployment.md gives them."""
DEADLINE_SECONDS = 120.0


def interpolate(text: str, environment: dict[str, str]) -> str:
    """``${NAME:-default}`` and ``${NAME:?message}`` as Compose reads them, and ``$$`` for ``$``."""

    def value(match: re.Match[str]) -> str:
        if match["dollar"]:
            return "$"
        if match["name"] in environment:
            return environment[match["name"]]
        assert match["kind"] == ":-", f"{match['name']} must be set: {match['rest']}"
        return match["rest"]

    pattern = r"\$(?:(?P<dollar>\$)|\{(?P<name>\w+)(?P<kind>:[-?])(?P<rest>[^}]*)\})"
    return re.sub(pattern, value, text)


# Its shape


def test_no_secret_is_in_the_file() -> None:
    for name, service in SERVICES.items():
        for variable, value in service.get("environment", {}).items():
            if re.search("PASSWORD|SECRET|_URL|TOKEN|AUTH", variable) and variable != "DUARENA_METRICS_TOKEN":
                assert re.search(r"\$\{\w+:\?", value), f"{name}: {variable} must come from outside"


@pytest.mark.parametrize("name", ["players", "validators"])
def test_game_workers_have_no_secret_but_their_token_and_no_way_to_the_stores(name: str) -> None:
    players = SERVICES[name]
    given = "BUNDLES CACHE LOG SANDBOX SITE TOKEN".split()
    assert set(players["networks"]) & set(SERVICES["site"]["networks"])
    assert set(players["environment"]) == {f"DUARENA_{name}" for name in given}
    assert players["volumes"] == ["bundles:/data/bundles:ro"]
    for store in ("postgres", "redis"):
        assert not set(players["networks"]) & set(SERVICES[store]["networks"])


@pytest.mark.parametrize("name", [name for name in SERVICES if name != "migrate"])
def test_every_lasting_service_has_a_health_check_and_is_started_again(name: str) -> None:
    assert SERVICES[name]["healthcheck"]["test"]
    assert SERVICES[name]["restart"] == "unless-stopped"


@pytest.mark.parametrize("name", OURS)
def test_our_containers_have_no_rights(name: str) -> None:
    service = SERVICES[name]
    assert service["cap_drop"] == ["ALL"]
    assert service["read_only"]
    assert "no-new-privileges:true" in service["security_opt"]
    assert "USER duarena" in (ROOT / "Dockerfile").read_text()


def test_only_containers_that_run_engines_may_create_sandboxes() -> None:
    for name in OURS:
        options = dict(re.split("[:=]", option, maxsplit=1) for option in SERVICES[name]["security_opt"])
        needed = {"seccomp", "apparmor", "systempaths"} if name in {"players", "validators"} else set()
        assert set(options) == {"no-new-privileges"} | needed


def test_the_profile_of_game_workers_permits_the_sandbox_and_refuses_other_calls() -> None:
    (option,) = [word for word in SERVICES["players"]["security_opt"] if word.startswith("seccomp")]
    profile = json.loads((ROOT / option.partition(":")[2]).read_text())
    (refused,) = [rule["names"] for rule in profile["syscalls"] if rule["action"] == "SCMP_ACT_ERRNO"]
    assert profile["defaultAction"] == "SCMP_ACT_ALLOW"
    needed = "clone clone3 unshare setns mount umount2 pivot_root seccomp"
    assert not set(refused) & set(needed.split())
    assert {"bpf", "kexec_load", "init_module", "perf_event_open", "keyctl", "io_uring_setup"} <= set(refused)


def test_every_container_has_logs_and_processes_of_limited_number() -> None:
    for name, service in SERVICES.items():
        assert int(service["logging"]["options"]["max-file"]) <= 5, name
        assert service["logging"]["options"]["max-size"] == "10m"
    assert all(SERVICES[name]["pids_limit"] for name in OURS)


def test_any_setting_of_the_site_can_be_given_in_a_file_that_need_not_exist() -> None:
    for name in ("migrate", "site", "keeper", "beat", "webhooks"):
        assert SERVICES[name]["env_file"] == [{"path": "site.env", "required": False}]
    assert not any("env_file" in SERVICES[name] for name in ("players", "validators", "postgres", "redis"))


FOLDERS = {
    value.name
    for name, value in vars(settings).items()
    if isinstance(value, Path) and value.is_relative_to(settings.DATA) and name not in {"DATA", "CACHE"}
}
"""The folders in the data folder that a site needs; the cache is a worker's."""
WRITTEN_BY_SITE_ALONE = {"downloads"}
"""The record keeper does not need them."""
MADE_AGAIN = {"downloads", "dumps"}
"""They are in no backup."""


def test_every_folder_of_the_site_is_in_a_volume_that_site_and_keeper_share() -> None:
    volumes = {name: set(SERVICES[name]["volumes"]) for name in ("site", "keeper")}
    mounted = dict(reversed(volume.split(":")) for volume in volumes["site"])
    assert set(mounted) == {f"/data/{name}" for name in FOLDERS}
    assert len(set(mounted.values())) == len(mounted)
    assert volumes["keeper"] == {
        f"{mounted[f'/data/{name}']}:/data/{name}" for name in FOLDERS - WRITTEN_BY_SITE_ALONE
    }
    assert set(mounted.values()) <= set(COMPOSE["volumes"])


def test_the_user_of_the_image_owns_the_folders_of_all_volumes() -> None:
    (made,) = re.findall(r"install -d -o duarena -g duarena (.*)", (ROOT / "Dockerfile").read_text())
    assert {f"/data/{name}" for name in FOLDERS} <= set(made.split())


def test_a_restore_in_containers_fills_what_a_backup_has() -> None:
    (restore,) = [block for block in shell_blocks() if "manage.py restore" in block]
    given = set(re.findall(r"--env \w+=(/data/\w+)", restore))
    assert given == {f"/data/{name}" for name in FOLDERS - MADE_AGAIN}


def test_redis_needs_a_password_and_has_a_limit() -> None:
    words = SERVICES["redis"]["command"]
    assert words[words.index("--requirepass") + 1].startswith("${REDIS_PASSWORD:?")
    assert "--maxmemory" in words


@pytest.mark.parametrize("name", ["site", "keeper", "webhooks"])
def test_what_sends_mail_or_events_has_a_network_that_leads_outside(name: str) -> None:
    networks = COMPOSE["networks"]
    assert any(not (networks[each] or {}).get("internal") for each in SERVICES[name]["networks"])


def test_the_image_holds_all_that_the_commands_need() -> None:
    ours = "requirements.txt requirements-sentry.txt manage.py tournament LICENSE"
    final = build_stages()[-1]
    pages = {
        f"docs/{name}.md" for name in ("api", "events", "evidence", "federation", "tournaments", "webhooks")
    }
    assert set(copied(final)) == {*ours.split(), *pages}
    for room in ("engines", "workers"):
        assert f"COPY --from=compiled /app/{room} {room}\n" in final


def test_the_build_context_has_all_sources_and_no_compiled_files() -> None:
    sent = (ROOT / ".dockerignore").read_text().split()
    for stage in build_stages():
        assert {f"!{name}" for name in copied(stage)} <= set(sent)
    assert sent.index("engines/build") > sent.index("!engines")
    assert sent.index("workers/game/build") > sent.index("!workers")


def build_stages() -> list[str]:
    return re.split(r"^FROM .*\n", (ROOT / "Dockerfile").read_text(), flags=re.MULTILINE)[1:]


def copied(stage: str) -> list[str]:
    """What is copied from the checkout."""
    return " ".join(re.findall(r"^COPY (?!--)(.*) \S+$", stage, re.MULTILINE)).split()


# Its commands


class Plain:
    """The services as processes on this machine: the same words, other addresses."""

    def __init__(self, folder: Path, database: str) -> None:
        self.folder = folder
        self.redis_port, self.site_port = (find_port("127.0.0.1", first) for first in (18_980, 18_990))
        self._database = database

    def words(self, words: list[str]) -> tuple[str, ...]:
        return tuple(self._here(interpolate(word, SECRETS)) for word in words)

    def _here(self, word: str) -> str:
        # The health checks run with the interpreter of the tests instead of `python`.
        word = re.sub(r"(^|&& )python\b", rf"\1{sys.executable}", word)
        word = word.replace("$(hostname)", socket.gethostname()).replace("0.0.0.0:8000", "127.0.0.1:8000")
        word = word.replace("site:8000", "127.0.0.1:8000").replace(
            "127.0.0.1:8000", f"127.0.0.1:{self.site_port}"
        )
        return (
            word.replace("=/tmp/", f"={self.folder}/")
            .replace("(cat /tmp/", f"(cat {self.folder}/")
            .replace("(find /tmp/", f"(find {self.folder}/")
        )

    def environment(self, name: str) -> dict[str, str]:
        given = SERVICES[name]["environment"].items()
        values = {key: interpolate(value, SECRETS | PUBLIC) for key, value in given}
        if "DATABASE_URL" in values:
            values["REDIS_URL"] = values["REDIS_URL"].replace("redis:6379", f"127.0.0.1:{self.redis_port}")
            values["DATABASE_URL"] = self._database
            values["DUARENA_DATA"] = str(self.folder / "data")
            if "DUARENA_STATIC" in values:
                values["DUARENA_STATIC"] = str(self.folder / "static")
        else:
            values["DUARENA_SITE"] = values["DUARENA_SITE"].replace(
                "site:8000", f"127.0.0.1:{self.site_port}"
            )
            values["DUARENA_BUNDLES"] = str(self.folder / "bundles")
            values["DUARENA_CACHE"] = str(self.folder / "cache")
        bare = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "LANG": "C.UTF-8"}
        return bare | values

    def check(self, name: str) -> subprocess.CompletedProcess[str]:
        kind, *words = SERVICES[name]["healthcheck"]["test"]
        command = self.words(words)
        environment = self.environment(name) if name in OURS else None
        shell = ("sh", "-c", command[0]) if kind == "CMD-SHELL" else command
        return subprocess.run(
            shell, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
        )


@pytest.mark.thorough
def test_every_command_becomes_healthy_by_its_own_check(tmp_path: Path, postgres: str) -> None:
    plain = Plain(tmp_path, postgres)
    redis = (str(find_redis_server()), *plain.words(SERVICES["redis"]["command"][1:]))
    here = ("--port", str(plain.redis_port), "--dir", str(tmp_path))
    with Supervisor(logs=tmp_path / "logs", folder=ROOT, say=print) as supervisor:
        supervisor.start(Service("redis", (*redis, *here), ready=lambda: reachable(plain.redis_port)))
        migrate = plain.words(SERVICES["migrate"]["command"])
        subprocess.run(migrate, env=plain.environment("migrate"), cwd=ROOT, check=True)
        for name in OURS[1:]:
            words = plain.words(SERVICES[name]["command"])
            supervisor.start(Service(name, words, plain.environment(name)))
        for name in OURS[1:]:
            healthy(plain, name, tmp_path / "logs" / f"{name}.log")


def reachable(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def healthy(plain: Plain, name: str, log: Path) -> None:
    answers: list[str] = []

    def passes() -> bool:
        try:
            answer = plain.check(name)
        except subprocess.TimeoutExpired as late:  # Docker takes it for a failure too
            answers.append(str(late))
            return False
        answers.append(answer.stdout + answer.stderr)
        return answer.returncode == 0

    assert wait_until(passes, DEADLINE_SECONDS), f"{name}: {answers[-1]}\n{log.read_text()[-4000:]}"


def shell_blocks() -> list[str]:
    """The shell commands of the part about containers."""
    part = read("docs/deployment.md").partition("## In containers")[2].partition("\n## ")[0]
    return [block for block in blocks("docs/deployment.md", "sh") if block in part]


@pytest.mark.parametrize("is_there", [False, True])
def test_the_file_of_secrets_is_readable_by_its_owner_alone(is_there: bool, tmp_path: Path) -> None:
    """Also if there is an earlier one that others may read."""
    commands = [line for line in shell_blocks()[0].splitlines() if "docker" not in line]
    if is_there:
        (tmp_path / ".env").write_text("EARLIER=1\n")
        (tmp_path / ".env").chmod(0o644)
    subprocess.run(("sh", "-euc", "umask 022\n" + "\n".join(commands)), cwd=tmp_path, check=True)
    written = (tmp_path / ".env").read_text()
    assert all(f"{name}=" in written for name in SECRETS)
    assert (tmp_path / ".env").stat().st_mode & 0o777 == 0o600


def test_no_documented_command_in_a_new_container_runs_the_migration_again() -> None:
    """``docker compose run`` starts what a service depends on, such as the migration, unless told not to."""
    commands = [line for block in shell_blocks() for line in block.splitlines() if "compose run" in line]
    assert [command for command in commands if "--no-deps" not in command] == []
