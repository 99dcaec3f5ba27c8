"""Remove the table of steps, which are carried out."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("tournament", "0032_games_to_make")]
    operations = [migrations.DeleteModel("ScheduleStep")]
