"""The container engine: the one that runs, or one of our own for as long as the benchmark takes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final

from benchmarks.runs import Broken

START_S: Final = 60.0


class Docker:
    """Runs the command ``docker`` with an engine."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = {**os.environ, **environment}

    def run(
        self, *words: str, stdin: IO[bytes] | None = None, text: str | None = None, check: bool = True
    ) -> str:
        """The output of ``docker WORDS``, which reads a file or a text; raises ``Broken`` if it fails."""
        run = subprocess.run(
            ("docker", *words),
            env=self._environment,
            input=text,
            stdin=None if text is not None else stdin or subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if check and run.returncode:
            raise Broken(f"docker {' '.join(words)}: {run.stderr[-3000:]}{run.stdout[-2000:]}")
        return run.stdout

    def save(self, file: Path, *words: str) -> None:
        """Write the output of ``docker WORDS`` to a file; raises ``Broken`` if it fails."""
        with file.open("wb") as output:
            run = subprocess.run(
                ("docker", *words), env=self._environment, stdout=output, stderr=subprocess.PIPE, check=False
            )
        if run.returncode:
            raise Broken(f"docker {' '.join(words)}: {run.stderr.decode()[-3000:]}")

    def logs(self, container: str) -> str:
        """All that a container has written, also before it was started again."""
        run = subprocess.run(
            ("docker", "logs", container),
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        return run.stdout.decode(errors="replace")

    def main_process(self, container: str) -> int:
        return int(self.run("inspect", "--format={{.State.Pid}}", container))

    def has_image(self, name: str) -> bool:
        return bool(self.run("images", "--quiet", name).strip())

    def answers(self) -> bool:
        return bool(self.run("info", "--format={{.ServerVersion}}", check=False).strip())


class Compose:
    """The services of the compose file in a project of their own."""

    def __init__(self, docker: Docker, project: str, file: Path, values: Path) -> None:
        self._docker = docker
        self._words = ("compose", f"--project-name={project}", f"--file={file}", f"--env-file={values}")

    def run(self, *words: str, text: str | None = None, check: bool = True) -> str:
        return self._docker.run(*self._words, *words, text=text, check=check)

    def save(self, file: Path, *words: str) -> None:
        """Write the output to a file."""
        self._docker.save(file, *self._words, *words)

    def load(self, file: Path, *words: str) -> None:
        """Run a command that reads a file."""
        with file.open("rb") as content:
            self._docker.run(*self._words, *words, stdin=content)

    def states(self) -> dict[str, str]:
        """By container: ``healthy``, ``starting``, ``unhealthy``, or its state if it has no health check."""
        lines = self.run("ps", "--all", "--format=json").splitlines()
        rows: list[dict[str, Any]] = [json.loads(line) for line in lines if line.startswith("{")]
        return {row["Name"]: row["Health"] or row["State"] for row in rows}

    def containers(self, service: str) -> list[str]:
        """The ids of the containers of a service."""
        return self.run("ps", "--quiet", service).split()


@contextmanager
def container_engine(data: Path) -> Iterator[Docker]:
    """The engine that runs; else one that is started as root, with its images in ``data``."""
    docker = Docker({})
    if docker.answers():
        yield docker
        return
    if shutil.which("dockerd") is None or os.geteuid() != 0:
        raise Broken("no container engine runs; to start one needs root and dockerd (Debian: docker.io)")
    with tempfile.TemporaryDirectory(prefix="duarena-docker-") as name:
        folder = Path(name)
        socket = f"unix://{folder}/docker.sock"
        command = (
            "dockerd",
            f"--host={socket}",
            f"--data-root={data}",
            f"--exec-root={folder}/exec",
            f"--pidfile={folder}/docker.pid",
            "--iptables=false",
            "--ip6tables=false",
        )
        with (folder / "docker.log").open("wb") as log, subprocess.Popen(command, stderr=log) as engine:
            try:
                docker = Docker({"DOCKER_HOST": socket})
                _wait_for(docker, folder / "docker.log")
                yield docker
            finally:
                engine.terminate()
                engine.wait()
                # It leaves the network of images that were built with that of this machine mounted.
                left = f"{folder}/exec/netns/default"
                subprocess.run(["umount", "--quiet", left], stderr=subprocess.DEVNULL)


def _wait_for(docker: Docker, log: Path) -> None:
    deadline = time.monotonic() + START_S
    while not docker.answers():
        if time.monotonic() > deadline:
            raise Broken(f"the container engine does not start: {log.read_text()[-1000:]}")
        time.sleep(0.5)
