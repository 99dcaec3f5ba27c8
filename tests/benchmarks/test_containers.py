"""The parts of the benchmark of containers that need no container engine."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
import yaml

from benchmarks.containers import behind, images, play, scale, steps
from benchmarks.containers.__main__ import SITE_PORTS, STEPS, _copy_project, _values
from benchmarks.containers.site import SERVICES, wait_until
from benchmarks.runs import Broken
from tournament.embedded.plan import ROOT
from tournament.settings import ACCOUNT_RATE_LIMITS

COMPOSE = (ROOT / "docker-compose.yml").read_text()


def test_there_is_a_stand_in_for_every_image_that_a_registry_would_give() -> None:
    named = set(re.findall(r"^FROM (\S+)", (ROOT / "Dockerfile").read_text(), re.MULTILINE))
    services = yaml.safe_load(COMPOSE)["services"]
    named |= {service["image"] for service in services.values()} - {images.OURS}
    assert set(images.STAND_INS) == named
    assert set(SERVICES) == set(services) - {"migrate"}


def test_every_secret_and_setting_of_the_benchmark_is_one_of_the_compose_file() -> None:
    given = set(re.findall(r"^(\w+)=", _values([1, 2, 3], "token", 2), re.MULTILINE))
    given -= {"COMPOSE_PROFILES"}  # Compose itself reads it
    assert given <= set(re.findall(r"\$\{(\w+)", COMPOSE))
    assert set(re.findall(r"\$\{(\w+):\?", COMPOSE)) <= given


def test_the_programs_that_run_in_the_site_are_valid() -> None:
    words = {"meetings": 6, "ply_limit": 100, "register": "", "prepare": "", "zips": "[]", "ladder": "x"}
    compile(steps._PREPARE.format(**words, games=1), "prepare", "exec")
    compile(steps._AGAIN.format(ladder="x", pairs=1), "again", "exec")
    compile(steps._TOKEN, "token", "exec")
    compile(play._START.format(ladder="x", name="y", pairs=1), "start", "exec")
    compile(play._ENDS.format(end="lost"), "ends", "exec")
    compile(scale._ACCOUNT, "account", "exec")
    for program in (behind._SETTING, behind._RATINGS, behind._BUNDLES):
        compile(program, "behind", "exec")


def test_the_services_of_the_benchmark_run_from_the_files_in_its_folder(tmp_path: Path) -> None:
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl: apt-get install openssl")
    file = _copy_project(tmp_path / "project")
    mounted = re.findall(r'"\./([^:"]+):|seccomp:([^"]+)"', COMPOSE)
    assert mounted
    assert all((file.parent / (one or other)).exists() for one, other in mounted)
    assert (file.parent / "site.env").read_text() == "DUARENA_MAX_BUNDLE_MB=7\n"


def test_each_container_of_the_site_has_a_port_of_its_own() -> None:
    (first, last) = re.findall(
        r"^DUARENA_LISTEN=127\.0\.0\.1:(\d+)-(\d+)$", _values([1, 2, 3], "token", 2), re.MULTILINE
    )[0]
    assert int(last) - int(first) + 1 == SITE_PORTS


def test_bots_are_made_before_they_play_and_pages_are_counted_after_the_flood() -> None:
    order = list(STEPS)
    assert order.index("rate") < order.index("faults") < order.index("check") < order.index("again")
    assert order.index("proxy") < order.index("pages")


def test_as_many_wrong_passwords_are_expected_as_the_site_takes() -> None:
    assert ACCOUNT_RATE_LIMITS["password_here"] == f"{scale.ALLOWED}/5m/key"
    assert scale.ALLOWED < scale.WRONG


def test_the_slots_of_a_worker_are_the_processes_that_it_forked(monkeypatch: pytest.MonkeyPatch) -> None:
    """1 is the init process of the container, 2 the watch, 3 the worker, 4 and 5 its slots, 6 an engine."""
    below = {1: [2, 3, 4, 5, 6], 3: [4, 5, 6], 4: [6], 5: [], 6: []}
    worker = ["python", "-m", "workers", "start", "--queue=games", ""]
    words = {2: ["python", "-m", "workers", "watch", *worker], 3: worker, 4: worker, 5: worker, 6: ["bot"]}
    monkeypatch.setattr(play, "descendants", below.__getitem__)
    monkeypatch.setattr(play, "_words", words.__getitem__)
    assert play.find_slots(1) == [4, 5]
    assert play._busy([4, 5]) == [4]


def test_a_wait_ends_with_the_reason() -> None:
    wait_until(lambda: True, 0.0, lambda: "never")
    with pytest.raises(Broken, match="because of x"):
        wait_until(lambda: False, -1.0, lambda: "because of x")
