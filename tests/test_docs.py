"""Checks the documents against the code: links, paths, commands and settings.

Their examples are run in ``test_readme``, ``engines/test_pages`` and ``workers/commands/test_commands``.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import io
import re
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from importlib.util import find_spec
from pathlib import Path

import pytest
from django.core.management import get_commands, load_command_class
from django.urls import Resolver404, resolve

from engines.records import Termination
from engines.records.headers import UNTERMINATED
from tests.run import parse
from tests.support.documents import fenced, read
from tournament import environment
from tournament.embedded.options import parse_options
from tournament.embedded.plan import ROOT
from tournament.views.version_tests.starting import PRESETS
from workers.match.options.flags import FLAGS, read_options

FOLDERS = ("benchmarks", "docs", "engines", "tests", "tournament", "workers")
PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for folder in (".", *FOLDERS)
    for path in (ROOT / folder).glob("*.md" if folder == "." else "**/*.md")
)
ROOT_FILES = {path.name for path in ROOT.iterdir()}
REPOSITORY_FILES = {path.name for folder in FOLDERS for path in (ROOT / folder).rglob("*.*")} | ROOT_FILES
MADE = {
    "engines/build/",
    "workers/game/build/",
    "engines/data/tasks/trio.txt",
    "engines/rules/trio.py",
    "engines/svg/trio.py",
    "tournament/formats/scheveningen.py",
    "tournament/templates/formats/scheveningen.html",
    "tests/tournament/formats/test_scheveningen.py",
}
"""Folders that ``setup.py`` creates, and the files of the recipes for games and formats."""
OTHERS_FILES = {
    "bot.zip", "duarena-kit.zip", "evidence.zip", "manifest.json", "event.json",
    "book.txt", "main.py", "bot.toml", "match.toml", "sandbox.json", "db.sqlite3",
}  # fmt: skip
"""Files of engine authors, files in data folders, and those of an archive of evidence."""
SUFFIXES = "c|cfg|css|html|js|json|md|pgn|py|sh|svg|toml|txt|yml|zip"


def prose(page: str) -> str:
    """The page without its fenced blocks."""
    return re.sub(r"^ *```\w*\n.*?^ *```$", "", read(page), flags=re.MULTILINE | re.DOTALL)


def spans(page: str) -> list[str]:
    """The texts in backticks, each on one line."""
    found = re.findall(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", prose(page), re.DOTALL)
    return [" ".join(text.replace(r"\|", "|").split()) for _, text in found]


# Links


def anchors(page: str) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", prose(page), re.MULTILINE)
    plain = (re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).lower() for heading in headings)
    return {re.sub(r"[^\w\- ]", "", heading).replace(" ", "-") for heading in plain}


@pytest.mark.parametrize("document", PAGES)
def test_every_link_leads_to_a_file_and_to_a_heading_of_it(document: str) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(document)):
        if re.match(r"https?:|mailto:", target):
            continue
        path, _, anchor = target.partition("#")
        file = ((ROOT / document).parent / path).resolve() if path else ROOT / document
        assert file.exists(), target
        if anchor:
            assert anchor in anchors(file.relative_to(ROOT).as_posix()), target


# Paths and addresses


def paths_in(page: str) -> Iterator[str]:
    """Texts in the form of a path or a file name of this repository."""
    folders = "|".join(FOLDERS)
    for text in (*spans(page), *(text for _, text in fenced(page))):
        yield from re.findall(
            rf"(?<![\w./-])(?:{folders})/(?:[\w.-]+/)*(?:[\w-]+\.(?:{SUFFIXES})\b)?(?!\w)", text
        )
    for text in spans(page):
        if re.fullmatch(rf"[\w-]+\.(?:{SUFFIXES})", text):
            yield text


@pytest.mark.parametrize("document", PAGES)
def test_every_path_that_is_named_exists(document: str) -> None:
    for path in paths_in(document):
        if "/" in path:
            assert path in MADE or (ROOT / path).exists(), path
        else:
            assert path in REPOSITORY_FILES | OTHERS_FILES or path.endswith(".pgn"), path


def test_every_helper_of_the_tests_that_is_named_is_defined_in_its_file() -> None:
    rows = re.findall(r"^\| (`.*`) \| `(tests/[\w/]+\.py)` \|", read("CONTRIBUTING.md"), re.MULTILINE)
    assert len(rows) > 10
    for names, file in rows:
        defined = {getattr(node, "name", "") for node in ast.parse(read(file)).body}
        assert set(re.findall(r"`(\w+)`", names)) <= defined, file


def foreign_imports(package: str) -> dict[str, set[str]]:
    """Third-party packages that the modules of ``package`` import, by package; late imports included."""
    found: dict[str, set[str]] = {}
    for path in (ROOT / package).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module or ""]
            for name in {name.partition(".")[0] for name in names} - sys.stdlib_module_names - {*FOLDERS}:
                found.setdefault(name, set()).add(path.relative_to(ROOT / package).as_posix())
    return found


def test_only_the_modules_named_in_contributing_import_more_than_the_standard_library() -> None:
    engines = foreign_imports("engines")
    assert engines.pop("mypy_extensions") == {"rules/native.py"}  # for the type checker
    assert engines.pop("networkx") == {"pairing/swiss.py"}
    research = re.findall(r"`engines/(environments/\w+\.py)`", read("CONTRIBUTING.md"))
    others = set.union(*engines.values()) - set(research)
    assert {path.partition("/")[0] for path in others} == {"estimation"}
    assert all(path in engines["numpy"] for path in others)
    workers = foreign_imports("workers")
    assert set(workers) == {"billiard", "celery", "kombu", "msgspec", "redis"}
    named = re.findall(r"`(service/\w+\.py|messages\.py)`", read("CONTRIBUTING.md"))
    assert set.union(*workers.values()) == set(named)


@pytest.mark.parametrize("document", PAGES)
def test_every_address_of_the_site_has_a_page(document: str) -> None:
    for text in spans(document):
        if re.fullmatch(r"/[a-z/-]+/", text):
            try:
                resolve(text)
            except Resolver404:
                pytest.fail(f"the site has no page {text}")


# Commands

WRAPPER = re.compile(
    r"^(?:\w+=(?:'[^']*'|\"[^\"]*\"|\S*)\s+|sudo\s+|nice -n -?\d+\s+|docker compose exec site\s+)+"
)


def lines_in(page: str) -> Iterator[str]:
    """Each line of the page's shell blocks; of a console only the lines after a ``$``."""
    for language, text in fenced(page):
        joined = text.replace("\\\n", " ")
        if language in ("sh", "shell"):
            yield from joined.splitlines()
        elif "$ " in text:
            yield from re.findall(r"^\$ (.*)$", joined, re.MULTILINE)


