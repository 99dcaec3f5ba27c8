"""Count the results of each two players of the tournaments that have tables.

A tournament a transaction, which locks no other tournament; it may be interrupted, and repeated it counts anew.
On SQLite 200,000 games take 1.1 s and 1,250,000 games 6.7 s; a tournament of 99,000 games 0.5 to 0.8 s.
"""

from django.db import connections, migrations, transaction

from tournament.migrations._progress import Progress

# Wins and the like are of the player with the lower id. Rounds that are drawn one by one are kept apart, with
# the meetings whose games are not over.
COUNT = """
INSERT INTO tournament_meetingscore (tournament_id, ladder_id, round, one_id, other_id,
  wins, draws, losses, given_up, walkovers, defaults, annulled)
SELECT {tournament:d}, ladder_id, round, one, other,
  SUM(CASE WHEN NOT annulled AND points = 2 THEN 1 ELSE 0 END),
  SUM(CASE WHEN NOT annulled AND points = 1 THEN 1 ELSE 0 END),
  SUM(CASE WHEN NOT annulled AND points = 0 THEN 1 ELSE 0 END),
  SUM(CASE WHEN NOT annulled AND state = 'halted' AND given = 1 THEN 1 ELSE 0 END),
  SUM(CASE WHEN NOT annulled AND state = 'halted' AND given = 2 THEN 1 ELSE 0 END),
  SUM(CASE WHEN NOT annulled AND state = 'halted' AND given = 0 THEN 1 ELSE 0 END),
  SUM(CASE WHEN annulled THEN 1 ELSE 0 END)
FROM (
  SELECT game.id, game.ladder_id, {round} AS round, state, annulled,
    CASE WHEN white_id < black_id THEN white_id ELSE black_id END AS one,
    CASE WHEN white_id < black_id THEN black_id ELSE white_id END AS other,
    CASE WHEN result = '1/2-1/2' THEN 1 WHEN result IS NULL THEN NULL
      WHEN (result = '1-0') = (white_id < black_id) THEN 2 ELSE 0 END AS points,
    CASE WHEN fault NOT IN ('white', 'black') THEN 1
      WHEN (fault = 'black') = (white_id < black_id) THEN 2 ELSE 0 END AS given
  FROM tournament_game game {join}
  WHERE game.tournament_id = {tournament:d} AND ({staged} OR state IN ('done', 'halted'))
) game
GROUP BY ladder_id, round, one, other ORDER BY MIN(id)
"""


def fill(apps, schema_editor):
    alias = schema_editor.connection.alias
    Tournament = apps.get_model("tournament", "Tournament")
    events = Tournament.objects.using(alias).exclude(kind__in=["ladder", "validation", "version-test"])
    rows = list(events.order_by("id").values_list("pk", "seeds", "games_done"))
    progress = Progress("games counted for tables", max(1, sum(done for *_, done in rows)))
    for pk, seeds, done in rows:
        count(Tournament, alias, pk, bool(seeds))
        progress.add(done)


def count(Tournament, alias, pk, is_staged):
    """``is_staged``: its rounds are drawn one by one."""
    join = "JOIN tournament_pairing pairing ON pairing.id = game.pairing_id" if is_staged else ""
    number = "pairing.round" if is_staged else "0"
    sql = COUNT.format(tournament=pk, join=join, round=number, staged="1 = 1" if is_staged else "1 = 0")
    with transaction.atomic(using=alias), connections[alias].cursor() as cursor:
        Tournament.objects.using(alias).select_for_update().filter(pk=pk).only("pk").first()
        cursor.execute("DELETE FROM tournament_meetingscore WHERE tournament_id = %s", [pk])
        cursor.execute(sql)


class Migration(migrations.Migration):

    atomic = False

    dependencies = [
        ('tournament', '0055_meeting_scores'),
    ]

    operations = [
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
