"""A site whose broker anybody can write to: its record keeper survives, and plays no games."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import redis
from celery import Celery

from tests.support.brokers import PATIENCE_SECONDS
from tests.support.jobs import job_of, wait_until
from tests.support.malformed import MALFORMED, raw_message
from tests.support.sites import running_lonely_site
from workers.jobs import EngineSpec

pytestmark = pytest.mark.slow


def test_the_record_keeper_survives_whatever_is_in_its_queue(tmp_path: Path) -> None:
    stolen = tmp_path / "stolen"
    spec = EngineSpec("Thief", "1", ("sh", "-c", f"touch {stolen}"), directory=str(tmp_path), trusted=True)
    job = job_of(spec, spec).to_json()
    with running_lonely_site(tmp_path / "site", 18_850) as site:
        intruder = Celery("intruder", broker=site.broker, set_as_current=False)
        queue = redis.Redis.from_url(site.broker.replace("redis+socket", "unix").partition("?")[0])
        assert wait_until(lambda: site.ask("SELECT 1 FROM tournament_keeper"), PATIENCE_SECONDS)
        intruder.control.shutdown()
        for item in MALFORMED.values():
            queue.lpush("records", item)
        queue.lpush("records", json.dumps(raw_message("workers.play", ([job], {}, {}))).encode())
        intruder.send_task("workers.play", args=[job], queue="records")
        intruder.send_task("workers.examine", args=[{}], queue="records")
        intruder.send_task("tournament.record", args=[{"key": 7}], queue="records")

        def ignored() -> dict[object, object]:
            return dict(site.ask("SELECT reason, count FROM tournament_ignored"))  # type: ignore[arg-type]

        assert wait_until(lambda: ignored() == {"malformed": len(MALFORMED) + 1, "unreadable": 1}, 60), (
            ignored()
        )
        intruder.close()
    assert not stolen.exists()
    assert "unregistered task" in (tmp_path / "site" / "logs" / "keeper.log").read_text()
