"""A site's worker: the Celery app, its tasks, and the messages that it sends to the site.

Begin with `tasks.py`, then `consumer.py` (the jobs of one message). `registration`, `heartbeat` and
`self_test` decide whether the worker gets jobs; `progress` and `reports` send; `compliance` checks an
uploaded bot.
"""
