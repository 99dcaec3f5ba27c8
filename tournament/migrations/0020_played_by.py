"""Store which worker played each game. Its own migration: PostgreSQL changes no table after such an update."""

from django.db import migrations

NAME = """
INSERT INTO tournament_workername (name)
SELECT DISTINCT assigned FROM tournament_attempt WHERE "end" = 'recorded' AND assigned <> ''
"""
FILL = """
UPDATE tournament_game SET played_by_id = (
    SELECT worker.id FROM tournament_attempt attempt JOIN tournament_workername worker
    ON worker.name = attempt.assigned WHERE attempt.id = tournament_game.attempt AND attempt."end" = 'recorded'
) WHERE state = 'done'
"""


class Migration(migrations.Migration):

    dependencies = [
        ('tournament', '0019_annulments'),
    ]

    operations = [
        migrations.RunSQL(NAME, migrations.RunSQL.noop),
        migrations.RunSQL(FILL, migrations.RunSQL.noop),
    ]