def split_command(line: str) -> list[str]:
    """The words of a command of this project; none for any other line."""
    line = WRAPPER.sub("", line.strip())
    if not re.match(r"(python3?|\.venv/bin/python|\./arena|systemd-run)\b", line):
        return []
    words = shlex.split(line, comments=True)
    if words[0] != "systemd-run":
        return words
    program = re.compile(r"\./arena|/opt/duarena/(?=\.venv/bin/python)")
    start = next(number for number, word in enumerate(words) if program.match(word))
    return [words[start].removeprefix("/opt/duarena/"), *words[start + 1 :]]


def commands_in(page: str, whole: Sequence[str]) -> Iterator[list[str]]:
    """The words of every command of this project in the lines ``whole``; ``&&`` separates two commands."""
    for line in whole:
        for part in line.split(" && "):
            words = split_command(part)
            if words[1:] and words[1:] != ["-m"]:
                yield words


def help_of(module: str, words: Sequence[str]) -> str:
    """The output of a program for ``--help``; fails for words that the program does not know."""
    main = importlib.import_module(module).main
    before, output = sys.argv, io.StringIO()
    sys.argv = [module, *words, "--help"]
    code: object = 0
    try:
        with redirect_stdout(output), redirect_stderr(output):
            main(*([sys.argv[1:]] if inspect.signature(main).parameters else []))
    except SystemExit as end:
        code = end.code
    finally:
        sys.argv = before
    assert not code, output.getvalue()
    return output.getvalue()


MAIN_MODULES = {
    "engines": "engines.__main__",
    "workers": "workers.__main__",
    "benchmarks.soak": "benchmarks.soak.__main__",
}
"""The modules with the ``main`` of packages that are run."""


WITHOUT_MAIN = {"engines.environments.first_agent", "tournament.embedded", "workers.sandbox.entrance"}
"""Modules that are run and have no help, or no ``main``: tests of their own run them."""


def options_of(words: Sequence[str]) -> list[str]:
    """The options among the words of a command, up to ``--``."""
    own = words[: words.index("--")] if "--" in words else words
    options = [word.partition("=")[0] for word in own if re.match(r"--?[a-zA-Z]", word)]
    return [option for option in options if option.lstrip("-") != "help"]


def check_module(module: str, words: Sequence[str]) -> None:
    assert find_spec(module), module
    if module == "pytest":
        assert all((ROOT / word).exists() for word in words if word.startswith("tests")), words
    if module.split(".")[0] not in FOLDERS or module in WITHOUT_MAIN:
        return
    if module.startswith("engines.bots."):
        assert not words
        return
    takes_command = module in ("engines", "workers") and words[:1] and re.fullmatch(r"[a-z]+", words[0])
    help_text = help_of(MAIN_MODULES.get(module, module), words[:1] if takes_command else ())
    for option in options_of(words):
        assert re.search(rf"(?<![\w-]){re.escape(option.replace('_', '-'))}(?![\w-])", help_text), option


def check_manage(words: Sequence[str]) -> None:
    name = words[0]
    assert name in get_commands(), name
    command = load_command_class(get_commands()[name], name)
    help_text = command.create_parser("manage.py", name).format_help()
    for option in options_of(words[1:]):
        assert f"{option} " in help_text or f"{option}\n" in help_text, option


