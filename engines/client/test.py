"""``python -m engines test``: plays version tests between two versions of a bot, and tells their answers."""

from __future__ import annotations

import time
from argparse import Namespace
from collections.abc import Sequence

from engines.client.arguments import QUESTIONS
from engines.client.names import find_version
from engines.client.reporting import Report
from engines.client.site_client import NO_SITE, CannotAsk, Json, SiteClient, find_token, site_of
from engines.client.version_test import choose_baseline, follow_version_test, start_version_test


def run(parsed: Namespace) -> int:
    """Start the tests and wait for their answers; returns the exit code."""
    site = SiteClient(site_of(parsed.site), find_token())
    slug, number = find_version(site, parsed.bot)
    report, deadline = Report(parsed), time.monotonic() + parsed.timeout
    try:
        play_tests(site, parsed, slug, number, read_versions(site, slug), report, deadline)
    except CannotAsk as error:
        return report.failed(error)
    return report.end()


def read_versions(site: SiteClient, slug: str) -> list[Json]:
    """The rows of a bot's versions."""
    rows = list(site.rows(f"/api/v1/bots/{slug}/versions/", {}))
    if not all({"version", "state", "ladders", "active_on"} <= row.keys() for row in rows):
        raise CannotAsk(NO_SITE)
    return rows


def play_tests(
    site: SiteClient,
    parsed: Namespace,
    slug: str,
    number: int,
    versions: Sequence[Json],
    report: Report,
    deadline: float,
) -> None:
    """Start a test on each ladder of the options, else on the first of the version, and follow them all."""
    candidate = next((row for row in versions if row["version"] == number), None)
    if candidate is None:
        raise CannotAsk(f"{slug} has no version {number}")
    started = []
    for ladder in parsed.ladder or candidate["ladders"][:1]:
        baseline = choose_baseline(versions, ladder, number, parsed.against)
        if baseline is None:
            report.remark(f"There is no earlier version to test against on {ladder}.")
            continue
        terms = {"ladder": ladder, "bounds": QUESTIONS[parsed.test], "most_games": parsed.games}
        terms["time_control"] = parsed.tc
        given = {name: value for name, value in terms.items() if value is not None}
        test = start_version_test(site, slug, number, baseline, given)
        report.started(test, number, baseline)
        started.append(str(test["slug"]))
    for name in started:
        report.tested(follow_version_test(site, name, deadline, parsed.games))
