"""The options of a match, and how others are refused."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support.matches import options_of
from workers.bundles.store import pack_bundle
from workers.jobs import DrawRule, ResignRule
from workers.match.options.flags import help_text
from workers.match.options.options import Format, MatchOptions, Openings, Order
from workers.match.options.words import MatchOptionError
from workers.sequential import Sprt
from workers.statistics import Model

TWO = "-engine cmd=true name=A -engine cmd=true name=B".split()
LEAST = [*TWO, *"-game dogon-kulei -tc 10+0.1".split()]

MANIFEST = b"""[bot]
name = "Zip"
version = "3"
command = ["python3", "main.py"]
games = ["dualma"]
[options]
Hash = 16
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def read(*words: str) -> MatchOptions:
    options: MatchOptions = options_of(Path(), *words)
    return options


def test_two_engines_a_game_and_a_time_are_enough() -> None:
    options = read(*LEAST)
    terms = options.terms
    assert list(terms.names) == ["A", "B"]
    assert (terms.ladders, terms.time_control) == (("dogon-kulei",), "10+0.1")
    assert (terms.format, terms.rounds, terms.games) == (Format.ROUND_ROBIN, 1, 2)
    assert terms.openings == Openings(plies=8)
    assert (options.concurrency, options.pin, options.records) == (1, True, Path("match.pgn"))


def test_options_of_other_match_runners_are_known() -> None:
    words = """-pgnout file=x.pgn -each st=0.5 -engine cmd=true name=C nodes=50 depth=3 -game dualma
        -resign movecount=3 score=600 twosided=false"""
    options = read(*TWO, *words.split())
    terms = options.terms
    assert [engine.time_control for engine in terms.engines] == ["0.5/move", "0.5/move", "nodes=50;depth=3"]
    assert terms.resign == ResignRule(3, 600, two_sided=False)
    assert options.records == Path("x.pgn")


def test_the_ply_limit_is_explained_for_every_game() -> None:
    assert (
        "-plylimit N\n      end a game after N plies, instead of after its own limit: a draw; " in help_text()
    )
    assert "in Dogon the seeds decide" in help_text()


def test_every_option_can_be_given() -> None:
    words = """-game dualma duploline -tournament roundrobin -sprt elo0=-1 elo1=3.5 model=logistic alpha=0.1
        -tc nodes=50;10+0 -games 2 -rounds 7 -openings file=book.txt order=random start=3 -margin 0
        -plylimit 9 -seed 5 -draw movenumber=40 movecount=8 score=10 -resign movecount=3 score=600
        -concurrency 3 -pin off -restart -recover off --pgnout x.pgn -resume
        -log logs -event E -site S --json -sandbox"""
    options = read(*TWO, *words.split())
    terms = options.terms
    assert terms.sprt == Sprt(-1.0, 3.5, alpha=0.1, model=Model.LOGISTIC)
    assert terms.openings == Openings(file=Path("book.txt"), order=Order.RANDOM, start=3)
    assert (terms.ladders, terms.format) == (("dualma", "duploline"), Format.ROUND_ROBIN)
    assert (terms.time_control, terms.games, terms.rounds) == ("10+0;nodes=50", 2, 7)
    assert (terms.draw, terms.resign) == (DrawRule(40, 8, 10), ResignRule(3, 600))
    assert (terms.margin_ms, terms.ply_limit, terms.seed) == (0, 9, 5)
    assert options == MatchOptions(
        terms,
        records=Path("x.pgn"),
        resume=True,
        concurrency=3,
        pin=False,
        restart=True,
        recover=False,
        log=Path("logs"),
        event="E",
        site="S",
        json=True,
        sandbox=True,
    )


def test_an_option_of_one_engine_overrides_that_for_each() -> None:
    words = "-each option.Hash=16 option.Deep=1 -engine cmd=true name=C option.Hash=1".split()
    shared = (("Hash", "16"), ("Deep", "1"))
    assert [engine.options for engine in read(*LEAST, *words).terms.engines] == [
        shared,
        shared,
        (("Hash", "1"), ("Deep", "1")),
    ]


def test_engines_may_have_different_time_controls() -> None:
    options = read(*LEAST, *"-engine cmd=true name=C tc=20+0".split())
    assert options.terms.time_control == "10+0.1"
    assert [engine.time_control for engine in options.terms.engines] == [None, None, "20+0"]
    options = read(*TWO, *"-game dualma -each tc=0.1/move".split())
    assert options.terms.time_control == "0.1/move"


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("python3 bots/stone.py --deep", "stone"),
        ("python3 -m engines.bots.random_bot", "random_bot"),
        ("/bin/true x", "true"),
    ],
)
def test_an_engine_without_a_name_is_called_after_its_program(command: str, name: str) -> None:
    options = read("-engine", f"cmd={command}", *LEAST)
    assert options.terms.engines[0].name == name


