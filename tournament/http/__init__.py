"""How the site is served: uvicorn's processes, and Django under ASGI in each of them.

uvicorn reads requests and writes responses without a thread for each connection. A request occupies a thread
only once its body has arrived, and only until its response is made; files are sent in chunks as the client
reads them. ``python -m tournament.http`` starts the server, ``application.py`` answers a request, and
``limits.py`` has the limits.
"""
