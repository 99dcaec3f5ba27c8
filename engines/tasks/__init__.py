"""Tasks for beginners: a position of a recorded game, and a question that the rules can answer.

``Task`` is one of them, ``read_tasks`` reads those of a ladder. ``solver`` says which moves solve one, and
``finder`` finds new ones in records; pages need neither time nor records.
"""

from engines.tasks.model import Kind, Task, read_tasks

__all__ = ["Kind", "Task", "read_tasks"]
