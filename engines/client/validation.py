"""Follows the validation of a version: the compliance check, then a game against itself on each ladder."""

from __future__ import annotations

import time
from collections.abc import Iterator

from engines.client.exit_codes import CANNOT, NO, UNDECIDED
from engines.client.output import ProgressBar, print_words
from engines.client.site_client import NO_SITE, CannotAsk, Json, SiteClient
from engines.visible import visible

POLL_SECONDS = 1.0
SHOWN_LINES = 14
SHOWN_WIDTH = 150


def read_validation(site: SiteClient, slug: str, number: int) -> Json:
    """The present state of a version of the token's user."""
    version = site.get(f"/api/v1/bots/{slug}/{number}/validation/")
    if not {"bot", "slug", "number", "state", "page"} <= version.keys():
        raise CannotAsk(NO_SITE)
    return version


def follow_validation(
    site: SiteClient, slug: str, number: int, deadline: float, *, is_quiet: bool = False
) -> Json:
    """Print each step as it happens, unless ``is_quiet``; returns the version when its state is final.

    After the ``deadline``, a time of ``time.monotonic``, it is returned as it is.
    """
    printer, progress, begun = _StepPrinter(is_quiet), ProgressBar(), time.monotonic()
    while True:
        version = read_validation(site, slug, number)
        progress.clear()
        printer.print_new(version)
        now = time.monotonic()
        if version["state"] != "validating" or now > deadline:
            return version
        done = len((version.get("check") or {}).get("findings") or [])
        words = f"{name_of(version)} is being validated: {done} results after {now - begun:.0f} s"
        progress.show(words, now - begun, deadline - begun)
        time.sleep(POLL_SECONDS)


def validation_code(version: Json) -> int:
    """The exit code for the state of a version."""
    return {"valid": 0, "refused": NO, "validating": UNDECIDED}.get(str(version["state"]), CANNOT)


def validation_sentence(version: Json) -> str:
    reason = str(version.get("reason", ""))
    if version["state"] == "valid":
        return f"{name_of(version)} is valid: it plays from now on."
    if version["state"] == "validating":
        return f"{name_of(version)} is still being validated: see {version['page']}"
    return f"{name_of(version)} is {version['state']}. {reason}".rstrip()


def name_of(version: Json) -> str:
    return f"{version['bot']} v{version['number']}"


class _StepPrinter:
    """Prints the steps of a validation, each once."""

    def __init__(self, is_quiet: bool) -> None:
        self._print = (lambda *lines: None) if is_quiet else print_words
        self._findings = 0
        self._games: set[str] = set()
        self._has_announced_check = False

    def print_new(self, version: Json) -> None:
        check = version.get("check") or {}
        findings = list(check.get("findings") or [])
        if len(findings) < self._findings:  # the check runs again
            self._findings = 0
        for finding in findings[self._findings :]:
            self._print(*_finding_lines(finding))
        self._findings = len(findings)
        if not findings and not self._has_announced_check and version["state"] == "validating":
            self._has_announced_check = True
            self._print("A worker checks it first, as soon as one is free.")
        for game in version.get("games") or []:
            if game["state"] in {"done", "halted"} and game["ladder"] not in self._games:
                self._games.add(game["ladder"])
                self._print(*_game_lines(game))


def _finding_lines(finding: Json) -> Iterator[str]:
    name = f"{finding['check']} ({finding['ladder']})" if finding.get("ladder") else str(finding["check"])
    if not finding.get("fault"):
        yield f"{name}: {'ok' if finding.get('was_tried') else 'not run: the time was up'}"
        return
    weight = "FAULT" if finding.get("is_grave") else "fault, but the bot may play"
    yield f"{name}: {weight}: {finding['fault']}"
    yield f"    What to do: {finding.get('advice', '')}"
    yield from _log_lines(finding)


def _game_lines(game: Json) -> Iterator[str]:
    yield f"game against itself on {game['ladder']}: {game['verdict']}"
    if game.get("evidence"):
        yield f"    {game['evidence']}"
    yield from _log_lines(game)


def _log_lines(logs: Json) -> Iterator[str]:
    for what, name in (("lines exchanged", "lines"), ("lines of its standard error", "stderr")):
        if lines := str(logs.get(name, "")).splitlines()[-SHOWN_LINES:]:
            yield f"    The last {what}:"
            yield from (f"      {visible(line, SHOWN_WIDTH)}" for line in lines)
