"""Results by tournament and two players instead of stored tables; a tournament's own ratings and winners stay."""

import json

import django.db.models.deletion
from django.db import migrations, models


def keep_ratings(apps, schema_editor):
    """What is missing is computed by the record keeper."""
    Tables, Own = (apps.get_model("tournament", name) for name in ("TournamentTables", "OwnRatings"))
    for row in Tables.objects.exclude(winners=None).defer("meetings").iterator(100):
        tables = json.loads(row.standings).items()
        Own.objects.create(
            tournament_id=row.pk,
            games_done=row.games_done,
            revision=row.revision,
            ratings={code: [[one[0], one[7]] for one in table["rows"] if one[7] is not None] for code, table in tables},
            winners=row.winners,
            due_at=row.computed_at,
        )


class Migration(migrations.Migration):

    dependencies = [
        ('tournament', '0054_no_time_of_ignored_messages'),
    ]

    operations = [
        migrations.CreateModel(
            name='MeetingScore',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('round', models.PositiveIntegerField()),
                ('wins', models.IntegerField(default=0)),
                ('draws', models.IntegerField(default=0)),
                ('losses', models.IntegerField(default=0)),
                ('given_up', models.IntegerField(default=0)),
                ('walkovers', models.IntegerField(default=0)),
                ('defaults', models.IntegerField(default=0)),
                ('annulled', models.IntegerField(default=0)),
                ('ladder', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='tournament.ladder')),
                ('one', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='tournament.botversion')),
                ('other', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='tournament.botversion')),
                ('tournament', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='meeting_scores', to='tournament.tournament')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('tournament', 'ladder', 'round', 'one', 'other'), name='meeting_score_once')],
            },
        ),
        migrations.CreateModel(
            name='OwnRatings',
            fields=[
                ('tournament', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='own_ratings', serialize=False, to='tournament.tournament')),
                ('games_done', models.PositiveIntegerField()),
                ('revision', models.PositiveIntegerField()),
                ('ratings', models.JSONField()),
                ('winners', models.JSONField()),
                ('due_at', models.DateTimeField()),
            ],
            options={
                'verbose_name_plural': 'own ratings',
            },
        ),
        migrations.RunPython(keep_ratings, migrations.RunPython.noop),
        migrations.DeleteModel(
            name='TournamentTables',
        ),
    ]
