"""The HTTP server: gunicorn keeps its processes, waitress reads requests and writes responses.

One thread of each process reads and writes all connections. A request occupies a thread of the application
only once it has arrived completely, and only until its response is in a buffer or is an open file, so slow
clients do not occupy those threads. Begin with ``worker.py``; ``limits.py`` has the limits.
"""
