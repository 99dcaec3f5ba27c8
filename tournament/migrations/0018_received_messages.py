from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("tournament", "0017_schedule_steps"),
    ]

    operations = [
        migrations.CreateModel(
            name="ReceivedMessage",
            fields=[
                ("name", models.CharField(max_length=32, primary_key=True, serialize=False)),
                ("sent", models.BigIntegerField(db_index=True)),
            ],
        ),
    ]
