"""The log of acts of staff, and of the licences of owners: who did what to which row, and when."""

from __future__ import annotations

import datetime

from tournament.models import Act, User

COMMAND = "./arena admin"
"""The name of the actor where this command did it."""
BACKUP = "manage.py backup"
"""The same for backups of the site."""


def record_act(
    actor: User | None, deed: str, subject: str, path: str = "", *, command: str = COMMAND
) -> None:
    """Write one act; ``deed`` is a clause in the past such as "released it from quarantine".

    Part of the caller's transaction. Without an actor it was ``command``.
    """
    name = command if actor is None else actor.username
    Act.objects.create(actor=actor, actor_name=name, deed=deed[:300], subject=subject[:200], path=path[:300])


def last_backup() -> datetime.datetime | None:
    """When ``manage.py backup`` last wrote a backup; None if it never did."""
    return (
        Act.objects.filter(actor=None, actor_name=BACKUP).order_by("-pk").values_list("at", flat=True).first()
    )
