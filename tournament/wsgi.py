"""The site as a WSGI application, for gunicorn."""

import gc
import importlib
import os

from django.conf import settings
from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tournament.settings")
application = get_wsgi_application()
importlib.import_module(settings.ROOT_URLCONF)  # with all views, before the next line
gc.freeze()  # the collector skips existing objects: going through them all takes as long as a page
