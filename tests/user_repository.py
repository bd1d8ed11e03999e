"""A user's repository in a temporary folder, and what a user types in it."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
KERNEL = "".join(f"line {number}\n" for number in ("zero", *NUMBERS[4:], *NUMBERS)).encode()


@dataclass(frozen=True, slots=True)
class Repository:
    """A user's repository and what a user types."""

    root: Path

    def git(self, *arguments: str, stdin: bytes = b"") -> str:
        """Run git as the user; fail the test when git fails."""
        answer = subprocess.run(["git", *arguments], cwd=self.root, input=stdin, capture_output=True)
        assert answer.returncode == 0, answer.stderr.decode()
        return answer.stdout.decode()

    def write(self, path: str, contents: bytes | str) -> Path:
        """Write one file of the work tree."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(contents if isinstance(contents, bytes) else contents.encode())
        return file

    def commit(self, message: str = "change") -> str:
        """Commit everything; return the id."""
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.head()

    def head(self) -> str:
        """The id of HEAD."""
        return self.git("rev-parse", "HEAD").strip()

    def patch(self, path: str, contents: bytes | None) -> bytes:
        """A patch that gives `path` these contents (None deletes it); the tree is as before afterwards."""
        file = self.root / path
        before = file.read_bytes() if file.exists() else None
        if contents is None:
            file.unlink()
        else:
            self.write(path, contents)
        self.git("add", "-A")
        made = subprocess.run(
            ["git", "diff", "--cached", "--binary", "--full-index", "--", path], cwd=self.root, capture_output=True
        )
        self.git("reset", "-q")
        if before is None:
            file.unlink()
        else:
            file.write_bytes(before)
        return made.stdout

    def status(self) -> str:
        """What `git status` says."""
        return self.git("status", "--porcelain=v1", "--untracked-files=all")

    def files(self) -> dict[str, bytes]:
        """Every file of the work tree with its contents."""
        paths = (path for path in self.root.rglob("*") if ".git" not in path.parts and path.is_file())
        return {str(path.relative_to(self.root)): path.read_bytes() for path in paths}
