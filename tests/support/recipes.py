"""The recipes of docs/api.md for pipelines, and a repository whose pipeline runs one."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from tests.support.documents import blocks

HOST = "https://duarena.example"
"""The site in the recipes."""
LADDER = "dogon-kulei"
SUMMARY = "duarena.md"
MANIFEST = (
    f'[bot]\nname = "Iron Age"\nversion = "2"\ncommand = ["python3", "main.py"]\ngames = ["{LADDER}"]\n'
)


@dataclass(frozen=True, slots=True)
class Job:
    """What a runner does when a tag is pushed: a command with an environment, in a folder."""

    command: tuple[str, ...]
    environment: Mapping[str, str]
    folder: Path

    @property
    def summary(self) -> str:
        return (self.folder / SUMMARY).read_text()


def prepare_job(name: str, top: Path, source: str, *, site: str, token: str) -> Job:
    """The job of the recipe ``github`` or ``gitlab`` in a new repository below ``top`` with this bot."""
    script, own = _recipe(name)
    assert own["DUARENA_SITE"] == HOST
    folder = top / "repository"
    folder.mkdir(parents=True)
    (folder / "bot.toml").write_text(MANIFEST)
    (folder / "main.py").write_text(source)
    environment = {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": str(top),
        "DUARENA_SITE": site,
        "DUARENA_TOKEN": token,
        "RUNNER_TEMP": str(top),
        "GITHUB_REF_NAME": "v2",
        "CI_COMMIT_TAG": "v2",
        "GITHUB_STEP_SUMMARY": str(folder / SUMMARY),
    }
    return Job(("bash", "-e", "-c", script), environment, folder)


def _recipe(name: str) -> tuple[str, dict[str, str]]:
    """The script lines of a recipe and its own variables."""
    github, gitlab = (yaml.safe_load(text) for text in blocks("docs/api.md", "yaml"))
    if name == "gitlab":
        job = gitlab["duarena"]
        return "\n".join(job["script"]), job["variables"]
    job = github["jobs"]["duarena"]
    return "\n".join(step["run"] for step in job["steps"] if "run" in step), job["env"]
