"""From a line of the assembly to the line of the source."""

from pathlib import Path

import pytest

from expctl.check.places import Place, Places
from tests.check.made import ASSEMBLY, SOURCE, source_of


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Places:
    monkeypatch.chdir(tmp_path)
    return Places(ASSEMBLY, source_of(tmp_path))


def test_an_instruction_has_the_place_of_its_statement(places: Places) -> None:
    assert places.of(6) == Place(file="k.hip", line=3, column=9, text=SOURCE.splitlines()[2])
    assert str(places.of(6)) == "k.hip:3:9"
    assert places.instruction(6) == "ds_load_b32 v1, v0"


def test_what_is_inlined_from_our_headers_has_the_place_of_the_call(places: Places) -> None:
    assert str(places.of(8)) == "k.hip:4:5"


def test_what_the_compiler_made_up_has_the_place_before(places: Places) -> None:
    assert str(places.of(10)) == "k.hip:4:5"


def test_no_place(places: Places) -> None:
    assert places.of(0) is None
    assert places.of(2) is None
    assert places.instruction(0) == ""
    assert places.of_function("gone", "gone") is None


def test_a_function_has_the_place_where_it_begins(places: Places) -> None:
    assert str(places.of_function("k", "k")) == "k.hip:2:17"
    assert str(places.of_function("k", "elsewhere")) == "k.hip:2"


def test_a_source_that_is_gone_has_no_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    place = Places(ASSEMBLY, tmp_path / "k.hip").of(6)
    assert place is not None
    assert place.text == ""


def test_an_assembly_without_a_line_table_is_its_own_source(tmp_path: Path) -> None:
    text = "k:\n\ts_nop 0  ; why\n\ts_endpgm\n"
    places = Places(text, tmp_path / "k.s")
    assert places.of(2) == Place(file=str(tmp_path / "k.s"), line=2, text="s_nop 0 ; why")
    assert places.of_function("k", "k") == Place(file=str(tmp_path / "k.s"), line=1, text="k:")
