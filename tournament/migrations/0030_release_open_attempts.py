"""Have the games and checks wait again that workers of the previous release hold: workers ask for work now."""

from django.db import migrations
from django.utils import timezone


def release_open_attempts(apps, schema_editor):
    """Have the games and checks wait again that workers of the previous release hold; they count against nobody."""
    Game, Attempt, Exam, LiveGame, Worker = (
        apps.get_model("tournament", name) for name in ("Game", "Attempt", "Exam", "LiveGame", "Worker")
    )
    now = timezone.now()
    Game.objects.filter(state="claimed").update(state="waiting", attempt=None)
    Attempt.objects.filter(ended_at__isnull=True).update(ended_at=now, end="released")
    LiveGame.objects.all().delete()
    Exam.objects.filter(ended_at__isnull=True).update(assigned="", heard_at=None)
    Worker.objects.filter(state="up").update(state="lost")
    Worker.objects.filter(queue="validation").update(queue="checks")


class Migration(migrations.Migration):
    dependencies = [("tournament", "0029_handled_until")]
    operations = [migrations.RunPython(release_open_attempts, migrations.RunPython.noop)]
