import datetime

import django.utils.timezone
from django.db import migrations, models
from django.db.models import Q
from django.utils import timezone

from tournament.models.compressed import CompressedTextField, compress_text, pack_log

CHUNK = 500


def compress(apps, schema_editor):
    """Compress the logs and the records; logs whose time is over are deleted instead."""
    logs = apps.get_model('tournament', 'GameLog').objects
    is_long = ~Q(game__fault='none') | Q(game__tournament__kind='validation')
    now = timezone.now()
    for condition, days in ((~is_long, 30), (is_long, 180)):
        old = logs.filter(condition, game__finished_at__lt=now - datetime.timedelta(days=days))
        while pks := list(old.values_list('pk', flat=True)[:CHUNK]):
            logs.filter(pk__in=pks).delete()
    replace = 'UPDATE tournament_gamelog SET content = %s, kept_long = %s, stored_at = %s WHERE id = %s'
    columns = ('pk', 'stderr', 'lines', 'game__fault', 'game__tournament__kind', 'game__finished_at')
    for rows in chunks(logs, columns):
        run(schema_editor, replace, [
            (
                pack_log(stderr, lines),
                fault != 'none' or kind == 'validation',
                schema_editor.connection.ops.adapt_datetimefield_value(at or now),
                pk,
            )
            for pk, stderr, lines, fault, kind, at in rows
        ])
    records = apps.get_model('tournament', 'GameRecord').objects
    replace = 'UPDATE tournament_gamerecord SET content = %s WHERE game_id = %s'
    for rows in chunks(records, ('pk', 'text')):
        run(schema_editor, replace, [(compress_text(text), pk) for pk, text in rows])


def chunks(objects, columns):
    last = 0
    while rows := list(objects.filter(pk__gt=last).order_by('pk').values_list(*columns)[:CHUNK]):
        last = rows[-1][0]
        yield rows


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