def test_the_number_of_rounds_depends_on_the_format() -> None:
    third = "-engine cmd=true name=C -tournament swiss".split()
    assert read(*LEAST, *third).terms.rounds == 2
    assert read(*LEAST, *"-sprt elo0=0 elo1=5".split()).terms.rounds == 100_000


def test_a_bundle_brings_its_name_and_options(folder: Path) -> None:
    (folder / "bot.zip").write_bytes(pack_bundle({"bot.toml": MANIFEST, "main.py": b""}))
    options = read("-engine", "cmd=bot.zip", "option.Deep=3", *TWO, "-game", "dualma", "-tc", "1+0")
    spec = options.terms.engines[0]
    assert (spec.name, spec.version, spec.options) == ("Zip", "3", (("Hash", "16"), ("Deep", "3")))
    with pytest.raises(MatchOptionError, match="Zip plays dualma, not dogon-kulei"):
        read("-engine", "cmd=bot.zip", *LEAST)


@pytest.mark.parametrize("word", ["-crc32", "--rounds=3", "-json=1", "-größe", "-a b", "--x\ny"])
def test_a_word_that_looks_like_an_option_is_no_value_of_the_one_before_it(word: str) -> None:
    with pytest.raises(MatchOptionError, match="unknown option") as raised:
        read(*LEAST, "-event", "E", word)
    assert not str(raised.value).startswith("-event")


def test_a_value_may_begin_with_a_hyphen_and_a_digit() -> None:
    assert read(*LEAST, "-event", "-5 degrees").event == "-5 degrees"


