"""A Celery app that takes turns as the record keeper does: each run of its task writes a line.

Run as a program it is its worker: ``python -m tests.support.looking_app REDIS FILE IDLE_SECONDS``.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from celery import Celery

from workers.service.turns import LOOK
from workers.service.turns_transport import use_turns

app = Celery("looking")


@app.task(name="tests.look")
def look() -> None:
    with Path(sys.argv[2]).open("a") as file:
        file.write(f"{time.monotonic()}\n")


def main() -> None:
    use_turns(app, sys.argv[1], {LOOK: "tests.look"}, poll_s=0.1, idle_s=float(sys.argv[3]))
    app.worker_main(
        ["worker", "--concurrency=1", "--without-gossip", "--without-mingle", "--without-heartbeat"]
    )


if __name__ == "__main__":
    main()
