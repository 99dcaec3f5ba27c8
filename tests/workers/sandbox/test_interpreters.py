"""Interpreters in the sandbox find no network and continue, and bots in all languages play there."""

from __future__ import annotations

import shutil
import time
from dataclasses import replace
from pathlib import Path

import pytest

from tests.engines.bots.test_languages import FOLDER, JAVASCRIPT, Bot, C, build  # noqa: F401
from tests.engines.bots.test_more_languages import BOTS as COMPILED_BOTS
from tests.support.jobs import job_of, play_job
from tests.support.needs import need
from tests.support.sandboxes import sandbox_of
from workers.engine.launch import plan_launch
from workers.engine.process import EngineProcess
from workers.jobs import EngineSpec
from workers.sandbox.levels import Level
from workers.sandbox.policy import Policy
from workers.sandbox.runtimes import find_runtime
from workers.sandbox.sandbox import Sandbox

pytestmark = pytest.mark.slow
PATIENCE_NS = 120 * 10**9

PYTHON = """
import socket
found = socket.getaddrinfo("127.0.0.1", 80)[0][4]
try:
    socket.getaddrinfo("example.invalid", 80)
except socket.gaierror:
    print("ok", *found, flush=True)
"""
NODE = """
const os = require("os"), dns = require("dns");
let seen = "none";
try {
    seen = JSON.stringify(os.networkInterfaces());
} catch (error) {
    seen = error.code;
}
dns.lookup("example.invalid", error => console.log("ok", seen, error.code));
"""
JAVA = """
public class Main {
    public static void main(String[] words) throws Exception {
        String seen;
        try {
            seen = "" + java.util.Collections.list(java.net.NetworkInterface.getNetworkInterfaces());
        } catch (java.net.SocketException none) {
            seen = "none";
        }
        try {
            java.net.InetAddress.getByName("example.invalid");
        } catch (java.net.UnknownHostException unknown) {
            System.out.println("ok " + seen);
        }
    }
}
"""


def first_line(folder: Path, sandbox: Sandbox, *command: str) -> str:
    process = EngineProcess(plan_launch(EngineSpec("tried", "", command), folder, sandbox))
    try:
        return process.read_line(time.monotonic_ns() + PATIENCE_NS).decode()
    except Exception as error:
        raise AssertionError(process.take_stderr().decode()) from error
    finally:
        process.kill()


PROGRAMS = {
    "python3": ("main.py", PYTHON, "ok 127.0.0.1 80"),
    "node": ("main.js", NODE, "ok ERR_SYSTEM_ERROR"),
    "java": ("Main.java", JAVA, "ok"),
}
NEEDED = {"node": "node", "java": "javac"}
"""The tools of the other languages, by the names that tests have for them."""


def answer_of(word: str, folder: Path, sandbox: Sandbox) -> str:
    if word in NEEDED:
        need(NEEDED[word])
    if find_runtime(word) is None:
        pytest.skip(f"needs {word}")
    name, program, _ = PROGRAMS[word]
    folder.joinpath(name).write_text(program)
    return first_line(folder, sandbox, *((word, "-Xmx128m", name) if word == "java" else (word, name)))


@pytest.mark.sandbox
@pytest.mark.parametrize("word", PROGRAMS)
def test_an_interpreter_looks_for_a_network_and_goes_on(tmp_path: Path, word: str) -> None:
    assert answer_of(word, tmp_path, sandbox_of(Level.B)).startswith(PROGRAMS[word][2])


def copied(bot: Bot, folder: Path, built: Path) -> EngineSpec:
    """A bot of ``languages/`` in a folder of its own, as in a bundle."""
    source, program = FOLDER / bot.source, bot.command(built)[-1]
    folder.mkdir()
    if source.suffix == ".java":
        shutil.copytree(built / f"{source.name}.d", folder, dirs_exist_ok=True)
        command: tuple[str, ...] = ("java", "-Xmx128m", "-cp", ".", program)
    elif source.suffix == ".js":
        shutil.copy(source, folder)
        command = ("node", source.name)
    else:
        shutil.copy(program, folder)
        command = (source.stem,)
    return EngineSpec(source.stem, "1", command, directory=str(folder))


@pytest.mark.sandbox
@pytest.mark.parametrize(
    "bot",
    [C, *(pytest.param(bot, marks=pytest.mark.thorough) for bot in (JAVASCRIPT, *COMPILED_BOTS))],
    ids=lambda bot: bot.source,
)
def test_a_bot_in_another_language_plays_in_the_sandbox(bot: Bot, tmp_path: Path, build: Path) -> None:  # noqa: F811
    spec = copied(bot, tmp_path / "bot", build)
    job = replace(job_of(spec, spec), game=bot.games[0], time_control="20+0", ply_limit=12)
    [report] = play_job(job, policy=Policy(sandbox_of(Level.B))).reports
    assert (report.fault, report.termination) == ("none", "ply limit"), report.evidence
