"""Starts a version test, a sequential test between two versions of a bot, and follows it to its answer."""

from __future__ import annotations

import time
from collections.abc import Sequence

from engines.client.exit_codes import NO, UNDECIDED
from engines.client.output import ProgressBar
from engines.client.site_client import NO_SITE, CannotAsk, Json, SiteClient

POLL_SECONDS = 3.0
_ASKED = {(-10, 0): "at least not weaker", (0, 20): "clearly stronger", (0, 8): "a little stronger"}
"""The questions in words, by their hypotheses in Elo."""
_ANSWERS = {"H1 accepted": ("yes", 0), "H0 accepted": ("no", NO)}


def choose_baseline(versions: Sequence[Json], ladder: str, number: int, against: str) -> int | None:
    """The number of the version to test against; None if there is no earlier one.

    ``versions`` are the rows of the bot's versions. ``against`` is ``active``, the version that plays on the
    ladder, or else the last valid one; ``last``, the last valid one; or a number.
    """
    if against.isdigit():
        return int(against)
    earlier = [row for row in versions if row["version"] < number and row["state"] == "valid"]
    earlier = [row for row in earlier if ladder in row["ladders"]]
    active = [row for row in earlier if against == "active" and ladder in row["active_on"]]
    return max((int(row["version"]) for row in active or earlier), default=None)


def start_version_test(site: SiteClient, slug: str, candidate: int, baseline: int, terms: Json) -> Json:
    """The new test between two versions of a bot; ``terms`` are what the API takes beside them."""
    pair = {"candidate": f"{slug}/{candidate}", "baseline": f"{slug}/{baseline}"}
    return site.create("/api/v1/version-tests/", {**pair, **terms})


def follow_version_test(site: SiteClient, slug: str, deadline: float, most_games: int | None = None) -> Json:
    """The test when it is over; after the ``deadline``, a time of ``time.monotonic``, as it is."""
    progress = ProgressBar()
    while True:
        test = read_version_test(site, slug)
        if test["state"] != "running" or time.monotonic() > deadline:
            progress.clear()
            return test
        progress.show(sentence_of(test), int(test["games"]), most_games or 0)
        time.sleep(POLL_SECONDS)


def read_version_test(site: SiteClient, slug: str) -> Json:
    test = site.get(f"/api/v1/version-tests/{slug}/")
    if not {"test", "state", "games", "won", "drawn", "lost", "elo", "page"} <= test.keys():
        raise CannotAsk(NO_SITE)
    return test


def code_of(test: Json) -> int:
    return _ANSWERS.get(test["state"], ("", UNDECIDED))[1]


def answer_of(test: Json) -> str:
    """``yes``, ``no``, or why there is neither."""
    return _ANSWERS.get(test["state"], (str(test["state"]), 0))[0]


def question_of(test: Json) -> str:
    low, high = test.get("elo0"), test.get("elo1")
    asked = _ASKED.get((low, high))  # type: ignore[arg-type]
    return f"Is it {asked}?" if asked else f"Is the difference {high:+g} rather than {low:+g} Elo?"


def sentence_of(test: Json) -> str:
    """The test in one line."""
    return f"{test['test']}: {question_of(test)} {answer_of(test)}. {figures_of(test)}"


def figures_of(test: Json) -> str:
    counted = f"{test['won']} won, {test['drawn']} drawn, {test['lost']} lost"
    if test["elo"] is None:
        return f"{test['games']} games"
    low, high = (float(test[name]) for name in ("elo_low", "elo_high"))
    return f"{test['games']} games: {counted}; {test['elo']:+.1f} Elo ({low:+.1f} to {high:+.1f})"
