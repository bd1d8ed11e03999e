"""A small repository of a stranger's, in which commands are killed from outside; and what is run and looked at there.

Nothing of expctl is imported.
"""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

EXPCTL = str(Path(sys.executable).with_name("expctl"))
TEMPLATE = Path(__file__).parents[1] / "e2e" / "foreign_repository"
FASTER = "def total(values):\n    return sum([value * value for value in values])\n"
PLAIN = {
    "PATH": os.environ["PATH"],
    "LANG": "C.UTF-8",
    "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1",  # the shell is named: nothing here was started by one
    "GIT_CONFIG_NOSYSTEM": "1",
    **{f"GIT_{role}_{key}": each for role in ("AUTHOR", "COMMITTER") for key, each in (("NAME", "A"), ("EMAIL", "a@b.org"))},
}


class Stage:
    """A repository with P1 queued and a finding, in `folder`; every trial gets a copy."""

    def __init__(self, folder: Path) -> None:
        self.beside = folder
        self.root = folder / "repository"
        self.environment = {
            **PLAIN,
            "HOME": str(folder),
            "TMPDIR": str(folder / "tmp"),
            "EXPCTL_LOCK_DIR": str(folder / "locks"),
        }

    def made(self) -> "Stage":
        for name in ("locks", "tmp"):
            (self.beside / name).mkdir(parents=True)
        shutil.copytree(TEMPLATE, self.root, ignore=shutil.ignore_patterns("__pycache__"))
        (self.root / "src" / "extra.py").write_text("SIZE = 1\n")
        self.git("init", "-q", "-b", "main")
        self.commit("baseline")
        self.edit("def total(values):\n    return sum(value * value for value in values)\n")
        self.well("new", "P1", "--from-diff")
        self.well("finding", "add", "Known before.", "--kind", "external", "--evidence", "https://example.org/a")
        return self

    def copy(self, folder: Path) -> "Stage":
        shutil.copytree(self.beside, folder, symlinks=True)
        return Stage(folder)

    def edit(self, kernel: str = FASTER) -> None:
        (self.root / "src" / "total.py").write_text(kernel)
        (self.root / "src" / "extra.py").write_text(f"SIZE = {len(kernel)}\n")

    def add_step(self, step: str) -> None:
        """Put text before the step `benchmark` of protocol.yaml."""
        protocol = self.root / "protocol.yaml"
        protocol.write_text(protocol.read_text().replace("    benchmark:\n", f"{step}    benchmark:\n"))

    def commit(self, subject: str) -> None:
        self.git("add", "-A")
        self.git("commit", "-q", "-m", subject)

    def start(self, words: tuple[str, ...], asked: str = "") -> "subprocess.Popen[str]":
        """Start expctl; its standard input is the file `asked` beside the repository, or empty."""
        pipe = subprocess.PIPE
        with open(self.beside / asked if asked else os.devnull) as file:
            return subprocess.Popen(
                [EXPCTL, *words], cwd=self.root, env=self.environment, stdin=file, stdout=pipe, stderr=pipe, text=True
            )

    def well(self, *words: str) -> None:
        ended = subprocess.run([EXPCTL, *words], cwd=self.root, env=self.environment, capture_output=True, text=True)
        assert ended.returncode == 0, f"{words}: {ended.stdout}{ended.stderr}"

    def git(self, *words: str) -> str:
        ended = subprocess.run(["git", *words], cwd=self.root, env=self.environment, capture_output=True, text=True)
        assert ended.returncode == 0, f"git {words}: {ended.stderr}"
        return ended.stdout

    def at_head(self, path: str) -> str:
        return self.git("show", f"HEAD:{path}")

    def names(self, folder: str = "experiments") -> list[str]:
        return self.git("ls-tree", "--name-only", f"HEAD:{folder}").split()

    def left(self) -> frozenset[str]:
        """What differs from HEAD in the work tree, as `git status` has it."""
        return frozenset(self.git("status", "--porcelain", "-uall").splitlines())

    def files(self) -> dict[str, str]:
        """Name -> hash of the files in the work tree that git does not know."""
        names = self.git("ls-files", "-o", "-z").split("\0")[:-1]
        return {name: sha256((self.root / name).read_bytes()).hexdigest() for name in names}

    def wrong(self) -> frozenset[str]:
        """The parts that the doctor finds wrong, without the machine's targets, and what `ledger --check` refuses."""
        asked = self.start(("doctor", "--json"))
        out, err = asked.communicate()
        if not out:
            return frozenset({f"doctor: {err}"})
        found = {each["part"] for each in json.loads(out)["checks"] if each["health"] == "wrong"} - {"targets"}
        checked = self.start(("ledger", "--check"))
        _, err = checked.communicate()
        return frozenset(found | ({err.partition("]")[0]} if checked.returncode else set()))

    def living(self) -> list[str]:
        """Processes whose environment or working directory is in the folder of this stage."""
        return list(_living(str(self.beside)))

    def outlived(self, most_s: float) -> list[str]:
        """Processes of this stage that live after `most_s` seconds; returns as soon as there are none."""
        until = time.monotonic() + most_s
        while (found := self.living()) and time.monotonic() < until:
            time.sleep(0.05)
        return found


def _living(folder: str) -> Iterator[str]:
    for process in Path("/proc").glob("[0-9]*"):
        try:
            where = os.readlink(process / "cwd")
            if (
                where == folder
                or where.startswith(f"{folder}/")
                or f"{folder}\0".encode() in (process / "environ").read_bytes()
            ):
                yield (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace") or process.name
        except OSError:  # it has ended, or is another user's
            continue
