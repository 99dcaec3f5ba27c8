"""Settings of the site, for one machine and for many.

Everything that differs between sites comes from the environment:

DUARENA_DATA            folder for all data that changes at run time; default ``var/`` in the checkout
DUARENA_SECRET_KEY      default: created once in the data folder, readable only by its owner
DATABASE_URL            default: SQLite in the data folder
REDIS_URL               the broker, see ``workers.service.celery``
DUARENA_HOSTS           host names the site answers to, comma separated; default this machine
DUARENA_SITE            the site's address, as printed in records
DUARENA_TRUST_UPLOADS   ``1``: uploaded bots are run without a sandbox
DUARENA_SANDBOX         the level of sandbox that uploaded bots need, ``A`` or ``B``; default ``A``, but ``B``
                        where DUARENA_LOCAL is set
DUARENA_LOCAL           ``1``: only this machine can reach the site; set by ``./arena up``
DUARENA_COMMAND         the command that started the site, shown in hints about other ways to start it
DUARENA_CACHE           where workers on this machine store their sandbox level; default in the data folder
DUARENA_SLOTS           games played at once while no worker reports its slots; default this machine's cores
DUARENA_LADDER_GAMES    games an hour that each ladder's matchmaker may start on idle workers; default 0, off
DUARENA_LADDER_TIME     the time control of those games; default 5+0.05
DUARENA_LADDER_PLIES    their first plies, drawn at random for each pair; default 4
DUARENA_LEASE           seconds without a message after which a worker's game goes to another; default 30
DUARENA_MAX_BUNDLE_MB   largest zip that may be uploaded; default 64
DUARENA_MAX_PENDING     versions of one user that may be waiting or validated at once; default 10
DUARENA_MAX_TESTS       version tests of one account that may run at once; default 2
DUARENA_MAX_TEST_GAMES  most games of a version test; default 20000
DUARENA_MAX_FORFEITS    games in a row that a version may lose by its own fault; default 5
DUARENA_MAIL_HOST       a mail server (host or host:port) for mail to bots' owners; default none
DUARENA_MAIL_FROM       the sender of that mail
DUARENA_BUNDLES         folder of the bots' bundles; default in the data folder
DUARENA_DEBUG           ``1``: Django's debug pages; never on a site that others can reach
"""

from __future__ import annotations

import os
import secrets
import tempfile
from pathlib import Path

import dj_database_url

ROOT = Path(__file__).resolve().parent.parent
# NumPy's threads would wait busily beside the games. Read when NumPy is imported, which happens later.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

DATA = Path(os.environ.get("DUARENA_DATA") or ROOT / "var").resolve()
BUNDLES = Path(os.environ.get("DUARENA_BUNDLES") or DATA / "bundles").resolve()


def _flag(name: str) -> bool:
    return os.environ.get(name, "").lower() in {"1", "true", "yes", "on"}


def _secret_key() -> str:
    """The key from the environment or from the data folder; several processes may call it at once."""
    if key := os.environ.get("DUARENA_SECRET_KEY"):
        return key
    path = DATA / "secret_key"
    if not path.exists():
        DATA.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor, written = tempfile.mkstemp(dir=DATA, prefix=".secret_key-")  # mode 0600
        with os.fdopen(descriptor, "w") as file:
            file.write(secrets.token_urlsafe(50))
        try:
            os.link(written, path)
        except FileExistsError:
            pass  # another process wrote the key first; the site uses that key
        finally:
            os.unlink(written)
    return path.read_text().strip()


