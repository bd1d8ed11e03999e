"""Somebody else's kernel repository in a temporary folder, and the real `expctl` run in it."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from expctl.adapters.walls.kept_result import walls_here
from tests.e2e.warm_start import warm

EXPCTL = Path(sys.executable).with_name("expctl")
TEMPLATES = Path(__file__).parent
WAIT_S = 20.0
COLD = "EXPCTL_TESTS_LONG" in os.environ  # tests/conftest.py sets it

FASTER = "def total(values):\n    return sum([value * value for value in values])\n"
SLOWER = """def total(values):
    result = 0
    for value in values:
        for _ in range(3):
            result = result + value * value - value * value
        result = result + value * value
    return result
"""
WRONG = "def total(values):\n    return sum([value * value for value in values]) + (len(values) == 7)\n"
DOES_NOT_PARSE = "def total(values:\n    return\n"


@dataclass(frozen=True, slots=True)
class Answer:
    """How a command ended and what it said."""

    status: int
    out: str
    err: str

    def json(self) -> Any:
        return json.loads(self.out)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Everything that a refused command must leave alone."""

    head: str
    refs: str
    status: str
    index: str
    files: Mapping[str, str]


@dataclass(slots=True)
class Foreign:
    """A repository at `root`, with an environment that holds nothing of the machine's user."""

    root: Path
    home: Path
    environment: dict[str, str]

    @staticmethod
    def of(template: str, folder: Path, *, name: str = "repository") -> "Foreign":
        """A copy of `template` below `folder`, with one commit."""
        root = folder / name
        shutil.copytree(TEMPLATES / template, root, ignore=shutil.ignore_patterns("__pycache__"))
        for beside in ("home", "locks"):
            (folder / beside).mkdir(exist_ok=True)
        know_walls(folder / "home")
        made = Foreign.at(root)
        made.git("init", "-q", "-b", "main")
        made.commit("baseline")
        return made

    @staticmethod
    def at(root: Path) -> "Foreign":
        """The repository that lies at `root`, with home and locks beside it."""
        home = root.parent / "home"
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "LANG": "C.UTF-8",
            "EXPCTL_LOCK_DIR": str(root.parent / "locks"),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_AUTHOR_NAME": "A. Stranger",
            "GIT_AUTHOR_EMAIL": "stranger@example.org",
            "GIT_COMMITTER_NAME": "A. Stranger",
            "GIT_COMMITTER_EMAIL": "stranger@example.org",
        }
        return Foreign(root=root, home=home, environment=environment)

    def copy(self, folder: Path) -> "Foreign":
        """The same again, with all that was run in it, in `folder`, which is made."""
        shutil.copytree(self.root.parent, folder, symlinks=True)
        return Foreign.at(folder / self.root.name)

    # ------------------------------------------------------------------ commands

    def expctl(self, *words: str, cwd: Path | None = None) -> Answer:
        """One command, to its end."""
        return run_expctl(words, cwd or self.root, self.environment)

    def cold(self, *words: str) -> Answer:
        """One command in an interpreter that starts for it, as a user's does."""
        return run_expctl(words, self.root, self.environment, cold=True)

    def concluded(self, *words: str) -> Answer:
        """One command that has to end well."""
        answer = self.expctl(*words)
        assert answer.status == 0, f"{words}: {answer}"
        return answer

    def start(self, *words: str) -> "subprocess.Popen[bytes]":
        """One command, in the background; what it says goes to the file `said`."""
        with open(self.home / "said", "wb") as said:
            return subprocess.Popen(
                [EXPCTL, *words], cwd=self.root, env=self.environment, stdout=said, stderr=said, stdin=subprocess.DEVNULL
            )

    def said(self) -> str:
        """What the command in the background has said."""
        return (self.home / "said").read_text()

    def git(self, *words: str, check: bool = True) -> str:
        """One git command of the user."""
        ended = subprocess.run(["git", *words], cwd=self.root, env=self.environment, capture_output=True, text=True)
        assert ended.returncode == 0 or not check, f"git {words}: {ended.stderr}"
        return ended.stdout.strip()

    # ------------------------------------------------------------------ what the user does

    def write(self, path: str, text: str) -> None:
        """Write a file, and the folders to it."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def commit(self, message: str) -> None:
        """Commit everything."""
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)

    def edit_protocol(self, old: str, new: str) -> None:
        """Commit a protocol in which `new` stands for `old`."""
        text = (self.root / "protocol.yaml").read_text()
        assert old in text
        self.write("protocol.yaml", text.replace(old, new))
        self.commit("another protocol")

    def propose(self, experiment: str, kernel: str, *options: str, file: str = "src/total.py") -> None:
        """Queue a change of the kernel, the way a user does: edit, then `new --from-diff`."""
        self.write(file, kernel)
        self.concluded("new", experiment, "--from-diff", *options)

    def queue(self, experiment: str, kernel: str, file: str = "src/total.py") -> None:
        """Queue a change of the kernel by hand, which is quicker."""
        self.write(file, kernel)
        patch = self.git("diff", "--", file)
        self.git("checkout", "-q", "--", file)
        words = f"id: {experiment}\ntitle: another way\nkind: perf\nhypothesis: less to do\nprediction: {{verdict: KEEP}}\n"
        self.write(f"experiments/{experiment}/experiment.yaml", words)
        self.write(f"experiments/{experiment}/change.patch", patch + "\n")
        self.git("add", "--", "experiments")
        self.git("commit", "-q", "-m", f"Propose {experiment}", "--", "experiments")

    def hold(self, *steps: str) -> Path:
        """Make build, test or benchmark wait until a file named like the step lies in the folder that is returned."""
        gate = self.home / "go"
        gate.mkdir()
        shutil.copy(TEMPLATES / "hold.py", self.root / "bench" / "hold.py")
        text = (self.root / "protocol.yaml").read_text()
        scripts = {"build": "copy", "test": "test", "benchmark": "benchmark"}
        for step in steps:
            old = f'argv: ["{{python}}", -S, bench/{scripts[step]}.py'
            assert old in text
            text = text.replace(old, old.replace("bench/", f'bench/hold.py, {step}, "{{python}}", -S, bench/'))
        self.write("protocol.yaml", text + "environment:\n  pass_through: [E2E_GO]\n")
        self.environment["E2E_GO"] = str(gate)
        self.commit("a harness that waits")
        return gate

    # ------------------------------------------------------------------ what is there

    def head(self) -> str:
        """The commit that is checked out."""
        return self.git("rev-parse", "HEAD")

    def record(self, experiment: str) -> dict[str, Any]:
        """record.json as it was committed."""
        found: dict[str, Any] = json.loads(self.git("show", f"HEAD:experiments/{experiment}/record.json"))
        return found

    def changed_by(self, commit: str) -> list[str]:
        """Paths that a commit touches."""
        return self.git("diff-tree", "-r", "--no-commit-id", "--name-only", commit).splitlines()

    def snapshot(self) -> Snapshot:
        """HEAD, refs, index and files."""
        index = self.root / ".git" / "index"
        return Snapshot(
            head=self.git("rev-parse", "HEAD", check=False) + (self.root / ".git" / "HEAD").read_text()
            if (self.root / ".git").is_dir()
            else "",
            refs=self.git("for-each-ref", check=False),
            status=self.git("status", "--porcelain", "--untracked-files=all", check=False),
            index=hashlib.sha256(index.read_bytes()).hexdigest() if index.is_file() else "",
            files=contents(self.root),
        )

    def journal(self, experiment: str) -> list[str]:
        """The types of the events that are on the disk."""
        file = self.root / ".git" / "expctl" / "journal" / f"{experiment}.jsonl"
        lines = file.read_text().split("\n")[:-1] if file.is_file() else []
        return [json.loads(line)["type"] for line in lines]

    def step(self) -> str:
        """The step that the holder of the repository's lock shows."""
        try:
            return str(json.loads((self.root / ".git" / "expctl" / "lock").read_bytes())["step"])
        except (OSError, ValueError, KeyError):
            return ""

    def survivors(self) -> list[int]:
        """Processes that carry the mark of this repository's runs."""
        state = self.root / ".git" / "expctl"
        mark = f"EXPCTL_RUN={hashlib.sha256(str(state).encode()).hexdigest()[:16]}".encode()
        found = []
        for entry in Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and mark in (entry / "environ").read_bytes().split(b"\0"):
                    found.append(int(entry.name))
            except OSError:
                continue
        return found

    def check_nothing_is_left(self) -> None:
        """No process, lock, worktree or journal of a run, and a sound repository."""
        assert self.survivors() == []
        assert not (self.root / ".git" / "index.lock").exists()
        assert (self.root / ".git" / "expctl" / "lock").read_bytes() == b""
        assert len(self.git("worktree", "list").splitlines()) == 1
        assert list((self.root / ".git" / "expctl" / "journal").glob("*")) == []
        fsck = subprocess.run(
            ["git", "fsck", "--no-dangling", "--strict"], cwd=self.root, env=self.environment, capture_output=True, text=True
        )
        assert (fsck.returncode, fsck.stdout) == (0, "")
        assert self.expctl("ledger", "--check").status == 0


