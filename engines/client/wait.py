"""``python -m engines wait``: follows a version's validation, or a running version test, to its end."""

from __future__ import annotations

import time
from argparse import Namespace

from engines.client.names import find_version
from engines.client.reporting import Report
from engines.client.site_client import SiteClient, find_token, site_of
from engines.client.validation import follow_validation
from engines.client.version_test import follow_version_test


def run(parsed: Namespace) -> int:
    """Print how it ends; returns the exit code, as if it had been started by this command."""
    site = SiteClient(site_of(parsed.site), find_token(is_needed=parsed.test is None))
    report, deadline = Report(parsed), time.monotonic() + parsed.timeout
    if parsed.test is not None:
        report.tested(follow_version_test(site, parsed.test, deadline))
    else:
        slug, number = find_version(site, parsed.bot)
        report.validated(follow_validation(site, slug, number, deadline, is_quiet=parsed.json))
    return report.end()
