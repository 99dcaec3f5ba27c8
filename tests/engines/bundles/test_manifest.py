"""``bot.toml``: one clear sentence for everything that is not as specified."""

from __future__ import annotations

import pytest

from engines.bundles.manifest import BundleError, Manifest, check_command, parse_manifest

GOOD = """
[bot]
name = "Stone Age"
version = "1.2"
command = ["python3", "main.py"]
games = ["dogon-kulei", "duovallis"]
[options]
Hash = 16
"Use Book" = true
Style = "calm"
Contempt = -0.5
"""


def parse(text: str) -> Manifest:
    return parse_manifest(text.encode())


def test_a_manifest_is_read_with_its_options_spelled_as_sent() -> None:
    manifest = parse(GOOD)
    assert (manifest.name, manifest.version) == ("Stone Age", "1.2")
    assert manifest.command == ("python3", "main.py")
    assert manifest.games == ("dogon-kulei", "duovallis")
    assert manifest.options == (("Hash", "16"), ("Use Book", "true"), ("Style", "calm"), ("Contempt", "-0.5"))


def test_a_byte_order_mark_is_skipped() -> None:
    assert parse("\ufeff" + GOOD) == parse(GOOD)


def test_options_may_be_left_out() -> None:
    assert parse(GOOD.partition("[options]")[0]).options == ()


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("[bot]", "[bots]", r"unknown key 'bots' \(known are bot, options\)"),
        ("[bot]", "colour = 1\n[bot]", "unknown key 'colour'"),
        ("[bot]", "[bot]\ncolour = 1", "unknown key 'bot.colour'"),
        ('name = "Stone Age"', "", "lacks bot.name"),
        ('version = "1.2"', "", "lacks bot.version"),
        ('command = ["python3", "main.py"]', "", "lacks bot.command"),
        ('games = ["dogon-kulei", "duovallis"]', "", "lacks bot.games"),
        ('"Stone Age"', "7", "bot.name in bot.toml must be a string, not 7"),
        ('"Stone Age"', '""', "bot.name .* must be 1-40 printable characters .* not ''"),
        ('"Stone Age"', '"' + "x" * 41 + '"', "bot.name .* must be 1-40 printable"),
        ('"Stone Age"', '" Stone"', "without a space at either end, not ' Stone'"),
        ('"Stone Age"', r'"a\u202eb"', r"printable characters .* not 'a\\u202eb'"),
        ('"1.2"', "1.2", "bot.version in bot.toml must be a string, not 1.2"),
        ('["python3", "main.py"]', '"python3 main.py"', "must be a list .* not 'python3 main.py'"),
        ('["python3", "main.py"]', "[]", r"bot.command .* list of one or more strings, not \[\]"),
        ('["python3", "main.py"]', '["python3", 1]', "bot.command .* list of one or more strings"),
        ('["python3", "main.py"]', '[""]', "bot.command in bot.toml starts with an empty word"),
        ('["python3", "main.py"]', r'["a\u0000"]', r"must be printable .* not 'a\\x00'"),
        ('["python3", "main.py"]', str(["x"] * 65), "has 65 words, more than 64"),
        ('"duovallis"]', '"chess"]', "bot.games in bot.toml names 'chess', which is none of .*dogon-kulei"),
        ('"duovallis"]', '"dogon-kulei"]', "names 'dogon-kulei' twice"),
        ("[options]", "[[options]]", "options in bot.toml must be a table"),
        ("Hash = 16", "Hash = [16]", r"option 'Hash' .* a string, a number or a truth value, not \[16\]"),
        ("Hash = 16", "Hash = 2026-01-01", "option 'Hash' .* must be a string"),
        ("Hash = 16", r'Hash = "a\nquit"', r"option 'Hash' .* printable .* not 'a\\nquit'"),
        ("Hash = 16", '"a value b" = 1', "option 'a value b' .* words other than 'value'"),
        ("Hash = 16", r'"a\nquit" = 1', "option .* must be printable words"),
        ("Hash = 16", '"" = 1', "option '' .* must be printable words"),
        ("Hash = 16", "ugi_seed = 1", "option 'ugi_seed' .* is set by the server"),
        ("Hash = 16", "Hash = ", "not valid TOML: .*line 8"),
        ("Hash = 16", "Hash = " + "[" * 3000, "not valid TOML"),
        ("Hash = 16", "Hash = " + "9" * 5000, "not valid TOML"),
        ("Hash = 16", "# " + "x" * 66000, "over 64 KiB"),
    ],
)
def test_each_mistake_is_named(old: str, new: str, complaint: str) -> None:
    assert old in GOOD
    with pytest.raises(BundleError, match=complaint) as caught:
        parse(GOOD.replace(old, new))
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


