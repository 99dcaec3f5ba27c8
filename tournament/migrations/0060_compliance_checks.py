"""Two models get the names that the pages and the documentation use."""

from __future__ import annotations

import django.db.models.deletion
from django.db import migrations, models
from django.db.models import Q

OLD, NEW = "exam", "compliancecheck"
IS_OPEN = Q(ended_at__isnull=True)
ENDED = Q(("end", ""), ("ended_at__isnull", True)) | (~Q(end="") & Q(ended_at__isnull=False))


class Migration(migrations.Migration):
    dependencies = [("tournament", "0059_no_leases_elsewhere")]

    operations = [
        migrations.RemoveConstraint(OLD, "exam_open_once_a_version"),
        migrations.RemoveConstraint(OLD, "exam_ended_with_end"),
        migrations.RenameModel("Exam", "ComplianceCheck"),
        migrations.RenameIndex(NEW, new_name="check_of_version", old_name="exam_of_version"),
        migrations.RenameIndex(NEW, new_name="check_ended", old_name="exam_ended"),
        migrations.AlterField(
            NEW,
            "version",
            models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="checks",
                to="tournament.botversion",
            ),
        ),
        migrations.AlterField(
            NEW,
            "job",
            models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="checks",
                to="tournament.job",
            ),
        ),
        migrations.AddConstraint(
            NEW, models.UniqueConstraint(fields=["version"], condition=IS_OPEN, name="check_open_once_a_version")
        ),
        migrations.AddConstraint(NEW, models.CheckConstraint(condition=ENDED, name="check_ended_with_end")),
        migrations.RemoveConstraint("turn", "turn_once_a_ladder"),
        migrations.RenameModel("Turn", "LatestPairing"),
        migrations.AddConstraint(
            "latestpairing",
            models.UniqueConstraint(fields=["ladder", "version"], name="latest_pairing_once_a_ladder"),
        ),
    ]
