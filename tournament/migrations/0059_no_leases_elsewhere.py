"""Attempts, checks and searches have nothing of leases any more."""

import uuid

from django.db import migrations, models

GONE = {
    'attempt': ('old_job', 'ask', 'assigned', 'ends_by', 'lease_until', 'slot'),
    'botsearch': ('ask', 'assigned', 'failed_by', 'lease_until', 'lost_at', 'sent_at', 'slot'),
    'exam': ('ask', 'assigned', 'lease_until', 'slot'),
}


def name_jobs(apps, schema_editor):
    """For a step back, which is for tests: each attempt gets a job of its own."""
    attempts = apps.get_model('tournament', 'Attempt').objects
    for attempt in attempts.filter(old_job=None):
        attempts.filter(pk=attempt.pk).update(old_job=uuid.uuid4())


class Migration(migrations.Migration):

    dependencies = [
        ('tournament', '0058_jobs'),
    ]

    operations = [
        migrations.AlterField(model_name='attempt', name='old_job', field=models.UUIDField(null=True)),
        migrations.RunPython(migrations.RunPython.noop, name_jobs),
        *(migrations.RemoveField(model_name=model, name=name) for model, names in GONE.items() for name in names),
    ]
