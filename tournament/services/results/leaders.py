"""The leader of each ladder."""

from __future__ import annotations

import datetime

from tournament.models import Ladder, LadderRating
from tournament.sentences import isolated
from tournament.services.feeds import PublishedEvent, path_of, publish


def follow_leader(ladder: Ladder, now: datetime.datetime) -> None:
    """Store and publish the ladder's leader if it has changed; part of the caller's transaction.

    The caller has locked the ladder's row. A version that takes the lead again on the same day is published
    once, so that two equal versions do not fill the feeds. A provisional rating does not lead,
    and neither does a version that no longer plays.
    """
    best = LadderRating.objects.playing().settled().leaderboard(ladder.pk).first()
    if (best.version_id if best else None) == ladder.leader_id:
        return
    if best is None:
        Ladder.objects.filter(pk=ladder.pk).update(leader=None)
        return
    version = best.version
    Ladder.objects.filter(pk=ladder.pk).update(leader=version)
    event = PublishedEvent(
        f"{path_of(ladder)}/leaders/{version.bot.slug}/{version.number}/{now:%Y-%m-%d}",
        f"{isolated(version)} leads the {ladder.name} ladder",
        f"Its rating is {best.conservative:.2f}, after {best.games} games.",
        (ladder, version.bot),
        version=version,
        ladder=ladder,
        is_repeatable=False,
    )
    publish([event], now)
