"""Bundles, the zips of bots: `bot.toml` (`manifest`), checks of a zip (`archive`), storage (`store`).

Begin with `store.py`. `sites` asks a site over HTTP for bots and fetches their bundles. Only this package
judges a zip's content; `tournament.services.uploads.submission` also refuses by size, quota, owner and
repeats. Bots are started in `workers.engine`.
"""


def is_sha256(text: str) -> bool:
    """Whether ``text`` is a SHA-256 in the form of bundle names: 64 lower-case hex digits."""
    return len(text) == 64 and set(text) <= set("0123456789abcdef")