def test_a_manifest_that_is_not_utf_8_names_the_byte() -> None:
    with pytest.raises(BundleError, match="not UTF-8 at byte 1"):
        parse_manifest(b"#\xff")


def with_command(*words: str) -> Manifest:
    return Manifest("A", "1", words, ("duovallis",))


@pytest.mark.parametrize(
    "words",
    [("bin/engine",), ("./bin/engine", "--fast"), ("python3", "main.py"), ("python3", "-m", "anything")],
)
def test_a_command_starts_with_a_file_or_an_interpreter(words: tuple[str, ...]) -> None:
    check_command(with_command(*words), {"bin/engine", "main.py"})


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("engine",), "starts with 'engine', which is neither a file of the bundle nor one of python3"),
        (("/bin/sh", "x"), "starts with '/bin/sh', which is neither"),
        (("../engine",), "starts with '../engine', which is neither"),
        (("python3",), "names no program for 'python3' to run"),
        (("python3", "mian.py"), "names 'mian.py', which is not in the bundle"),
        (("sh", "../run.sh"), "names '../run.sh', which is not in the bundle"),
    ],
)
def test_a_command_that_cannot_start_is_named(words: tuple[str, ...], complaint: str) -> None:
    with pytest.raises(BundleError, match=complaint):
        check_command(with_command(*words), {"bin/engine", "main.py"})


def test_an_interpreter_that_is_not_installed_is_not_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(BundleError, match=r"needs 'lua', which is not available here: there is python3$"):
        check_command(with_command("lua", "main.lua"), {"main.lua"})


def test_a_command_is_held_against_the_interpreters_that_a_site_has() -> None:
    with_node, without = {"python3": "/p", "node": "/n"}.get, {"python3": "/p", "sh": "/s"}.get
    check_command(with_command("node", "main.js"), {"main.js"}, with_node)
    with pytest.raises(
        BundleError, match=r"needs 'node', which is not available here: there is python3, sh$"
    ):
        check_command(with_command("node", "main.js"), {"main.js"}, without)
    with pytest.raises(BundleError, match=r"neither a file of the bundle nor one of python3, sh$"):
        check_command(with_command("nodejs", "main.js"), {"main.js"}, without)


@pytest.mark.parametrize(
    "text",
    [
        "KEY = 1",
        "[bot]\nKEY = 1",
        "[KEY]\n[KEY]",
        'KEY = "a" b',
        "[bot]\nname = 'KEY'",
        "[bot]\nname = 'a'\nversion = '1'\ncommand = ['KEY']",
        "[bot]\nname = 'a'\nversion = '1'\ncommand = ['a']\ngames = ['KEY']",
        "[bot]\nname = 'a'\nversion = '1'\ncommand = ['a']\ngames = ['dualma']\n[options]\nKEY = 'KEY'",
        "[bot]\nname = 'a'\nversion = '1'\ncommand = ['a']\ngames = ['dualma']\n[options]\na = ['KEY']",
    ],
)
def test_a_message_quotes_at_most_80_characters(text: str) -> None:
    with pytest.raises(BundleError) as caught:
        parse_manifest(text.replace("KEY", "k" * 25_000, 2).encode())
    assert len(str(caught.value)) < 300
    assert "k" * 81 not in str(caught.value)


@pytest.mark.parametrize("command", [["python3", "k" * 1000], ["k" * 1000]])
def test_a_message_about_the_command_quotes_at_most_80_characters(command: list[str]) -> None:
    manifest = Manifest("a", "1", tuple(command), ("dualma",))
    with pytest.raises(BundleError) as caught:
        check_command(manifest, [])
    assert "k" * 81 not in str(caught.value)
