"""A site's worker: the Celery app, its tasks, and the messages that it sends to the site.

Begin with `tasks.py`, then `consumer.py`, which handles one message: it plays jobs, or checks an uploaded
bot (`compliance`). `context` reads the environment and measures the machine. `registration`, `heartbeat` and
`self_test` decide whether the worker gets jobs. `messages` sends to the site, through the threads of
`progress` and `reports`.
"""
