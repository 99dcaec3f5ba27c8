"""Reads the engines of a match: commands, bundles, their options and time controls.

Checks that programs and bundles exist, so that errors are reported before the first game.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from engines.bundles.manifest import RESERVED_OPTIONS, find_interpreter
from engines.bundles.sites import ask_engine, fetch_site_bundle, split_site_bot
from engines.bundles.store import BundleError, inspect_bundle, store_bundle
from engines.rules.base import quote
from workers.engine.launch import explain_no_program, find_engine_program
from workers.jobs import RestartMode
from workers.match.options.options import Entrant
from workers.match.options.settings import Setting, choice, label, read_control, split_pairs, whole

MAX_MARGIN_MS = 60_000
MAX_STARTUP_SECONDS = 3_600
MAX_NAME = 80

LIMITS = {"tc": "{}", "st": "{}/move", "nodes": "nodes={}", "depth": "depth={}"}
"""The keys of a time control, of which all that are given apply, and how each is written there."""
FIELDS = {
    "name": ("name", label(MAX_NAME, 1)),
    "version": ("version", label(MAX_NAME)),
    "timemargin": ("margin_ms", whole(0, MAX_MARGIN_MS)),
    "startup": ("startup_seconds", whole(1, MAX_STARTUP_SECONDS)),
    "restart": ("restart", choice(RestartMode)),
}
"""The keys of simple fields of an engine: the name of the field, and its reader."""
SHARED_KEYS = ("dir", *LIMITS, "timemargin", "startup", "restart", "option.")
"""The keys that ``-each`` accepts."""
KEYS = ("cmd", "arg", "name", "version", *SHARED_KEYS)

Pairs = dict[str, list[str]]


def usual_store() -> Path:
    """The folder of the user's bundles; all matches can share it, because bundles are named by their hash."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(cache, "duarena", "bundles")


def read_entrants(
    engines: Sequence[Setting],
    each: Sequence[Setting],
    *,
    ladders: Sequence[str],
    store: Path,
    startup_seconds: int | None = None,
) -> tuple[Entrant, ...]:
    """All engines, in order; ``each`` has the defaults for all of them.

    Bundles are copied into ``store``. Raises ``MatchOptionError``.
    """
    shared: Pairs = {} if startup_seconds is None else {"startup": [str(startup_seconds)]}
    for setting in each:
        shared |= split_pairs(setting, SHARED_KEYS)
    entrants: dict[str, Entrant] = {}
    for setting in engines:
        with setting.refusing():
            entrant = _read_entrant(setting, shared, ladders, store)
            if entrants.setdefault(entrant.name, entrant) is not entrant:
                raise ValueError(f"two engines are named {quote(entrant.name)}: give this one another name=")
    return tuple(entrants.values())


def _read_entrant(setting: Setting, shared: Pairs, ladders: Sequence[str], store: Path) -> Entrant:
    own = split_pairs(setting, KEYS)
    if not own.keys().isdisjoint(LIMITS):  # an engine's own time control replaces the shared one as a whole
        shared = {key: values for key, values in shared.items() if key not in LIMITS}
    pairs = shared | own
    site, words = "", _command(pairs)
    if asked := split_site_bot(words[0]):
        site = asked[1]
        engine = ask_engine(site, asked[0])
        words[0] = str(fetch_site_bundle(engine, store))
        pairs = {"version": [engine.version], **pairs}
    directory = Path(pairs.get("dir", ["."])[-1])
    if not directory.is_dir():
        raise ValueError(f"dir={directory}: no such folder")
    if words[0].endswith(".zip"):
        spec = _bundled(words, ladders, store)
    else:
        spec = _plain(words, directory.resolve())
    pairs = {"name": [spec.name], "version": [spec.version], **pairs}
    fields = {}
    for key, (name, read) in FIELDS.items():
        if key in pairs:
            with setting.refusing(key):
                fields[name] = read(pairs[key][-1])
    limits = [form.format(pairs[key][-1]) for key, form in LIMITS.items() if key in pairs]
    return replace(
        spec,
        options=_options(spec.options, pairs),
        time_control=read_control(";".join(limits)) if limits else None,
        given_command=tuple(words),
        site=site,
        trusted=not site,
        **fields,
    )


def _command(pairs: Pairs) -> list[str]:
    if "cmd" not in pairs:
        raise ValueError(
            "cmd= is missing: give the command that starts the engine, its bundle, or a published bot"
        )
    text, arguments = pairs["cmd"][-1], pairs.get("arg", [])
    if text.strip() and any(
        os.path.isfile(os.path.join(folder, text)) for folder in (".", *pairs.get("dir", []))
    ):
        return [text, *arguments]  # the path of a program, perhaps with spaces
    if split_site_bot(text):
        return [text, *arguments]
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise ValueError(f"cmd={text}: {error}") from None
    if not words:
        raise ValueError("cmd= is empty")
    return [*words, *arguments]


def _plain(words: list[str], directory: Path) -> Entrant:
    program = find_engine_program(words[0], directory)
    if program is None:
        raise ValueError(explain_no_program(words[0], directory))
    name = _default_name(words)
    words = [os.path.abspath(program), *words[1:]]
    return Entrant(name=name, version="", command=tuple(words), directory=str(directory))


def _default_name(words: list[str]) -> str:
    """The name of the program, or of the script or module that an interpreter runs."""
    scripts = [word for word in words[1:] if not word.startswith("-")]
    if find_interpreter(words[0]) is None or not scripts:
        return Path(words[0]).stem
    return scripts[0].rpartition(".")[2] if "-m" in words else Path(scripts[0]).stem


def _bundled(words: list[str], ladders: Sequence[str], store: Path) -> Entrant:
    path = Path(words[0])
    try:
        data = path.read_bytes()
        manifest = inspect_bundle(data)
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}") from None
    except BundleError as error:
        raise ValueError(f"{path} is not a valid bundle: {error}") from None
    for code in ladders:
        if code not in manifest.games:
            raise ValueError(f"{manifest.name} plays {', '.join(manifest.games)}, not {code}")
    try:
        sha256 = store_bundle(store, data)
    except OSError as error:
        raise ValueError(f"{path} cannot be stored in {store}: {error.strerror}") from None
    command = (*manifest.command, *words[1:])
    return Entrant(manifest.name, manifest.version, command, bundle=sha256, options=manifest.options)


def _options(given: tuple[tuple[str, str], ...], pairs: Pairs) -> tuple[tuple[str, str], ...]:
    """The bundle's options, overridden by those given here."""
    options = dict(given)
    for key in pairs:
        if key.startswith("option."):
            name, value = key.removeprefix("option."), pairs[key][-1]
            is_reserved = name.lower() in RESERVED_OPTIONS or "value" in name.split()
            if not name or is_reserved or not name.isprintable():
                raise ValueError(f"{quote(key)} cannot be set")
            if not value.isprintable():
                raise ValueError(f"{key}={quote(value)}: a value has only printable characters")
            options[name] = value
    return tuple(options.items())
