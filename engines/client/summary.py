"""The summary of an upload and its tests as Markdown, for the page of a pipeline."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from engines.client.site_client import CannotAsk, Json
from engines.client.validation import name_of, validation_sentence
from engines.client.version_test import answer_of, figures_of, question_of
from engines.visible import visible

GITHUB_FILE = "GITHUB_STEP_SUMMARY"
"""The variable with the file that GitHub shows on the page of a run."""
_SPECIAL = str.maketrans({character: f"\\{character}" for character in "\\`*_[]<>|#&~"})


def write_summary(path: str, version: Json | None, tests: Sequence[Json], sentences: Sequence[str]) -> None:
    """Add the summary to the end of a file; raises ``CannotAsk``."""
    try:
        with Path(path).open("a", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in _lines(version, tests, sentences))
    except OSError as error:
        raise CannotAsk(f"cannot write {path!r}: {error.strerror}") from None


def github_file() -> str:
    """The file of the step's summary; raises ``CannotAsk`` outside of GitHub Actions."""
    if not (path := os.environ.get(GITHUB_FILE, "")):
        raise CannotAsk(f"{GITHUB_FILE} is not set: --format github is for a step of GitHub Actions")
    return path


def annotate(code: int, sentence: str) -> None:
    """Print a command of GitHub Actions that shows the sentence beside the run."""
    kind = {0: "notice", 3: "warning"}.get(code, "error")
    escaped = visible(sentence).replace("%", "%25")
    print(f"::{kind} title=Duarena::{escaped}", flush=True)


def _lines(version: Json | None, tests: Sequence[Json], sentences: Sequence[str]) -> Iterator[str]:
    yield f"### {_plain(name_of(version))}" if version else "### Version test"
    yield ""
    if version:
        yield f"{_plain(validation_sentence(version))} [Its page]({_address(version['page'])})"
        yield ""
        yield from _fault_lines(version)
    for sentence in sentences:
        yield _plain(sentence)
        yield ""
    if tests:
        yield "| test | question | answer | games |"
        yield "| --- | --- | --- | --- |"
        for test in tests:
            name = f"[{_plain(str(test['test']))}]({_address(test['page'])})"
            cells = (_plain(text) for text in (question_of(test), answer_of(test), figures_of(test)))
            yield f"| {name} | {' | '.join(cells)} |"
        yield ""


def _fault_lines(version: Json) -> Iterator[str]:
    faults = [one for one in (version.get("check") or {}).get("findings") or [] if one.get("fault")]
    for fault in faults:
        yield f"- **{_plain(str(fault['check']))}**: {_plain(str(fault['fault']))}"
    if faults:
        yield ""


def _plain(text: str) -> str:
    """The text as one line without markup."""
    return visible(text, 500).translate(_SPECIAL)


def _address(text: object) -> str:
    return visible(str(text), 500).translate({ord(" "): "%20", ord("("): "%28", ord(")"): "%29"})
