import datetime

import django.utils.timezone
from django.db import migrations, models
from django.utils import timezone

from tournament.migrations._progress import Progress
from tournament.models.compressed import CompressedTextField, compress_text, pack_log

CHUNK = 500


def compress(apps, schema_editor):
    """Compress the logs and the records; logs whose time is over are deleted instead."""
    logs = apps.get_model('tournament', 'GameLog').objects
    now = timezone.now()
    replace = 'UPDATE tournament_gamelog SET content = %s, kept_long = %s, stored_at = %s WHERE id = %s'
    columns = ('pk', 'stderr', 'lines', 'game__fault', 'game__tournament__kind', 'game__finished_at')
    for rows in chunks('logs of games compressed', logs, columns):
        over, kept = [], []
        for pk, stderr, lines, fault, kind, at in rows:
            is_long = fault != 'none' or kind == 'validation'
            if at is not None and at < now - datetime.timedelta(days=180 if is_long else 30):
                over.append(pk)
                continue
            stored_at = schema_editor.connection.ops.adapt_datetimefield_value(at or now)
            kept.append((pack_log(stderr, lines), is_long, stored_at, pk))
        logs.filter(pk__in=over).delete()
        run(schema_editor, replace, kept)
    records = apps.get_model('tournament', 'GameRecord').objects
    replace = 'UPDATE tournament_gamerecord SET content = %s WHERE game_id = %s'
    for rows in chunks('records compressed', records, ('pk', 'text')):
        run(schema_editor, replace, [(compress_text(text), pk) for pk, text in rows])


def chunks(what, objects, columns):
    last, progress = 0, Progress(what, objects.count())
    while rows := list(objects.filter(pk__gt=last).order_by('pk').values_list(*columns)[:CHUNK]):
        last = rows[-1][0]
        yield rows
        progress.add(len(rows))


def run(schema_editor, sql, rows):
    with schema_editor.connection.cursor() as cursor:
        cursor.executemany(sql, rows)


class Migration(migrations.Migration):

    dependencies = [
        ('tournament', '0020_played_by'),
    ]

    operations = [
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
        migrations.RunPython(compress, migrations.RunPython.noop),
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
        migrations.AddIndex(
            model_name='gamelog',
            index=models.Index(fields=['kept_long', 'stored_at'], name='log_age'),
        ),
    ]
