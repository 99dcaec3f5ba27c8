# One image for the site, the record keeper, the beat and the game workers.

# The rules and the loop that plays moves are compiled in a stage of their own, so that the image has no compiler.
FROM python:3.12-slim AS compiled
WORKDIR /app
RUN apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev
COPY requirements.txt .
RUN pip install --no-cache-dir -r requirements.txt
COPY setup.py ./
COPY engines engines
COPY workers workers
RUN python setup.py

FROM python:3.12-slim
# bubblewrap makes the sandbox of engines; the font is for the boards' pictures.
RUN apt-get update && apt-get install -y --no-install-recommends bubblewrap fonts-dejavu-core && rm -rf /var/lib/apt/lists/*
ENV PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
WORKDIR /app
COPY requirements.txt .
RUN pip install -r requirements.txt
# With `--build-arg SENTRY=1` the image can report errors to Sentry.
ARG SENTRY=
COPY requirements-sentry.txt .
RUN [ -z "$SENTRY" ] || pip install -r requirements-sentry.txt
COPY LICENSE manage.py ./
COPY --from=compiled /app/engines engines
COPY --from=compiled /app/workers workers
COPY tournament tournament
COPY docs/api.md docs/events.md docs/evidence.md docs/federation.md docs/tournaments.md docs/webhooks.md docs/
ENV DUARENA_STATIC=/app/static
RUN DUARENA_SECRET_KEY=none python manage.py collectstatic --no-input --verbosity=0

# A volume that is mounted here gets this owner.
RUN useradd --system --uid 10001 --home-dir /data duarena && install -d -o duarena -g duarena /data /data/bundles /data/downloads /data/dumps /data/evidence /data/static
USER duarena
ENV DUARENA_DATA=/data
