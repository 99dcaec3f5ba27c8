"""The messages between a worker and its site, and how they are sent and read.

Values: ``commands`` (from the site), ``heartbeat`` and ``workers.jobs``. ``vetting`` decides what of a job is
accepted, ``transport`` which messages reach Celery at all. ``sending`` sends to the site, through the
threads of ``progress`` and ``reports``.
"""
