"""Whole runs of the real command, with a candidate that attacks and on a disk that is full."""

import subprocess
import sys
from pathlib import Path

import pytest

from expctl.launcher.capabilities import SWITCH, detect_capabilities
from tests.e2e.foreign import FASTER, WRONG, Foreign
from tests.hostile.table import snapshot

ATTACKS = """
import os, signal
def attempt(act):
    try: act()
    except OSError: pass
def write(path):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file: file.write("owned")
for path in ({canary!r}, "bench/test.py", "bench/json.py", "../../../hooks/post-commit", "../../../config",
             "../../journal/P9.jsonl", "../../artifacts/x/total.py",
             os.path.expanduser("~/.local/lib/python3/site-packages/usercustomize.py")):
    attempt(lambda: write(path))
attempt(lambda: os.chmod({canary!r}, 0o777))
attempt(lambda: os.kill(os.getppid(), signal.SIGTERM))
"""
REWRITES_THE_JUDGE = "open('bench/test.py', 'a').write('# mine')\n"

DISK = """
import os, sys, time
from pathlib import Path
sys.path[:0] = {paths!r}
from tests.e2e.foreign import WRONG, Foreign, wait_until

from expctl.launcher.kernel import mount, unshare
from expctl.launcher.namespaces import MS_PRIVATE, MS_REC, NEW_MOUNTS

folder = Path({folder!r})
try:
    unshare(NEW_MOUNTS)
    mount("", "/", flags=MS_REC | MS_PRIVATE)
    mount("expctl-test", str(folder), "tmpfs", 0, "size=24m")
except OSError as error:
    sys.exit("UNTRIED: " + str(error))
repository = Foreign.of("foreign_repository", folder)
repository.queue("P1", WRONG)
go = repository.hold("test")
head = repository.head()

def fill():
    with open(folder / "ballast", "wb", buffering=0) as ballast:
        for size in (1 << 20, 1 << 12, 1):
            try:
                while ballast.write(bytes(size)): pass
            except OSError: pass

def refused(status, err):
    assert status == 1, (status, err)
    assert "Error [machine-trouble]: " in err and "the disk is full" in err, err
    assert "run the same command again" in err, err
    assert "Traceback" not in err, err
    assert repository.head() == head

fill()
answer = repository.expctl("run", "P1")
refused(answer.status, answer.err)
(folder / "ballast").unlink()

runner = repository.start("run", "P1")
wait_until(lambda: repository.step() == "test", "the test")
fill()
(go / "test").touch()  # a name needs no room
status = runner.wait(240)
refused(status, (folder / "home/said").read_text())
assert repository.journal("P1") == ["Begun", "Pinned", "Built", "Built"]
(folder / "ballast").unlink()
said = repository.concluded("run", "P1").out
assert "goes on after built" in said, said
assert "build " not in said, said
assert repository.record("P1")["verdict"] == "REJECT"
repository.check_nothing_is_left()
print("SURVIVED")
"""


@pytest.fixture
def repository(tmp_path: Path) -> Foreign:
    return Foreign.of("foreign_repository", tmp_path)


@pytest.mark.skipif(
    not detect_capabilities().confines_writes, reason="UNCONFINED: this kernel offers nothing that would hold a candidate"
)
def test_a_candidate_that_attacks_changes_nothing(repository: Foreign, tmp_path: Path) -> None:
    canary = tmp_path / "canary/file"
    canary.parent.mkdir()
    canary.write_text("alive\n")
    repository.queue("P1", ATTACKS.format(canary=str(canary)) + WRONG)
    watched = (canary.parent, repository.root / "bench", repository.root / ".git/hooks")
    before, configuration = snapshot(*watched), (repository.root / ".git/config").read_bytes()
    said = repository.concluded("run", "P1").out
    record = repository.record("P1")
    assert record["verdict"] == "REJECT", said
    assert record["environment"]["confinement"] == detect_capabilities().words()
    assert "unconfined" not in said
    assert "acts stopped (" in record["environment"]["walls"]
    assert snapshot(*watched) == before
    assert (repository.root / ".git/config").read_bytes() == configuration
    repository.check_nothing_is_left()


def test_without_walls_a_changed_judge_is_seen_and_the_want_is_said(repository: Foreign) -> None:
    repository.environment[SWITCH] = "1"
    repository.queue("P1", REWRITES_THE_JUDGE + FASTER)
    said = repository.concluded("run", "P1").out
    record = repository.record("P1")
    assert f"walls      unconfined: {SWITCH} is set" in said
    assert record["environment"]["confinement"] == f"unconfined: switched off by {SWITCH}"
    assert record["flags"][0].startswith("WALLS OPEN: ")
    assert "WALLS OPEN: " in said
    assert "WALLS OPEN: " in (repository.root / "ledger.md").read_text()
    assert record["verdict"] == "INVALID", said
    assert "the harness was changed since it was checked out: bench/test.py" in said


def test_a_full_disk_is_said_and_nothing_is_lost(tmp_path: Path) -> None:
    folder = tmp_path / "disk"
    folder.mkdir()
    here = Path(__file__).parent
    (tmp_path / "script.py").write_text(DISK.format(paths=[str(here.parents[1])], folder=str(folder)))
    answer = subprocess.run([sys.executable, tmp_path / "script.py"], capture_output=True, text=True, timeout=200)
    if answer.stderr.startswith("UNTRIED"):
        pytest.skip(f"no small disk can be mounted here: {answer.stderr.strip()}")
    assert answer.stdout.endswith("SURVIVED\n"), answer.stdout + answer.stderr
