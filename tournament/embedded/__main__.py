"""The commands of ``./arena``, called once its environment is ready: ``up``, ``demo`` and ``admin``."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from tournament.embedded import StartError
from tournament.embedded.administrator import make_administrator
from tournament.embedded.console import Console
from tournament.embedded.data_folder import check_data_folder, claim_data_folder
from tournament.embedded.demo import demo
from tournament.embedded.options import Options, parse_options
from tournament.embedded.up import up
from workers.sandbox.entrance import CannotEnter, enter

COMMANDS: dict[str, Callable[[Options, Console], int]] = {
    "up": up,
    "demo": demo,
    "admin": make_administrator,
}
PRIVATE = 0o077
"""Other users of this machine get no access to the site's files: they hold password hashes and bots' logs."""


def main(arguments: list[str]) -> int:
    """Exit code 0: done; 1: an error occurred; 2: bad command line; 130: Ctrl-C."""
    try:
        options = parse_options(arguments)
        check_data_folder(options.data)
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
        return 130


def _complain(sentence: str, status: int) -> int:
    print(f"arena: {sentence}", file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
