"""How dumps are made: by months, in steps that are abandoned anywhere, again after annulments."""

from __future__ import annotations

import csv
import gzip
import hashlib
import os
import shutil
import subprocess
from itertools import islice
from pathlib import Path

import pytest
from django.conf import settings
from django.utils import timezone

from engines.__main__ import main
from engines.evidence.signatures import Signature, check_signature
from tests.support.dumped import DAY, DECEMBER, NOVEMBER, OCTOBER, make_dumps, play_ladder, set_ends
from tests.support.schedule import LADDER
from tests.support.ssh_keygen import put_in_path
from tournament.models import Dump, Game, GameRecord, Ladder, LadderRating, Tournament
from tournament.services import signing
from tournament.services.annulments import annul
from tournament.services.dumps import growing
from tournament.services.dumps.making import CORRECTED, RATED, REMADE, due_months, make
from tournament.services.results.rebuilding import rebuild_outdated

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def small_members(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growing, "MEMBER", 2)
    monkeypatch.setattr("tournament.services.dumps.making.MEMBER", 2)


def records_of(dump: Dump) -> bytes:
    return gzip.decompress(dump.path(f"{dump.name}.pgn.gz").read_bytes())


def rows_of(dump: Dump) -> list[dict[str, str]]:
    text = gzip.decompress(dump.path(f"{dump.name}-games.csv.gz").read_bytes()).decode()
    return list(csv.DictReader(text.splitlines()))


def ratings_of(dump: Dump) -> list[dict[str, str]]:
    return list(csv.DictReader(dump.path(f"{dump.name}-ratings.csv").read_text().splitlines()))


def texts(first: int, last: int) -> str:
    """The records of the ladder with these numbers."""
    found = GameRecord.objects.filter(game__ladder=LADDER, game__sequence__range=(first, last))
    return "\n".join(found.order_by("game__sequence").values_list("text", flat=True))


def annul_number(sequence: int) -> None:
    annul(Game.objects.filter(ladder=LADDER, sequence=sequence), "Its clock was wrong.", timezone.now())
    rebuild_outdated()


def bytes_of(dump: Dump) -> list[bytes]:
    return [dump.path(name).read_bytes() for name in dump.files]


def test_a_month_has_the_games_from_after_those_before_to_the_first_that_ended_later() -> None:
    late, ahead = OCTOBER, DECEMBER + 90 * DAY  # recorded after a game of November; by a clock that is wrong
    play_ladder([OCTOBER, OCTOBER, ahead, OCTOBER, OCTOBER, NOVEMBER, late, NOVEMBER])
    november, october = make_dumps()
    assert (october.month.month, october.after, october.last, october.games) == (10, 0, 5, 5)
    assert (november.month.month, november.after, november.last, november.games) == (11, 5, 12, 7)
    assert records_of(october).decode() == texts(1, 5)
    assert records_of(november).decode() == texts(6, 12)
    ids = Game.objects.filter(ladder=LADDER).order_by("sequence").values_list("id", flat=True)
    assert [int(row["id"]) for row in rows_of(october) + rows_of(november)] == list(ids)
    assert rows_of(october)[0]["page"] == f"{settings.SITE}/games/{ids[0]}/"


def test_the_first_and_the_last_moment_of_a_month_are_its_own() -> None:
    begin = NOVEMBER.replace(hour=0)
    last = begin - DAY / 86_400_000_000
    play_ladder([OCTOBER, last, begin])
    november, october = make_dumps(begin + DAY * 30)
    assert (october.last, november.after) == (2, 2)
    assert list(due_months(begin + DAY * 30)) == []


def test_a_month_that_is_not_over_grows_by_whole_members() -> None:
    play_ladder([OCTOBER])
    (month,) = due_months(OCTOBER)
    list(make(month, OCTOBER))
    assert not Dump.objects.exists()
    draft = month.draft(".pgn.gz")
    assert gzip.decompress(draft.read_bytes()).decode() == texts(1, 12)
    assert list(due_months(OCTOBER)) == []
    (dump,) = make_dumps()
    assert records_of(dump).decode() == texts(1, 12)
    assert not draft.exists()


def test_ratings_are_those_of_the_end_of_the_month() -> None:
    play_ladder([OCTOBER] * 6 + [NOVEMBER])
    november, october = make_dumps()
    stored = {row.version.bot.name: row for row in LadderRating.objects.select_related("version__bot")}
    for row in ratings_of(november):
        assert float(row["rating"]) == stored[row["bot"]].conservative
        assert int(row["games"]) == stored[row["bot"]].games
    assert sum(int(row["games"]) for row in ratings_of(october)) == 12
    ratings = [float(row["rating"]) for row in ratings_of(october)]
    assert ratings == sorted(ratings, reverse=True)


def test_games_that_are_hidden_are_in_no_dump() -> None:
    cup = play_ladder([OCTOBER])
    Tournament.objects.filter(pk=cup.pk).update(own_workers=True)
    assert make_dumps() == []


