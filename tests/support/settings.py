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
