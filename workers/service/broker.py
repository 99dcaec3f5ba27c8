"""The broker of Celery's messages, which is the site's Redis: the queues, the settings, and clients of it."""

from __future__ import annotations

import logging
from typing import Any

import redis
from celery.signals import after_setup_logger, after_setup_task_logger
from kombu import Exchange, Queue

from workers.jobs import Work
from workers.logs import make_formatter, use_json

KEEPER = "keeper"
"""The queue of the record keeper."""
QUEUES = {Work.GAMES: "games", Work.CHECKS: "checks"}
"""The queues of workers, by what they take; all of them also search for people."""
PLAY = "workers.play"
"""The task that has a free slot ask the site for work."""
REDIS_SECONDS = 2.0
"""After this time without an answer Redis counts as gone."""
PATIENCE: dict[str, Any] = {"socket_timeout": REDIS_SECONDS, "socket_connect_timeout": REDIS_SECONDS}


def queue_named(name: str) -> Any:
    """A queue without a binding in Redis, which would be lost with it: messages are sent to it by name."""
    return Queue(name, Exchange(""), routing_key=name)


def broker_settings(url: str, queue: str) -> dict[str, Any]:
    """Celery's settings for an app whose tasks come from one queue of the broker at this address.

    A message is acknowledged when its task has ended, so a process with a task holds no other message. A task
    may run twice: each only looks for what is to be done.
    """
    return {
        "broker_url": _checking_certificates(url),
        "broker_connection_max_retries": None,
        "broker_connection_retry_on_startup": True,
        "broker_connection_timeout": REDIS_SECONDS,
        "task_acks_late": True,
        "task_default_exchange": "",
        "task_default_queue": queue,
        "task_default_routing_key": queue,
        "task_ignore_result": True,
        "task_publish_retry": False,
        "task_queues": [queue_named(queue)],
        "worker_cancel_long_running_tasks_on_connection_loss": False,
        "worker_hijack_root_logger": False,
        "worker_prefetch_multiplier": 1,
        "worker_redirect_stdouts": False,
        "worker_send_task_events": True,
    }


def _checking_certificates(url: str) -> str:
    """The address of a broker with TLS; without the option kombu takes any certificate."""
    if not url.startswith("rediss://") or "ssl_cert_reqs=" in url:
        return url
    return f"{url}{'&' if '?' in url else '?'}ssl_cert_reqs=CERT_REQUIRED"


def open_redis(url: str) -> redis.Redis:
    """A client for ``redis://``, ``rediss://`` or ``redis+socket://``; raises ``ValueError``."""
    return redis.Redis.from_url(client_url(url), **PATIENCE)


def client_url(url: str) -> str:
    """The address of Redis as its client takes it, of one as Celery takes it."""
    if url.startswith("redis+socket://"):
        return url.replace("redis+socket", "unix", 1).replace("virtual_host=", "db=", 1)
    return url


@after_setup_logger.connect
def _use_formatter(logger: logging.Logger, format: str, **_: Any) -> None:  # noqa: A002  # Celery's name
    for handler in logger.handlers:
        handler.setFormatter(make_formatter(format))
    for name in ("celery.worker.strategy", "celery.app.trace"):  # two lines a task; most find nothing to do
        logging.getLogger(name).setLevel(logging.WARNING)


@after_setup_task_logger.connect
def _use_json(logger: logging.Logger, **_: Any) -> None:
    use_json(logger)
