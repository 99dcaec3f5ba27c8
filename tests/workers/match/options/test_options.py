"""The options of a match, as flags or in TOML, and how others are refused."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from engines.arithmetic.statistics import Model
from engines.bundles.store import pack_bundle
from tests.support.matches import options_of
from workers.jobs import DrawRule, ResignRule, RestartMode
from workers.match.options.dryrun import describe_match
from workers.match.options.flags import help_text
from workers.match.options.options import Format, MatchOptionError, MatchOptions, Openings, Order
from workers.sequential import Sprt

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
    assert [entrant.name for entrant in terms.entrants] == ["A", "B"]
    assert (terms.ladders, terms.time_control) == (("dogon-kulei",), "10+0.1")
    assert (terms.format, terms.rounds, terms.games) == (Format.ROUND_ROBIN, 1, 2)
    assert terms.openings == Openings(plies=8)
    assert (options.concurrency, options.pin, options.records) == (1, True, Path("match.pgn"))


def test_options_of_other_match_runners_are_known() -> None:
    words = """-pgnout file=x.pgn -each st=0.5 timemargin=20 startup=30
        -engine cmd=true name=C nodes=50 depth=3 timemargin=0 -noswap -reverse -wait 200
        -use-affinity 0 -ratinginterval 10 -strict -game dualma
        -resign movecount=3 score=600 twosided=false"""
    options = read(*TWO, *words.split())
    terms = options.terms
    one, _, three = terms.entrants
    assert (one.time_control, three.time_control) == ("0.5/move", "nodes=50;depth=3")
    assert [(each.margin_ms, each.startup_seconds) for each in (one, three)] == [(20, 30), (0, 30)]
    assert (terms.swaps, terms.reverse, terms.resign) == (False, True, ResignRule(3, 600, two_sided=False))
    assert (options.records, options.wait, options.cpus) == (Path("x.pgn"), 200, (0,))
    assert (options.ratinginterval, options.strict) == (10, True)


def test_a_time_to_start_is_for_all_engines_without_their_own() -> None:
    options = read(*LEAST, *"-startup 40 -engine cmd=true name=C startup=2".split())
    assert [entrant.startup_seconds for entrant in options.terms.entrants] == [40, 40, 2]


def test_the_ply_limit_is_explained_for_every_game() -> None:
    assert (
        "-plylimit N\n      end a game after N plies, instead of after its own limit: a draw; " in help_text()
    )
    assert "in Dogon the seeds decide" in help_text()


def test_every_option_can_be_given() -> None:
    words = """-game dualma duploline -tournament sprt -sprt elo0=-1 elo1=3.5 model=logistic alpha=0.1
        -tc nodes=50;10+0 -games 4 -rounds 7 -openings file=book.txt order=random start=3 -margin 0
        -plylimit 9 -seed 5 -draw movenumber=40 movecount=8 score=10 -resign movecount=3 score=600
        -concurrency 3 -pin off -recover off -withdraw 2 --pgnout x.pgn -resume
        -log logs -event E -site S --json --dry-run -sandbox"""
    options = read(*TWO, *words.split())
    terms = options.terms
    assert terms.sprt == Sprt(-1.0, 3.5, alpha=0.1, model=Model.LOGISTIC)
    assert terms.openings == Openings(file=Path("book.txt"), order=Order.RANDOM, start=3)
    assert (terms.time_control, terms.games, terms.rounds) == ("10+0;nodes=50", 4, 7)
    assert (terms.draw, terms.resign) == (DrawRule(40, 8, 10), ResignRule(3, 600))
    assert (terms.margin_ms, terms.ply_limit, terms.seed) == (0, 9, 5)
    assert options == MatchOptions(
        *(terms, Path("x.pgn"), True, 3, False, False, 2, Path("logs"), "E", "S"),
        json=True,
        dry_run=True,
        sandbox=True,
    )


def test_an_option_of_one_engine_overrides_that_for_each() -> None:
    each = "-each restart=on option.Hash=16 option.Deep".split()[:3]
    options = read(
        *LEAST, "-each", *each[1:], "-engine", "cmd=true", "name=C", "restart=off", "option.Hash=1"
    )
    specs = [(entrant.restart, entrant.options) for entrant in options.terms.entrants]
    assert specs == [
        (RestartMode.ON, (("Hash", "16"),)),
        (RestartMode.ON, (("Hash", "16"),)),
        (RestartMode.OFF, (("Hash", "1"),)),
    ]


def test_engines_may_have_different_time_controls() -> None:
    options = read(*LEAST, *"-engine cmd=true name=C tc=20+0".split())
    assert options.terms.time_control == "10+0.1"
    assert [entrant.time_control for entrant in options.terms.entrants] == [None, None, "20+0"]
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
    assert options.terms.entrants[0].name == name


def test_a_toml_file_gives_the_same_options_and_flags_override_it(folder: Path) -> None:
    (folder / "match.toml").write_text(
        """
        game = ["dualma", "duploline"]
        tc = "0.1/move"
        rounds = 3
        seed = 4
        recover = false
        openings = { file = "book.txt", start = 2 }
        each.option.Hash = 8
        [[engine]]
        cmd = "true"
        name = "A"
        arg = ["x y", "z"]
        [[engine]]
        cmd = "true"
        name = "B"
        option = { Deep = true, "Two words" = 1 }
        """
    )
    options = read("-config", "match.toml", "-seed", "9")
    one, two = options.terms.entrants
    assert one.command[1:] == ("x y", "z")
    assert dict(two.options) == {"Hash": "8", "Deep": "true", "Two words": "1"}
    assert (options.terms.seed, options.terms.rounds, options.recover) == (9, 3, False)
    assert options.terms.openings == Openings(file=Path("book.txt"), start=2)


def test_booleans_of_a_toml_file_are_those_of_ugi_in_the_options_of_engines(folder: Path) -> None:
    (folder / "match.toml").write_text(
        """
        recover = false
        [each]
        restart = true
        [each.option]
        "Use Book" = true
        [[engine]]
        cmd = "true"
        name = "A"
        [[engine]]
        cmd = "true"
        name = "B"
        option."Use Book" = false
        "option.Ponder" = true
        """
    )
    options = read("-config", "match.toml", *LEAST[len(TWO) :])
    one, two = options.terms.entrants
    assert dict(one.options) == {"Use Book": "true"}
    assert dict(two.options) == {"Use Book": "false", "Ponder": "true"}
    assert (options.recover, one.restart) == (False, "on")


def test_a_dry_run_prints_the_toml_of_the_same_match(folder: Path) -> None:
    (folder / "book.txt").write_text("d1+ d2+\nf1+\n")
    files = "-openings file=book.txt order=random plies=1 -withdraw 3 -each option.Two.words=x -sandbox"
    test = "-sprt elo0=0 elo1=5 -games 4 -log logs -site S -draw movenumber=9 movecount=2 score=0"
    others = """-noswap -reverse -wait 20 -cpus 0 -ratinginterval 5 -strict -startup 20
        -each st=1 timemargin=3 -resign movecount=3 score=9 twosided=false"""
    gauntlet = """-openings random:2 -tournament gauntlet -game dualma -rounds 2
        -resign movecount=3 score=99 -engine tc=depth=2 name=C"""
    for words in (
        files,
        test,
        others,
        "-each option.Empty= option.Own.Book=false",
        "-tournament knockout -games 4",
        "-tournament swiss",
        [*gauntlet.split(), "cmd=true 'a b'"],
    ):
        options = read(*LEAST, *(words.split() if isinstance(words, str) else words))
        (folder / "again.toml").write_text("\n".join(describe_match(options)))
        assert read("-config", "again.toml") == options


def test_a_bundle_brings_its_name_and_options(folder: Path) -> None:
    (folder / "bot.zip").write_bytes(pack_bundle({"bot.toml": MANIFEST, "main.py": b""}))
    options = read("-engine", "cmd=bot.zip", "option.Deep=3", *TWO, "-game", "dualma", "-tc", "1+0")
    spec = options.terms.entrants[0]
    assert (spec.name, spec.version, spec.options) == ("Zip", "3", (("Hash", "16"), ("Deep", "3")))
    with pytest.raises(MatchOptionError, match="Zip plays dualma, not dogon-kulei"):
        read("-engine", "cmd=bot.zip", *LEAST)


@pytest.mark.parametrize(
    ("given", "control"),
    [("1:00+1", "60+1"), ("0:30.5+0", "30.5+0"), ("depth=3;2:05+0.1", "125+0.1;depth=3"), ("90+1", "90+1")],
)
def test_a_clock_may_have_minutes(given: str, control: str, folder: Path) -> None:
    assert read(*TWO, "-game", "dualma", "-tc", given).terms.time_control == control


def test_the_path_of_a_program_may_have_a_space_where_its_beginning_is_another_program(folder: Path) -> None:
    for name in ("my", "my bot"):
        (folder / name).write_text("#!/bin/sh\n")
        (folder / name).chmod(0o755)
    one, two = read(
        "-engine", "cmd=./my bot", "-engine", "cmd=./my 'a bot'", *LEAST[len(TWO) :]
    ).terms.entrants
    assert one.command == (str(folder / "my bot"),)
    assert two.command == (str(folder / "my"), "a bot")
    (folder / "in").mkdir()
    (folder / "my bot").rename(folder / "in" / "my bot")
    words = ["-engine", "cmd=./my bot", "arg=x", "dir=in", "-engine", "cmd=true"]
    assert read(*words, *LEAST[len(TWO) :]).terms.entrants[0].command == (str(folder / "in" / "my bot"), "x")


def test_a_long_command_is_no_path() -> None:
    words = ["-engine", f"cmd=sh -c '{'x' * 5000}'", "name=A", "-engine", "cmd=true", *LEAST[len(TWO) :]]
    assert read(*words).terms.entrants[0].command[1:] == ("-c", "x" * 5000)


OF_OTHERS = """version engines engine each variant concurrency draw resign maxmoves tb tbpieces tbignore50
    tbadjudicate tournament event games rounds sprt ratinginterval scoreinterval outcomeinterval debug
    openings bookmode pgnout livepgnout epdout pgnin recover repeat noswap reverse seeds site srand wait
    resultformat quick config compliance crc32 force-concurrency show-latency testEnv test-env output
    autosaveinterval log use-affinity affinity report startup-ms ping-ms strikes strict ponder""".split()
"""The options of cutechess-cli and fastchess."""


@pytest.mark.parametrize("name", OF_OTHERS)
def test_every_option_of_other_match_runners_is_read_or_has_a_hint(name: str) -> None:
    with pytest.raises(MatchOptionError) as raised:
        read(f"-{name}", "-last")
    assert not str(raised.value).startswith(f"-{name}: unknown option; -help lists all")


@pytest.mark.parametrize(
    "key", "proto args conf initstr stderr trust book bookdepth whitepov ponder plies".split()
)
def test_every_key_of_an_engine_in_other_match_runners_has_a_hint(key: str) -> None:
    for words in (["-engine", "cmd=true", key], ["-each", f"{key}=x"]):
        with pytest.raises(MatchOptionError, match=f"unknown key '{key}'; "):
            read(*LEAST, *words)


@pytest.mark.parametrize("word", ["-crc32", "--rounds=3", "-dry_run=1", "-größe", "-a b", "--x\ny"])
def test_a_word_that_looks_like_an_option_is_no_value_of_the_one_before_it(word: str) -> None:
    with pytest.raises(MatchOptionError, match="unknown option") as raised:
        read(*LEAST, "-event", "E", word)
    assert not str(raised.value).startswith("-event")


def test_a_value_may_begin_with_a_hyphen_and_a_digit() -> None:
    assert read(*LEAST, "-event", "-5 degrees").event == "-5 degrees"
    assert read(*LEAST, "-dry_run").dry_run


REFUSED = [
    ("", "-game is missing"),
    ("-engine cmd=true -engine cmd=true name=B -game dualma", "-tc is missing"),
    ("-game dogon-kulei", "-engine: a match needs at least two engines, not 0"),
    ("-game chess", "-game chess: unknown game 'chess'"),
    ("-game", "-game: names no game"),
    ("-tc 60", "-tc 60: cannot read '60' in time control '60'"),
    ("-tc 60", "write 60+0 for 60 seconds without an increment"),
    ("-tc 40/60", "a clock is for the whole game: write 60+0.5, or 0.1/move"),
    ("-tc inf", "a game needs a limit: write nodes=5000 or depth=4"),
    ("-tc 0+5", "a clock of 0 seconds has no time for the first move: write 5/move"),
    ("-tc 1:75", "a clock is in seconds"),
    ("-tc 1:30", "write 60+0 for 60 seconds without an increment"),
    ("-draw number=3 movecount=1 score=3", "unknown key 'number'; write movenumber=N"),
    ("-draw movenumber=3 count=1 score=3", "unknown key 'count'; write movecount=N"),
    ("-resign count=1 score=3", "unknown key 'count'; write movecount=N"),
    ("-each movetime=1 LEAST", "unknown key 'movetime'; write st=SECONDS"),
    ("-each timeout=1 LEAST", "unknown key 'timeout'; startup=SECONDS"),
    ("-pgn games.pgn 2 LEAST", "unknown option; -records FILE has every game"),
    ("-gauntlet LEAST", "unknown option; write -tournament gauntlet"),
    ("-swap LEAST", "unknown option; leave it out: each opening is played with both colours"),
    ("-nobookrepeat LEAST", "unknown option; leave it out: each pair of games has the next opening"),
    ("-tc 1+0 2+0", "-tc 1+0 2+0: takes one word, not 2"),
    ("-tc 1+0 -tc 2+0", "-tc 2+0: is given twice"),
    ("dogon-kulei", "'dogon-kulei': an option begins with '-'"),
    ("-engin cmd=true", "-engin cmd=true: unknown option; -help lists all, among them -engine"),
    ("-engine true LEAST", "-engine true: 'true' is not KEY=VALUE"),
    ("-engine name=C LEAST", "-engine name=C: cmd= is missing"),
    ("-engine cmd= LEAST", "-engine cmd=: cmd= is empty"),
    ("-engine cmd=true nam=C LEAST", "unknown key 'nam' (known are cmd, arg, name, version, dir, tc"),
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
    ("-engine cmd=true restart=yes LEAST", "restart: 'yes' is not one of on, auto, off"),
    ("-engine cmd=true option.=1 LEAST", "'option.' cannot be set"),
    ("-engine cmd=true option.a\nb=1 LEAST", "'option.a\\nb' cannot be set"),
    ("-engine cmd=true option.value=1 LEAST", "'option.value' cannot be set"),
    ("-engine cmd=true option.a=1\nquit LEAST", "option.a='1\\nquit': a value has only printable characters"),
    (
        "-engine cmd=true version=1\n2 LEAST",
        "version: '1\\n2' must have at most 80 characters, all printable",
    ),
    ("-engine cmd=true option.UGI_Seed=1 LEAST", "'option.UGI_Seed' cannot be set"),
    (
        "-each cmd=true LEAST",
        "-each cmd=true: unknown key 'cmd' (known are dir, tc, st, nodes, depth, timemargin, startup, ",
    ),
    ("-engine cmd=true tc=60 LEAST", "-engine cmd=true tc=60: cannot read '60' in time control '60'"),
    ("-draw movenumber=1 score=3", "-draw movenumber=1 score=3: movecount= is missing"),
    ("-draw movenumber=0 movecount=1 score=3", "'0' is not a whole number from 1"),
    ("-resign movecount=3 score=0", "'0' is not a whole number from 1"),
    ("-rounds 0", "-rounds 0: '0' is not a whole number from 1 to 1000000"),
    ("-rounds ²", "'²' is not a whole number"),
    ("-pairs 3 -games 2 LEAST", "-pairs: cannot be combined with -games"),
    ("-pin maybe", "-pin maybe: 'maybe' is neither on nor off"),
    ("-tournament chess", "'chess' is not one of roundrobin, gauntlet, sprt, knockout, swiss"),
    ("-tournament knockout -rounds 2 LEAST", "-rounds: a knock-out has as many rounds as its engines need"),
    ("-tournament swiss -games 1 LEAST", "-games 1: a swiss is played in pairs of games"),
    (
        "-tournament sprt LEAST",
        "-tournament sprt: -sprt elo0=… elo1=… is for -tournament sprt, which needs it",
    ),
    ("-sprt elo0=1 LEAST", "-sprt elo0=1: elo1= is missing"),
    ("-sprt elo0=a elo1=1", "elo0: 'a' is not a number"),
    ("-sprt elo0=nan elo1=1", "elo0: 'nan' is not a number"),
    ("-sprt elo0=2 elo1=1", "elo0 must be below elo1, not 2 and 1"),
    ("-sprt elo0=0 elo1=9999", "elo0 and elo1 must be at most 200 from 0 (normalized model)"),
    ("-sprt elo0=0 elo1=1 alpha=0", "alpha"),
    ("-sprt elo0=0 elo1=1 model=bayes", "'bayes' is not one of logistic, normalized"),
    ("-sprt elo0=0 elo1=1 -games 1 LEAST", "-games 1: a test counts pairs of games"),
    ("-sprt elo0=0 elo1=1 LEAST -engine cmd=true name=C", "-sprt: a test is between two engines, not 3"),
    ("-openings random:99", "'99' is not a whole number from 0 to 40"),
    ("-openings file=x book", "'book' is not KEY=VALUE"),
    ("-openings order=random", "must be random:PLIES, none, or file=FILE"),
    ("-openings random:8 start=3", "must be random:PLIES, none, or file=FILE"),
    ("-openings file=x order=any", "'any' is not one of sequential, random"),
    ("-records . LEAST", "-records .: '.' is a folder"),
    ("-event a\tb", "'a\\tb' must have at most 80 characters"),
    ("-maxmoves 100 LEAST", "-maxmoves 100: unknown option; -plylimit N ends a game after N plies"),
    ("-srand 4 LEAST", "-srand 4: unknown option; -seed N is the seed of openings and engines"),
    ("-repeat LEAST", "-repeat: unknown option; leave it out: each opening is played with both colours"),
    ("-noswap -sprt elo0=0 elo1=5 LEAST", "-noswap: a test needs both colours of every opening"),
    ("-resign movecount=3 score=9 twosided=x", "twosided: 'x' is neither on nor off"),
    ("-engine cmd=true st=x LEAST", "cannot read 'x/move'"),
    ("-engine cmd=true timemargin=-1 LEAST", "'-1' is not a whole number from 0 to 60000"),
    ("-cpus 4095", "-cpus 4095: CPU 4095 is not one of this machine's: "),
    ("-cpus 2-1", "'1' is not a whole number from 2 to 4095"),
    ("-cpus 0 -concurrency 2 LEAST", "-cpus: 2 games at a time need 2 CPUs, not 1"),
    ("-cpus 0 -pin off LEAST", "-cpus: cannot be combined with -pin off"),
    ("-use-affinity LEAST", "-use-affinity: names no CPU: leave it out (each game has a core of its own)"),
    ("-crc32 pgn=true LEAST", "-crc32 pgn=true: unknown option; leave it out"),
    ("-strikes 3 LEAST", "-strikes 3: unknown option; -withdraw N withdraws an engine after N forfeits in"),
    ("-seeds 2 LEAST", "-seeds 2: unknown option; in a gauntlet the first engine meets the others"),
    ("--rounds=3 LEAST", "-rounds=3: unknown option; write -rounds 3"),
    ("-srand=4 LEAST", "-srand=4: unknown option; -seed N is the seed of openings and engines"),
    ("-each proto=uci LEAST", "-each proto=uci: unknown key 'proto'; leave it out: every engine is spoken"),
    ("-openings file=x format=epd", "unknown key 'format'; leave it out: one line of the file is one"),
    ("-log file=x.log", "-log file=x.log: takes a folder, in which each game has a file"),
    ("-config file=gone.toml", "gone.toml: cannot be read: No such file"),
    ("-config gone.toml", "gone.toml: cannot be read: No such file"),
    ("-config bad.toml", "bad.toml: not valid TOML: "),
    ("-config deep.toml", "deep.toml: tables are nested too deep"),
    ("-config nul.toml", "nul.toml: [[engine]] 1 cmd: 'a\\x00b' contains a NUL"),
    ("-config nested.toml", "nested.toml: config: not allowed in a file"),
    ("-config odd.toml", "odd.toml: [[engine]] 2: unknown key 'nam'"),
    ("-config date.toml", "date.toml: seed: a value of type date is not allowed here"),
]


@pytest.mark.parametrize(("text", "complaint"), REFUSED, ids=[text for text, _ in REFUSED])
def test_an_invalid_option_is_refused_with_its_place(text: str, complaint: str, folder: Path) -> None:
    (folder / "plain").write_text("")
    (folder / "plain.zip").write_text("")
    (folder / "bad.toml").write_text("game = ")
    (folder / "odd.toml").write_text(
        'game = "dualma"\ntc = "1+0"\n[[engine]]\ncmd = "true"\n[[engine]]\ncmd = "true"\nnam = "C"'
    )
    (folder / "deep.toml").write_text("a = " + "[" * 100_000)
    (folder / "nul.toml").write_text('[[engine]]\ncmd = "a\\u0000b"')
    (folder / "nested.toml").write_text('config = "odd.toml"')
    (folder / "date.toml").write_text("seed = 2026-11-21")
    words = [word for part in text.split(" ") for word in (LEAST if part == "LEAST" else [part]) if word]
    with pytest.raises(MatchOptionError) as raised:
        read(*words)
    assert complaint in str(raised.value)
    assert os.sep * 2 not in str(raised.value)
