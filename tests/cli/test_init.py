"""`expctl init` that is killed anywhere, and typed again."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from expctl.cli.app import application
from expctl.files import atomic_write
from tests.user_repository import Repository

COMMANDS = {
    "a sample in C": ("--kind", "c"),
    "a sample in Python": ("--kind", "python", "--scope", "fast"),
    "a kernel": ("--kind", "c", "--source", "own.c"),
}


def typed(words: tuple[str, ...]) -> Result:
    return CliRunner().invoke(application(words), words)


class Killed(BaseException):
    """The process is gone; nothing of it runs any more."""


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    made = Repository(tmp_path / "repository")
    made.root.mkdir()
    made.git("init", "-q")
    made.write("own.c", "double own(const double *x, long n) {\n    return x[n - 1];\n}\n")
    monkeypatch.chdir(made.root)
    return made


@pytest.fixture(params=COMMANDS)
def words(request: pytest.FixtureRequest, repository: Repository) -> tuple[str, ...]:
    if "own.c" not in COMMANDS[request.param]:
        (repository.root / "own.c").unlink()
    repository.git("add", "-A")
    return ("init", *COMMANDS[request.param])


def killed(monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], calls: int, *, torn: bool) -> bool:
    """Type `init` and kill it in the write after `calls` others, before its file has its name; False if it wrote no more."""
    replace = atomic_write.replace
    done: list[Path] = []

    def counted(path: Path, contents: bytes, **how: Any) -> None:
        if len(done) == calls:
            if torn:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.with_name(f".{path.name}.{1 << 30}.1.new").write_bytes(contents[:9])
            raise Killed
        done.append(path)
        replace(path, contents, **how)

    with monkeypatch.context() as patch:
        patch.setattr(atomic_write, "replace", counted)
        try:
            return typed(words) is None
        except Killed:
            return True


@pytest.mark.parametrize("torn", [False, True])
def test_the_same_command_completes_what_a_kill_left(
    repository: Repository, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, *, torn: bool
) -> None:
    before = repository.status()
    assert typed(words).exit_code == 0
    whole, calls = repository.files(), 0
    assert "protocol.yaml" in whole
    while True:
        repository.git("clean", "-fdq")
        assert repository.status() == before
        if not killed(monkeypatch, words, calls, torn=torn):
            break
        assert not (repository.root / "protocol.yaml").exists()
        again = typed(words)
        assert again.exit_code == 0, again.output
        assert repository.files() == whole
        calls += 1
    assert calls == repository.status().count("?? ")


def test_what_was_done_is_said_again(repository: Repository, words: tuple[str, ...]) -> None:
    assert typed(words).exit_code == 0
    whole = repository.files()
    again = typed(words)
    assert (again.exit_code, "kept     protocol.yaml" in again.output) == (0, True), again.output
    assert repository.files() == whole


def test_a_project_of_the_users_own_is_refused(repository: Repository, words: tuple[str, ...]) -> None:
    assert typed(words).exit_code == 0
    for name in ("protocol.yaml", "bench/harness.py"):
        file = repository.root / name
        text = file.read_text()
        file.write_text(text + "# mine\n")
        assert typed(words).exit_code == 1
        file.write_text(text)


def test_a_project_is_named_where_nothing_says_which_kind_is_meant(repository: Repository) -> None:
    (repository.root / "own.c").unlink()
    repository.write("protocol.yaml", "version: 1\n")
    assert getattr(typed(("init",)).exception, "code", "") == "protocol-exists"


def test_an_output_that_cannot_be_written_hides_nothing_that_was_done(repository: Repository) -> None:
    with open("/dev/full", "w") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "expctl", "init", "--kind", "c"], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert (ended.returncode, "the files are written, but standard output can't be written" in ended.stderr) == (1, True)
    assert (repository.root / "protocol.yaml").exists()