def test_the_list_is_that_of_sha256sum_and_is_signed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    put_in_path(tmp_path, monkeypatch)
    play_ladder([OCTOBER])
    (dump,) = make_dumps()
    for name in dump.files:
        shutil.copy(dump.path(name), tmp_path / name)
        assert dump.files[name]["size"] == (tmp_path / name).stat().st_size
    done = subprocess.run(
        ["sha256sum", "--strict", "-c", "-"], input=dump.listing, cwd=tmp_path, text=True, check=True,
        capture_output=True,
    )  # fmt: skip
    assert done.stdout.count(": OK") == 3
    verdict, why = check_signature(
        dump.listing.encode(), dump.signature.encode(), signing.allowed_signers(), at=timezone.now()
    )
    assert verdict is Signature.GOOD, why
    assert main(["verify", str(tmp_path / f"{dump.name}.pgn.gz")]) == 0
    assert "12 games" in capsys.readouterr().out


def test_a_keeper_that_is_killed_at_any_step_gives_the_same_bytes() -> None:
    play_ladder([OCTOBER])
    (dump,) = make_dumps()
    content, listing = bytes_of(dump), dump.listing
    number = 0
    while True:
        Dump.objects.all().delete()
        shutil.rmtree(settings.DUMPS)
        (month,) = due_months(DECEMBER)
        done = len(list(islice(make(month, DECEMBER), number)))
        for file in (settings.DUMPS / "growing").glob("*.gz"):
            with file.open("ab") as more:
                more.write(b"what the disk has of a member that was not finished")
        if done < number:
            break
        (dump,) = make_dumps()
        assert (bytes_of(dump), dump.listing) == (content, listing)
        number += 1
    assert number > 10


@pytest.mark.parametrize("function", ["os.fsync", "pathlib.Path.replace", "django.db.models.Model.save"])
def test_a_keeper_that_fails_at_any_write_gives_the_same_bytes(
    monkeypatch: pytest.MonkeyPatch, function: str
) -> None:
    play_ladder([OCTOBER])
    (dump,) = make_dumps()
    content = bytes_of(dump)
    for number in range(20):
        Dump.objects.all().delete()
        shutil.rmtree(settings.DUMPS)
        left = [number]
        owner, name = function.rsplit(".", 1)
        target = {"os": os, "pathlib.Path": Path, "django.db.models.Model": Dump}[owner]
        known = getattr(target, name)

        def fail(*values: object, known: object = known, left: list[int] = left, **more: object) -> object:
            left[0] -= 1
            if left[0] < 0:
                raise OSError("no space left on device")
            return known(*values, **more)  # type: ignore[operator]

        with monkeypatch.context() as patch:
            patch.setattr(target, name, fail)
            (month,) = due_months(DECEMBER)
            try:
                list(make(month, DECEMBER))
            except OSError:
                assert not Dump.objects.exists()
            else:
                break
        (dump,) = make_dumps()
        assert bytes_of(dump) == content
    assert 0 < number < 19


def test_an_annulment_makes_revisions_of_its_month_and_of_the_ratings_of_later_ones() -> None:
    play_ladder([OCTOBER] * 6 + [NOVEMBER])
    before = {dump.month.month: dump for dump in make_dumps()}
    old_games = before[10].path(f"{before[10].name}-games.csv.gz")
    records = records_of(before[10])
    annul(Game.objects.filter(ladder=LADDER, sequence=3), "Its clock was wrong.", timezone.now())
    assert list(due_months(DECEMBER)) == []  # its ratings are of before
    rebuild_outdated()
    found = {(dump.month.month, dump.revision): dump for dump in make_dumps()}
    assert set(found) == {(10, 1), (10, 2), (11, 1), (11, 2)}
    october, november = found[10, 2], found[11, 2]
    assert (october.reason, november.reason) == (CORRECTED, RATED)
    assert records_of(october) == records
    assert [row["annulled"] for row in rows_of(october)] == ["False"] * 2 + ["True"] + ["False"] * 3
    assert (
        november.files[f"{november.name}-games.csv.gz"] == before[11].files[f"{november.name}-games.csv.gz"]
    )
    assert november.files[f"{november.name}-ratings.csv"] != before[11].files[f"{november.name}-ratings.csv"]
    assert hashlib.sha256(before[10].listing.encode()).hexdigest() in october.listing
    assert october.reason in october.listing
    assert not old_games.exists()
    assert not found[10, 1].is_stored
    assert october.is_stored
    assert list(due_months(DECEMBER)) == []


def test_an_annulment_of_a_later_game_changes_no_earlier_month() -> None:
    play_ladder([OCTOBER] * 6 + [NOVEMBER])
    make_dumps()
    annul_number(9)
    found = [(dump.month.month, dump.revision) for dump in make_dumps()]
    assert found == [(11, 2), (11, 1), (10, 1)]
    assert list(due_months(DECEMBER)) == []


