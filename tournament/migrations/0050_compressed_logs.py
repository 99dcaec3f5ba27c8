import datetime
import zlib

import django.utils.timezone
from django.db import migrations, models
from django.db.models import Q
from django.utils import timezone

CHUNK = 500


def compress(apps, schema_editor):
    """Compress the logs; those whose time is over are deleted instead."""
    logs = apps.get_model('tournament', 'GameLog').objects
    is_long = ~Q(game__fault='none') | Q(game__tournament__kind='validation')
    now = timezone.now()
    for condition, days in ((~is_long, 30), (is_long, 180)):
        old = logs.filter(condition, game__finished_at__lt=now - datetime.timedelta(days=days))
        while pks := list(old.values_list('pk', flat=True)[:CHUNK]):
            logs.filter(pk__in=pks).delete()
    last = 0
    while rows := list(logs.filter(pk__gt=last).select_related('game__tournament').order_by('pk')[:CHUNK]):
        last = rows[-1].pk
        for log in rows:
            log.content = zlib.compress(f'{len(log.stderr)}\n{log.stderr}{log.lines}'.encode(), 6)
            log.kept_long = log.game.fault != 'none' or log.game.tournament.kind == 'validation'
            log.stored_at = log.game.finished_at or now
        logs.bulk_update(rows, ['content', 'kept_long', 'stored_at'])


class Migration(migrations.Migration):

    dependencies = [
        ('tournament', '0050_played_by'),
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
        migrations.RunPython(compress, migrations.RunPython.noop),
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
