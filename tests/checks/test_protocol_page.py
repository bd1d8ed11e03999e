"""docs/PROTOCOL.md says what the schema of protocol.yaml says, and every key has words."""

from pathlib import Path

import pytest

from tests.checks import protocol_page


def test_the_page_is_what_the_schema_says(capsys: pytest.CaptureFixture[str]) -> None:
    status = protocol_page.main(["--check"])
    assert (status, capsys.readouterr().err) == (0, "")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("  stands_for: {", "  stand_for: {", "Target.stands_for has no words yet"),
        ("The file to compile;", "A file to compile;", "does not say what the schema says"),
    ],
)
def test_the_check_fails_on(tmp_path: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, said: str) -> None:
    words = protocol_page.WORDS.read_text("utf-8")
    assert words.count(old) == 1
    (tmp_path / "words.yaml").write_text(words.replace(old, new), "utf-8")
    assert protocol_page.main(["--check"], table=tmp_path / "words.yaml") == 1
    assert said in capsys.readouterr().err
