"""The commands of ``python -m workers``, one module each, imported only when it is run.

A module has ``main(arguments) -> int``, which takes the words after the command and returns the exit code.
Begin with ``check.py``. The work is done in the packages below: a command reads words and prints results.
"""
