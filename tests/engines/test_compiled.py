"""The compiled form of the rules: ``setup.py`` builds it, ``engines.compiled`` finds only the right one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from engines import compiled
from tests.support.needs import need_compiler

ROOT = Path(__file__).parents[2]
RULES = ROOT / "engines" / "rules"
LIBRARY = compiled.library_name(compiled.RULES)

COUNTING = '''"""A rules page, with a \\\\ in it."""

from __future__ import annotations

from engines.rules.native import i64


def double(number: int) -> int:
    small: i64 = number
    return small * 2
'''
REPORT = """
import sys
sys.path.insert(0, '.')
from engines.rules import counting
from engines import compiled
print(counting.double(21), type(counting.double).__name__, counting.__doc__)
print(compiled.FINDER.why_plain)
"""
COMPILED = "42 builtin_function_or_method A rules page, with a \\ in it.\n\n"
PLAIN = "42 function A rules page, with a \\ in it.\n"


def bare_environment() -> dict[str, str]:
    """This process's environment, without a word about compiling."""
    return {name: value for name, value in os.environ.items() if name != compiled.PURE_VARIABLE}


def run(
    tree: Path, *words: str, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """A Python on the sources of ``tree``, told nothing about compiling but by ``environment``."""
    return subprocess.run(
        (sys.executable, *words),
        cwd=tree,
        env=bare_environment() | (environment or {}),
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def report(tree: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return run(tree, "-I", "-S", "-c", REPORT, environment=environment)


def builds_of(tree: Path) -> Sequence[str]:
    return sorted(file.name for file in (tree / "engines" / "build").iterdir() if file.is_dir())


def library_of(tree: Path) -> Path:
    return next((tree / "engines" / "build").rglob(f"{LIBRARY}*"))


def lay_out(tree: Path) -> Path:
    """A checkout with rules of one module, that compile in a moment."""
    rules = tree / "engines" / "rules"
    rules.mkdir(parents=True)
    shutil.copy(ROOT / "setup.py", tree)
    for name in ("__init__.py", "compiled.py"):
        shutil.copy(ROOT / "engines" / name, rules.parent)
    (rules / "__init__.py").touch()
    shutil.copy(RULES / "native.py", rules)
    (rules / "counting.py").write_text(COUNTING)
    return tree


@pytest.fixture
def small(tmp_path: Path) -> Path:
    return lay_out(tmp_path / "small")


@dataclass(frozen=True)
class Built:
    """As ``small``, compiled by two builds at once; ``told`` is what each printed, and its complaint."""

    tree: Path
    codes: Sequence[int]
    told: Sequence[tuple[str, str]]


@pytest.fixture(scope="module")
def built_once(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Every test but those of building itself looks at a copy of this one, which takes seconds to make."""
    need_compiler()
    tree = lay_out(tmp_path_factory.mktemp("built") / "once")
    two = [
        subprocess.Popen(
            (sys.executable, "setup.py"),
            cwd=tree,
            env=bare_environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    told = [process.communicate() for process in two]
    return Built(tree, [process.returncode for process in two], told)


@pytest.fixture
def built(built_once: Built, tmp_path: Path) -> Path:
    assert built_once.codes == [0, 0], built_once.told
    return Path(shutil.copytree(built_once.tree, tmp_path / "built"))


# Found or not


@pytest.mark.slow
def test_the_compiled_form_runs_where_it_was_made_of_these_sources(built: Path) -> None:
    done = report(built)
    assert (done.stdout, done.stderr) == (COMPILED, "")


def test_without_a_compiled_form_the_rules_run_as_plain_python(small: Path) -> None:
    done = report(small)
    assert (done.stdout, done.stderr) == (f"{PLAIN}{compiled.NOT_COMPILED}\n", "")


def test_the_kit_names_no_file_that_it_does_not_have(small: Path) -> None:
    (small / "setup.py").unlink()
    assert report(small).stdout == f"{PLAIN}{compiled.KIT_NOT_COMPILED}\n"
    assert "setup.py" not in compiled.KIT_NOT_COMPILED


@pytest.mark.slow
def test_a_changed_source_never_runs_as_its_old_compiled_form(built: Path) -> None:
    source = built / "engines" / "rules" / "counting.py"
    source.write_text(COUNTING.replace("small * 2", "small * 3"))
    assert report(built).stdout.startswith("63 function ")
    source.write_text(COUNTING)
    assert report(built).stdout == COMPILED


@pytest.mark.slow
def test_a_new_module_beside_them_makes_the_compiled_form_an_old_one(built: Path) -> None:
    (built / "engines" / "rules" / "another.py").touch()
    assert report(built).stdout == f"{PLAIN}{compiled.NOT_COMPILED}\n"


@pytest.mark.slow
def test_a_variable_makes_the_rules_run_as_plain_python(built: Path) -> None:
    assert report(built, DUARENA_PURE="1").stdout == f"{PLAIN}DUARENA_PURE is set\n"
    assert report(built, DUARENA_PURE="0").stdout == COMPILED


def truncate(file: Path) -> None:
    os.truncate(file, file.stat().st_size // 2)


def blank(file: Path) -> None:
    """As after a power cut: the file has its size, and nothing in it."""
    file.write_bytes(bytes(file.stat().st_size))


def flip_a_bit(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


def assert_told_as_damaged(tree: Path) -> None:
    (build,) = builds_of(tree)
    folder = tree / "engines" / "build" / build
    done = report(tree)
    assert done.stdout == f"{PLAIN}the compiled form in {folder} cannot be used\n"
    assert done.stderr.startswith(f"engines.rules runs as plain Python: {folder} is damaged (")
    assert done.stderr.endswith("); remove it\n")
    assert done.stderr.count("\n") == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [LIBRARY + compiled.SUFFIX, f"counting{compiled.SUFFIX}", compiled.MANIFEST],
)
@pytest.mark.parametrize("damage", [truncate, blank, flip_a_bit, Path.unlink])
def test_a_damaged_compiled_form_is_reported_and_not_used(
    built: Path, damage: Callable[[Path], None], name: str
) -> None:
    damage(library_of(built).parent / name)
    assert_told_as_damaged(built)


@pytest.mark.slow
def test_a_compiled_form_that_this_machine_cannot_load_is_reported(built: Path) -> None:
    library = library_of(built)
    library.write_bytes(b"made for another one")
    manifest = library.parent / compiled.MANIFEST
    lines = [line for line in manifest.read_text().splitlines() if not line.endswith(library.name)]
    lines.append(f"{compiled.checksum(library.read_bytes())} {library.name}")
    manifest.write_text("\n".join(lines))
    assert_told_as_damaged(built)


@pytest.mark.slow
def test_temporary_files_of_editors_beside_the_sources_change_nothing(built: Path) -> None:
    rules = built / "engines" / "rules"
    (rules / ".#counting.py").symlink_to("nobody@nowhere")
    (rules / "counting (copy).py").write_text("half a line of")
    done = report(built)
    assert (done.stdout, done.stderr) == (COMPILED, "")


@pytest.mark.slow
def test_a_process_whose_compiled_form_is_removed_continues_with_the_sources(built: Path) -> None:
    begin = "import sys, shutil; sys.path.insert(0, '.'); import engines.rules\n"
    done = run(built, "-I", "-c", begin + "shutil.rmtree('engines/build')\n" + REPORT)
    assert (done.stdout, done.stderr) == (f"{PLAIN}\n", "")


def test_the_rules_need_nothing_but_the_standard_library(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "engines", tmp_path / "engines", ignore=shutil.ignore_patterns("build", "*.pyc"))
    for words, printed in (
        (["perft", "dogon-kulei", "4"], "4882\n"),
        (["moves", "dogon-gagara"], "a1-\nb1-\n"),
        (["bench", "dogon-kulei", "--seconds", "0.001"], "rules: plain Python, "),
    ):
        command = f"import sys; sys.path.insert(0, '.'); from engines.__main__ import main; main({words})"
        done = run(tmp_path, "-I", "-S", "-c", command)
        assert done.stdout.startswith(printed), done.stderr
        assert done.stderr == ""


# Made or not


@pytest.mark.slow
def test_an_existing_build_is_not_made_again(built: Path) -> None:
    made = library_of(built).stat().st_mtime_ns
    done = run(built, "setup.py")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert library_of(built).stat().st_mtime_ns == made


@pytest.mark.thorough
def test_a_damaged_build_is_made_again(built: Path) -> None:
    blank(library_of(built))
    done = run(built, "setup.py")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("rules: compiled\n")
    assert report(built).stdout == COMPILED


@pytest.mark.slow
def test_of_two_builds_at_once_the_second_waits_and_finds_all_done(built_once: Built) -> None:
    assert built_once.codes == [0, 0]
    assert [complaint for _, complaint in built_once.told] == ["", ""]
    assert sorted(len(said.splitlines()) for said, _ in built_once.told) == [0, 2]
    assert report(built_once.tree).stdout == COMPILED


def refused(tree: Path, **environment: str) -> str:
    """What a build says that cannot be; the rules run as plain Python after it."""
    done = run(tree, "setup.py", environment=environment)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert report(tree).stdout.startswith("42 function ")
    return done.stderr.removeprefix("rules: they run as plain Python, which is slower: ").rstrip("\n")


def test_without_a_compiler_the_packages_are_named_in_one_sentence(small: Path) -> None:
    why = refused(small, PATH=str(small), CC="")
    assert why == "there is no C compiler (on Debian and Ubuntu: apt-get install gcc libc6-dev)"
    assert not (small / "engines" / "build").exists()


def test_nothing_is_compiled_if_plain_python_is_selected(small: Path) -> None:
    assert refused(small, DUARENA_PURE="1") == "DUARENA_PURE is set"


def test_a_checkout_that_cannot_be_written_is_one_sentence(small: Path) -> None:
    need_compiler()
    (small / "engines" / "build").touch()  # root may write everywhere, but not below a file
    assert str(small / "engines" / "build") in refused(small)


@pytest.mark.parametrize("option", ["--inplace", "-i"])
def test_nothing_is_built_beside_its_source_where_it_would_outlive_a_change(small: Path, option: str) -> None:
    done = run(small, "setup.py", "build_ext", option)
    assert done.returncode == 1
    assert done.stderr.startswith("setup.py: nothing is built in place; ")
    assert list(small.rglob("*.so")) == []


@pytest.mark.slow
def test_sources_that_do_not_compile_run_as_plain_python_and_a_log_tells_why(built: Path) -> None:
    old = builds_of(built)
    source = built / "engines" / "rules" / "counting.py"
    source.write_text(f"{COUNTING}\nwrong: int = 'a word'\n")
    log = built / "engines" / "build" / "failure.log"
    assert refused(built) == f"compiling them failed, see {log}"
    assert "Incompatible types in assignment" in log.read_text()
    assert builds_of(built) == old


@pytest.mark.thorough
def test_a_new_compiled_form_takes_the_place_of_the_old_of_unfinished_ones_and_of_a_failure(
    built: Path,
) -> None:
    old = builds_of(built)
    builds = built / "engines" / "build"
    (builds / "unfinished-abc").mkdir()
    (builds / "failure.log").touch()
    (built / "engines" / "rules" / ".#counting.py").symlink_to("what.an.editor.leaves")
    (built / "engines" / "rules" / "counting.py").write_text(COUNTING.replace("small * 2", "2 * small"))
    done = run(built, "setup.py")
    assert done.returncode == 0
    assert done.stdout.endswith("rules: compiled\n")
    assert len(builds_of(built)) == 1
    assert builds_of(built) != old
    assert not (builds / "failure.log").exists()
    assert report(built).stdout == COMPILED
