"""Settings of the site, for one machine and for many.

What differs between sites comes from the environment, see ``tournament.environment``.
"""

from __future__ import annotations

import os
import secrets
import sys
from pathlib import Path

import dj_database_url
from django.core.exceptions import ImproperlyConfigured

from tournament.environment import ADDRESS, flag, is_address, number, removed, text, unknown, whole
from tournament.known_database import KEY, has_site, other_database, store_key

ROOT = Path(__file__).resolve().parent.parent
# NumPy's threads would wait busily beside the games. Read when NumPy is imported, which happens later.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

for _sentence in removed():
    print(f"duarena: {_sentence}", file=sys.stderr)


def _folder(name: str, default: Path | str, meaning: str, shown: str) -> Path:
    return Path(text(name, str(default), meaning, shown=shown)).resolve()


DATA = _folder("DUARENA_DATA", ROOT / "var", "the data folder", "`var/` in the checkout")


def _secret_key() -> str:
    """The key from the environment or from the data folder.

    Without a site there it is a new one, which ``manage.py migrate`` stores.
    """
    meaning = "signs sessions and what the site publishes"
    if key := text("DUARENA_SECRET_KEY", "", meaning, shown="created once and kept in the data folder"):
        return key
    new = secrets.token_urlsafe(50)
    if not has_site(DATA):
        return new
    store_key(DATA, new)
    return (DATA / KEY).read_text().strip()


SECRET_KEY = _secret_key()
DEBUG = flag(
    "DUARENA_DEBUG",
    "Django's debug pages, and templates without a cache; not for a site that others can reach",
)
SITE = text(
    "DUARENA_SITE",
    "http://127.0.0.1:8000",
    "the site's address, printed in records; `https://…` makes cookies secure and sets HSTS for a year",
    form=ADDRESS,
    wanted="an address that begins with http:// or https://",
).rstrip("/")
SOURCE_URL = text(
    "DUARENA_SOURCE_URL",
    "",
    "the address of the site's source code, linked at the foot of every page and on `/kit/`",
    form=ADDRESS,
    wanted="an address that begins with http:// or https://",
)
IS_HTTPS = SITE.startswith("https://")
ALLOWED_HOSTS = [
    host.strip()
    for host in text(
        "DUARENA_HOSTS",
        "127.0.0.1,localhost,[::1]",
        "host names at which the site is reached, comma separated",
        shown="this machine",
        form=r"(?:\s*,)*\s*[^\s/,]+(?:\s*,\s*[^\s/,]*)*",
        wanted="a list of host names with commas between them, without http:// and paths",
    ).split(",")
    if host.strip()
]
CSRF_TRUSTED_ORIGINS = [SITE]
PROXY = text(
    "DUARENA_PROXY",
    "",
    "the reverse proxy whose `X-Forwarded-For` and `X-Forwarded-Proto` are believed; `*`: anybody's",
).strip()
if PROXY not in {"", "*"} and not is_address(PROXY):
    sys.exit(f"duarena: DUARENA_PROXY={PROXY!r} is not an IP address or *")

BUNDLES = _folder(
    "DUARENA_BUNDLES",
    DATA / "bundles",
    "folder of the bots' zips; workers need to read it",
    "`bundles/` in the data folder",
)
EVIDENCE = _folder(
    "DUARENA_EVIDENCE",
    DATA / "evidence",
    "folder of the archives of evidence",
    "`evidence/` in the data folder",
)
RECORDS = DATA / "downloads"
"""The files of records for downloads."""
DUMPS = DATA / "dumps"
"""The dumps of ladders by month."""
CACHE = _folder(
    "DUARENA_CACHE",
    DATA / "cache",
    "where a worker unpacks them and writes the result of its sandbox probe for the site",
    "a folder of the user's",
)
STATIC_ROOT = (
    text(
        "DUARENA_STATIC",
        "",
        "folder of the static files with hashed names, written by `./arena up` and `manage.py collectstatic`",
        shown="`static/` in the data folder",
    )
    or None
)

