"""``python -m engines status``: what a site says of a bot, or of one version of one's own."""

from __future__ import annotations

from argparse import Namespace

from engines.client.names import find_bot, split_version
from engines.client.output import print_json, print_table, print_words, words_of
from engines.client.site_client import SiteClient, find_token, site_of
from engines.client.validation import follow_validation, read_validation, validation_code, validation_sentence

COLUMNS = {
    "ratings": ("ladder", "version", "rating", "games", "won", "drawn", "lost"),
    "versions": ("version", "state", "uploaded", "notes"),
}
"""The columns of the lists of a bot, by the names of their addresses."""


def run(parsed: Namespace) -> int:
    """Print the ratings and versions of a bot; of a version its validation, whose exit code is returned."""
    name, number = split_version(parsed.bot)
    site = SiteClient(site_of(parsed.site), find_token(is_needed=number is not None))
    bot = find_bot(site, name)
    if number is not None:
        if parsed.json:
            version = read_validation(site, str(bot["slug"]), number)
            print_json(version)
        else:
            version = follow_validation(site, str(bot["slug"]), number, deadline=0.0)
            print_words(validation_sentence(version))
        return validation_code(version)
    lists = {title: list(site.rows(f"/api/v1/bots/{bot['slug']}/{title}/", {})) for title in COLUMNS}
    if parsed.json:
        print_json({**bot, **lists})
        return 0
    print_words(f"{bot['bot']} of {bot.get('owner') or 'the site'}: {bot.get('page', '')}")
    for title, rows in lists.items():
        if rows:
            print()
            print_table(COLUMNS[title], [words_of(row, *COLUMNS[title]) for row in rows])
    return 0
