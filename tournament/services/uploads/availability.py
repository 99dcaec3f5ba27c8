"""Whether uploaded bots are run on this site, and how its operator can change that."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.conf import settings

from tournament.models import Worker
from tournament.sentences import as_sentence
from workers.jobs import Work
from workers.sandbox.levels import (
    LEVEL_B,
    SETTING,
    Level,
    SettingError,
    Verdict,
    format_want,
    needed_level,
)
from workers.sandbox.policy import read_verdict

RESTART = "The site's operator can let them play by starting it with"
INSTALL = "The site's operator can let them play, without a restart, with"
INSTALL_FIRST = "The site's operator can begin, without a restart, with"

NEEDED = {Work.CHECKS, Work.GAMES}
"""The work that an upload waits for; nothing waits for searches."""


@dataclass(frozen=True, slots=True)
class Uploads:
    """``advice`` and then ``command`` explain how to run uploads.

    Both are empty if uploads are run, or if no command would help.
    """

    are_run: bool
    reason: str
    """Whether uploads are run, and why, without capital and full stop as in ``BotVersion.state_reason``."""
    advice: str = ""
    command: str = ""
    is_partial: bool = False
    """Whether they run in a sandbox that lacks some of the protections."""
    verdict: Verdict | None = None
    """The self-test result of the sandbox of this site's workers; None if there is none yet."""

    @property
    def sentence(self) -> str:
        return as_sentence(self.reason)


def current_state() -> Uploads:
    """The state at this moment."""
    if settings.TRUST_UPLOADS:
        reason = "uploaded bots are run without a sandbox, with all rights of the user who started this site"
        return Uploads(True, reason)
    found = read_verdict(settings.CACHE)
    try:
        needed = needed_level(settings.SANDBOX, is_local=settings.IS_LOCAL)
    except SettingError as error:
        return Uploads(False, f"uploaded bots wait: {error}", verdict=found)
    up = list(Worker.objects.of_site().up())
    trusted = [worker for worker in up if worker.is_trusted_with_uploads]
    if _work_of(trusted) >= NEEDED:
        return _run_by(trusted, found)
    refusing = next((worker for worker in up if worker.refusal), None)
    admitted = found is not None and found.admits(needed)
    if refusing is not None and (found is None or (admitted and _is_closed(up))):
        return Uploads(
            False,
            f"uploaded bots wait: no worker that is up runs them. The worker {refusing}: {refusing.refusal}",
            verdict=found,
        )
    if found is None:
        return Uploads(False, "uploaded bots wait: no sandbox has been tested yet", *_trust())
    return _run_at(found.level, found) if admitted else _wait(found, needed)


def waiting_reason() -> str:
    """The ``state_reason`` of a version that waits."""
    state = current_state()
    return f"{state.reason}. {state.advice}: {state.command}" if state.command else state.reason


def _is_closed(up: Sequence[Worker]) -> bool:
    """Whether all workers that take some work refuse uploads: they tested the sandbox before it improved."""
    return _work_of(up) != _work_of([worker for worker in up if worker.is_trusted_with_uploads])


def _work_of(workers: Iterable[Worker]) -> set[Work]:
    return {kind for worker in workers for kind in worker.work}


def _run_by(workers: Sequence[Worker], found: Verdict | None) -> Uploads:
    """Uploads run by these workers, here or elsewhere; reports the lowest level of their sandboxes."""
    least = max(workers, key=lambda worker: worker.level)
    if least.level == Level.C:
        return Uploads(True, f"uploaded bots are run without a sandbox by the worker {least}", verdict=found)
    return _run_at(Level(least.level), found)


def _run_at(level: Level, found: Verdict | None) -> Uploads:
    reason = f"uploaded bots are run in a sandbox of level {level}"
    if level is Level.B:
        is_default = settings.IS_LOCAL and not settings.SANDBOX.strip()
        why = "only this machine can reach the site" if is_default else f"{SETTING}=B is set"
        reason = f"{reason}: {LEVEL_B}. That is enough because {why}"
    return Uploads(True, reason, is_partial=level is Level.B, verdict=found)


def _wait(found: Verdict, needed: Level) -> Uploads:
    lacks = "; ".join(map(format_want, found.wants))
    reason = (
        f"uploaded bots wait: the sandbox is of level {found.level} where {needed} is needed."
        f" Missing: {lacks}"
    )
    if found.packages:
        advice, command = INSTALL, f"apt-get install {' '.join(found.packages)}"
        if needed is Level.A:
            advice = INSTALL_FIRST
    elif found.level is not Level.B:
        advice, command = _trust()
    elif settings.IS_STARTED_BY_ROOT:
        advice = command = ""
    else:
        advice, command = RESTART, f"{SETTING}=B {settings.START_COMMAND}".rstrip()
    return Uploads(False, reason, advice, command, verdict=found)


def _trust() -> tuple[str, str]:
    """How to run uploads without a sandbox; no advice for root, or for a site that others can reach."""
    if not settings.IS_LOCAL or settings.IS_STARTED_BY_ROOT:
        return "", ""
    return RESTART, f"{settings.START_COMMAND} --trust-uploads"
