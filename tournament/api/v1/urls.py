"""The modules with operations, and the addresses of all of them."""

from tournament.api.v1 import (
    bots,
    dumps,
    evidence,
    games,
    ladders,
    openapi,
    results,
    rules,
    site,
    tournaments,
    version_tests,
)
from tournament.api.v1.events import views as events
from tournament.api.v1.operations import patterns
from tournament.api.v1.writing import account, organizing, searches, uploads

MODULES = (
    ladders,
    bots,
    results,
    games,
    tournaments,
    dumps,
    evidence,
    version_tests,
    rules,
    site,
    uploads,
    organizing,
    searches,
    account,
    events,
    openapi,
)
"""Their order is that of the document and of the page for people."""
__all__ = ["MODULES", "patterns"]
