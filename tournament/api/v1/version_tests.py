"""Version tests with their pairs."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from tournament.api.v1.operations import ApiRequest, operation
from tournament.api.v1.responses import PageQuery, Rows, page_by_id, part_of
from tournament.models import BotVersion
from tournament.services.schedule.pairings import entered_versions
from tournament.views.version_tests.version_tests import (
    MAX_OWNER,
    PairRow,
    VersionTestRow,
    chosen_tests,
    course_sentence,
    find_version_test,
    pair_rows,
    version_test_row,
)


class TestsQuery(PageQuery, frozen=True, kw_only=True):
    """The filter of the list."""

    owner: Annotated[str, Meta(max_length=MAX_OWNER, description="The name of an account.")] = ""


class TestedVersion(msgspec.Struct, frozen=True):
    """A version of a test."""

    bot: str
    slug: str
    version: int


class VersionTestAnswer(VersionTestRow, frozen=True, kw_only=True):
    """A version test with its terms."""

    candidate: TestedVersion
    baseline: TestedVersion
    question: Annotated[str, Meta(description="What it asks, in words.")]
    verdict: Annotated[str, Meta(description="The answer in words: `Yes`, `No` or that it is not decided.")]
    sentence: Annotated[str, Meta(description="How it stands or ended, in a sentence.")]
    is_over: bool
    lower: Annotated[float, Meta(description="The ratio at which H0 is accepted.")]
    upper: Annotated[float, Meta(description="The ratio at which H1 is accepted.")]
    most_games: int
    scores: Annotated[
        tuple[int, ...],
        Meta(description="The counted pairs with 0, ½, 1, 1½ and 2 points for the candidate."),
    ]
    time_control: str
    opening_plies: int


@operation("GET", "version-tests/", rows=VersionTestRow, query=TestsQuery)
def version_tests(request: ApiRequest, query: TestsQuery) -> Rows:
    """The version tests, the oldest first."""
    return page_by_id(chosen_tests(request)[0], query, lambda one: version_test_row(request, one))


@operation("GET", "version-tests/<slug:slug>/", answer=VersionTestAnswer)
def version_test(request: ApiRequest, slug: str) -> VersionTestAnswer:
    """A version test: what it asks, what its pairs show, and the verdict."""
    found = find_version_test(request, slug)
    test = found.version_test
    candidate, baseline = map(_tested, entered_versions(found))
    lower, upper = test.bounds
    return VersionTestAnswer(
        **msgspec.structs.asdict(version_test_row(request, found)),
        candidate=candidate,
        baseline=baseline,
        question=test.asked,
        verdict=test.verdict,
        sentence=course_sentence(test, found),
        is_over=test.is_over,
        lower=lower,
        upper=upper,
        most_games=test.most_games,
        scores=tuple(test.pairs.cells),
        time_control=found.time_control,
        opening_plies=found.opening_plies,
    )


@operation("GET", "version-tests/<slug:slug>/pairs/", rows=PairRow, query=PageQuery)
def version_test_pairs(request: ApiRequest, slug: str, query: PageQuery) -> Rows:
    """The counted pairs of a version test in their order."""
    return part_of(pair_rows(request, find_version_test(request, slug)), query)


def _tested(version: BotVersion) -> TestedVersion:
    return TestedVersion(version.bot.name, version.bot.slug, version.number)