REFUSED = [
    ("", "-game is missing"),
    ("-engine cmd=true -engine cmd=true name=B -game dualma", "-tc is missing"),
    ("-game dogon-kulei", "-engine: a match needs at least two engines, not 0"),
    ("-game chess", "-game chess: unknown game 'chess'"),
    ("-game", "-game: names no game"),
    ("-tc 60", "-tc 60: cannot read '60' in time control '60'"),
    ("-tc 1+0 2+0", "-tc 1+0 2+0: takes one word, not 2"),
    ("-tc 1+0 -tc 2+0", "-tc 2+0: is given twice"),
    ("dogon-kulei", "'dogon-kulei': an option begins with '-'"),
    ("-engine true LEAST", "-engine true: 'true' is not KEY=VALUE"),
    ("-engine name=C LEAST", "-engine name=C: cmd= is missing"),
    ("-engine cmd= LEAST", "-engine cmd=: cmd= is empty"),
    ("-engine cmd=./nothing LEAST", "-engine cmd=./nothing: there is no executable program './nothing' in "),
    (
        "-engine cmd=./plain LEAST",
        "cmd=./plain: './plain' is not executable: make it executable (chmod +x), or",
    ),
    ("-engine cmd=. LEAST", "cmd=.: '.' is a folder, not a program or a bundle (bot.zip)"),
    ("-engine cmd=nothing.zip LEAST", "nothing.zip cannot be read: No such file"),
    ("-engine cmd=plain.zip LEAST", "plain.zip is not a valid bundle: "),
    ("-engine cmd=true dir=gone LEAST", "dir=gone: no such folder"),
    ("-engine cmd=true name=A LEAST", "two engines are named 'A'"),
    ("-engine cmd=true option.=1 LEAST", "'option.' cannot be set"),
    ("-engine cmd=true option.a\nb=1 LEAST", "'option.a\\nb' cannot be set"),
    ("-engine cmd=true option.value=1 LEAST", "'option.value' cannot be set"),
    ("-engine cmd=true option.a=1\nquit LEAST", "option.a='1\\nquit': a value has only printable characters"),
    ("-engine cmd=true option.UGI_Seed=1 LEAST", "'option.UGI_Seed' cannot be set"),
    ("-engine cmd=true tc=60 LEAST", "-engine cmd=true tc=60: cannot read '60' in time control '60'"),
    ("-draw movenumber=1 score=3", "-draw movenumber=1 score=3: movecount= is missing"),
    ("-draw movenumber=0 movecount=1 score=3", "'0' is not a whole number from 1"),
    ("-resign movecount=3 score=0", "'0' is not a whole number from 1"),
    ("-rounds 0", "-rounds 0: '0' is not a whole number from 1 to 1000000"),
    ("-rounds ²", "'²' is not a whole number"),
    ("-pin maybe", "-pin maybe: 'maybe' is neither on nor off"),
    ("-tournament chess", "'chess' is not one of roundrobin, gauntlet, swiss"),
    (
        "-tournament sprt LEAST",
        "-tournament sprt: 'sprt' is not one of roundrobin, gauntlet, swiss",
    ),
    ("-sprt elo0=0 elo1=1 -tournament swiss LEAST", "-sprt: cannot be combined with -tournament swiss"),
    ("-sprt elo0=1 LEAST", "-sprt elo0=1: elo1= is missing"),
    ("-sprt elo0=a elo1=1", "elo0='a' is not a number"),
    ("-sprt elo0=nan elo1=1", "elo0='nan' is not a number"),
    ("-sprt elo0=2 elo1=1", "elo0 must be below elo1, not 2 and 1"),
    ("-sprt elo0=0 elo1=9999", "elo0 and elo1 must be at most 200 from 0 (normalized model)"),
    ("-sprt elo0=0 elo1=1 alpha=0", "alpha"),
    ("-sprt elo0=0 elo1=1 model=bayes", "'bayes' is not one of logistic, normalized"),
    ("-sprt elo0=0 elo1=1 LEAST -engine cmd=true name=C", "-sprt: a test is between two engines, not 3"),
    ("-openings random:99", "'99' is not a whole number from 0 to 40"),
    ("-openings file=x book", "'book' is not KEY=VALUE"),
    ("-openings order=random", "must be random:PLIES, none, or file=FILE"),
    ("-openings random:8 start=3", "must be random:PLIES, none, or file=FILE"),
    ("-openings file=x order=any", "'any' is not one of sequential, random"),
    ("-srand 4 LEAST", "-srand 4: unknown option; -seed N is the seed of openings and engines"),
    ("-resign movecount=3 score=9 twosided=x", "twosided='x' is neither true nor false"),
    ("-engine cmd=true st=x LEAST", "cannot read 'x/move'"),
    ("-engin cmd=true", "-engin cmd=true: unknown option; -help lists all"),
    ("-engine cmd=true nam=C LEAST", "unknown key 'nam'; known are cmd, arg, name, version, dir, tc"),
    ("-engine cmd=true version=1\n2 LEAST", "the version '1\\n2' must have 0 to 80 printable characters"),
    (
        "-engine cmd=true name= LEAST",
        "the name '' must have 1 to 80 printable characters, no space at either end",
    ),
    (
        "-each cmd=true LEAST",
        "-each cmd=true: unknown key 'cmd'; known are dir, tc, st, nodes, depth, option.NAME",
    ),
    (
        "-tournament swiss -games 1 LEAST",
        "-games 1: a test and a Swiss event need both colours of every opening",
    ),
    (
        "-sprt elo0=0 elo1=1 -games 1 LEAST",
        "-games 1: a test and a Swiss event need both colours of every opening",
    ),
    ("-games 3 LEAST", "-games 3: '3' is not a whole number from 1 to 2"),
    ("-records . LEAST", "-records .: '.' has no name at its end"),
    ("-event a\tb", "the text 'a\\tb' must have 0 to 80 printable characters"),
    ("-maxmoves 100 LEAST", "-maxmoves 100: unknown option; -plylimit N ends a game after N plies"),
    ("-use-affinity 0 LEAST", "-use-affinity 0: unknown option; taskset -c LIST, before python3, chooses"),
    ("-each restart=on LEAST", "-each restart=on: unknown key 'restart'; -restart starts all engines anew"),
    ("-each proto=uci LEAST", "-each proto=uci: unknown key 'proto'; leave it out: every engine is spoken"),
]


@pytest.mark.parametrize(("text", "complaint"), REFUSED, ids=[text for text, _ in REFUSED])
def test_an_invalid_option_is_refused_with_its_place(text: str, complaint: str, folder: Path) -> None:
    (folder / "plain").write_text("")
    (folder / "plain.zip").write_text("")
    words = [word for part in text.split(" ") for word in (LEAST if part == "LEAST" else [part]) if word]
    with pytest.raises(MatchOptionError) as raised:
        read(*words)
    assert complaint in str(raised.value)
    assert os.sep * 2 not in str(raised.value)