def test_rows_of_a_running_month_are_written_again_after_an_annulment() -> None:
    play_ladder([OCTOBER])
    (month,) = due_months(OCTOBER)
    list(make(month, OCTOBER))
    annul_number(3)
    (dump,) = make_dumps()
    assert [row["id"] for row in rows_of(dump) if row["annulled"] == "True"] == [
        str(Game.objects.get(ladder=LADDER, sequence=3).pk)
    ]
    assert len(rows_of(dump)) == 12


def test_the_table_of_a_running_month_has_a_correction_before_more_games() -> None:
    play_ladder([OCTOBER])
    (month,) = due_months(OCTOBER)
    list(make(month, OCTOBER))
    annul_number(3)
    (month,) = due_months(OCTOBER)
    state = month.draft("-games.csv.json")
    assert state.exists()
    next(make(month, OCTOBER))
    assert not state.exists(), "of the table of before"
    list(make(month, OCTOBER))
    text = gzip.decompress(month.draft("-games.csv.gz").read_bytes()).decode()
    assert [row["annulled"] for row in csv.DictReader(text.splitlines())].count("True") == 1
    assert list(due_months(OCTOBER)) == []


def test_a_running_month_goes_on_with_members_of_another_length(monkeypatch: pytest.MonkeyPatch) -> None:
    play_ladder([OCTOBER])
    (month,) = due_months(OCTOBER)
    list(make(month, OCTOBER))
    monkeypatch.setattr(growing, "MEMBER", 5)
    monkeypatch.setattr("tournament.services.dumps.making.MEMBER", 5)
    month.draft("-games.csv.gz").unlink()
    (month,) = due_months(OCTOBER)
    list(make(month, OCTOBER))
    assert list(due_months(OCTOBER)) == [], "others would never have their turn"
    (dump,) = make_dumps()
    assert len(rows_of(dump)) == 12


def test_a_ladder_is_not_due_for_games_that_are_in_no_dump() -> None:
    play_ladder([OCTOBER])
    (month,) = due_months(OCTOBER)
    list(make(month, OCTOBER))
    Ladder.objects.filter(pk=LADDER).update(sequence=600)  # as after validations
    assert list(due_months(OCTOBER)) == []


def test_nothing_is_stored_if_games_were_annulled_meanwhile() -> None:
    play_ladder([OCTOBER])
    (month,) = due_months(DECEMBER)
    steps = make(month, DECEMBER)
    next(steps)
    Ladder.objects.filter(pk=LADDER).update(revision=7)
    list(steps)
    assert not Dump.objects.exists()


@pytest.mark.parametrize("is_lost", [True, False])
@pytest.mark.parametrize("ending", [".pgn.gz", "-games.csv.gz", "-ratings.csv"])
def test_a_file_that_is_lost_or_cut_is_made_again_and_is_no_revision(ending: str, is_lost: bool) -> None:
    play_ladder([OCTOBER])
    (dump,) = make_dumps()
    path = dump.path(f"{dump.name}{ending}")
    content = path.read_bytes()
    path.unlink()
    if not is_lost:
        path.write_bytes(content[:-1])
    assert make_dumps() == [dump]
    assert path.read_bytes() == content


def test_a_lost_file_that_is_made_again_with_other_bytes_is_a_revision(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    play_ladder([OCTOBER])
    (dump,) = make_dumps()
    dump.path(f"{dump.name}.pgn.gz").unlink()
    monkeypatch.setattr(growing, "LEVEL", 1)  # as another release of zlib
    new, old = make_dumps()
    assert (new.revision, new.reason, old) == (2, REMADE, dump)
    assert records_of(new).decode() == texts(1, 12)
    assert list(due_months(DECEMBER)) == []


def test_a_file_that_is_brought_back_while_it_is_made_again_stays() -> None:
    play_ladder([OCTOBER])
    (dump,) = make_dumps()
    path = dump.path(f"{dump.name}.pgn.gz")
    content = path.read_bytes()
    path.unlink()
    (month,) = due_months(DECEMBER)
    list(islice(make(month, DECEMBER), 2))
    path.write_bytes(content)
    annul_number(3)
    new, _ = make_dumps()
    assert new.path(f"{new.name}.pgn.gz") == path
    assert path.read_bytes() == content
    assert not month.draft(".pgn.gz").exists()


def test_another_database_begins_the_files_again() -> None:
    play_ladder([OCTOBER])
    (month,) = due_months(OCTOBER)
    list(make(month, OCTOBER))
    set_ends([OCTOBER + DAY])
    (dump,) = make_dumps()
    assert records_of(dump).decode() == texts(1, 12)
    assert {row["finished"] for row in rows_of(dump)} == {(OCTOBER + DAY).isoformat()}
