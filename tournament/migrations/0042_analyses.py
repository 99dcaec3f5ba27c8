import django.db.models.deletion
import tournament.models.analyses
import tournament.models.compressed
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('tournament', '0041_explorer'),
    ]

    operations = [
        migrations.CreateModel(
            name='Analysis',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(default=tournament.models.analyses.new_key, editable=False, max_length=16, unique=True)),
                ('title', models.CharField(blank=True, max_length=80)),
                ('text', tournament.models.compressed.CompressedTextField(editable=True)),
                ('revision', models.PositiveIntegerField(default=1)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('ladder', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='tournament.ladder')),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='analyses', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name_plural': 'analyses',
                'ordering': ['-updated_at'],
            },
        ),
    ]
