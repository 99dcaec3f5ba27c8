"""Items that anybody who may write to the broker could put into a queue, none of them a message."""

from __future__ import annotations

import base64
import json
from typing import Any

EMBEDDED = {"callbacks": None, "errbacks": None, "chain": None, "chord": None}


def raw_message(
    task: object = "workers.play",
    content: object = ([[]], {}, EMBEDDED),
    *,
    body: str | None = None,
    headers: dict[str, Any] | None = None,
    properties: dict[str, Any] | None = None,
    content_type: str = "application/json",
) -> dict[str, Any]:
    """A message as it lies in Redis, with changes."""
    encoded = base64.b64encode(json.dumps(content).encode()).decode() if body is None else body
    info = {"exchange": "", "routing_key": "games"}
    return {
        "body": encoded,
        "content-encoding": "utf-8",
        "content-type": content_type,
        "headers": {"lang": "py", "task": task, "id": "1", **(headers or {})},
        "properties": {
            "delivery_tag": "1", "delivery_info": info, "body_encoding": "base64", "priority": 0,
            **(properties or {}),
        },
    }  # fmt: skip


def evil_embedded(name: str) -> dict[str, Any]:
    return {**EMBEDDED, name: [{"task": "tournament.sweep", "args": [], "kwargs": {}, "options": {}}]}


MALFORMED: dict[str, bytes] = {
    "three bytes": b"\xff\xfe\x00",
    "no JSON": b"hello",
    "deep JSON": b"[" * 100_000,
    "a number": b"7",
    "an empty object": b"{}",
    **{
        name: json.dumps(value).encode()
        for name, value in {
            "no properties": {**raw_message(), "properties": None},
            "no tag": raw_message(properties={"delivery_tag": None}),
            "no delivery": raw_message(properties={"delivery_info": 7}),
            "another encoding": raw_message(properties={"body_encoding": "rot13"}),
            "a pickle": raw_message(content_type="application/x-python-serialize"),
            "compressed": raw_message(headers={"compression": "zlib"}, body="eJw="),
            "a body that is no text": raw_message(body="\u00e9"),
            "a body that is no JSON": raw_message(body=base64.b64encode(b"{").decode()),
            "a deep body": raw_message(body=base64.b64encode(b"[" * 100_000).decode()),
            "a body with two parts": raw_message(content=[[], {}]),
            "a body that is a number": raw_message(content=7),
            "named arguments": raw_message(content=[[], {"message": []}, EMBEDDED]),
            "two arguments": raw_message(content=[[1, 2], {}, EMBEDDED]),
            "a task that is a number": raw_message(7),
            "callbacks": raw_message(content=[[[]], {}, evil_embedded("callbacks")]),
            "a chain": raw_message(content=[[[]], {}, evil_embedded("chain")]),
            "an odd expiry": raw_message(headers={"expires": {"a": 1}}),
        }.items()
    },
}
