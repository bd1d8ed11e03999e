"""The Python of a launch description: what it imports and prints, and when it ends in ways of its own."""

import sys
from pathlib import Path

import pytest

from expctl.check import users_code
from expctl.check.case_file import read_case
from tests.check.test_case import given
from tests.refusals import refuses


def written(folder: Path, text: str) -> Path:
    (folder / "case.py").write_text(f"{text}\ncase = {given()!r}\n")
    return folder / "case.py"


def test_it_imports_what_lies_beside_it(tmp_path: Path) -> None:
    (tmp_path / "sizes_beside.py").write_text("N = 3\n")
    before = list(sys.path)
    assert read_case(written(tmp_path, "from sizes_beside import N")).case.shapes == {"n": 10}
    assert sys.path == before


def test_it_prints_beside_the_result(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    read_case(written(tmp_path, "print('loading')"))
    assert capsys.readouterr() == ("", "loading\n")


def test_it_may_not_go_on_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(users_code, "SECONDS_MOST", 0.2)
    with refuses("case-failed") as caught:
        read_case(written(tmp_path, "\nwhile True: pass"))
    assert caught.value.found == "TimeoutError: it goes on after 0.2 seconds"
    assert caught.value.where.endswith("case.py:2")


MUTE = "class Mute(Exception):\n    def __str__(self):\n        raise ValueError\nraise Mute"


@pytest.mark.parametrize("text", ["raise GeneratorExit", "class Mine(BaseException): pass\nraise Mine", MUTE])
def test_whatever_it_raises_is_told(text: str, tmp_path: Path) -> None:
    with refuses("case-failed"):
        read_case(written(tmp_path, text))


def test_an_interrupt_is_none_of_its_errors(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        read_case(written(tmp_path, "raise KeyboardInterrupt"))
