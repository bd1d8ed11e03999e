"""docs/PROTOCOL.md has every key of protocol.yaml, as the schema has it, with an example that is accepted."""

from pathlib import Path

import pytest

from tests.checks import protocol_page


def test_the_page_is_what_the_schema_says(capsys: pytest.CaptureFixture[str]) -> None:
    status = protocol_page.main(["--check"])
    assert (status, capsys.readouterr().err) == (0, "")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("  quiet_s: {", "  silent_s: {", "Gate.quiet_s has no words yet"),
        ("  quiet_s: {", "  silent_s: {", "Gate.silent_s is no key of protocol.yaml"),
        ("KeepRule:", "DropRule:", "DropRule is no type of protocol.yaml"),
        ("example: '300'", "example: 'five minutes'", "the example of Gate.wait_s is refused"),
        ("Seconds that a run waits", "Minutes that a run waits", "does not say what the schema says"),
    ],
)
def test_the_check_fails_on(tmp_path: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, said: str) -> None:
    table = tmp_path / protocol_page.WORDS.name
    table.write_text(protocol_page.WORDS.read_text("utf-8").replace(old, new), "utf-8")
    assert protocol_page.main(["--check"], table=table) == 1
    assert said in capsys.readouterr().err


def test_the_page_can_be_written(tmp_path: Path) -> None:
    page = tmp_path / protocol_page.PAGE
    page.parent.mkdir()
    assert protocol_page.main([], tmp_path) == 0
    assert page.read_text("utf-8") == (protocol_page.ROOT / protocol_page.PAGE).read_text("utf-8")
