import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('tournament', '0021_compressed_texts'),
    ]

    operations = [
        migrations.AddField(
            model_name='ownershare',
            name='waits_since',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name='slotuse',
            name='validation_seconds',
            field=models.FloatField(default=0.0),
        ),
        migrations.AddIndex(
            model_name='slotuse',
            index=models.Index(fields=['day'], name='slot_use_of_day'),
        ),
        migrations.CreateModel(
            name='PreemptedGame',
            fields=[
                ('game', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='+', serialize=False, to='tournament.game')),
                ('seconds', models.FloatField()),
            ],
        ),
    ]
