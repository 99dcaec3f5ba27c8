"""The sample bots, packed into bundles like uploaded ones, and the tournaments started with them."""

from __future__ import annotations

from collections.abc import Sequence

from django.conf import settings
from django.db import transaction

from engines.bots import SAMPLE_BOTS, SampleBot
from engines.bundles.store import inspect_bundle, store_bundle
from engines.rules.registry import GAMES
from tournament.models import Bot, BotVersion, Bundle, Tournament
from tournament.services.schedule.tournaments import create_round_robin, start
from tournament.services.uploads.submission import add_version
from workers.bundles.samples import pack_sample


def register_samples() -> list[BotVersion]:
    """Register the sample bots of this checkout that are not registered yet; may be repeated.

    A sample that has changed since the last time becomes the next version of its bot.
    """
    return [register_sample(sample) for sample in SAMPLE_BOTS]


@transaction.atomic
def register_sample(sample: SampleBot) -> BotVersion:
    """Its version of this checkout; a new one if there is none yet."""
    content = pack_sample(sample)
    sha256 = store_bundle(settings.BUNDLES, content)
    bundle, _ = Bundle.objects.get_or_create(sha256=sha256, defaults={"size": len(content)})
    bot = Bot.objects.named(sample.name)
    if bot is None:
        bot = Bot.objects.register(None, sample.name)
        bot.description = sample.description
        bot.save(update_fields=["description"])
    known = bot.versions.filter(bundle=bundle).first()
    return known or add_version(bot, bundle, inspect_bundle(content), state=BotVersion.State.VALID)


def start_event(name: str, versions: Sequence[BotVersion], *, pairs: int, time_control: str) -> Tournament:
    """Start a rated round robin on all ladders."""
    tournament = create_round_robin(
        None,
        name=name,
        versions=versions,
        ladders=list(GAMES),
        pairs=pairs,
        time_control=time_control,
        seed=1,
        opening_plies=2,
        rated_off_terms=True,
    )
    start(tournament)
    return tournament