SLOTS = whole(
    "DUARENA_SLOTS",
    len(os.sched_getaffinity(0)),
    "games played at once, until a worker reports its slots",
    shown="cores",
    least=1,
)
LEASE_SECONDS = whole(
    "DUARENA_LEASE",
    30,
    "seconds without a message from its worker, or a third less, after which a game is given to another",
    least=1,
)
WORKER_TOKEN = text(
    "DUARENA_WORKER_TOKEN",
    "",
    "a worker token that you made, for workers started with the site; `duarena_` and 32 characters or more",
    form=r"duarena_[!-~]{32,}",
    wanted="a worker token: duarena_ and 32 characters or more, without spaces",
    is_secret=True,
)
LADDER_GAMES = whole(
    "DUARENA_LADDER_GAMES",
    0,
    "games an hour of a ladder's matchmaker on idle workers, more for provisional ratings; `0`: none",
    shown="30 with `./arena up` and in containers, else 0",
)
LADDER_TIME_CONTROL = "5+0.05"
"""The time control of a ladder's games, unless staff sets another."""
LADDER_OPENING_PLIES = 4
"""First plies of a ladder's game that are drawn at random for each pair, unless staff sets another number."""

TRUST_UPLOADS = flag("DUARENA_TRUST_UPLOADS", "run uploaded bots without a sandbox")
SANDBOX = text(
    "DUARENA_SANDBOX",
    "",
    "the level of sandbox that uploaded bots need: `A`, or `B` on your own responsibility",
    shown="`A`; `B` where `DUARENA_LOCAL` is set",
    form="A|B",
    wanted="A or B",
)
IS_LOCAL = flag("DUARENA_LOCAL", "only this machine can reach the site")
IS_STARTED_BY_ROOT = (
    flag(
        "DUARENA_STARTED_BY_ROOT",
        "root started the site, set by `./arena`; hints then name no command that weakens the sandbox",
    )
    or os.geteuid() == 0
)
START_COMMAND = text(
    "DUARENA_COMMAND", "", "the command that starts the site, shown in hints on pages and on the console"
)
MAX_BUNDLE_BYTES = (
    1024 * 1024 * whole("DUARENA_MAX_BUNDLE_MB", 64, "largest zip that may be uploaded", least=1)
)
MAX_WORK_BYTES = 8 * 1024 * 1024
"""The largest request of a worker."""
MAX_STORED_BYTES = 16 * MAX_BUNDLE_BYTES
"""The bytes of bundles that are kept for one account that is not staff."""
MAX_PENDING = 10
"""Versions of one user that may wait or be validated at a time."""
MAX_FORFEITS = 5
"""A version that forfeits so many games in a row is withdrawn."""

# Limits of accounts that are not staff.
MAX_GAME_MINUTES = whole(
    "DUARENA_MAX_GAME_MINUTES",
    180,
    "the longest possible game in a tournament of an account that is not staff; 0 is no limit",
)
MAX_TOURNAMENT_GAMES = whole(
    "DUARENA_MAX_TOURNAMENT_GAMES",
    20_000,
    "the most games of such a tournament, the extra pairs of a knock-out included",
)
MAX_RUNNING = whole(
    "DUARENA_MAX_RUNNING", 5, "tournaments of such an account that may run, be paused or announced at a time"
)
MAX_DRAFTS = 10
MAX_TESTS = 2
"""Version tests of one account that may run at a time."""
MAX_TEST_GAMES = 20_000
SLOT_HOURS = number(
    "DUARENA_SLOT_HOURS",
    12,
    "hours of slots that one user's tournaments and searches may use a day (UTC), then games wait and"
    " searches are refused; 0 is no limit",
)
VALIDATION_HOURS = 1.0
"""Hours of slots that the validations of one user's bots may use a day (UTC); 0 is no limit."""

LOG_DAYS = whole("DUARENA_LOG_DAYS", 30, "days for which the engines' logs of games are kept")
FAULT_LOG_DAYS = 180
"""The days for which logs of forfeits, halted games and validations are kept."""
SENTRY_DSN = text(
    "DUARENA_SENTRY_DSN",
    "",
    "the address (DSN) of a project of Sentry that gets the site's errors; needs `requirements-sentry.txt`",
    form=r"https?://[^\s@]+@[^\s/]+/\S*",
    wanted="the DSN of a project of Sentry: https://key@host/number",
    is_secret=True,
)
METRICS_TOKEN = text(
    "DUARENA_METRICS_TOKEN",
    "",
    "the token with which Prometheus reads `/metrics`",
    shown="none: only staff reads it",
)

