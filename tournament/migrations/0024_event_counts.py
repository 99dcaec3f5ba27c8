from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("tournament", "0023_stored_pages"),
    ]

    operations = [
        migrations.CreateModel(
            name="EventCount",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "kind",
                    models.CharField(
                        choices=[("game", "game"), ("attempt", "attempt"), ("error", "error")], max_length=10
                    ),
                ),
                ("label", models.CharField(max_length=60)),
                ("count", models.BigIntegerField(default=0)),
            ],
        ),
        migrations.AddConstraint(
            model_name="eventcount",
            constraint=models.UniqueConstraint(fields=("kind", "label"), name="event_count_once"),
        ),
    ]
