"""Ours are removed; a lock that somebody holds open, or that says something else, stays."""

from pathlib import Path

from expctl.adapters.git.stale_locks import remove_below, remove_own

NEW = "a" * 40


def locks(git: Path) -> list[str]:
    return sorted(str(path.relative_to(git)) for path in git.rglob("*.lock"))


def test_locks_of_a_dead_publication(tmp_path: Path) -> None:
    (tmp_path / "refs/heads").mkdir(parents=True)
    (tmp_path / "refs/expctl").mkdir()
    (tmp_path / "HEAD.lock").touch()
    (tmp_path / "refs/heads/main.lock").write_text(f"{NEW}\n")
    (tmp_path / "refs/heads/other.lock").touch()
    (tmp_path / "refs/expctl/P1.lock").write_text("anything")
    (tmp_path / "index.lock").touch()
    remove_own(tmp_path, tmp_path, "main", NEW)
    assert locks(tmp_path) == ["index.lock", "refs/expctl/P1.lock", "refs/heads/other.lock"], "a live run may be pinning P1"


def test_a_lock_with_another_commit_is_somebody_elses(tmp_path: Path) -> None:
    (tmp_path / "refs/heads").mkdir(parents=True)
    (tmp_path / "refs/heads/main.lock").write_text("b" * 40)
    remove_own(tmp_path, tmp_path, "main", NEW)
    assert locks(tmp_path) == ["refs/heads/main.lock"]


def test_a_lock_that_is_open_is_in_use(tmp_path: Path) -> None:
    lock = tmp_path / "P1.lock"
    with lock.open("w"):
        remove_below(tmp_path)
        assert lock.exists()
    remove_below(tmp_path)
    assert not lock.exists()
