"""``docs/prometheus``: Prometheus accepts the alerts and they fire; queries use metrics that the site has."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from tests.support.needs import need
from tests.support.schedule import make_tournament
from tournament import queues
from tournament.embedded.plan import ROOT
from tournament.models import EventCount, Keeper
from tournament.monitoring.conditions import LEAST_FREE_BYTES, LONGEST_WAIT, OLDEST_BACKUP, SILENT
from tournament.queues import BrokerState
from tournament.services import event_counts
from tournament.services.accounts.acts import BACKUP, record_act

DOCS = ROOT / "docs"
ALERTS = DOCS / "prometheus" / "alerts.yml"
DASHBOARD = DOCS / "prometheus" / "dashboard.json"
TOKEN = "a token of tests"
WELL = (
    'duarena_info{version="1"} 1x60',
    'duarena_slots{takes="games",state="all"} 4x60',
    "duarena_keeper_silence_seconds 1x60",
    "duarena_inbox_reports 10x60",
    "duarena_oldest_report_seconds 1x60",
    "duarena_idle_wait_seconds 4x60",
    "duarena_redis_up 1x60",
    'duarena_attempts{state="playing"} 4x60',
    'duarena_games_recorded_total{ladder="duploline"} 0+9x60',
    'duarena_disk_free_bytes{folder="data"} 3000000000x60',
    "duarena_backup_age_seconds 500000x60",
    'duarena_server_errors_total{status="503"} 0+1x60',
)
"""The series of a site on which all is well, a value a minute for an hour."""
TROUBLES = {
    "SiteDown": ("duarena_info", ""),
    "NoWorker": ("duarena_slots", ""),
    "WorkersLost": ("", 'duarena_workers{takes="games",condition="lost"} 1x60'),
    "KeeperSilent": ("duarena_keeper_silence_seconds", "duarena_keeper_silence_seconds 90x60"),
    "KeeperLate": ("duarena_oldest_report_seconds", "duarena_oldest_report_seconds 90x60"),
    "InboxFull": ("duarena_inbox_reports", "duarena_inbox_reports 6000x60"),
    "KeeperErrors": ("", 'duarena_keeper_errors_total{task="sweep"} 0+1x60'),
    "RedisDown": ("duarena_redis_up", "duarena_redis_up 0x60"),
    "GamesHalt": ("", 'duarena_attempts_failed_total{end="void"} 0+1x60'),
    "GamesHalted": ("", 'duarena_games{state="halted"} 1x60'),
    "NothingTaken": ("duarena_idle_wait_seconds", "duarena_idle_wait_seconds 400x60"),
    "NothingRecorded": (
        "duarena_games_recorded_total",
        'duarena_games_recorded_total{ladder="duploline"} 9x60',
    ),
    "SlotsHeld": ("", 'duarena_slots{takes="games",state="held"} 1x60'),
    "UploadsWait": ("", 'duarena_uploads{state="waiting"} 1x60'),
    "BackupOld": ("duarena_backup_age_seconds", "duarena_backup_age_seconds 700000x60"),
    "NoBackup": ("duarena_backup_age_seconds", ""),
    "ServerErrors": ("", 'duarena_server_errors_total{status="500"} 0+1x60'),
    "ManyRefused": ("duarena_server_errors_total", 'duarena_server_errors_total{status="503"} 0+20x60'),
    "MailWaits": ("", "duarena_mails_waiting 1x60"),
    "WebhooksLate": ("", "duarena_webhooks_late_seconds 400x60"),
    "DiskFull": ("", 'duarena_disk_free_bytes{folder="records"} 1000000000x60'),
}
"""By alert: the metric of ``WELL`` that is missing, and a series that is there besides; both may be empty."""


def promtool(*words: str | Path) -> str:
    """The output of promtool, which must accept what it is given."""
    command = (need("promtool"), *map(str, words))
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


def expressions() -> dict[str, str]:
    """The query of each alert, by its name."""
    return dict(re.findall(r"- alert: (\w+)\n +expr: (.+)", ALERTS.read_text()))


def panel_queries() -> Iterator[str]:
    for panel in json.loads(DASHBOARD.read_text())["panels"]:
        for target in panel["targets"]:
            yield target["expr"]


def names_in(query: str) -> set[str]:
    return set(re.findall(r"\bduarena_\w+", query))


def labels_in(query: str) -> set[str]:
    grouped = re.findall(r"by \((\w+)\)", query)
    return set(grouped) | set(re.findall(r"[{,](\w+)(?:=~?|!=)", query))


@pytest.fixture
def exposed(
    db: None,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    deal: Callable[[], object],
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> dict[str, set[str]]:
    """The names of the labels of every sample of a site that has something to report of each kind."""
    settings.METRICS_TOKEN = TOKEN
    monkeypatch.setattr(queues, "look_at_broker", lambda names: BrokerState(dict.fromkeys(names, 0), 1))
    make_tournament(ladders=["dogon-kulei"], pairs=1)
    deal()
    now = timezone.now()
    Keeper.objects.update_or_create(pk=1, defaults={"seen_at": now})
    record_act(None, "wrote a backup", "file a.zip", command=BACKUP)
    with django_capture_on_commit_callbacks(execute=True):
        for kind in EventCount.Kind:
            event_counts.count_event(kind, "something")
    event_counts.store_counts()
    answer = Client().get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
    labels: dict[str, set[str]] = {}
    for family in text_string_to_metric_families(answer.content.decode()):
        for sample in family.samples:
            labels.setdefault(sample.name, set()).update(sample.labels)
    return labels


def test_every_query_uses_metrics_and_labels_that_the_site_has(exposed: dict[str, set[str]]) -> None:
    queries = [*expressions().values(), *panel_queries()]
    assert len(queries) > 20
    for query in queries:
        assert names_in(query) - exposed.keys() == set(), query
        assert names_in(query), query
        known = set().union(*(exposed[name] for name in names_in(query)))
        assert labels_in(query) - known == set(), query


def test_prometheus_accepts_every_query_of_the_dashboard(tmp_path: Path) -> None:
    rules = [{"record": f"panel:{number}", "expr": query} for number, query in enumerate(panel_queries())]
    file = tmp_path / "queries.yml"
    file.write_text(json.dumps({"groups": [{"name": "panels", "rules": rules}]}))  # JSON is YAML
    assert f"{len(rules)} rules found" in promtool("check", "rules", file)


def test_every_alert_has_a_severity() -> None:
    rules = re.findall(r"- alert: \w+\n(?: {8}.+\n)+", ALERTS.read_text())
    assert len(rules) == len(TROUBLES)
    assert all(
        re.search(r"^ {8}labels: \{severity: (critical|warning)\}$", rule, re.MULTILINE) for rule in rules
    )


def test_prometheus_accepts_the_alerts() -> None:
    assert f"{len(TROUBLES)} rules found" in promtool("check", "rules", ALERTS)


def test_prometheus_accepts_the_example_of_its_settings(tmp_path: Path) -> None:
    page = (DOCS / "monitoring.md").read_text()
    examples = re.findall(r"^```yaml\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert examples
    for number, example in enumerate(examples):
        file = tmp_path / f"{number}.yml"
        file.write_text(example)
        promtool("check", "config", "--syntax-only", file)


@pytest.mark.slow
def test_each_alert_fires_in_its_trouble_and_none_on_a_site_on_which_all_is_well(tmp_path: Path) -> None:
    assert TROUBLES.keys() == expressions().keys()
    tests = [_case(set(), WELL)]
    for alert, (missing, added) in TROUBLES.items():
        series = [line for line in WELL if not missing or not line.startswith(missing)]
        tests.append(_case({alert}, [*series, *filter(None, [added])]))
    file = tmp_path / "cases.yml"
    file.write_text(json.dumps({"rule_files": [str(ALERTS)], "evaluation_interval": "1m", "tests": tests}))
    assert "SUCCESS" in promtool("test", "rules", file)


def _case(firing: set[str], lines: Sequence[str]) -> dict[str, Any]:
    """A case of ``promtool test rules``: with these series, these alerts fire and no other."""
    series = [dict(zip(("series", "values"), line.rsplit(" ", 1), strict=True)) for line in lines]
    check = {
        "expr": 'count by (alertname) (ALERTS{alertstate="firing"})',
        "eval_time": "50m",
        "exp_samples": [{"labels": f'{{alertname="{name}"}}', "value": 1} for name in sorted(firing)],
    }
    return {"interval": "1m", "input_series": series, "promql_expr_test": [check]}


def test_the_limits_are_those_of_the_page_of_staff() -> None:
    assert (
        f"duarena_disk_free_bytes) < {LEAST_FREE_BYTES:.0e}".replace("e+0", "e") in expressions()["DiskFull"]
    )
    wait, silence = (limit.total_seconds() for limit in (LONGEST_WAIT, SILENT))
    assert expressions()["NothingTaken"].endswith(f"> {wait:.0f}")
    assert expressions()["BackupOld"].endswith(f"> {OLDEST_BACKUP.total_seconds():.0f}")
    for name in ("KeeperSilent", "KeeperLate"):
        assert expressions()[name].endswith(f"> {silence:.0f}")
