"""Which engines run in which sandbox; a missing sandbox is never ignored silently."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from unittest.mock import sentinel

import pytest

from tests.support.jobs import bad_engine, job_of, play_job
from workers.sandbox.levels import Level, SettingError, Verdict, Want, describe, needed_level
from workers.sandbox.policy import Policy, Refused, make_policy, read_verdict, write_verdict

SANDBOX = sentinel.sandbox
LACK = Want("a control group", "sudo ./arena up")


def verdict(level: Level) -> Verdict:
    return Verdict(level, () if level is Level.A else (LACK,))


@pytest.mark.parametrize(
    ("level", "setting", "plays"),
    [
        (Level.A, "", True),
        (Level.A, "A", True),
        (Level.A, "B", True),
        (Level.B, "", False),
        (Level.B, "A", False),
        (Level.B, "B", True),
        (Level.B, "b", True),
        (Level.C, "", False),
        (Level.C, "B", False),
    ],
)
def test_uploads_play_at_level_a_or_at_b_if_the_operator_permits_it(
    level: Level, setting: str, plays: bool
) -> None:
    sandbox = None if level is Level.C else SANDBOX
    policy = make_policy(verdict(level), sandbox, {"DUARENA_SANDBOX": setting})
    assert policy.sandbox_for(trusted=True) is sandbox
    if plays:
        assert policy.sandbox_for(trusted=False) is SANDBOX
    else:
        with pytest.raises(Refused, match=f"level {level}, .* missing: a control group"):
            policy.sandbox_for(trusted=False)


@pytest.mark.parametrize(
    ("setting", "local", "needed"),
    [("", "1", Level.B), ("", "", Level.A), ("", "0", Level.A), ("A", "1", Level.A), ("B", "1", Level.B)],
)
def test_a_local_site_needs_level_b_unless_the_setting_names_another(
    setting: str, local: str, needed: Level
) -> None:
    environment = {"DUARENA_SANDBOX": setting, "DUARENA_LOCAL": local}
    assert needed_level(setting, is_local=local == "1") is needed
    for level in Level:
        refusal = make_policy(verdict(level), SANDBOX, environment).refusal
        assert (not refusal) == verdict(level).admits(needed)
        assert not refusal or f"level {needed} is needed" in refusal


def test_a_verdict_names_the_packages_that_bring_missing_programs() -> None:
    wants = (LACK, Want("the program bwrap", "", "bubblewrap"), Want("the program sh", "", "dash"))
    assert Verdict(Level.C, wants).packages == ("bubblewrap", "dash")


@pytest.mark.parametrize("level", Level)
def test_an_operator_who_trusts_all_has_no_sandbox(level: Level) -> None:
    policy = make_policy(verdict(level), SANDBOX, {"DUARENA_TRUST_UPLOADS": "1"})
    assert policy == Policy()
    assert policy.sandbox_for(trusted=False) is None


@pytest.mark.parametrize("word", ["C", "off", "1", "AB"])
def test_an_invalid_setting_lets_no_upload_play(word: str) -> None:
    with pytest.raises(SettingError, match=f"DUARENA_SANDBOX is '{word}', but must be A or B"):
        needed_level(word)
    policy = make_policy(verdict(Level.A), SANDBOX, {"DUARENA_SANDBOX": word})
    with pytest.raises(Refused, match="must be A or B"):
        policy.sandbox_for(trusted=False)
    assert policy.sandbox_for(trusted=True) is SANDBOX


def test_a_verdict_names_the_missing_parts_and_the_remedy() -> None:
    lines = describe(verdict(Level.B))
    assert lines[0].startswith("Sandbox: level B")
    assert lines[1:] == ["  missing: a control group (sudo ./arena up)"]
    assert describe(verdict(Level.A)) == ["Sandbox: level A, all protections work."]


def test_a_verdict_is_stored_and_read_back(tmp_path: Path) -> None:
    assert read_verdict(tmp_path / "none") is None
    found = Verdict(Level.B, (LACK,), "2026-01-02T03:04:05+00:00", "host", "v1")
    write_verdict(tmp_path / "cache", verdict(Level.A))
    write_verdict(tmp_path / "cache", found)
    assert read_verdict(tmp_path / "cache") == found
    assert [path.name for path in (tmp_path / "cache").iterdir()] == ["sandbox.json"]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"level": "D"}', '{"level": "A", "more": 1}'])
def test_an_unreadable_verdict_is_ignored(tmp_path: Path, text: str) -> None:
    (tmp_path / "sandbox.json").write_text(text)
    assert read_verdict(tmp_path) is None


def test_a_strangers_engine_is_not_started_by_a_worker_that_refuses_it() -> None:
    policy = Policy(refusal="there is no sandbox")
    stranger = replace(bad_engine("start", "look", "-"), trusted=False)
    played = play_job(job_of(stranger, bad_engine()), policy=policy)
    [report] = played.reports
    assert (report.termination, report.result) == ("void", "*")
    assert report.evidence == "uploaded bots are not run by this worker: there is no sandbox"
    assert report.white.stderr == ""
