"""Make the seats of the recorded games, before the update, beside an earlier release that still runs.

216,000 games took 9 s of processor time on SQLite, so a million takes about 45; what is left for the update itself
is to look for games without seats and to remove three indexes: less than 6 s for as many games.
"""

import django.db.models.deletion
from django.conf import settings
from django.db import connections, migrations, models, transaction
from django.db.migrations.loader import MigrationLoader

from tournament.migrations._progress import Progress

CHUNK = 1_000
COLUMNS = (
    'game_id, is_white, version_id, bot_id, owner_id, opponent_id, ladder_id, tournament_id, result, plies, finished_at'
)
SEATS = """
SELECT game.id, {is_white}, version.id, version.bot_id, bot.owner_id, game.{other}_id, game.ladder_id, game.tournament_id,
game.result, game.plies, COALESCE(game.finished_at, '1970-01-01 00:00:00') FROM tournament_game game
JOIN tournament_botversion version ON version.id = game.{own}_id JOIN tournament_bot bot ON bot.id = version.bot_id
WHERE game.id > %s AND game.id <= %s AND game.result IS NOT NULL
AND NOT EXISTS (SELECT 1 FROM tournament_seat seat WHERE seat.game_id = game.id AND seat.is_white = {is_white})
"""


def prepare(using):
    connection = connections[using]
    if 'tournament_game' in connection.introspection.table_names():
        apps = MigrationLoader(connection).project_state(('tournament', '0057_seats')).apps
        with connection.schema_editor() as schema_editor:
            make_table(apps, schema_editor)
        fill(connection)


def finish(apps, schema_editor):
    make_table(apps, schema_editor)
    fill(schema_editor.connection)


def make_table(apps, schema_editor):
    if 'tournament_seat' not in schema_editor.connection.introspection.table_names():
        schema_editor.create_model(apps.get_model('tournament', 'Seat'))


def fill(connection):
    """Insert what is missing, each chunk in a transaction; games do not end in the order of their ids."""
    with connection.cursor() as cursor:
        cursor.execute('SELECT COALESCE(MIN(id), 1), COALESCE(MAX(id), 0) FROM tournament_game')
        first, last = cursor.fetchone()
        progress = Progress('games with seats', max(1, last - first + 1))
        for begin in range(first - 1, last, CHUNK):
            with transaction.atomic(using=connection.alias):
                for own, other, is_white in (('white', 'black', 'true'), ('black', 'white', 'false')):
                    seats = SEATS.format(own=own, other=other, is_white=is_white)
                    cursor.execute(
                        f'INSERT INTO tournament_seat ({COLUMNS}) {seats}', [begin, begin + CHUNK]
                    )
            progress.add(CHUNK)


def copied(model, **more):
    return models.ForeignKey(
        db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to=model, **more
    )


class Migration(migrations.Migration):

    prepare = staticmethod(prepare)

    dependencies = [
        ('tournament', '0056_fill_meeting_scores'),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.CreateModel(
                    name='Seat',
                    fields=[
                        ('pk', models.CompositePrimaryKey('game', 'is_white', blank=True, editable=False, primary_key=True, serialize=False)),
                        ('game', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='seats', to='tournament.game')),
                        ('is_white', models.BooleanField()),
                        ('version', copied('tournament.botversion')),
                        ('bot', copied('tournament.bot')),
                        ('owner', copied(settings.AUTH_USER_MODEL, null=True)),
                        ('opponent', copied('tournament.botversion')),
                        ('ladder', copied('tournament.ladder')),
                        ('tournament', copied('tournament.tournament')),
                        ('result', models.CharField(choices=[('1-0', '1-0'), ('0-1', '0-1'), ('1/2-1/2', '1/2-1/2'), ('*', '*')], max_length=7)),
                        ('plies', models.PositiveIntegerField()),
                        ('finished_at', models.DateTimeField()),
                    ],
                    options={
                        'indexes': [
                            models.Index(fields=['version', 'finished_at', 'game'], name='seat_of_version'),
                            models.Index(fields=['owner', 'finished_at', 'game'], name='seat_of_owner'),
                            models.Index(fields=['bot', 'finished_at', 'game', 'ladder', 'tournament', 'is_white', 'opponent', 'result', 'plies'], name='seat_of_bot'),
                        ],
                    },
                ),
            ],
        ),
        migrations.RunPython(finish, lambda apps, schema_editor: schema_editor.execute('DROP TABLE tournament_seat')),
        migrations.RemoveIndex(
            model_name='game',
            name='game_of_pair',
        ),
        migrations.RemoveIndex(
            model_name='game',
            name='game_of_white',
        ),
        migrations.RemoveIndex(
            model_name='game',
            name='game_of_black',
        ),
    ]
