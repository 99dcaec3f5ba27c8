"""What an upload or a test tells in the end: as lines, as JSON, and as a summary for a pipeline."""

from __future__ import annotations

from argparse import Namespace

from engines.client.exit_codes import CANNOT, NO, worst
from engines.client.output import print_json, print_words
from engines.client.site_client import MAX_WORDS, CannotAsk, Json, note
from engines.client.summary import annotate, github_file, write_summary
from engines.client.validation import name_of, validation_code, validation_sentence
from engines.client.version_test import code_of, sentence_of
from engines.visible import visible


class Report:
    """Collects results; what is asked for is read from the options ``json``, ``format`` and ``summary``."""

    def __init__(self, parsed: Namespace) -> None:
        self._is_json = bool(parsed.json)
        self._is_github = parsed.format == "github"
        self._file = parsed.summary or (github_file() if self._is_github else "")
        self._version: Json | None = None
        self._tests: list[Json] = []
        self._made: list[str] = []
        """What the site has made and goes on with, in sentences, by which a failure is told."""
        self._sentences: list[str] = []

    def refused(self, sentence: str) -> int:
        """The site did not take the bundle."""
        if self._is_json:
            print_json({"refused": sentence, "code": NO})
        else:
            print_words(f"refused: {sentence}")
        if self._is_github:
            annotate(NO, sentence)
        return NO

    def uploaded(self, version: Json) -> None:
        self._made.append(f"{name_of(version)} stays uploaded: {version['page']}")
        if not self._is_json:
            print_words(f"{name_of(version)} is uploaded: {version['page']}")

    def failed(self, error: CannotAsk) -> int:
        """Something went wrong after the site had begun; tells what it has made, and returns the exit code.

        Without anything made the error is raised again.
        """
        if not self._made:
            raise error
        for sentence in (str(error), *self._made):
            self._sentences.append(sentence)
            note(visible(sentence, MAX_WORDS))
            if self._is_github:
                annotate(CANNOT, sentence)
        self._finish(CANNOT, {"error": str(error), "made": self._made})
        return CANNOT

    def validated(self, version: Json) -> None:
        self._version = version
        self._tell(validation_code(version), validation_sentence(version))

    def started(self, test: Json, candidate: int, baseline: int) -> None:
        """A test between two versions is being played."""
        self._made.append(f"The test of version {candidate} against {baseline} goes on: {test['page']}")
        if not self._is_json:
            print_words(f"Version {candidate} is tested against version {baseline}: {test['page']}")

    def tested(self, test: Json) -> None:
        self._tests.append(test)
        self._tell(code_of(test), sentence_of(test))

    def remark(self, sentence: str) -> None:
        """Something without a result, such as why there is no test."""
        self._sentences.append(sentence)
        self._tell(0, sentence)

    def end(self) -> int:
        """Write the summary; returns the exit code."""
        codes = [code_of(test) for test in self._tests]
        if self._version is not None:
            codes.append(validation_code(self._version))
        self._finish(worst(codes), {})
        return worst(codes)

    def _finish(self, code: int, more: Json) -> None:
        if self._is_json:
            print_json({"version": self._version, "tests": self._tests, **more, "code": code})
        if self._file:
            write_summary(self._file, self._version, self._tests, self._sentences)

    def _tell(self, code: int, sentence: str) -> None:
        if self._is_github:
            annotate(code, sentence)
        if self._is_json:
            return
        if code in {0, NO}:
            print_words(sentence)
        else:
            note(visible(sentence))
