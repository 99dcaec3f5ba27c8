"""The rules of a Redis user that may do what one worker does and no more: the arguments of ``ACL SETUSER``.

All of them work on lists, so that a worker's host cannot make keys of another type, which would stop a reader
of the list.
"""

from __future__ import annotations

from collections.abc import Iterable

from workers.service.messaging.set_aside import set_aside_key
from workers.service.messaging.signing import COMMANDS, RECORDS, own_queue

KINDS = ("games", "validation", COMMANDS)
_WITHOUT_KEYS = ("ping", "select", "time")
_TAKE = ("brpop", "rpop", "llen")
_SEND = ("lpush",)
_SET_ASIDE = ("lpush", "ltrim")


def worker_rules(worker: str, password: str, *, has_selectors: bool) -> list[str]:
    """The rules for a worker; ``has_selectors`` is true from Redis 7.

    Without selectors the worker can also take messages from the record keeper's queue, to which it must send.
    """
    own, aside = [own_queue(kind, worker) for kind in KINDS], set_aside_key(worker)
    rules = ["reset", "on", f">{password}", "-@all"]
    if not has_selectors:
        commands = dict.fromkeys((*_WITHOUT_KEYS, *_TAKE, *_SEND, *_SET_ASIDE))
        return [*rules, *_allowed(commands), *(f"~{key}" for key in (*own, RECORDS, aside))]
    return [
        *rules,
        *_allowed(_WITHOUT_KEYS),
        _selector(_TAKE, [f"~{key}" for key in own]),
        _selector(_SEND, [f"%W~{RECORDS}"]),
        _selector(_SET_ASIDE, [f"%W~{aside}"]),
    ]


def _allowed(commands: Iterable[str]) -> list[str]:
    return [f"+{command}" for command in commands]


def _selector(commands: Iterable[str], keys: Iterable[str]) -> str:
    return f"({' '.join(('-@all', *_allowed(commands), *keys))})"