EMAIL_HOST, _, _port = text(
    "DUARENA_MAIL_HOST",
    "",
    "a mail server, `host` or `host:port`, for links to confirm addresses or set passwords, and notices",
    shown="none: printed in `site.log`",
).partition(":")
if not (_port or "25").isdecimal():
    sys.exit(f"duarena: DUARENA_MAIL_HOST: {_port!r} is not the number of a port")
EMAIL_PORT = int(_port or 25)
EMAIL_TIMEOUT = 10
EMAIL_HOST_USER = text("DUARENA_MAIL_USER", "", "the name for the mail server")
EMAIL_HOST_PASSWORD = text("DUARENA_MAIL_PASSWORD", "", "the password for it")
EMAIL_USE_TLS = flag("DUARENA_MAIL_TLS", "the connection to the mail server is encrypted by STARTTLS")
EMAIL_BACKEND = f"django.core.mail.backends.{'smtp' if EMAIL_HOST else 'console'}.EmailBackend"
DEFAULT_FROM_EMAIL = text(
    "DUARENA_MAIL_FROM", "duarena@localhost", "the sender of mail", shown="`duarena@localhost`"
)

INSTALLED_APPS = [
    "tournament",
    "tournament.apps.AdministrationConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.usersessions",
]
MIDDLEWARE = [
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
    "tournament.errors.NotAllowedPageMiddleware",
    "tournament.errors.TooLargePageMiddleware",
    "tournament.views.logged_in.VisitMiddleware",
]
ROOT_URLCONF = "tournament.urls"
_LOADERS = [f"django.template.loaders.{name}.Loader" for name in ("filesystem", "app_directories")]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [ROOT / "tournament" / "templates"],
        "OPTIONS": {
            "loaders": _LOADERS if DEBUG else [("django.template.loaders.cached.Loader", _LOADERS)],
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "tournament.views.site.health.staff_banner",
                "tournament.views.site.navigation.navigation",
                "tournament.views.site.site.source_code",
                "tournament.views.analysis.persons.open_count",
            ],
            "builtins": [
                "tournament.views.links",
                "tournament.views.moments",
                "tournament.views.sorting",
                "tournament.sentences",
                "tournament.static_files",
                "tournament.views.games.endings",
                "tournament.views.games.logs",
                "tournament.views.games.scores",
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
POSTGRESQL_OPTIONS = {
    # A server that is cut off is noticed within a minute; the system's limits are minutes and hours.
    "connect_timeout": 10,
    "keepalives_idle": 20,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 60_000,
}
_DATABASE_URL = text(
    "DATABASE_URL",
    f"sqlite:///{DATA / 'db.sqlite3'}",
    "`postgres://user:password@host/name`",
    shown="SQLite in the data folder",
    form=r"(?:postgres|postgresql|pgsql|sqlite)://.*",
    wanted="the address of a database: postgres://user:password@host/name, or sqlite:///path",
    is_secret=True,
)
try:
    DATABASES = {"default": dj_database_url.parse(_DATABASE_URL, conn_max_age=60)}
except ValueError as _error:
    sys.exit(f"duarena: DATABASE_URL: {_error}")
if _trouble := other_database(DATA, DATABASES["default"]["ENGINE"]):
    raise ImproperlyConfigured(_trouble)
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    DATABASES["default"]["OPTIONS"] = SQLITE_OPTIONS
else:
    DATABASES["default"]["OPTIONS"] = POSTGRESQL_OPTIONS | DATABASES["default"].get("OPTIONS", {})

AUTH_USER_MODEL = "tournament.User"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]
CSRF_FAILURE_VIEW = "tournament.errors.csrf_failure"
LOGIN_URL = "log-in"
LOGIN_REDIRECT_URL = "account"
LOGOUT_REDIRECT_URL = "home"

CACHES = {
    # What allauth counts is shared by all processes; pieces of pages are kept by each (tournament.caches).
    "default": {
        "BACKEND": "django.core.cache.backends.db.DatabaseCache",
        "LOCATION": "tournament_shared_cache",
        "OPTIONS": {"MAX_ENTRIES": 100_000},
    },
    "pages": {"BACKEND": f"django.core.cache.backends.{'dummy.Dummy' if DEBUG else 'locmem.LocMem'}Cache"},
}

