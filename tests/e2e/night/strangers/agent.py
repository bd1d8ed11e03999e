"""A coding agent that misbehaves: `python agent.py FOLDER HABIT ARGUMENT...` does what HABIT says.

FOLDER/CALL.task is what it was told in the call, and counts it. A good change is another constant each time.
"""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

FOLDER, HABIT, ARGUMENTS = Path(sys.argv[1]), sys.argv[2], sys.argv[3:]
SCRATCH = Path(os.environ["EXPCTL_SCRATCH"])
KERNEL = Path("src/total.py")
CALL = len(list(FOLDER.glob("*.task")))
WORDS = "title: {}\nkind: perf\nhypothesis: less waste\nprediction: {{verdict: KEEP}}\n"
SLOWER = "def total(values):\n    return [sum([v * v for v in values]) for _ in range(9)][0]\n"
TITLES = ("alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel")


def edit(number: int = CALL) -> None:
    """A change that is right, and a little slower or faster."""
    KERNEL.write_text(f"def total(values):\n    return sum([value * value + {number} - {number} for value in values])\n")


def say(title: str = TITLES[CALL % 8], more: str = "") -> None:
    (SCRATCH / "proposal.yaml").write_text(WORDS.format(title) + more)


def git(*words: str) -> None:
    me = ("-c", "user.name=Me", "-c", "user.email=me@example.org")
    subprocess.run(["git", *me, *words], check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def good() -> None:
    edit()
    say()


def silent() -> None:
    pass


def endless() -> None:
    """It ignores the polite signals, and so does the child that it leaves in a session of its own."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(300)"], start_new_session=True)
    while True:
        time.sleep(1)


def leaves_children() -> None:
    good()
    subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(300)"], start_new_session=True)


def same() -> None:
    """One change, which is a loss, with ever new titles."""
    KERNEL.write_text(SLOWER)
    say()


def three_ideas() -> None:
    """Each one fails, and has nothing in common with the one before."""
    KERNEL.write_text(KERNEL.read_text() + f"\n\ndef {TITLES[CALL]}(:\n")
    say()


def one_idea() -> None:
    """Ever new changes under nearly one title, each of which doesn't build."""
    KERNEL.write_text(KERNEL.read_text() + f"\n\ndef {TITLES[CALL]}(:\n")
    say(f"unroll the inner loop {TITLES[CALL]}")


def usage() -> None:
    good()
    (SCRATCH / "usage.json").write_bytes(Path(ARGUMENTS[0]).read_bytes())


def usage_is() -> None:
    """Something that isn't a plain file stands where usage.json should."""
    good()
    place(SCRATCH / "usage.json")


def words_are() -> None:
    edit()
    place(SCRATCH / "proposal.yaml")


def kernel_is() -> None:
    say()
    KERNEL.unlink()
    place(KERNEL)


def place(path: Path) -> None:
    match ARGUMENTS[0]:
        case "fifo":
            os.mkfifo(path)
        case "link":
            path.symlink_to("/etc/passwd")
        case "loop":
            path.symlink_to(path)
        case "device":
            path.symlink_to("/dev/zero")
        case "folder":
            path.mkdir()
            (path / "x").write_text("x")
        case "huge":
            path.write_bytes(b"title: x\n" * 3_000_000)
        case "binary":
            path.write_bytes(bytes(range(256)) * 40)
        case "repository":
            path.mkdir()
            subprocess.run(["git", "init", "-q", str(path)], check=True)
            (path / "x").write_text("x")


def words() -> None:
    edit()
    (SCRATCH / "proposal.yaml").write_bytes(Path(ARGUMENTS[0]).read_bytes())


def outside() -> None:
    """A good change, and others beside it that nobody asked for."""
    good()
    Path("notes.txt").write_text("mine\n")
    Path("docs").mkdir()
    Path("docs/idea.md").write_text("mine\n")
    (SCRATCH / "experiments/P77").mkdir(parents=True, exist_ok=True)
    (SCRATCH / "experiments/P77/record.json").write_text('{"verdict": "KEEP"}')


def only_outside() -> None:
    Path("notes.txt").write_text("mine\n")
    say()


def protected() -> None:
    good()
    path = Path(ARGUMENTS[0])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("# mine\n")


def commits() -> None:
    good()
    git("add", "-A")
    git("commit", "-q", "-m", "mine")


def branches() -> None:
    git("checkout", "-q", "-b", "mine")
    good()
    git("commit", "-aqm", "mine")
    git("tag", "mine")
    git("checkout", "-q", "--orphan", "another")
    git("commit", "-aqm", "again")


def hides() -> None:
    """It tells git not to look at what it changed, and to run a program of its own."""
    good()
    Path("bench/test.py").write_text("print('ok')\n")
    git("update-index", "--assume-unchanged", "bench/test.py", "src/total.py")
    git("config", "core.fsmonitor", f"touch {FOLDER}/pwned")
    git("config", "diff.external", f"touch {FOLDER}/pwned")
    git("config", "filter.x.clean", f"touch {FOLDER}/pwned; cat")
    Path(".git/info").mkdir(exist_ok=True)
    Path(".git/info/attributes").write_text("* filter=x diff=x\n")
    Path(".git/info/exclude").write_text("*\n")
    for hook in ("pre-commit", "post-index-change", "post-checkout"):
        file = Path(".git/hooks") / hook
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"#!/bin/sh\ntouch {FOLDER}/pwned\n")
        file.chmod(0o755)


def without_git() -> None:
    good()
    shutil.rmtree(".git")


def borrows_git() -> None:
    """Its .git leads to the user's own repository."""
    good()
    shutil.rmtree(".git")
    Path(".git").write_text(f"gitdir: {ARGUMENTS[0]}/.git\n")


def deletes() -> None:
    shutil.rmtree(Path.cwd(), ignore_errors=True)


def deletes_scratch() -> None:
    shutil.rmtree(SCRATCH, ignore_errors=True)


def locks_up() -> None:
    good()
    Path("src").chmod(0)
    SCRATCH.chmod(0)


def fails_with_a_good_change() -> None:
    good()
    sys.exit(3)


def killed() -> None:
    good()
    os.kill(os.getpid(), signal.SIGKILL)


def floods() -> None:
    good()
    for _ in range(400):
        sys.stdout.write("\x1b[2J" + "x" * 65536 + "\n")


def says() -> None:
    good()
    sys.stdout.write(Path(ARGUMENTS[0]).read_text())


def names() -> None:
    """Files with names that would break a list, a terminal or a patch."""
    say()
    for name in ("new\nline.py", "\x1b[2J.py", "-rf", "a\u202eb.py", "q\"'.py"):
        (Path("src") / name).write_text("x = 1\n")


def large() -> None:
    say()
    Path("src/table.py").write_text("x = [\n" + "    1,\n" * 400_000 + "]\n")


def mode() -> None:
    good()
    KERNEL.chmod(0o755)


def attributes() -> None:
    good()
    Path("src/.gitattributes").write_text("* binary\n")


def empties() -> None:
    KERNEL.unlink()
    say()


HABITS: dict[str, Callable[[], None]] = {
    name: each for name, each in list(globals().items()) if callable(each) and name.islower()
}
if HABIT == "deaf":  # it never reads what it is told
    os.close(0)
    (FOLDER / f"{CALL}.task").write_text("")
    good()
else:
    (FOLDER / f"{CALL}.task").write_text(sys.stdin.read())
    HABITS[HABIT]()