def check_arena(words: Sequence[str]) -> None:
    if words[0] in ("test", "help"):
        parse(words[1:])
        return
    help_text = io.StringIO()
    with redirect_stdout(help_text), pytest.raises(SystemExit, match="0"):
        parse_options([words[0], "--help"])
    for option in options_of(words):
        assert re.search(rf"(?<![\w-]){option}(?![\w-])", help_text.getvalue()), option


def check_command(words: Sequence[str]) -> None:
    program, *words = words
    if program == "./arena":
        check_arena(words)
    elif words[0] == "-m":
        check_module(words[1], words[2:])
    elif words[0] == "manage.py":
        check_manage(words[1:])
    else:
        assert words[0] in ("setup.py", "main.py") or Path(words[0]).is_absolute(), words


@pytest.mark.parametrize("document", PAGES)
def test_every_command_in_a_block_is_accepted(document: str) -> None:
    for words in commands_in(document, list(lines_in(document))):
        check_command(words)


@pytest.mark.parametrize("document", PAGES)
def test_every_command_in_a_sentence_is_accepted(document: str) -> None:
    for words in commands_in(document, spans(document)):
        ours = [word for word in words if not re.search(r"[…<>{}]", word)]
        if "COMMAND" not in ours:
            check_command(ours)
    for span in spans(document):
        if span.startswith("manage.py "):
            check_manage([word for word in shlex.split(span)[1:] if "…" not in word])


@pytest.mark.parametrize("document", PAGES)
def test_commands_with_python3_need_no_installed_packages(document: str) -> None:
    for words in commands_in(document, [*lines_in(document), *spans(document)]):
        if words[:2] == ["python3", "-m"]:
            module, command = words[2], words[3:4]
            assert module.split(".")[0] in ("engines", "workers", "venv", "zipfile"), words
            assert not (module == "workers" and command == ["start"]), words


@pytest.mark.parametrize("document", ["docs/match.md"])
def test_the_options_of_every_match_are_accepted(document: str, tmp_path: Path) -> None:
    shown = [
        words
        for words in commands_in(document, list(lines_in(document)))
        if words[2:4] == ["workers", "match"]
    ]
    assert shown
    for words in shown:
        own = [re.sub("cmd=.*@https://.*", "cmd=true", word) for word in words[4:]]  # no site is asked
        assert read_options(own, tmp_path).terms.entrants


def test_every_option_of_a_match_that_is_named_exists() -> None:
    known = {name.replace("_", "-") for flag in FLAGS for name in (flag.name, flag.also) if name} | {"help"}
    for text in spans("docs/match.md"):
        if re.match(r"-[a-z]", text):
            assert text.split()[0].lstrip("-") in known, text


# Settings

SETTING = re.compile(r"\bDUARENA_[A-Z_]+\b")
TEST_SETTINGS = {"DUARENA_TESTS"}
"""Variables that only the tests read."""


def settings_of_the_code() -> set[str]:
    files = [
        path
        for folder in ("engines", "workers", "tournament")
        for path in (ROOT / folder).rglob("*.py")
        if "build" not in path.parts
    ]
    files += [ROOT / name for name in ("arena", "setup.py", "docker-compose.yml", "Dockerfile")]
    return (
        {name for path in files for name in SETTING.findall(path.read_text("utf-8"))}
        - environment.INTERNAL
        - set(environment.REMOVED)
    )


def settings_table() -> list[str]:
    """The variables in the table of ``docs/operations.md``."""
    return re.findall(r"^\| `([A-Z_]+)` \|", read("docs/operations.md"), re.MULTILINE)


def test_the_table_of_settings_is_that_of_the_declarations() -> None:
    rows = [
        f"| `{one.name}` | {one.meaning} | {one.default} |\n"
        for one in (*environment.DECLARED, *environment.ELSEWHERE)
    ]
    assert f"| variable | meaning | default |\n| --- | --- | --- |\n{''.join(rows)}" in read(
        "docs/operations.md"
    )
    assert {name for name in settings_table() if name.startswith("DUARENA_")} == settings_of_the_code()


@pytest.mark.parametrize("document", PAGES)
def test_every_setting_that_is_named_exists(document: str) -> None:
    gone = set(environment.REMOVED) if document == "CHANGELOG.md" else set()
    assert set(SETTING.findall(read(document))) <= settings_of_the_code() | TEST_SETTINGS | gone


# Tables


def test_the_table_of_version_tests_has_the_questions_of_the_form() -> None:
    page = read("docs/tournaments.md").replace("−", "-").replace(",", "")
    rows = re.findall(r"^\| (.+\?) \| (.+) \| (.+) \| (\d+) \|$", page, re.MULTILINE)
    found = [(question, *map(int, cells)) for question, *cells in rows]
    assert found == [
        (question, test.elo0, test.elo1, pytest.approx(test.expected_games(), rel=0.01))
        for question, test in PRESETS.values()
    ]


def test_the_records_page_has_every_termination() -> None:
    table = read("engines/RECORDS.md").partition("### Result, termination and fault")[2].partition("###")[0]
    rows = re.findall(r"^\| (`.*?`) \|", table, re.MULTILINE)
    assert set(re.findall(r"`([^`]+)`", " ".join(rows))) == {str(term) for term in Termination} | {
        UNTERMINATED
    }
