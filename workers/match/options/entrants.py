"""Reads the engines of a match: from ``cmd=…`` words to engine specs.

Checks that programs and bundles exist, so that errors are reported before the first game.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from engines.rules.base import quote
from workers.bundles.manifest import RESERVED_OPTIONS, find_interpreter
from workers.bundles.store import BundleError, inspect_bundle, store_bundle
from workers.engine.launch import explain_no_program, find_engine_program
from workers.jobs import EngineSpec
from workers.match.options.options import Entrant
from workers.match.options.readers import MAX_MARGIN_MS, MAX_STARTUP_SECONDS, read_control, read_number
from workers.match.options.words import Setting, split_pairs
from workers.play.runner import RestartMode

LIMITS = ("tc", "st", "nodes", "depth")
"""The keys of a time control: all that are given apply."""
SHARED_KEYS = ("dir", *LIMITS, "timemargin", "startup", "restart", "option.")
"""The keys that ``-each`` accepts."""
KEYS = ("cmd", "arg", "name", "version", *SHARED_KEYS)
MAX_NAME = 80


def usual_store() -> Path:
    """The folder of the user's bundles; all matches can share it, because bundles are named by their hash."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(cache, "duarena", "bundles")


def read_entrants(
    engines: Sequence[Setting], each: Sequence[Setting], *, ladders: Sequence[str], store: Path
) -> tuple[Entrant, ...]:
    """All engines, in order; ``each`` has the defaults for all of them.

    Bundles are copied into ``store``. Raises ``MatchOptionError``.
    """
    shared: dict[str, list[str]] = {}
    for setting in each:
        shared |= split_pairs(setting, SHARED_KEYS)
    entrants: list[Entrant] = []
    for setting in engines:
        entrant = _read_entrant(setting, shared, ladders, store)
        if entrant.name in [other.name for other in entrants]:
            setting.refuse(f"two engines are named {quote(entrant.name)}: give this one another name=")
        entrants.append(entrant)
    return tuple(entrants)


def _read_entrant(
    setting: Setting, shared: dict[str, list[str]], ladders: Sequence[str], store: Path
) -> Entrant:
    own = split_pairs(setting, KEYS)
    if not own.keys().isdisjoint(LIMITS):  # an engine's own time control replaces the shared one as a whole
        shared = {key: values for key, values in shared.items() if key not in LIMITS}
    pairs = shared | own
    if "cmd" not in pairs:
        setting.refuse("cmd= is missing: give the command that starts the engine, or its bundle")
    words = _command(setting, pairs)
    directory = Path(_last(pairs, "dir", "."))
    if not directory.is_dir():
        setting.refuse(f"dir={directory}: no such folder")
    if words[0].endswith(".zip"):
        spec = _bundled(setting, words, ladders, store)
    else:
        spec = _plain(setting, words, directory.resolve())
    spec = replace(
        spec,
        name=_name(setting, _last(pairs, "name", spec.name)),
        version=_version(setting, _last(pairs, "version", spec.version)),
        options=_options(setting, spec.options, pairs),
        time_control=_time_control(setting, pairs),
    )
    return Entrant(
        spec,
        _restart(setting, pairs),
        _whole_number(setting, pairs, "timemargin", MAX_MARGIN_MS),
        _whole_number(setting, pairs, "startup", MAX_STARTUP_SECONDS),
        given_command=tuple(words),
    )


def _time_control(setting: Setting, pairs: dict[str, list[str]]) -> str | None:
    """The engine's own time control; None if it has none."""
    forms = {"tc": "{}", "st": "{}/move", "nodes": "nodes={}", "depth": "depth={}"}
    limits = [form.format(pairs[key][-1]) for key, form in forms.items() if key in pairs]
    return read_control(setting, ";".join(limits)) if limits else None


def _whole_number(setting: Setting, pairs: dict[str, list[str]], key: str, most: int) -> int | None:
    return (
        read_number(setting, pairs[key][-1], 0 if key == "timemargin" else 1, most) if key in pairs else None
    )


def _last(pairs: dict[str, list[str]], key: str, default: str) -> str:
    return pairs[key][-1] if key in pairs else default


def _command(setting: Setting, pairs: dict[str, list[str]]) -> list[str]:
    text = pairs["cmd"][-1]
    try:
        words = shlex.split(text)
    except ValueError as error:
        setting.refuse(f"cmd={text}: {error}")
    if not words:
        setting.refuse("cmd= is empty")
    return [*words, *pairs.get("arg", [])]


def _plain(setting: Setting, words: list[str], directory: Path) -> EngineSpec:
    program = find_engine_program(words[0], directory)
    if program is None:
        setting.refuse(explain_no_program(words[0], directory))
    name = _default_name(words)
    words = [os.path.abspath(program), *words[1:]]
    return EngineSpec(name=name, version="", command=tuple(words), directory=str(directory))


def _default_name(words: list[str]) -> str:
    """The name of the program, or of the script or module that an interpreter runs."""
    scripts = [word for word in words[1:] if not word.startswith("-")]
    if find_interpreter(words[0]) is None or not scripts:
        return Path(words[0]).stem
    return scripts[0].rpartition(".")[2] if "-m" in words else Path(scripts[0]).stem


def _bundled(setting: Setting, words: list[str], ladders: Sequence[str], store: Path) -> EngineSpec:
    path = Path(words[0])
    try:
        data = path.read_bytes()
        manifest = inspect_bundle(data)
    except OSError as error:
        setting.refuse(f"{path} cannot be read: {error.strerror}")
    except BundleError as error:
        setting.refuse(f"{path} is not a valid bundle: {error}")
    for code in ladders:
        if code not in manifest.games:
            setting.refuse(f"{manifest.name} plays {', '.join(manifest.games)}, not {code}")
    try:
        sha256 = store_bundle(store, data)
    except OSError as error:
        setting.refuse(f"{path} cannot be stored in {store}: {error.strerror}")
    return EngineSpec(
        name=manifest.name,
        version=manifest.version,
        command=(*manifest.command, *words[1:]),
        bundle=sha256,
        options=manifest.options,
    )


def _name(setting: Setting, name: str) -> str:
    if not 1 <= len(name) <= MAX_NAME or not name.isprintable() or name != name.strip():
        setting.refuse(f"name={quote(name)}: 1 to {MAX_NAME} printable characters, no space at either end")
    return name


def _version(setting: Setting, version: str) -> str:
    if len(version) > MAX_NAME or not version.isprintable():
        setting.refuse(f"version={quote(version)}: at most {MAX_NAME} printable characters")
    return version


def _options(
    setting: Setting, given: tuple[tuple[str, str], ...], pairs: dict[str, list[str]]
) -> tuple[tuple[str, str], ...]:
    """The bundle's options, overridden by those given here."""
    options = dict(given)
    for key in pairs:
        if key.startswith("option."):
            name, value = key.removeprefix("option."), pairs[key][-1]
            is_reserved = name.lower() in RESERVED_OPTIONS or "value" in name.split()
            if not name or is_reserved or not name.isprintable():
                setting.refuse(f"{quote(key)} cannot be set")
            if not value.isprintable():
                setting.refuse(f"{key}={quote(value)}: a value has only printable characters")
            options[name] = value
    return tuple(options.items())


def _restart(setting: Setting, pairs: dict[str, list[str]]) -> RestartMode:
    word = _last(pairs, "restart", RestartMode.AUTO)
    if word not in list(RestartMode):
        setting.refuse(f"restart={quote(word)}: must be on, off or auto")
    return RestartMode(word)
