"""The site as a WSGI application, for gunicorn."""

import gc
import importlib
import os

import django
from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler

from tournament.security import Utf8Request

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tournament.settings")
django.setup(set_prefix=False)


class Application(WSGIHandler):
    """Django's own, with our requests."""

    request_class = Utf8Request


application = Application()
importlib.import_module(settings.ROOT_URLCONF)  # with all views, before the next line
gc.freeze()  # the collector skips existing objects: going through them all takes as long as a page
