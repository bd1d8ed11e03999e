"""Commands in odd environments: they work, or one sentence says why not and nothing has changed."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.e2e.foreign import EXPCTL, FASTER, SLOWER, Foreign

TABLE: dict[str, dict[str, Any]] = yaml.safe_load((Path(__file__).parent / "environments.yaml").read_text())
KEYS = {"quick", "shell", "env", "git", "global", "words", "status", "says", "program", "moved"}
NEW = "new P3 --from-diff --title another --hypothesis why"
CASES = [pytest.param(name, marks=() if case.get("quick") else pytest.mark.long) for name, case in TABLE.items()]


@pytest.fixture(scope="session")
def queued(tmp_path_factory: pytest.TempPathFactory) -> Foreign:
    """A repository with P1 concluded, P2 queued, and a change in the work tree."""
    made = Foreign.of("foreign_repository", tmp_path_factory.mktemp("odd"))
    made.queue("P1", SLOWER)
    made.concluded("run", "P1")
    made.queue("P2", FASTER)
    made.concluded("ledger")
    made.commit("ledger")
    return made


def bytes_of(text: str) -> bytes:
    """The text, in which \\xNN stands for a byte."""
    return re.sub(rb"\\x([0-9a-f]{2})", lambda found: bytes([int(found[1], 16)]), text.encode())


def state(root: bytes) -> tuple[bytes, ...]:
    """HEAD, refs, and what differs from it."""
    asked = (["rev-parse", "HEAD"], ["for-each-ref"], ["status", "--porcelain", "-uno"])
    environment = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "GIT_OPTIONAL_LOCKS": "0"}
    return tuple(subprocess.run(["git", *words], cwd=root, env=environment, capture_output=True).stdout for words in asked)


@pytest.mark.parametrize("name", CASES)
def test_an_odd_environment(name: str, queued: Foreign, tmp_path: Path) -> None:
    case = TABLE[name]
    assert set(case) <= KEYS
    here = queued.copy(tmp_path / "here")
    environment = {key.encode(): value.encode() for key, value in here.environment.items()}
    if case["words"] == "{new}":
        here.write("src/total.py", FASTER + "# another\n")
    for key, value in case.get("git", {}).items():
        here.git("config", key, value)
    if "global" in case:
        (here.home / ".gitconfig").write_text(case["global"])
    root = os.fsencode(here.root)
    if "moved" in case:
        folder = os.path.join(os.fsencode(tmp_path), bytes_of(case["moved"]))
        os.rename(os.fsencode(here.root.parent), folder)
        root = os.path.join(folder, b"repository")
        environment |= {b"HOME": os.path.join(folder, b"home"), b"EXPCTL_LOCK_DIR": os.path.join(folder, b"locks")}
    for program, script in case.get("program", {}).items():
        file = tmp_path / "programs" / program
        file.parent.mkdir()
        file.write_text(f"#!/bin/sh\n{script}\n")
        file.chmod(0o755)
        environment[b"PATH"] = os.fsencode(file.parent) + b":" + environment[b"PATH"]
    for key, value in case.get("env", {}).items():
        environment.pop(key.encode(), None)
        if value is not None:
            environment[key.encode()] = value.encode()
    words = [bytes_of(word) for word in case["words"].replace("{new}", NEW).split()]
    before = state(root)
    # The interpreter by its path: a shell that lost its PATH can't find `env`.
    argv = [
        b"/bin/sh",
        b"-c",
        f'{case.get("shell", ":")}\nexec "$@"'.encode(),
        b"sh",
        *(os.fsencode(each) for each in (sys.executable, str(EXPCTL))),
    ]
    ended = subprocess.run([*argv, *words], cwd=root, env=environment, capture_output=True, timeout=300)
    said = (ended.stdout + ended.stderr).decode(errors="replace")
    assert ended.returncode == case["status"], said
    assert "Traceback" not in said, said
    assert "BUG" not in said, said
    assert case.get("says", "") in said, said
    if ended.returncode:
        assert state(root) == before, said
    elif case["words"].startswith(("run", "{new}")):
        assert state(root)[0] != before[0], said


def test_a_limit_of_file_size_leaves_no_bytecode_that_is_cut_off(tmp_path: Path) -> None:
    """Python stores what it could write of it, and the next command ends there. A copy has no bytecode yet."""
    package = Path(__file__).parents[2] / "expctl"
    shutil.copytree(package, tmp_path / "expctl", ignore=shutil.ignore_patterns("__pycache__"))
    program = "import sys; sys.path.insert(0, '.'); from expctl.cli.entry import main; main()"
    words = f"exec {shlex.quote(sys.executable)} -c {shlex.quote(program)} status"
    for limit in ("ulimit -f 8; ", ""):
        argv, plain = ["/bin/sh", "-c", limit + words], {"PATH": os.environ["PATH"]}
        ended = subprocess.run(argv, cwd=tmp_path, env=plain, capture_output=True, text=True)
        assert "not-a-repository" in ended.stderr, ended.stderr


def test_the_table_is_as_long_as_promised() -> None:
    assert len(TABLE) >= 60
    assert sum(bool(case.get("quick")) for case in TABLE.values()) >= 10
