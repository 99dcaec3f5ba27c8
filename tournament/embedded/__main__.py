"""The commands of ``./arena``, called once its environment is ready: ``up``, ``demo`` and ``admin``."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from tournament.embedded.administrator import make_administrator
from tournament.embedded.console import Console
from tournament.embedded.data_folder import ForeignFolder, check_data_folder, claim_data_folder
from tournament.embedded.demo import DemoFailed, demo
from tournament.embedded.options import OptionError, Options, parse_options
from tournament.embedded.processes.lock import AlreadyRunning
from tournament.embedded.processes.redis_server import RedisMissing
from tournament.embedded.processes.supervisor import NotReady
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
    console = Console(sys.stdout)
    try:
        options = parse_options(arguments)
        check_data_folder(options.data)
        enter([options.data], [sys.executable, "-m", "tournament.embedded", *arguments])
        os.umask(PRIVATE)
        claim_data_folder(options.data)
        return COMMANDS[options.command](options, console)
    except OptionError as error:
        return _complain(error, 2)
    except (AlreadyRunning, CannotEnter, ForeignFolder, NotReady, RedisMissing, DemoFailed) as error:
        return _complain(error, 1)
    except OSError as error:
        if error.filename is None:
            raise
        return _complain(f"cannot use {str(error.filename)!r}: {error.strerror}", 1)
    except KeyboardInterrupt:
        return 130


def _complain(error: Exception | str, code: int) -> int:
    print(f"arena: {error}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
