"""What hostile engines do, a function each, by subject. They run inside the sandbox: standard library alone.

A function takes the facts it is told of the world outside and returns its loot, as JSON has it; an
engine says that in an ``info`` line. Each stops by itself: by ``FUSE_SECONDS``, or by a bound it names.
"""
