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
DUARENA_STARTED_BY_ROOT ``1``: root started the site, which runs as another user; set by ``./arena up``
DUARENA_COMMAND         the command that started the site, shown in hints about other ways to start it
DUARENA_CACHE           where workers on this machine store their sandbox level; default in the data folder
DUARENA_SLOTS           games played at once while no worker reports its slots; default this machine's cores
DUARENA_LADDER_GAMES    games an hour that each ladder's matchmaker may start on idle workers; default 0, off
DUARENA_LADDER_TIME     the time control of those games; default 5+0.05
DUARENA_LADDER_PLIES    their first plies, drawn at random for each pair; default 4
DUARENA_LEASE           seconds without a message after which a worker's game goes to another; default 30
DUARENA_WORKER_TOKEN    a worker token that the operator made, for workers that are started with the site
DUARENA_WORKER_MESSAGES  messages of one worker that the record keeper takes for each minute; default 6000
DUARENA_MAX_BUNDLE_MB   largest zip that may be uploaded; default 64
DUARENA_MAX_PENDING     versions of one user that may be waiting or validated at once; default 10
DUARENA_MAX_GAME_MINUTES  longest possible game in an ordinary user's tournament; default 180, 0 is no limit
DUARENA_MAX_TOURNAMENT_GAMES  most games of a tournament of an ordinary user; default 20000
DUARENA_MAX_RUNNING     tournaments of an ordinary user that may run or be announced at once; default 5
DUARENA_MAX_DRAFTS      drafts of an ordinary user; default 10
DUARENA_SLOT_HOURS      hours of slots that the tournaments of a user may use a day; default 12, 0 is no limit
DUARENA_VALIDATION_HOURS  hours of slots that the validations of a user's bots may use a day; default 1,
                        0 is no limit
DUARENA_FREE_SLOTS      slots that games of over half a minute leave free where there are several; default 1
DUARENA_MAX_TESTS       version tests of one account that may run at once; default 2
DUARENA_MAX_TEST_GAMES  most games of a version test; default 20000
DUARENA_MAX_CONNECTIONS  HTTP connections at once; default 1000
DUARENA_MAX_CONNECTIONS_PER_ADDRESS  those of one address; default 64
DUARENA_MAX_UPLOADS     requests over 1 MiB that may arrive at once; default 16
DUARENA_MAX_UPLOADS_PER_ADDRESS  those of one address; default 4
DUARENA_PROXY           the address of the reverse proxy whose X-Forwarded-For and X-Forwarded-Proto are
                        believed, or ``*``; default none
DUARENA_STATIC          folder of the static files with hashed names that ``manage.py collectstatic`` writes;
                        default none: they are served from the packages under their own names