def know_walls(home: Path) -> None:
    """Store in `home` what the self-test of the walls finds here, which one test process tries for all."""
    known = Path(tempfile.gettempdir()) / f"expctl-tests-{os.getuid()}"
    walls_here(known)
    shutil.copytree(known, home / ".local" / "state", dirs_exist_ok=True)


def run_expctl(words: Sequence[str], cwd: Path, environment: Mapping[str, str], *, cold: bool = COLD) -> Answer:
    """One command, to its end: forked from a warm interpreter, unless `cold` or its environment asks for one of its own."""
    argv = [str(EXPCTL), *words]
    if not cold and warm().takes(environment):
        return Answer(*warm().run(argv, cwd, environment))
    ended = subprocess.run(argv, cwd=cwd, env=environment, capture_output=True, text=True, timeout=200)
    return Answer(ended.returncode, ended.stdout, ended.stderr)


def contents(root: Path) -> dict[str, str]:
    """Path -> mode and hash (or destination) of everything below `root` but git's own folder."""
    found = {}
    for folder, folders, files in os.walk(root):
        if folder == str(root) and ".git" in folders:
            folders.remove(".git")
        for name in files + folders:
            path = Path(folder, name)
            mode = f"{path.lstat().st_mode:o}"
            if path.is_symlink():
                found[str(path.relative_to(root))] = f"{mode} -> {os.readlink(path)}"
            elif path.is_file():
                found[str(path.relative_to(root))] = f"{mode} {hashlib.sha256(path.read_bytes()).hexdigest()}"
    return found


def wait_until(holds: Callable[[], object], what: str, *, at_most_s: float = WAIT_S) -> None:
    """Poll until `holds()`; fail with `what` otherwise."""
    deadline = time.monotonic() + at_most_s
    while not holds():
        assert time.monotonic() < deadline, f"waited {at_most_s:g} s for {what}"
        time.sleep(0.01)


def errors_in(text: str) -> Sequence[str]:
    """The lines that announce an error."""
    return [line for line in text.splitlines() if line.startswith("Error [")]
