"""Store logs and records compressed. They are most of the database, so they are compressed before the migration."""

import datetime

import django.utils.timezone
from django.db import connections, migrations, models, transaction
from django.utils import timezone

from tournament.migrations._progress import Progress
from tournament.models.compressed import CompressedTextField, compress_text, pack_log

CHUNK = 500
LOGS = 'unfinished_logs'
RECORDS = 'unfinished_records'
NEW_TABLES = (
    f'CREATE TABLE IF NOT EXISTS {LOGS} (id bigint PRIMARY KEY, game_id bigint NOT NULL,'
    ' side varchar(5) NOT NULL, content %s NOT NULL, kept_long bool NOT NULL, stored_at %s NOT NULL)',
    f'CREATE TABLE IF NOT EXISTS {RECORDS} (game_id bigint PRIMARY KEY, content %s NOT NULL)',
)
OLD_LOGS = f"""
SELECT log.id, game.id, log.side, log.stderr, log.lines, game.fault, event.kind, game.finished_at FROM tournament_gamelog log
JOIN tournament_game game ON game.id = log.game_id JOIN tournament_tournament event ON event.id = game.tournament_id
WHERE log.id > %s AND NOT EXISTS (SELECT 1 FROM {LOGS} done WHERE done.id = log.id) ORDER BY log.id LIMIT %s
"""
OLD_RECORDS = f"""
SELECT game_id, text FROM tournament_gamerecord record WHERE game_id > %s
AND NOT EXISTS (SELECT 1 FROM {RECORDS} done WHERE done.game_id = record.game_id) ORDER BY game_id LIMIT %s
"""


def compress(using):
    """Copy the texts, compressed, into tables that no release knows; logs whose time is over are left out.

    Each chunk is a transaction. Repeated, it copies what is missing: games do not end in the order of their keys.
    """
    connection = connections[using]
    if 'tournament_gamelog' not in connection.introspection.table_names():
        return
    with connection.cursor() as cursor:
        blob, time = ('bytea', 'timestamptz') if connection.vendor == 'postgresql' else ('BLOB', 'datetime')
        cursor.execute(NEW_TABLES[0] % (blob, time))
        cursor.execute(NEW_TABLES[1] % blob)
        copy(connection, cursor, 'logs of games compressed', OLD_LOGS, 'tournament_gamelog', LOGS, pack)
        copy(connection, cursor, 'records compressed', OLD_RECORDS, 'tournament_gamerecord', RECORDS, pack_record)


def copy(connection, cursor, what, select, old, new, change):
    cursor.execute(f'SELECT (SELECT COUNT(*) FROM {old}) - (SELECT COUNT(*) FROM {new})')
    last, progress = 0, Progress(what, max(1, cursor.fetchone()[0]))
    while True:
        cursor.execute(select, [last, CHUNK])
        rows = cursor.fetchall()
        if not rows:
            return
        last = rows[-1][0]
        made = [row for row in (change(connection, *row) for row in rows) if row]
        if made:
            with transaction.atomic(using=connection.alias):
                cursor.executemany(f'INSERT INTO {new} VALUES ({", ".join(["%s"] * len(made[0]))})', made)
        progress.add(len(rows))


def pack(connection, pk, game, side, stderr, lines, fault, kind, at):
    if at is not None and at.tzinfo is None:  # SQLite's
        at = at.replace(tzinfo=datetime.timezone.utc)
    is_long = fault != 'none' or kind == 'validation'
    now = timezone.now()
    if at is not None and at < now - datetime.timedelta(days=180 if is_long else 30):
        return None
    stored_at = connection.ops.adapt_datetimefield_value(at or now)
    return pk, game, side, pack_log(stderr, lines), is_long, stored_at


def pack_record(connection, game, text):
    return game, compress_text(text)


def finish(apps, schema_editor):
    """Compress what is left, and empty the tables: to change them is quick then."""
    if schema_editor.connection.vendor == 'postgresql':  # SQLite has one writer
        schema_editor.execute('LOCK TABLE tournament_gamelog, tournament_gamerecord IN ACCESS EXCLUSIVE MODE')
    compress(schema_editor.connection.alias)
    schema_editor.execute('DELETE FROM tournament_gamelog')
    schema_editor.execute('DELETE FROM tournament_gamerecord')


def fill(apps, schema_editor):
    columns = 'game_id, side, content, kept_long, stored_at'
    # An earlier release may have deleted games since they were copied.
    known = 'WHERE game_id IN (SELECT id FROM tournament_game)'
    schema_editor.execute(
        f'INSERT INTO tournament_gamelog ({columns}) SELECT {columns} FROM {LOGS} {known} ORDER BY id'
    )
    schema_editor.execute(
        f'INSERT INTO tournament_gamerecord (game_id, text) SELECT game_id, content FROM {RECORDS} {known}'
    )
    schema_editor.execute(f'DROP TABLE {LOGS}')
    schema_editor.execute(f'DROP TABLE {RECORDS}')
    if schema_editor.connection.vendor == 'postgresql':
        # It changes no table later in the transaction while foreign keys wait to be checked.
        schema_editor.execute('SET CONSTRAINTS ALL IMMEDIATE')
        schema_editor.execute('SET CONSTRAINTS ALL DEFERRED')


class Migration(migrations.Migration):

    prepare = staticmethod(compress)

    dependencies = [
        ('tournament', '0020_played_by'),
    ]

    operations = [
        migrations.RunPython(finish, migrations.RunPython.noop),
        migrations.AddField(
            model_name='gamelog',
            name='content',
            field=models.BinaryField(default=b''),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name='gamelog',
            name='kept_long',
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name='gamelog',
            name='stored_at',
            field=models.DateTimeField(default=django.utils.timezone.now),
        ),
        migrations.AddField(
            model_name='gamerecord',
            name='content',
            field=CompressedTextField(default=b''),
            preserve_default=False,
        ),
        migrations.RemoveField(
            model_name='gamerecord',
            name='text',
        ),
        migrations.RenameField(
            model_name='gamerecord',
            old_name='content',
            new_name='text',
        ),
        migrations.RemoveField(
            model_name='gamelog',
            name='lines',
        ),
        migrations.RemoveField(
            model_name='gamelog',
            name='stderr',
        ),
        migrations.AlterField(
            model_name='gamelog',
            name='game',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='logs', to='tournament.game'),
        ),
        migrations.AddIndex(
            model_name='gamelog',
            index=models.Index(fields=['kept_long', 'stored_at'], name='log_age'),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
