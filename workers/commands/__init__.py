"""The commands of ``python -m workers``, one module each, imported only when it is run.

A module has ``main(arguments) -> int``, which takes the words after the command and returns the exit code.
"""