DUARENA_LOG_DAYS        days for which the engines' logs of games are kept; default 30
DUARENA_FAULT_LOG_DAYS  days for those of forfeits and of validations; default 180
DUARENA_MAX_FORFEITS    games in a row that a version may lose by its own fault; default 5
DUARENA_RECORDS         folder of the files of records for downloads; default in the data folder
DUARENA_MAIL_HOST       a mail server (host or host:port); default none: mail is printed on the site's console
DUARENA_MAIL_FROM       the sender of mail
DUARENA_MAIL_USER       the name for the mail server; default none
DUARENA_MAIL_PASSWORD   the password for it
DUARENA_MAIL_TLS        ``1``: the connection to the mail server is encrypted by STARTTLS
DUARENA_LOG             ``json``: logs have one JSON object a line; read by ``workers.logs``
DUARENA_SENTRY_DSN      the address of a project of Sentry to which errors are reported; default none
DUARENA_METRICS_TOKEN   the token with which Prometheus reads /metrics; default none: only staff reads it
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
IS_HTTPS = SITE.startswith("https://")
RECORDS = Path(os.environ.get("DUARENA_RECORDS") or DATA / "downloads").resolve()
CACHE = Path(os.environ.get("DUARENA_CACHE") or DATA / "cache").resolve()
TRUST_UPLOADS = _flag("DUARENA_TRUST_UPLOADS")
SANDBOX = os.environ.get("DUARENA_SANDBOX", "")
IS_LOCAL = _flag("DUARENA_LOCAL")
IS_STARTED_BY_ROOT = _flag("DUARENA_STARTED_BY_ROOT") or os.geteuid() == 0
START_COMMAND = os.environ.get("DUARENA_COMMAND", "")
SLOTS = int(os.environ.get("DUARENA_SLOTS") or os.cpu_count() or 1)
LADDER_GAMES = int(os.environ.get("DUARENA_LADDER_GAMES") or 0)
LADDER_TIME_CONTROL = os.environ.get("DUARENA_LADDER_TIME") or "5+0.05"
LADDER_OPENING_PLIES = int(os.environ.get("DUARENA_LADDER_PLIES") or 4)
WORKER_TOKEN = os.environ.get("DUARENA_WORKER_TOKEN", "")
LEASE_SECONDS = int(os.environ.get("DUARENA_LEASE") or 30)
WORKER_MESSAGES = int(os.environ.get("DUARENA_WORKER_MESSAGES") or 6000)
MAX_BUNDLE_BYTES = int(os.environ.get("DUARENA_MAX_BUNDLE_MB") or 64) * 1024 * 1024
MAX_PENDING = int(os.environ.get("DUARENA_MAX_PENDING") or 10)
MAX_GAME_MINUTES = int(os.environ.get("DUARENA_MAX_GAME_MINUTES") or 180)
MAX_TOURNAMENT_GAMES = int(os.environ.get("DUARENA_MAX_TOURNAMENT_GAMES") or 20_000)
MAX_RUNNING = int(os.environ.get("DUARENA_MAX_RUNNING") or 5)
MAX_DRAFTS = int(os.environ.get("DUARENA_MAX_DRAFTS") or 10)
SLOT_HOURS = float(os.environ.get("DUARENA_SLOT_HOURS") or 12)
VALIDATION_HOURS = float(os.environ.get("DUARENA_VALIDATION_HOURS") or 1)
FREE_SLOTS = int(os.environ.get("DUARENA_FREE_SLOTS") or 1)
MAX_TESTS = int(os.environ.get("DUARENA_MAX_TESTS") or 2)
MAX_TEST_GAMES = int(os.environ.get("DUARENA_MAX_TEST_GAMES") or 20_000)
MAX_CONNECTIONS = int(os.environ.get("DUARENA_MAX_CONNECTIONS") or 1000)
MAX_CONNECTIONS_PER_ADDRESS = int(os.environ.get("DUARENA_MAX_CONNECTIONS_PER_ADDRESS") or 64)
MAX_UPLOADS = int(os.environ.get("DUARENA_MAX_UPLOADS") or 16)
MAX_UPLOADS_PER_ADDRESS = int(os.environ.get("DUARENA_MAX_UPLOADS_PER_ADDRESS") or 4)
PROXY = os.environ.get("DUARENA_PROXY", "").strip()
LOG_DAYS = int(os.environ.get("DUARENA_LOG_DAYS") or 30)
FAULT_LOG_DAYS = int(os.environ.get("DUARENA_FAULT_LOG_DAYS") or 180)
SENTRY_DSN = os.environ.get("DUARENA_SENTRY_DSN", "")
METRICS_TOKEN = os.environ.get("DUARENA_METRICS_TOKEN", "")
MAX_FORFEITS = int(os.environ.get("DUARENA_MAX_FORFEITS") or 5)

