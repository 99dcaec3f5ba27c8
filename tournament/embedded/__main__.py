"""The commands of ``./arena``, called once its environment is ready."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

from tournament.embedded import StartError
from tournament.embedded.administrator import make_administrator
from tournament.embedded.console import Console
from tournament.embedded.data_folder import check_data_folder, claim_data_folder
from tournament.embedded.demo import demo
from tournament.embedded.dev import dev
from tournament.embedded.options import Options, parse_options
from tournament.embedded.up import up
from tournament.known_database import has_site, missing_site
from workers.sandbox.entrance import CannotEnter, enter

COMMANDS: dict[str, Callable[[Options, Console], int]] = {
    "up": up,
    "dev": dev,
    "demo": demo,
    "admin": make_administrator,
}
INTERRUPTED = {
    "up": "interrupted while the site started: the next `./arena up` continues",
    "dev": "interrupted while the site started: the next `./arena dev` continues",
    "demo": "interrupted: the demonstration did not end",
    "admin": "interrupted: no administrator was made or changed",
}
PRIVATE = 0o077
"""Other users of this machine get no access to the site's files: they hold password hashes and bots' logs."""


def main(arguments: list[str]) -> int:
    """Exit code 0: done; 1: an error occurred; 2: bad command line; 130: Ctrl-C."""
    try:
        options = parse_options(arguments)
        check_data_folder(options.data)
        if options.command == "admin":
            _need_site(options.data)
        enter([options.data], [sys.executable, "-m", "tournament.embedded", *arguments])
        os.umask(PRIVATE)
        claim_data_folder(options.data)
        return COMMANDS[options.command](options, Console(sys.stdout))
    except (StartError, CannotEnter) as error:
        return _complain(str(error), error.status if isinstance(error, StartError) else 1)
    except OSError as error:
        if error.filename is None:
            raise
        return _complain(f"cannot use {str(error.filename)!r}: {error.strerror}", 1)
    except KeyboardInterrupt:
        return _complain(INTERRUPTED.get(" ".join(arguments[:1]), "interrupted"), 130)


def _need_site(data: Path) -> None:
    """Raise ``StartError`` if no site was made in this folder."""
    file = None if has_site(data) or os.environ.get("DATABASE_URL") else data / "db.sqlite3"
    if trouble := missing_site(data, file):
        raise StartError(trouble)


def _complain(sentence: str, status: int) -> int:
    print(f"arena: {sentence}", file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
