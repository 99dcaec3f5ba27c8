"""The site's settings under test: a data folder of its own, cheap passwords."""

import atexit
import os
import shutil
import tempfile

_FOLDER = tempfile.mkdtemp(prefix="duarena-test-")
atexit.register(shutil.rmtree, _FOLDER, ignore_errors=True)
os.environ["DUARENA_DATA"] = _FOLDER

from tournament.settings import *  # noqa: E402, F403

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]

if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":  # noqa: F405
    # A file, as on a real site: in memory all threads would share one connection.
    DATABASES["default"]["TEST"] = {"NAME": os.path.join(_FOLDER, "test.sqlite3")}  # noqa: F405

# Each test client would look at all static files first, which takes as long as a page.
WHITENOISE_AUTOREFRESH = True
