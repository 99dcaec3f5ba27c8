"""The environment variables of Duarena: each is declared once, with type, default and meaning.

``tournament.settings`` reads its own through the functions here. ``ELSEWHERE`` lists those that workers, the
start script and ``docker-compose.yml`` read.
"""

from __future__ import annotations

import difflib
import ipaddress
import os
import sys
from dataclasses import dataclass
from typing import Any

from environs import Env, EnvValidationError
from marshmallow.validate import Range, Regexp

KINDS = {"float": "a number of 0 or more", "bool": "1 or 0"}
ADDRESS = r"https?://[^\s/]+\S*"
"""An address of a site."""


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable as the documents show it."""

    name: str
    meaning: str
    default: str


DECLARED: list[Variable] = []
"""Those that have been read, in the order of the settings."""

ELSEWHERE = (
    Variable("DUARENA_NAME", "a worker's name; the `--name` of a worker sets it", "its work and the host's"),
    Variable("DUARENA_TOKEN", "the worker token with which a worker asks `DUARENA_SITE` for games", "none"),
    Variable(
        "DUARENA_TOKEN_FILE",
        "a file with the token of `python3 -m engines`, which is read if `DUARENA_TOKEN` is not set",
        "none",
    ),
    Variable(
        "DUARENA_CGROUP",
        "the control group that the workers' user may write, relative to each hierarchy's mount; `./arena` as"
        " root sets it",
        "the worker's own",
    ),
    Variable(
        "DUARENA_PIN",
        "`0`: a worker's slots are not bound to one core each",
        "bound; not for a validation worker",
    ),
    Variable(
        "DUARENA_PURE",
        "any value but `0`: the rules and the loop that plays moves run as plain Python",
        "compiled, if a build exists",
    ),
    Variable(
        "DUARENA_PLAYER_SLOTS",
        "games at once of each container of players; only `docker-compose.yml` reads it",
        "2",
    ),
    Variable(
        "DUARENA_LISTEN",
        "address and port (or ports) of this machine for the site in containers; only `docker-compose.yml`"
        " reads it",
        "`127.0.0.1:8000`",
    ),
    Variable(
        "DUARENA_HTTP",
        "the port of this machine for the proxy in containers without TLS; it redirects to port 443; only"
        " `docker-compose.yml` reads it",
        "80",
    ),
    Variable("DUARENA_HTTPS", "its port for TLS; only `docker-compose.yml` reads it", "443"),
)

REMOVED = {
    "DUARENA_LADDER_PLIES": "set the opening plies of a ladder in the administration",
    "DUARENA_LADDER_TIME": "set the time control of a ladder in the administration",
    "DUARENA_RECORDS": "files of records are in downloads/ in the data folder",
    "DUARENA_KEY": "workers need DUARENA_TOKEN, a worker token",
    "DUARENA_WORKER_MESSAGES": "workers send requests over HTTP, whose number is limited",
    **dict.fromkeys(
        (
            *("DUARENA_FAULT_LOG_DAYS", "DUARENA_FREE_SLOTS", "DUARENA_MAX_CONNECTIONS"),
            *("DUARENA_MAX_CONNECTIONS_PER_ADDRESS", "DUARENA_MAX_DRAFTS", "DUARENA_MAX_FORFEITS"),
            *("DUARENA_MAX_PENDING", "DUARENA_MAX_TESTS", "DUARENA_MAX_TEST_GAMES", "DUARENA_MAX_UPLOADS"),
            *("DUARENA_MAX_UPLOADS_PER_ADDRESS", "DUARENA_VALIDATION_HOURS"),
        ),
        "the site uses its former default",
    ),
}
"""Variables of former versions, with what to do instead."""

INTERNAL = {"DUARENA_CALLED_FROM", "DUARENA_DECOY", "DUARENA_TAKES", "DUARENA_TESTS"}
"""Variables that our own processes set."""

_environment = Env()


def text(
    name: str,
    default: str,
    meaning: str,
    *,
    shown: str = "",
    form: str = "",
    wanted: str = "",
    is_secret: bool = False,
) -> str:
    """``shown`` describes the default in the documents.

    ``form`` is a regular expression of permitted values, which ``wanted`` describes; spaces around them do
    not matter. A secret one is not quoted.
    """
    known = Regexp(rf"\s*(?:{form})\s*\Z") if form else None
    shown = shown or default or "none"
    value: str = _read("str", name, default, meaning, shown, known, wanted, is_secret=is_secret)
    return value.strip() if form else value


def whole(name: str, default: int, meaning: str, *, shown: str = "", least: int = 0) -> int:
    wanted = f"a whole number of {least} or more"
    value: int = _read("int", name, default, meaning, shown or str(default), Range(min=least), wanted)
    return value


def number(name: str, default: float, meaning: str) -> float:
    value: float = _read("float", name, default, meaning, f"{default:g}", Range(min=0))
    return value


def flag(name: str, meaning: str) -> bool:
    """Off by default."""
    value: bool = _read("bool", name, False, f"`1`: {meaning}", "off", None)
    return value


def removed() -> list[str]:
    """A sentence for each variable of a former version that is set."""
    return [
        f"{name} is no longer read: {instead}" for name, instead in REMOVED.items() if os.environ.get(name)
    ]


def is_address(text: str) -> bool:
    """Whether this is an IP address."""
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def unknown() -> list[str]:
    """A sentence for each variable that is set and looks like one of ours; for after all are declared."""
    known = {one.name for one in (*DECLARED, *ELSEWHERE)}
    names = sorted(name for name in os.environ if name.startswith("DUARENA_"))
    sentences = []
    for name in names:
        if name not in known | REMOVED.keys() | INTERNAL:
            near = difflib.get_close_matches(name, known, 1)
            sentences.append(f"{name} is no setting{f'; perhaps {near[0]} is meant' if near else ''}")
    return sentences


def _read(
    kind: str,
    name: str,
    default: Any,
    meaning: str,
    shown: str,
    validate: Any,
    wanted: str = "",
    *,
    is_secret: bool = False,
) -> Any:
    """The value, or the default if the variable is missing or empty."""
    DECLARED.append(Variable(name, meaning, shown))
    if not (given := os.environ.get(name)):
        return default
    try:
        return getattr(_environment, kind)(name, default, validate=validate)
    except EnvValidationError:
        # Not an exception that each of the commands would print as a traceback.
        value = "" if is_secret else f"={given!r}"
        sys.exit(f"duarena: {name}{value} is not {wanted or KINDS[kind]}")
