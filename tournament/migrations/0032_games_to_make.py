"""Mark the tournaments and versions with games to make or to end, instead of steps in a table."""

import json

from django.db import migrations, models
from django.db.models import Sum


def carry_out_steps(apps, schema_editor):
    """Carry out the steps that are left; cycles that are not planned yet are only counted."""
    Step, Tournament, Pairing, Game, BotVersion = (
        apps.get_model("tournament", name)
        for name in ("ScheduleStep", "Tournament", "Pairing", "Game", "BotVersion")
    )
    left = Step.objects.filter(kind="plan").order_by().values_list("tournament").annotate(Sum("games"))
    for tournament, games in left:
        Tournament.objects.filter(pk=tournament).update(games_to_make=games)
    for step in Step.objects.filter(kind="store").select_related("tournament").order_by("id"):
        _store(Pairing, Game, step.tournament, json.loads(step.pairings))
    cancelled = Step.objects.filter(kind="cancel").values("tournament")
    Game.objects.filter(tournament__in=cancelled, state="waiting").update(state="cancelled")
    withdrawn = Step.objects.filter(kind="withdraw").values("version")
    BotVersion.objects.filter(models.Q(pk__in=withdrawn) | models.Q(state="withdrawn")).update(
        has_games_to_end=True
    )
    Step.objects.all().delete()


def _store(Pairing, Game, tournament, planned):
    pairings = Pairing.objects.bulk_create(
        [
            Pairing(
                tournament=tournament,
                ladder_id=ladder,
                round=round_number,
                number=number,
                first_id=first,
                second_id=second,
                opening=" ".join(opening),
                seed=seed,
            )
            for ladder, round_number, number, first, second, opening, seed in planned
        ]
    )
    Game.objects.bulk_create(
        [
            Game(
                key=f"{tournament.slug}/{pairing.round}/{pairing.number}/{number}",
                pairing=pairing,
                tournament=tournament,
                ladder_id=pairing.ladder_id,
                number=number,
                white_id=white,
                black_id=black,
            )
            for pairing in pairings
            for number, white, black in (
                (1, pairing.first_id, pairing.second_id),
                (2, pairing.second_id, pairing.first_id),
            )
        ]
    )


class Migration(migrations.Migration):
    dependencies = [("tournament", "0031_workers_ask")]
    operations = [
        migrations.AddField("tournament", "games_to_make", models.PositiveIntegerField(default=0)),
        migrations.AddField("botversion", "has_games_to_end", models.BooleanField(default=False)),
        migrations.AddIndex(
            "tournament",
            models.Index(
                condition=models.Q(("games_to_make__gt", 0)),
                fields=["games_to_make"],
                name="tournament_games_to_make",
            ),
        ),
        migrations.AddIndex(
            "botversion",
            models.Index(
                condition=models.Q(("has_games_to_end", True)),
                fields=["has_games_to_end"],
                name="version_games_to_end",
            ),
        ),
        migrations.RunPython(carry_out_steps, migrations.RunPython.noop),
    ]
