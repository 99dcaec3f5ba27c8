"""A database for measurements in this process."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.support.postgres import running_postgres


@contextmanager
def opened_site(*, postgresql: bool = False, keep: Path | None = None, **settings: str) -> Iterator[None]:
    """Set Django up with the tables of a site: in a temporary folder, in the file ``keep``, or on PostgreSQL.

    ``settings`` are more environment variables. Models must not be imported before.
    """
    with TemporaryDirectory(prefix="duarena-benchmark-") as folder:
        os.environ |= {"DUARENA_DATA": folder, "DJANGO_SETTINGS_MODULE": "tournament.settings", **settings}
        if postgresql:
            with running_postgres() as os.environ["DATABASE_URL"]:
                _set_up()
                yield
        else:
            os.environ["DATABASE_URL"] = f"sqlite:///{(keep or Path(folder) / 'db.sqlite3').resolve()}"
            _set_up()
            yield


def _set_up() -> None:
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)
