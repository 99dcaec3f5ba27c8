"""The tools of those who change the code: hooks, continuous integration, the changelog."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from engines import __version__
from tests.support.documents import read
from tournament.embedded.plan import ROOT

WORKFLOWS = sorted((ROOT / ".github" / "workflows").iterdir())
HOOKS: list[dict[str, Any]] = yaml.safe_load(read(".pre-commit-config.yaml"))["repos"]
PINS = dict(
    re.findall(r"^([\w-]+)==([^\s;]+)", read("requirements-dev.txt") + read("requirements.txt"), re.MULTILINE)
)


def test_the_hooks_run_the_tools_in_their_pinned_versions_or_those_of_the_environment() -> None:
    for repository in HOOKS:
        hooks = repository["hooks"]
        if repository["repo"] == "local":
            assert all(hook["language"] == "system" for hook in hooks)
            assert all(hook["entry"].startswith(".venv/bin/") for hook in hooks)
        else:
            (tool,) = {re.split("-", hook["id"])[0] for hook in hooks}
            assert repository["rev"] == f"v{PINS[tool]}"


def test_the_hooks_are_the_static_checks_of_the_tests() -> None:
    ids = {hook["id"] for repository in HOOKS for hook in repository["hooks"]}
    assert ids == {"ruff-format", "ruff-check", "mypy", "import-linter"}


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_only_read_and_name_actions_by_the_hash_of_a_commit(workflow: Any) -> None:
    text = workflow.read_text()
    described = yaml.safe_load(text)
    assert described["permissions"] == {"contents": "read"}
    for job in described["jobs"].values():
        assert "permissions" not in job
    assert all(re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", one) for one in re.findall(r"uses: (\S+)", text))


def test_continuous_integration_runs_every_test() -> None:
    assert any(".ci/run" in workflow.read_text() for workflow in WORKFLOWS)


def test_the_changelog_begins_with_the_version_of_the_code() -> None:
    versions = re.findall(r"^## (\S+)(?: \((\d{4}-\d{2}-\d{2})\))?$", read("CHANGELOG.md"), re.MULTILINE)
    assert versions[0][0] == __version__
    assert all(date for _, date in versions[1:]), "a release has its date"
    assert len(versions) == len(re.findall(r"^## ", read("CHANGELOG.md"), re.MULTILINE))


def test_the_newest_section_of_the_changelog_has_one_change_a_line_and_no_double() -> None:
    _, _, newest = read("CHANGELOG.md").partition("\n### ")
    lines = [line for line in newest[: newest.index("\n## ")].splitlines()[1:] if line]
    assert [line for line in lines if not re.match(r" *- |### ", line)] == []
    assert len(lines) == len(set(lines))


@pytest.mark.parametrize("form", sorted((ROOT / ".github" / "ISSUE_TEMPLATE").iterdir()), ids=str)
def test_the_forms_of_issues_can_be_read(form: Any) -> None:
    described = yaml.safe_load(form.read_text())
    assert described.get("blank_issues_enabled") or {"name", "description", "body"} <= set(described)
