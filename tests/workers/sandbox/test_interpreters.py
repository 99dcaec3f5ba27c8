"""Interpreters in the sandbox find no network and go on; which of them need sockets for queries of it."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.sandboxes import sandbox_of
from workers.engine.launch import plan_launch
from workers.engine.process import EngineProcess
from workers.jobs import EngineSpec
from workers.sandbox.filter import seccomp
from workers.sandbox.levels import Level
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
const seen = JSON.stringify(os.networkInterfaces());
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
    "node": ("main.js", NODE, "ok {"),
    "java": ("Main.java", JAVA, "ok"),
}


def answer_of(word: str, folder: Path, sandbox: Sandbox) -> str:
    if find_runtime(word) is None:
        pytest.skip(f"needs {word}")
    name, program, _ = PROGRAMS[word]
    folder.joinpath(name).write_text(program)
    return first_line(folder, sandbox, *((word, "-Xmx128m", name) if word == "java" else (word, name)))


@pytest.mark.sandbox
@pytest.mark.parametrize("word", PROGRAMS)
def test_an_interpreter_looks_for_a_network_and_goes_on(tmp_path: Path, word: str) -> None:
    assert answer_of(word, tmp_path, sandbox_of(Level.B)).startswith(PROGRAMS[word][2])


@pytest.mark.sandbox
@pytest.mark.thorough
@pytest.mark.parametrize("word", PROGRAMS)
def test_only_node_needs_sockets_for_queries_of_the_network(
    tmp_path: Path, word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seccomp, "SOCKET_FAMILIES", {"AF_UNIX": 1})
    sandbox = sandbox_of(Level.B)
    closed = replace(sandbox, tools=replace(sandbox.tools, filter=seccomp.filter_program(os.uname().machine)))
    if word == "node":
        with pytest.raises(AssertionError, match="networkInterfaces"):
            answer_of(word, tmp_path, closed)
    else:
        assert answer_of(word, tmp_path, closed).startswith(PROGRAMS[word][2])
