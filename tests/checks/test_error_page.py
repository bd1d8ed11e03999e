"""Every refusal has a code of its own, and docs/ERRORS.md holds the words of all of them."""

import shutil
from pathlib import Path

import pytest

from tests.checks import error_page

ROOT = Path(__file__).parents[2]
USED = "expctl/flow/repository/preflight.py"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for folder in ("expctl", "kernel"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "docs").mkdir()
    shutil.copy(ROOT / error_page.PAGE, tmp_path / error_page.PAGE)
    return tmp_path


def test_the_page_is_what_the_source_says(capsys: pytest.CaptureFixture[str]) -> None:
    status = error_page.main(["--check"])
    assert (status, capsys.readouterr().err) == (0, "")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"HEAD is detached"', '"HEAD stands alone"', "is not the wording of the source"),
        ('code="head-detached"', 'code="git-operation-under-way"', "git-operation-under-way has two meanings"),
        ('"HEAD is detached"', '"some of the evidence can\'t be found"', "evidence can't be found\" has two codes"),
        ('code="head-detached"', 'code="HeadDetached"', "'HeadDetached' is not words joined by hyphens"),
    ],
)
def test_the_check_fails_on(tree: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, said: str) -> None:
    text = (tree / USED).read_text("utf-8")
    assert text.count(old) == 1
    (tree / USED).write_text(text.replace(old, new), "utf-8")
    status = error_page.main(["--check"], tree)
    assert status == 1
    assert said in capsys.readouterr().err


def test_a_refusal_without_a_code_is_found(tree: Path) -> None:
    (tree / USED).write_text((tree / USED).read_text("utf-8").replace('code="head-detached",', ""), "utf-8")
    with pytest.raises(SystemExit, match=r"preflight\.py:\d+: expected code"):
        error_page.wordings(tree)
