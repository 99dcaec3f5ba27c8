#!/usr/bin/env python3
"""Django's command line for this site."""

import os
import sys


def main() -> None:
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line

    from tournament.sites import check_site

    try:
        check_site(sys.argv[1:])
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        sys.exit(f"manage.py: {error}")


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tournament.settings")
    try:
        main()
    except KeyboardInterrupt:
        print(f"\nmanage.py: {' '.join(sys.argv[1:2])} was interrupted; it may be run again", file=sys.stderr)
        sys.exit(130)