EMAIL_HOST, _, _port = os.environ.get("DUARENA_MAIL_HOST", "").partition(":")
EMAIL_PORT = int(_port or 25)
EMAIL_TIMEOUT = 10
EMAIL_HOST_USER = os.environ.get("DUARENA_MAIL_USER", "")
EMAIL_HOST_PASSWORD = os.environ.get("DUARENA_MAIL_PASSWORD", "")
EMAIL_USE_TLS = _flag("DUARENA_MAIL_TLS")
EMAIL_BACKEND = f"django.core.mail.backends.{'smtp' if EMAIL_HOST else 'console'}.EmailBackend"
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
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.usersessions",
]
MIDDLEWARE = [
    "tournament.monitoring.requests.RequestTimesMiddleware",
    "tournament.monitoring.logs.RequestIdMiddleware",
    "tournament.security.ContentSecurityPolicyMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "tournament.security.CompressionMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "tournament.views.errors.NotAllowedPageMiddleware",
    "tournament.views.errors.TooLargePageMiddleware",
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
            "builtins": [
                "tournament.views.links",
                "tournament.views.moments",
                "tournament.sentences",
                "tournament.static_files",
                "tournament.views.games.endings",
            ],
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

CACHES = {
    # Pieces of pages are kept by each process; what allauth counts is shared by all processes.
    "default": {"BACKEND": "tournament.caches.SplitCache"},
    "shared": {
        "BACKEND": "django.core.cache.backends.db.DatabaseCache",
        "LOCATION": "tournament_shared_cache",
        "OPTIONS": {"MAX_ENTRIES": 100_000},
    },
}

ACCOUNT_ADAPTER = "tournament.views.people.adapters.AccountAdapter"
ACCOUNT_LOGIN_METHODS = {"username"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "email", "password1*", "password2*"]
ACCOUNT_SESSION_REMEMBER = True
ACCOUNT_CHANGE_EMAIL = True
"""A user has one address; a new one takes its place when it is confirmed."""
ACCOUNT_EMAIL_VERIFICATION = "optional"
ACCOUNT_EMAIL_SUBJECT_PREFIX = ""
ACCOUNT_EMAIL_UNKNOWN_ACCOUNTS = False
ACCOUNT_PREVENT_ENUMERATION = "strict"
"""Nobody learns from the site who has an address, and nobody can block another's address."""
ACCOUNT_REAUTHENTICATION_REQUIRED = True
ACCOUNT_RATE_LIMITS = {
    # The first six are counted by tournament.services.accounts.throttles, the others by allauth.
    "password_from_address": "30/5m/key",
    "password_here": "5/5m/key",
    "password_elsewhere": "40/1h/key",
    "password_device": "10/5m/key",
    "sign_up": "30/1h/key",
    "mail": "3/1h/key,6/1d/key",  # of one kind to one mailbox, whoever asks for them
    "login": None,
    "signup": None,
    "login_failed": "5/5m/key",  # codes of the second factor
    "reset_password": "10/1h/ip,3/1h/key,6/1d/key",
    "confirm_email": "1/3m/key,6/1d/key",
    "reset_password_from_key": "20/5m/ip",
    "change_password": "10/5m/user",
    "manage_email": "10/5m/user",
    "reauthenticate": "20/5m/user",
}
MFA_ADAPTER = "tournament.views.people.adapters.SecondFactorAdapter"
MFA_ALLOW_UNVERIFIED_EMAIL = True
MFA_TOTP_ISSUER = "Duarena"
MFA_TOTP_TOLERANCE = 1

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_I18N = False
USE_TZ = True

STATIC_URL = "static/"
STATIC_ROOT = os.environ.get("DUARENA_STATIC")
# Collected files have hashed names, which browsers keep for a year. Without them, as in development, the
# files are served from the packages under their own names.
WHITENOISE_USE_FINDERS = not STATIC_ROOT
if STATIC_ROOT:
    STORAGES = {
        "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
        "staticfiles": {"BACKEND": "tournament.static_files.HashedFiles"},
    }

SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
# A proxy serves HTTPS. The names beside the site's are not ours to bind, nor is the list of browsers' makers.
SECURE_SSL_REDIRECT = IS_HTTPS
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^metrics$"]
SECURE_HSTS_SECONDS = 365 * 24 * 3600 if IS_HTTPS else 0
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = IS_HTTPS
# Also the largest body of a request that is no upload of a bundle.
DATA_UPLOAD_MAX_MEMORY_SIZE = 512 * 1024
FILE_UPLOAD_HANDLERS = [
    "django.core.files.uploadhandler.MemoryFileUploadHandler",
    "tournament.security.BoundedUploadHandler",
]

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"()": "workers.logs.make_formatter"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "loggers": {
        "tournament": {"handlers": ["stderr"], "level": "INFO", "propagate": True},
        # By default Django reports a failed page only by mail, and no recipient is configured.
        "django.request": {"handlers": ["stderr"], "level": "ERROR", "propagate": True},
    },
}
