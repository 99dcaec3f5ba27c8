"""A site's worker: the Celery app, its task, and what the processes of a worker share.

Begin with `slot.py`: a slot asks the site for work, plays, checks (`compliance`) or searches (`searching`),
and reports, through `site`. `tasks` has the task with which a slot asks, `broker` where messages come from.
`worker` is the main process: heartbeats, restart, exit status.
`self_test` decides whether a slot may play; `context` reads the environment and measures the machine.
"""
