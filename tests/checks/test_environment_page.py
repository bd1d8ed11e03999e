"""docs/ENVIRONMENT.md says what the items of the audit say."""

from pathlib import Path

import pytest

from tests.checks import environment_page


def test_the_page_is_what_the_items_say(capsys: pytest.CaptureFixture[str]) -> None:
    status = environment_page.main(["--check"])
    assert (status, capsys.readouterr().err) == (0, "")


def test_the_check_fails_on_another_reason(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "docs").mkdir()
    assert environment_page.main([], tmp_path) == 0
    page = tmp_path / environment_page.PAGE
    page.write_text(page.read_text("utf-8").replace("| sudo", "| do not"), "utf-8")
    page.write_text(page.read_text("utf-8").replace("NUMA balancing", "NUMA something"), "utf-8")
    assert environment_page.main(["--check"], tmp_path) == 1
    assert "does not say what the items say" in capsys.readouterr().err