SECRET_KEY = _secret_key()
DEBUG = _flag("DUARENA_DEBUG")
SITE = os.environ.get("DUARENA_SITE", "http://127.0.0.1:8000").rstrip("/")
CACHE = Path(os.environ.get("DUARENA_CACHE") or DATA / "cache").resolve()
TRUST_UPLOADS = _flag("DUARENA_TRUST_UPLOADS")
SANDBOX = os.environ.get("DUARENA_SANDBOX", "")
IS_LOCAL = _flag("DUARENA_LOCAL")
START_COMMAND = os.environ.get("DUARENA_COMMAND", "")
SLOTS = int(os.environ.get("DUARENA_SLOTS") or os.cpu_count() or 1)
LADDER_GAMES = int(os.environ.get("DUARENA_LADDER_GAMES") or 0)
LADDER_TIME_CONTROL = os.environ.get("DUARENA_LADDER_TIME") or "5+0.05"
LADDER_OPENING_PLIES = int(os.environ.get("DUARENA_LADDER_PLIES") or 4)
LEASE_SECONDS = int(os.environ.get("DUARENA_LEASE") or 30)
MAX_BUNDLE_BYTES = int(os.environ.get("DUARENA_MAX_BUNDLE_MB") or 64) * 1024 * 1024
MAX_PENDING = int(os.environ.get("DUARENA_MAX_PENDING") or 10)
MAX_TESTS = int(os.environ.get("DUARENA_MAX_TESTS") or 2)
MAX_TEST_GAMES = int(os.environ.get("DUARENA_MAX_TEST_GAMES") or 20_000)
MAX_FORFEITS = int(os.environ.get("DUARENA_MAX_FORFEITS") or 5)

EMAIL_HOST, _, _port = os.environ.get("DUARENA_MAIL_HOST", "").partition(":")
EMAIL_PORT = int(_port or 25)
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = os.environ.get("DUARENA_MAIL_FROM", "duarena@localhost")

ALLOWED_HOSTS = [
    host.strip()
    for host in os.environ.get("DUARENA_HOSTS", "127.0.0.1,localhost,[::1]").split(",")
    if host.strip()
]
CSRF_TRUSTED_ORIGINS = [SITE]

INSTALLED_APPS = [
    "tournament",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django_htmx",
]
MIDDLEWARE = [
    "tournament.security.ContentSecurityPolicyMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "tournament.views.errors.NotAllowedPageMiddleware",
]
ROOT_URLCONF = "tournament.urls"
WSGI_APPLICATION = "tournament.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [ROOT / "tournament" / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
            "builtins": ["tournament.moments", "tournament.sentences"],
        },
    }
]

SQLITE_OPTIONS = {
    # A transaction takes the write lock when it begins and waits for it. Two transactions that
    # read first and write later would otherwise fail with "database is locked".
    "transaction_mode": "IMMEDIATE",
    "timeout": 20,
    # A page that many games change is copied into the database once for all of them (16 MiB of log) and
    # stays in memory until then (16 MiB a connection).
    "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;"
    " PRAGMA wal_autocheckpoint=4000; PRAGMA cache_size=-16384;",
}
DATABASES = {"default": dj_database_url.config(default=f"sqlite:///{DATA / 'db.sqlite3'}", conn_max_age=60)}
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    DATABASES["default"]["OPTIONS"] = SQLITE_OPTIONS

AUTH_USER_MODEL = "tournament.User"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]
CSRF_FAILURE_VIEW = "tournament.views.errors.csrf_failure"
LOGIN_URL = "log-in"
LOGIN_REDIRECT_URL = "account"
LOGOUT_REDIRECT_URL = "home"

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_I18N = False
USE_TZ = True

STATIC_URL = "static/"
# The site's own processes serve the files straight from the packages: no collectstatic step.
WHITENOISE_USE_FINDERS = True

SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SITE.startswith("https://")
DATA_UPLOAD_MAX_MEMORY_SIZE = 2 * 1024 * 1024
FILE_UPLOAD_HANDLERS = [
    "django.core.files.uploadhandler.MemoryFileUploadHandler",
    "tournament.security.BoundedUploadHandler",
]

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s: %(message)s"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "loggers": {
        "tournament": {"handlers": ["stderr"], "level": "INFO", "propagate": True},
        # By default Django reports a failed page only by mail, and no recipient is configured.
        "django.request": {"handlers": ["stderr"], "level": "ERROR", "propagate": True},
    },
}
