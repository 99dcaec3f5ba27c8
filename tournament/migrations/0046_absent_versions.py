from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('tournament', '0045_failed_searches'),
    ]

    operations = [
        migrations.AddField(
            model_name='tournament',
            name='absent',
            field=models.JSONField(blank=True, default=dict),
        ),
    ]
