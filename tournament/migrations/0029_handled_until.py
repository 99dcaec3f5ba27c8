from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("tournament", "0028_draft_slug")]

    operations = [
        migrations.AddField(
            model_name="keeper", name="handled_until", field=models.DateTimeField(null=True)
        ),
    ]
