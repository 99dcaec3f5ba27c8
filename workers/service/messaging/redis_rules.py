"""The rules of a Redis user that may do what one worker does and no more: the arguments of ``ACL SETUSER``.

A module of its own: it must name every key and command that Kombu's transport uses for a worker.
"""

from __future__ import annotations

from workers.service.messaging.signing import COMMANDS, RECORDS, own_queue
from workers.service.messaging.transport import SET_ASIDE, unacknowledged_keys

KINDS = ("games", "validation", COMMANDS)
_COMMANDS = (
    *("auth", "hello", "ping", "select", "client|setinfo", "client|setname", "time"),
    *("brpop", "rpop", "lpush", "rpush", "llen", "ltrim", "exists"),
    *("zadd", "zrem", "zrevrangebyscore", "hset", "hget", "hdel", "evalsha", "script|load"),
    *("set", "get", "del"),  # of the lock on its unacknowledged messages
    *("multi", "exec", "discard", "watch", "unwatch", "sadd", "smembers"),
)
_NEW_IN_7 = frozenset({"client|setinfo"})


def worker_rules(worker: str, password: str, *, has_selectors: bool) -> list[str]:
    """The rules for a worker; ``has_selectors`` is true from Redis 7.

    Without selectors the worker can also take messages from the record keeper's queue, to which it must send.
    """
    own = [own_queue(kind, worker) for kind in KINDS] + list(unacknowledged_keys(worker).values())
    rules = ["reset", "on", f">{password}", "-@all"]
    rules += [f"+{word}" for word in _COMMANDS if has_selectors or word not in _NEW_IN_7]
    rules += [f"~{key}" for key in (*own, "_kombu.binding.*")]
    if has_selectors:
        return [*rules, f"(-@all +lpush +llen %W~{RECORDS})", f"(-@all +lpush +ltrim ~{SET_ASIDE})"]
    return [*rules, f"~{RECORDS}", f"~{SET_ASIDE}"]
