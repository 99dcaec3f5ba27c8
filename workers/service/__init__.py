"""A site's worker: the Celery app, its tasks, and what the processes of a worker share.

Begin with `tasks.py`, then `consumer.py`, which handles one message: it plays jobs, or checks an uploaded
bot (`compliance`). `context` reads the environment and measures the machine. `registration` and `self_test`
decide whether the worker gets jobs. `messaging` has the messages to and from the site.
"""
