"""The door for the slots of workers: they ask for work, and post what they have of it."""

from __future__ import annotations

import uuid
from dataclasses import replace

import msgspec
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from tournament.api.envelope import Answer, ApiError
from tournament.api.workers import find_sender, read, worker_api
from tournament.models import Token, Worker
from tournament.sentences import as_sentence
from tournament.services.results.inbox import MAX_WAITING, count_reports, receive
from tournament.services.uploads.validation import record_news
from tournament.services.work.next_batch import next_batch
from tournament.services.work.searches import record_evaluations
from workers.jobs import Ask, Post, Work, name_of

PAUSE_SECONDS = 5
"""The pause of slots while too many reports wait."""
OWN_SHARE = 10
"""Users' own workers get no work while the inbox is fuller than one in so many parts of it."""


@worker_api
def ask(request: HttpRequest, token: Token) -> Answer | HttpResponse:
    """Give a free slot its next batch; 204 if there is none."""
    asked = read(Ask, request)
    worker = find_sender(token, asked.worker)
    if token.is_of_own_worker:
        asked = replace(asked, takes=(Work.OWN,))
    if why := _why_refused(asked, worker):
        raise ApiError(403, as_sentence(why))
    if count_reports() > (MAX_WAITING // OWN_SHARE if token.is_of_own_worker else MAX_WAITING):
        sentence = "The record keeper has too many reports to handle."
        raise ApiError(503, sentence, {"Retry-After": str(PAUSE_SECONDS)})
    batch = next_batch(asked, worker, timezone.now())
    return HttpResponse(status=204) if batch is None else {"batch": msgspec.to_builtins(batch)}


@worker_api
def post(request: HttpRequest, token: Token, job: uuid.UUID) -> Answer:
    """Take what a slot has of a job; the answer says what it must stop."""
    posted = read(Post, request)
    worker = find_sender(token, posted.worker)
    now = timezone.now()
    if (news := posted.news) and news.exam == str(job) and name_of(news.worker) == worker.name:
        record_news(news, now)
    if (found := posted.search) and found.search == str(job):
        record_evaluations(found, worker, now)
    return {"answer": msgspec.to_builtins(receive(posted, job, worker, now))}


def _why_refused(asked: Ask, worker: Worker) -> str:
    """Why this slot gets no work; empty if it may get some."""
    if worker.why:
        return worker.why
    if worker.run != asked.run:
        return f"the worker {worker.name} has been started again"
    if worker.state != Worker.State.UP:
        return f"the worker {worker.name} is {worker.state}: it must send a heartbeat first"
    if not set(asked.takes) <= worker.work:
        return f"the worker {worker.name} does not take that kind of work"
    return ""
