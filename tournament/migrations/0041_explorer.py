"""Make the tables of the explorer, on SQLite without a second tree for each, which would double their size."""

import django.db.models.deletion
from django.db import migrations, models


def leave_rowids_out(apps, schema_editor):
    if schema_editor.connection.vendor != 'sqlite':
        return
    with schema_editor.connection.cursor() as cursor:
        for table in ('tournament_explorermove', 'tournament_explorervisit'):
            cursor.execute('SELECT sql FROM sqlite_master WHERE name = %s', [table])
            sql = cursor.fetchone()[0]
            cursor.execute(f'DROP TABLE {table}')
            cursor.execute(f'{sql} WITHOUT ROWID')


class Migration(migrations.Migration):

    dependencies = [
        ('tournament', '0040_best_ratings'),
    ]

    operations = [
        migrations.CreateModel(
            name='ExplorerMove',
            fields=[
                ('pk', models.CompositePrimaryKey('position', 'move', 'band', blank=True, editable=False, primary_key=True, serialize=False)),
                ('position', models.BigIntegerField()),
                ('move', models.CharField(max_length=40)),
                ('band', models.SmallIntegerField()),
                ('wins', models.PositiveIntegerField(default=0)),
                ('draws', models.PositiveIntegerField(default=0)),
                ('losses', models.PositiveIntegerField(default=0)),
                ('ratings', models.BigIntegerField(default=0)),
            ],
        ),
        migrations.CreateModel(
            name='ExplorerProgress',
            fields=[
                ('ladder', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='explorer', serialize=False, to='tournament.ladder')),
                ('until', models.BigIntegerField(default=0)),
                ('revision', models.PositiveIntegerField(null=True)),
                ('rebuilds', models.PositiveIntegerField(default=0)),
            ],
        ),
        migrations.CreateModel(
            name='ExplorerVisit',
            fields=[
                ('pk', models.CompositePrimaryKey('position', 'move', 'sequence', blank=True, editable=False, primary_key=True, serialize=False)),
                ('position', models.BigIntegerField()),
                ('move', models.CharField(max_length=40)),
                ('sequence', models.BigIntegerField()),
            ],
        ),
        migrations.AddField(
            model_name='tournament',
            name='book',
            field=models.JSONField(blank=True, default=dict),
        ),
        migrations.RunPython(leave_rowids_out, migrations.RunPython.noop),
    ]
