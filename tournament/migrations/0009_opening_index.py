from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('tournament', '0008_game_search'),
    ]

    operations = [
        migrations.AddIndex(
            model_name='pairing',
            index=models.Index(fields=['opening'], name='pairing_opening'),
        ),
    ]
