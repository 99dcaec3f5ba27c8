"""A site's worker: the Celery app, its task, and what the processes of a worker share.

Begin with `slot.py`: a slot asks the site for work, plays or checks, and reports, through `site`. `tasks` and
`broker` say when a slot asks. `worker` is the main process: heartbeats, restart, exit status.
`self_test` decides whether a slot may play; `context` reads the environment and measures the machine.
"""
