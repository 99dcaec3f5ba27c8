"""Store the highest rating that each version had on each ladder."""

from django.db import migrations, models
from django.db.models import F, Max


def find_best(apps, schema_editor):
    Rating, Event = (apps.get_model("tournament", name) for name in ("LadderRating", "RatingEvent"))
    highest = Event.objects.order_by().values_list("ladder", "version")
    best = {
        tuple(player): top for *player, top in highest.annotate(top=Max(F("mu_after") - 3 * F("sigma_after")))
    }
    rows = list(Rating.objects.only("ladder", "version"))
    for row in rows:
        row.best = max(0.0, best.get((row.ladder_id, row.version_id), 0.0))
    Rating.objects.bulk_update(rows, ["best"], batch_size=500)


class Migration(migrations.Migration):

    dependencies = [
        ('tournament', '0039_visits_and_digests'),
    ]

    operations = [
        migrations.AddField(
            model_name='ladderrating',
            name='best',
            field=models.FloatField(default=0),
        ),
        migrations.RunPython(find_best, migrations.RunPython.noop),
    ]
