"""The sample bots as bundles; by their hashes a worker knows which of a site's bots it may trust."""

from __future__ import annotations

import functools

from engines.bots import SAMPLE_BOTS, SampleBot
from engines.bundles.store import hash_bundle, pack_bundle


def pack_sample(sample: SampleBot) -> bytes:
    """The zip that an author would upload: the bot's one file and a manifest."""
    games = ", ".join(f'"{code}"' for code in sample.games)
    manifest = (
        f'[bot]\nname = "{sample.name}"\nversion = "1"\ncommand = ["python3", "main.py"]\ngames = [{games}]\n'
    )
    return pack_bundle({"bot.toml": manifest.encode(), "main.py": sample.path.read_bytes()})


@functools.cache
def sample_hashes() -> frozenset[str]:
    """The SHA-256 of each sample bot of this installation, as a bundle."""
    return frozenset(hash_bundle(pack_sample(sample))[0] for sample in SAMPLE_BOTS)
