"""The site's own bots: the samples of the engines package, bundled like everybody's."""

from __future__ import annotations

import json

from django.conf import settings
from django.db import transaction

from engines.bots import SAMPLE_BOTS, SampleBot
from tournament.models import Bot, BotVersion, Bundle
from tournament.services.bots import add_version
from tournament.services.tournaments import create_round_robin, start
from workers.bundles import inspect_bundle, pack_bundle, store_bundle
from workers.manifest import BundleError

DEMO_NAME = "Round robin of the sample bots"
DEMO_PAIRS = 2
DEMO_TIME_CONTROL = "0.02/move"
DEMO_OPENING_PLIES = 2
DEMO_SEED = 2026


def register_samples() -> list[BotVersion]:
    """Every sample bot's version as its source is now; may be repeated.

    A changed source becomes the next version. Raises ``BundleError`` if a user took a sample's name.
    """
    return [_register(sample) for sample in SAMPLE_BOTS]


def start_demo(
    *, pairs: int = DEMO_PAIRS, time_control: str = DEMO_TIME_CONTROL, seed: int = DEMO_SEED
) -> int:
    """Start a rated round robin of the sample bots on all ladders; returns the tournament's id."""
    versions = register_samples()
    ladders = list(dict.fromkeys(code for version in versions for code in version.games))
    tournament = create_round_robin(
        None,
        name=DEMO_NAME,
        versions=versions,
        ladders=ladders,
        pairs=pairs,
        time_control=time_control,
        seed=seed,
        opening_plies=DEMO_OPENING_PLIES,
    )
    start(tournament)
    return tournament.pk


@transaction.atomic
def _register(sample: SampleBot) -> BotVersion:
    content = pack_bundle({"bot.toml": _manifest(sample).encode(), "main.py": sample.path.read_bytes()})
    manifest = inspect_bundle(content)
    bot = Bot.objects.named(sample.name) or Bot.objects.register(None, sample.name)
    if bot.owner_id is not None:
        raise BundleError(f"the name {sample.name!r} of a sample bot belongs to a user's bot")
    if bot.description != sample.description:
        bot.description = sample.description
        bot.save(update_fields=["description"])
    sha256 = store_bundle(settings.BUNDLES, content)
    bundle, _ = Bundle.objects.get_or_create(sha256=sha256, defaults={"size": len(content)})
    known = bot.versions.filter(bundle=bundle).first()
    return known or add_version(bot, bundle, manifest, state=BotVersion.State.VALID)


def _manifest(sample: SampleBot) -> str:
    """TOML's strings and lists of strings are written as JSON's."""
    fields = {
        "name": sample.name,
        "version": "sample",
        "command": ["python3", "main.py"],
        "games": list(sample.games),
    }
    lines = (f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in fields.items())
    return "\n".join(("[bot]", *lines, ""))
