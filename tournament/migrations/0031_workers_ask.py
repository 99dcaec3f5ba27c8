"""Workers ask for work: the door, the inbox, and no more signed messages."""

import django.db.models.deletion
import tournament.models.compressed
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("tournament", "0030_release_open_attempts"),
    ]

    operations = [
        migrations.CreateModel(
            name="Door",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("open_since", models.DateTimeField()),
                ("seen_at", models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name="InboxReport",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("content", tournament.models.compressed.CompressedTextField(editable=True)),
                ("received_at", models.DateTimeField()),
            ],
        ),
        migrations.DeleteModel(
            name="ReceivedMessage",
        ),
        migrations.RenameField(
            model_name="worker",
            old_name="set_aside",
            new_name="barred",
        ),
        migrations.RenameField(
            model_name="worker",
            old_name="queue",
            new_name="takes",
        ),
        migrations.RemoveField(
            model_name="attempt",
            name="is_long",
        ),
        migrations.RemoveField(
            model_name="keeper",
            name="handled_until",
        ),
        migrations.RemoveField(
            model_name="keeper",
            name="recalls",
        ),
        migrations.RemoveField(
            model_name="keeper",
            name="up_since",
        ),
        migrations.RemoveField(
            model_name="worker",
            name="empty_since",
        ),
        migrations.AddField(
            model_name="attempt",
            name="ask",
            field=models.UUIDField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="attempt",
            name="ends_by",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="attempt",
            name="reported_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="attempt",
            name="run",
            field=models.CharField(blank=True, default="", max_length=36),
        ),
        migrations.AddField(
            model_name="attempt",
            name="slot",
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="exam",
            name="ask",
            field=models.UUIDField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="exam",
            name="lease_until",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="exam",
            name="run",
            field=models.CharField(blank=True, default="", max_length=36),
        ),
        migrations.AddField(
            model_name="exam",
            name="slot",
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="tournament",
            name="served_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="worker",
            name="token",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="workers",
                to="tournament.token",
            ),
        ),
        migrations.AddField(
            model_name="inboxreport",
            name="attempt",
            field=models.OneToOneField(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="inbox_report",
                to="tournament.attempt",
            ),
        ),
        migrations.DeleteModel(
            name="WorkerKey",
        ),
    ]