ACCOUNT_ADAPTER = "tournament.views.people.adapters.AccountAdapter"
ACCOUNT_FORMS = {
    "login": "tournament.views.people.forms.LogInForm",
    "reset_password": "tournament.views.people.forms.ResetRequestForm",
    "reset_password_from_key": "tournament.views.people.forms.ResetForm",
}
ACCOUNT_EMAIL_CONFIRMATION_ANONYMOUS_REDIRECT_URL = "/log-in/"
ACCOUNT_EMAIL_CONFIRMATION_AUTHENTICATED_REDIRECT_URL = "/account/email/"
ACCOUNT_LOGIN_METHODS = {"username"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "password1*", "password2*", "email"]
ACCOUNT_SESSION_REMEMBER = True
ACCOUNT_CHANGE_EMAIL = True
"""A user has one address; a new one takes its place when it is confirmed."""
ACCOUNT_EMAIL_VERIFICATION = "optional"
ACCOUNT_EMAIL_SUBJECT_PREFIX = ""
ACCOUNT_EMAIL_UNKNOWN_ACCOUNTS = False
ACCOUNT_PREVENT_ENUMERATION = "strict"
"""Nobody learns from the site who has an address, and nobody can block another's address."""
ACCOUNT_REAUTHENTICATION_REQUIRED = True
ACCOUNT_LOGIN_ON_PASSWORD_RESET = True
"""So that guesses of strangers cannot keep out a user who sets a new password; the second factor is asked."""
ACCOUNT_RATE_LIMITS = {
    # The first four are counted by tournament.views.people.adapters, the others by allauth.
    # A password takes a fifth of a second of processor time: the limits a minute are for floods.
    "password": "10/1m/ip,30/5m/ip,5/5m/key",
    "password_elsewhere": "40/1h/key",
    "password_device": "10/5m/key",
    "mail": "3/1h/key,6/1d/key",  # to one mailbox, whoever asks for them; without links for a new password
    "login": None,
    "signup": "6/1m/ip,30/1h/ip",
    "login_failed": "5/5m/key",  # codes of the second factor
    "reset_password": "10/1h/ip,3/1h/key,6/1d/key",
    "confirm_email": "1/3m/key,6/1d/key",
    "reset_password_from_key": "20/5m/ip",
    "change_password": "10/5m/user",
    "manage_email": "10/5m/user",
    "reauthenticate": "20/5m/user",
}
ALLAUTH_RATE_LIMIT_IPV6_PREFIX = 56
"""What is counted by address is counted by networks of this prefix, which a customer gets (RIPE-690).

Neighbours with a /64 each, such as phones, count together, as they do behind one address of IPv4.
"""
MFA_ALLOW_UNVERIFIED_EMAIL = True
MFA_FORMS = {"activate_totp": "tournament.views.people.forms.SetUpForm"}
MFA_TOTP_ISSUER = "Duarena"

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_I18N = False
USE_TZ = True

STATIC_URL = "static/"
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
# The site's own workers are behind the proxy too.
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^metrics$", r"^api/(bundles|work|workers)/"]
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
    "filters": {"secrets": {"()": "tournament.monitoring.logs.SecretsFilter"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line", "filters": ["secrets"]}},
    "loggers": {
        "tournament": {"handlers": ["stderr"], "level": "INFO", "propagate": True},
        # By default Django reports a failed page only by mail, and no recipient is configured.
        "django.request": {"handlers": ["stderr"], "level": "ERROR", "propagate": True},
        "uvicorn.error": {"handlers": ["stderr"], "level": "INFO", "propagate": False},
    },
}

text(
    "DUARENA_LOG",
    "",
    "`json`: the logs have one JSON object a line; also for workers on other hosts",
    shown="text",
    form="(?i:json|text)",
    wanted="json or text",
)
text(
    "REDIS_URL",
    "",
    "`redis://host:6379/0`",
    shown="an embedded Redis",
    form=r"(?:rediss?|redis\+socket)://.*",
    wanted="the address of a Redis: redis://, rediss:// or redis+socket://",
    is_secret=True,
)
for _sentence in unknown():
    print(f"duarena: {_sentence}", file=sys.stderr)
