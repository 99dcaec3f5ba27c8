"""The filters of a site's list of games, as options of commands; the site checks their values."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

FILTERS = {
    "bot": "NAME",
    "version": "N",
    "opponent": "NAME",
    "opponent_version": "N",
    "owner": "NAME",
    "ladder": "CODE",
    "colour": "white|black",
    "result": "won|lost|draw|white|black",
    "termination": "WORD",
    "fault": "none|either|white|black",
    "min_plies": "N",
    "max_plies": "N",
    "opening": "MOVES",
    "tournament": "SLUG",
    "round": "N",
    "pair": "POINTS",
    "rated": "yes|no",
    "annulled": "yes|no",
    "min_sequence": "N",
    "since": "DATE",
    "until": "DATE",
    "sort": "newest|oldest|longest|shortest",
    "position": "POSITION",
    "move": "MOVE",
}
"""The filters, and what their values look like."""


def add_filters(command: ArgumentParser) -> None:
    """Add an option for each filter."""
    group = command.add_argument_group("filters, as on the site's list of games")
    for name, value in FILTERS.items():
        group.add_argument(f"--{name.replace('_', '-')}", dest=name, metavar=value)


def filters_of(parsed: Namespace) -> dict[str, str]:
    """The filters that are given."""
    return {name: text for name in FILTERS if (text := getattr(parsed, name)) is not None}
