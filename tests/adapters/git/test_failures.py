"""Git that could not do its work is told apart from git that has answered."""

from pathlib import Path

import pytest

from expctl.adapters.git.failures import gave_up, git_trouble, unreadable_part


@pytest.mark.parametrize(
    ("status", "said", "found"),
    [
        (128, "error: unable to write file x\nfatal: write error: No space left on device", "error: unable to write file x"),
        (1, "fatal: cannot open '.git/x': Too many open files", "fatal: cannot open '.git/x': Too many open files"),
        (-9, "", "signal 9"),
        (137, "error: reset died of signal 9", "signal 9"),
        (
            128,
            "fatal: Unable to create '/r/.git/index.lock': File exists.\n\nAnother git process seems to be running in it",
            "fatal: Unable to create '/r/.git/index.lock': File exists.",
        ),
    ],
)
def test_git_that_could_not_do_its_work(status: int, said: str, found: str) -> None:
    trouble = git_trouble("write-tree", status, said)
    assert trouble is not None
    assert trouble.found == found
    assert "run the same command again" in trouble.hint


@pytest.mark.parametrize(("status", "said"), [(0, ""), (1, ""), (1, "error: patch failed: a:1"), (128, "fatal: bad object x")])
def test_what_git_answers_is_no_trouble(status: int, said: str) -> None:
    assert git_trouble("apply", status, said) is None


def test_a_file_that_git_cannot_write_hints_at_a_full_disk_first(tmp_path: Path) -> None:
    trouble = gave_up("checkout-index", "error: unable to write file a/b", str(tmp_path))
    assert "the disk may be full" in trouble.message
    assert "`df`" in trouble.hint.split(";")[0]


def test_a_disk_without_room_is_named_whatever_git_says(tmp_path: Path) -> None:
    assert "full" not in gave_up("write-tree", "fatal: no", str(tmp_path)).message
    assert "full" in gave_up("write-tree", "fatal: no", str(tmp_path), room_min=1 << 80).message
    assert "full" not in gave_up("write-tree", "fatal: no", str(tmp_path / "gone"), room_min=1 << 80).message


def test_a_git_folder_that_may_not_be_read_is_named_and_one_that_may_is_not(tmp_path: Path) -> None:
    inside, objects = tmp_path / "src" / "deep", tmp_path / ".git" / "objects"
    inside.mkdir(parents=True)
    objects.mkdir(parents=True)
    assert unreadable_part(inside, can=lambda path, _: path != str(objects)) == objects
    assert unreadable_part(inside, can=lambda *_: False) == tmp_path / ".git"
    assert unreadable_part(inside) is None
