"""The messages between a worker and its site, and how they are sent and read.

Values: ``commands`` (from the site), ``heartbeat`` and ``workers.jobs``. ``transport`` decides which messages
reach Celery at all, with ``signing``, ``replays`` and ``cleaning``; ``vetting`` what of a job is accepted.
``sending`` sends to the site, through the threads of ``progress`` and ``reports``.
"""
