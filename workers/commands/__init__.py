"""The commands of ``python -m workers``, one module each, read when it is asked for.

A module has ``main(arguments) -> int``: the words after the command, and the exit code.
"""
