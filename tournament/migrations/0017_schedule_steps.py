import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('tournament', '0016_discarded_drafts'),
    ]

    operations = [
        migrations.CreateModel(
            name='ScheduleStep',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('plan', 'plan'), ('store', 'store'), ('cancel', 'cancel'), ('withdraw', 'withdraw')], max_length=10)),
                ('first_cycle', models.PositiveIntegerField(default=0)),
                ('cycles', models.PositiveIntegerField(default=0)),
                ('pairings', models.TextField(blank=True)),
                ('games', models.PositiveIntegerField(default=0)),
                ('tournament', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='steps', to='tournament.tournament')),
                ('version', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='tournament.botversion')),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('kind__in', ['plan', 'store', 'cancel', 'withdraw'])), name='step_kind_known')],
            },
        ),
    ]
