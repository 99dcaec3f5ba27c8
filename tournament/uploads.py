"""Whether uploaded bots are run on this site, and what its operator could do about it."""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings

from tournament.broker import GAMES, VALIDATION
from tournament.models import Worker
from workers.sandbox.levels import SETTING, Level, SettingError, Verdict, format_want, needed_level
from workers.sandbox.policy import read_verdict

TRUST_COMMAND = "./arena up --trust-uploads"
LEVEL_B_COMMAND = f"{SETTING}=B ./arena up"


@dataclass(frozen=True, slots=True)
class Uploads:
    """``why`` goes on a sentence about them; ``command`` would let them play, empty where they do."""

    are_run: bool
    why: str
    command: str = ""
    verdict: Verdict | None = None
    """What the walls of this site's workers were found to be; None where nobody has looked."""


def look() -> Uploads:
    """How it stands at this moment."""
    if settings.TRUST_UPLOADS:
        return Uploads(True, "are run without a sandbox, with all rights of whoever started this site")
    found = read_verdict(settings.CACHE)
    elsewhere = Worker.objects.trusted_with_uploads()
    try:
        needed = needed_level(settings.SANDBOX)
    except SettingError as error:
        return Uploads(False, f"wait: {error}", "", found)
    if {GAMES, VALIDATION} <= set(elsewhere.values_list("queue", flat=True)):
        return Uploads(True, "are run by workers elsewhere, in their sandboxes", "", found)
    if found is None and (refusing := Worker.objects.up().exclude(refusal="").first()):
        return Uploads(
            False, f"wait: no worker that is up runs them. The worker {refusing}: {refusing.refusal}"
        )
    if found is None:
        return Uploads(False, "wait: there is no sandbox that anybody has tried out", TRUST_COMMAND)
    if found.admits(needed):
        return Uploads(True, f"are run in a sandbox of level {found.level}", "", found)
    lacks = "; ".join(map(format_want, found.wants))
    command = LEVEL_B_COMMAND if found.level is Level.B else TRUST_COMMAND
    why = f"wait: the sandbox is of level {found.level} where {needed} is needed. Missing: {lacks}"
    return Uploads(False, why, command, found)


def waiting_reason() -> str:
    """Stands on the page of a version that waits."""
    stand = look()
    change = (
        f". The site's operator can let them play by starting it with {stand.command}"
        if stand.command
        else ""
    )
    return f"uploaded bots {stand.why}{change}"
