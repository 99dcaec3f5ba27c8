"""A compliance check from its job to its last message, with real engines in real bundles."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from engines.bundles.store import bundle_path, fetch_bundle, pack_bundle, store_bundle
from tests.support.hostile_zips import HOSTILE, WORKER
from tests.support.jobs import BadBundles, nothing_left, pack_bad_engine, plan_of, processes_with
from workers.jobs import ComplianceEnding, ComplianceJob, ComplianceNews
from workers.messages import decode
from workers.play import runner
from workers.play.runner import WorkerContext
from workers.service import compliance
from workers.service.compliance import check_bot

pytestmark = pytest.mark.slow
Run = Callable[..., list[ComplianceNews]]


@pytest.fixture
def run(tmp_path: Path, mark: str) -> Run:
    """Check a bad engine with this plan, and return all news sent about it."""

    def check_one(
        plan: str = "",
        *,
        sha256: str = "",
        seconds: int = 60,
        is_stopping: Callable[[], bool] = lambda: False,
    ) -> list[ComplianceNews]:
        spec = BadBundles(tmp_path / "store", mark)(*plan_of(plan))
        if sha256:
            spec = replace(spec, bundle=sha256)
        sent: list[ComplianceNews] = []
        worker = WorkerContext("tester", tmp_path / "store", tmp_path / "cache")
        with nothing_left(mark):
            check_bot(ComplianceJob("e1", spec, ("dogon-kulei",), seconds), worker, sent.append, is_stopping)
        return sent

    return check_one


def test_the_check_of_a_good_engine_is_reported_step_by_step_and_survives_serialization(run: Run) -> None:
    sent = run()
    assert (sent[0].unpacked, sent[0].found) == (False, ())
    assert [news.ending for news in sent[:-1]] == [ComplianceEnding.NONE] * (len(sent) - 1)
    assert sent[-1].ending is ComplianceEnding.DONE
    assert sent[-1].engine == "Bad"
    grave = [found for found in sent[-1].found if found.fault and found.is_grave]
    assert grave == []
    counts = [len(news.found) for news in sent]
    assert counts == sorted(counts)
    for news in sent:
        assert decode(ComplianceNews, msgspec.json.encode(news)) == news


def test_a_check_leaves_nothing_unpacked_and_removes_leftovers_of_refused_bundles(
    run: Run, tmp_path: Path
) -> None:
    refused = tmp_path / "cache" / ("0" * 64)
    refused.mkdir(parents=True)
    (tmp_path / "store" / "00").mkdir(parents=True)
    run("ugi leave 3")
    assert list((tmp_path / "cache").iterdir()) == []


def test_bundles_unpacked_by_others_stay_while_the_same_bytes_are_refused(
    run: Run, mark: str, tmp_path: Path
) -> None:
    sha256 = store_bundle(tmp_path / "store", pack_bad_engine("ugi", "leave", "3", mark=mark))
    used = fetch_bundle(sha256, store=tmp_path / "store", cache=tmp_path / "cache")
    assert run(sha256=sha256)[-1].found[0].is_grave
    assert sorted(path.name for path in used.iterdir()) == ["bot.toml", "main.py"]


def test_a_fault_is_reported_with_the_lines_and_the_engine_s_standard_error(run: Run) -> None:
    last = run("ugi complain 40 ugi leave 3")[-1]
    (found,) = last.found
    assert (last.ending, found.check, found.is_grave) == (ComplianceEnding.DONE, "handshake", True)
    assert found.fault == "it crashed: the process ended with exit code 3"
    assert "> ugi" in found.lines
    assert "LAST" in found.stderr


def test_the_output_of_a_nasty_engine_is_sent_escaped_and_bounded(run: Run) -> None:
    escapes = r"\x1b[2J\x00\xff\xe2\x80\xae"
    last = run(
        f"ugi complain 300000 ugi also id\\x20name\\x20{escapes}\\n ugi many 3000\\x20{escapes} ugi leave 3"
    )[-1]
    (found,) = last.found
    for text in (found.fault, found.lines.replace("\n", ""), found.stderr.replace("\n", "")):
        assert text.replace("\t", "").isprintable()
    assert r"\x1b[2J\x00" in found.lines
    assert max(len(found.lines), len(found.stderr)) <= compliance.MAX_LOG


def test_a_program_that_cannot_start_is_the_bot_s_fault(run: Run, tmp_path: Path) -> None:
    manifest = b'[bot]\nname = "Bad"\nversion = "1"\ncommand = ["./bot.toml"]\ngames = ["dogon-kulei"]\n'
    last = run(sha256=store_bundle(tmp_path / "store", pack_bundle({"bot.toml": manifest})))[-1]
    (found,) = last.found
    assert (last.ending, found.is_grave, found.fault != "") == (ComplianceEnding.DONE, True, True)


def test_an_engine_without_the_ladder_it_claims_is_at_fault(run: Run) -> None:
    variants = r"option\x20name\x20UGI_Variant\x20type\x20combo\x20default\x20dualma\x20var\x20dualma\n"
    (*_, found) = run(f"ugi also {variants}")[-1].found
    assert (found.check, found.is_grave) == ("setup", True)
    assert found.fault == "the engine does not declare 'dogon-kulei' in UGI_Variant"


def test_a_missing_bundle_is_our_own_failure(run: Run) -> None:
    last = run(sha256="0" * 64)[-1]
    assert last.ending is ComplianceEnding.FAILED
    assert last.why == "the bundle is not available: No such file or directory"


def test_an_exception_of_ours_is_reported_as_our_own_failure(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise KeyError("oops")

    monkeypatch.setattr(compliance, "check_engine", broken)
    assert run()[-1].why == "KeyError: 'oops'"


@pytest.mark.parametrize("name", [name for name, hostile in HOSTILE.items() if hostile.found_by == WORKER])
def test_a_hostile_archive_is_refused_by_name_before_anything_runs(
    name: str, run: Run, tmp_path: Path
) -> None:
    data = HOSTILE[name].make()
    sha256 = hashlib.sha256(data).hexdigest()
    path = bundle_path(tmp_path / "store", sha256)
    path.parent.mkdir(parents=True)
    path.write_bytes(data)
    last = run(sha256=sha256)[-1]
    assert (last.ending, last.found, last.unpacked) == (ComplianceEnding.REFUSED, (), False)
    assert list((tmp_path / "cache").iterdir()) == []


def test_a_stopping_worker_returns_a_check_that_is_under_way(run: Run, mark: str) -> None:
    sent = run("go resist -", is_stopping=lambda: bool(processes_with(mark)))
    assert sent[-1].ending is ComplianceEnding.RETURNED


def test_news_is_sent_while_an_engine_is_silent(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compliance, "PROGRESS_SECONDS", 0.0)
    assert runner.PROGRESS_SECONDS > 0
    sent = run("ugi resist -", seconds=1)
    assert len([news for news in sent if news.unpacked and not news.found]) >= 3
