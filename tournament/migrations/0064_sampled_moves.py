"""What versions choose in sampled positions, for their similarity."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [('tournament', '0063_own_workers')]

    operations = [
        migrations.CreateModel(
            name='SampledMoves',
            fields=[
                (
                    'id',
                    models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID'),
                ),
                ('moves', models.JSONField()),
                ('told', models.JSONField(default=list)),
                ('completed_at', models.DateTimeField(blank=True, null=True)),
                (
                    'ladder',
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name='+',
                        to='tournament.ladder',
                    ),
                ),
                (
                    'version',
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name='+',
                        to='tournament.botversion',
                    ),
                ),
            ],
            options={
                'verbose_name_plural': 'sampled moves',
                'constraints': [
                    models.UniqueConstraint(fields=('ladder', 'version'), name='sampled_once_a_ladder')
                ],
            },
        ),
    ]
