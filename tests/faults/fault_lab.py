"""Where trials happen: stages that are set up once and copied, and runners that are started in the copies."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.faults.shim import Act, Calls, PairedBy, Plan, PlanFile, compile_c

HERE = Path(__file__).parent
END_S = 25.0
GUESSED_CALLS, GUESSED_S = 200, 10.0
KERNEL, FASTER, SLOWER = "50\n", "45\n", "60\n"  # microseconds of one iteration

PROTOCOL = """version: 1
name: stand-in
scope: [src]
harness: [bench]
decides: [here]
gate: {{patterns: ["benchmark_beside_the_stand_in*"], wait_s: 1, quiet_s: 0}}
targets:
  here:
    build: {{toolchain: command, argv: [{build}], artifact: kernel}}
    test: {{argv: [{test}], timeout_s: 30}}
    benchmark:
      argv: ["{standin}", benchmark, "{{artifact}}"]
      timeout_s: 60
      style: fine
      rounds: 5
      quads: 1
      iterations: 2
      sizes: [{{name: n, weight: 1}}]
{profile}"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One command and how it ended. `status` is negative for a signal, None for one that had to be given up.

    `wall_s` is without what other programs took of the core meanwhile, where the lab has one core.
    """

    words: tuple[str, ...]
    status: int | None
    said: str
    wall_s: float
    fired: bool = False


@dataclass(slots=True)
class Running:
    """A command that may not have ended yet."""

    scene: "Scene"
    pid: int
    words: tuple[str, ...]
    out: Path
    plan: PlanFile | None
    started_s: float
    busy_s: float
    ended: dict[str, Any] = field(default_factory=dict)

    def wait(self, timeout_s: float = END_S) -> Attempt:
        """Its end. One that doesn't end is killed, and its status is None."""
        deadline = time.monotonic() + timeout_s
        while "status" not in (answer := self.poll(deadline - time.monotonic())):
            if time.monotonic() > deadline:
                os.kill(self.pid, signal.SIGKILL)
                self.poll(END_S)
                answer = {"status": None, "cpu_s": 0.0}
                break
            os.kill(self.pid, signal.SIGCONT)
        wall_s, busy_s = time.monotonic() - self.started_s, core_busy_s() - self.busy_s
        wall_s -= max(0.0, busy_s - float(str(answer["cpu_s"])))
        fired = self.plan is not None and self.plan.fired()
        made = Attempt(
            words=self.words, status=answer["status"], said=self.out.read_text(errors="replace"), wall_s=wall_s, fired=fired
        )
        self.scene.attempts.append(made)
        return made

    def poll(self, timeout_s: float) -> dict[str, Any]:
        """`status` when it has ended, `stopped` when somebody stopped it, nothing within the time."""
        return self.ended or self.scene.lab.ask(do="wait", pid=self.pid, timeout_s=max(0.0, timeout_s))

    def until_stopped(self) -> bool:
        """Wait for the stop that the plan sends; False when the command ended before."""
        answer = self.poll(END_S)
        if "status" in answer:
            self.ended = answer
        return "stopped" in answer

    def go_on(self) -> None:
        """After a stop."""
        os.kill(self.pid, signal.SIGCONT)


def end_all_of(plan: PlanFile) -> None:
    """No process that was started with this plan goes on."""
    entry = b"FAULTS_PLAN=" + os.fsencode(plan.path)
    while left := [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if entry in _environment_of(pid)]:
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def _environment_of(pid: int) -> list[bytes]:
    """Empty for one that is gone, or only its exit status is left."""
    try:
        return Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return []


@dataclass(slots=True)
class Scene:
    """One copy of a stage, always at the same place, and what was done in it."""

    lab: "Lab"
    root: Path
    environment: dict[str, str]
    attempts: list[Attempt] = field(default_factory=list)
    defect: str = ""
    started: int = 0

    @property
    def state(self) -> Path:
        return self.root / ".git" / "expctl"

    def start(self, *words: str, plan: Plan | None = None) -> Running:
        """A command in the background."""
        self.started += 1
        number = self.started
        out = self.lab.folder / "trial" / f"said.{number}"
        environment, file = dict(self.environment), None
        if plan is not None:
            file = PlanFile(self.lab.folder / "trial" / f"plan.{number}", plan, self.root)
            environment |= {"FAULTS_PLAN": str(file.path), "LD_PRELOAD": str(self.lab.shim)}
        answer = self.lab.ask(
            do="start",
            words=words,
            cwd=str(self.root),
            environment=environment,
            out=str(out),
            plan=str(file.path) if file else "",
            defect=self.defect,
        )
        return Running(self, int(str(answer["pid"])), words, out, file, time.monotonic(), core_busy_s())

    def run(self, *words: str, plan: Plan | None = None) -> Attempt:
        """A command, to its end."""
        return self.start(*words, plan=plan).wait()

    def git(self, *words: str, check: bool = True) -> str:
        """What the user types."""
        ended = subprocess.run(["git", *words], cwd=self.root, env=self.environment, capture_output=True, text=True)
        if ended.returncode and check:
            raise RuntimeError(f"git {' '.join(words)}: {ended.stderr}")
        return ended.stdout if not ended.returncode else ""

    def ref(self, name: str) -> str:
        """The commit that a loose ref holds; git is asked where it isn't loose."""
        file = self.root / ".git" / name
        if file.is_file():
            return file.read_text().strip()
        return self.git("rev-parse", "--verify", "-q", name, check=False).strip()

    def git_bytes(self, *words: str) -> bytes:
        """The same, as it is; empty when git refuses."""
        return subprocess.run(["git", *words], cwd=self.root, env=self.environment, capture_output=True).stdout

    def record_field(self, experiment: str, name: str) -> Any:
        """One field of record.json on main; None when there is no record."""
        text = self.git_bytes("cat-file", "blob", f"main:experiments/{experiment}/record.json")
        return json.loads(text).get(name) if text else None

    def write(self, path: str, text: str | bytes) -> None:
        """Write a file of the work tree."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())

    def propose(self, experiment: str, patch: str | bytes, kind: str = "perf") -> None:
        """Queue a patch by hand and commit it."""
        words = f"id: {experiment}\ntitle: another way\nkind: {kind}\nhypothesis: less\nprediction: {{verdict: KEEP}}\n"
        self.write(f"experiments/{experiment}/experiment.yaml", words)
        self.write(f"experiments/{experiment}/change.patch", patch)
        self.git("add", "--", "experiments")
        self.git("commit", "-q", "-m", f"Propose {experiment}", "--", "experiments")
        self.run("ledger")
        self.git("add", "ledger.md")
        self.git("commit", "-q", "--amend", "--no-edit", "--", "ledger.md")

    def patch(self, kernel: str | bytes, path: str = "src/kernel") -> str:
        """The patch that gives the kernel other contents."""
        self.write(path, kernel)
        self.git("add", "-N", "--", path)
        made = self.git("diff", "--binary", "--", path)
        self.git("reset", "-q", "--", path)
        self.git("checkout", "-q", "--", "src")
        return made


class Lab:
    """A folder in memory where there is one, a fork server, and the stages. Use as a context manager."""

    def __init__(self, *, quick: bool = False) -> None:
        """`quick` guesses how many calls a command makes and how long it takes, where the exact figures cost a run each."""
        self._quick = quick
        self.on_clear: list[Callable[[], object]] = []
        memory = Path("/dev/shm")
        self.folder = Path(tempfile.mkdtemp(prefix="faults-", dir=memory if os.access(memory, os.W_OK) else None))
        self.shim = compile_c("shim.c", self.folder / "shim.so", "-shared", "-fPIC")
        self.standin = compile_c("stand_in.c", self.folder / "standin")
        self._server = subprocess.Popen(
            [sys.executable, str(HERE / "fork_server.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**self._environment(), "LD_PRELOAD": str(self.shim), "PYTHONPATH": str(HERE.parents[1])},
            text=True,
        )
        self._stages: dict[str, Path] = {}
        self._calls: dict[tuple[object, ...], int] = {}
        self._plain_s: dict[tuple[str, tuple[str, ...]], float] = {}

    def __enter__(self) -> "Lab":
        return self

    def __exit__(self, *_: object) -> None:
        if self._server.stdin is not None:
            self._server.stdin.close()
        self._server.wait(240)
        if self._server.stdout is not None:
            self._server.stdout.close()
        self._clear()
        shutil.rmtree(self.folder, ignore_errors=True)

    def ask(self, **request: object) -> dict[str, Any]:
        """One request to the fork server."""
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        self._server.stdin.write(json.dumps(request) + "\n")
        self._server.stdin.flush()
        line = self._server.stdout.readline()
        if not line:
            raise RuntimeError("the fork server is gone")
        return dict(json.loads(line))

    def scene(self, stage: str, *, defect: str = "") -> Scene:
        """A fresh copy of a stage."""
        if stage not in self._stages:
            self._set_up(stage)
        self._clear()
        subprocess.run(["/bin/cp", "-a", str(self._stages[stage]), str(self.folder / "trial")], check=True)
        return Scene(self, self._root, self._environment(), defect=defect)

    def cut_power(self, stage: str, running: Running, cut: Callable[[Path, Path], int]) -> int:
        """Put the stage back and play onto it what the cut leaves of the command's changes."""
        assert running.plan is not None
        log = self.folder / "cut.log"
        end_all_of(running.plan)  # a git whose own git was killed would go on clearing up
        if running.plan.log.exists():
            shutil.copyfile(running.plan.log, log)
        shutil.rmtree(self._root)
        shutil.copytree(self._stages[stage] / "repository", self._root, symlinks=True)
        try:
            return cut(self._root, log)
        finally:
            log.unlink(missing_ok=True)

    def calls(self, stage: str, words: tuple[str, ...], plan: Plan) -> int:
        """How many calls of this kind a command makes that nothing disturbs."""
        key = (stage, words, plan.by, plan.kinds, plan.only)
        if self._quick:
            return GUESSED_CALLS
        if key not in self._calls:
            counting = Plan(by=plan.by, kinds=plan.kinds, only=plan.only)
            with self._aside():
                running = self.scene(stage).start(*words, plan=counting)
                running.wait()
                assert running.plan is not None
                self._calls[key] = max(1, running.plan.calls())
        return self._calls[key]

    def plain_s(self, stage: str, words: tuple[str, ...]) -> float:
        """How long a command takes that nothing disturbs."""
        if self._quick:
            return GUESSED_S
        if (stage, words) not in self._plain_s:
            with self._aside():
                self._plain_s[stage, words] = self.scene(stage).run(*words).wall_s
        return self._plain_s[stage, words]

    # ------------------------------------------------------------------ stages

    @property
    def _root(self) -> Path:
        return self.folder / "trial" / "repository"

    def _environment(self) -> dict[str, str]:
        trial = self.folder / "trial"
        return {
            "PATH": f"{os.environ['PATH']}:/usr/bin:/bin",
            "HOME": str(trial / "home"),
            "TMPDIR": str(trial / "tmp"),
            "LANG": "C.UTF-8",
            "EXPCTL_LOCK_DIR": str(trial / "locks"),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_AUTHOR_NAME": "A. User",
            "GIT_AUTHOR_EMAIL": "user@example.org",
            "GIT_COMMITTER_NAME": "A. User",
            "GIT_COMMITTER_EMAIL": "user@example.org",
        }

    @contextlib.contextmanager
    def _aside(self) -> Iterator[None]:
        """Put the scene that is being played aside meanwhile: there is one place for all."""
        here, aside = self.folder / "trial", self.folder / "aside"
        if here.exists():
            here.rename(aside)
        try:
            yield
        finally:
            self._clear()
            if aside.exists():
                aside.rename(here)

    def _clear(self) -> None:
        while self.on_clear:
            self.on_clear.pop()()
        shutil.rmtree(self.folder / "trial", ignore_errors=True)

    def _set_up(self, stage: str) -> None:
        base, _, variant = stage.rpartition(" ")
        scene = self._first() if not base else self.scene(base)
        if base:
            VARIANTS[variant](scene)
        for leftover in (self.folder / "trial").glob("[sp]*.[0-9]*"):
            leftover.unlink()
        self.keep(stage)

    def keep(self, stage: str) -> None:
        """Make a stage of what is there now."""
        kept = self.folder / "stages" / stage.replace(" ", "-")
        kept.parent.mkdir(exist_ok=True)
        shutil.copytree(self.folder / "trial", kept, symlinks=True)
        self._stages[stage] = kept

    def protocol(self, *, profile: str = "", build: str = 'cp, src/kernel, "{artifact}"', test: str = "") -> str:
        """protocol.yaml of the stand-in."""
        test = test or f'"{self.standin}", test, "{{artifact}}"'
        return PROTOCOL.format(standin=self.standin, profile=profile, build=build, test=test)

    def _first(self) -> Scene:
        """A repository with a user's work in it, one experiment concluded and P1 (a KEEP) queued."""
        self._clear()
        for folder in ("home", "locks", "tmp", "repository"):
            (self.folder / "trial" / folder).mkdir(parents=True)
        scene = Scene(self, self._root, self._environment())
        scene.git("init", "-q", "-b", "main")
        for hook in (scene.root / ".git" / "hooks").iterdir():
            hook.unlink()
        scene.write("src/kernel", KERNEL)
        scene.write("bench/rules", "the stand-in judges\n")
        scene.write("protocol.yaml", self.protocol())
        for name in ("stashed", "staged", "changed"):
            scene.write(f"notes/{name}", "one\n")
        scene.git("add", "-A")
        scene.git("commit", "-q", "-m", "baseline")
        for experiment, kernel in (("P0", "55\n"), ("P1", FASTER)):
            scene.propose(experiment, scene.patch(kernel))
        _expect(scene.run("run", "P0"), 0)
        scene.write("notes/stashed", "stash me\n")
        scene.git("stash", "push", "-q", "-m", "work in progress")
        scene.write("notes/staged", "two\n")
        scene.git("add", "notes/staged")
        scene.write("notes/changed", "three\n")
        scene.write("untracked", "mine\n")
        return scene


def _expect(attempt: Attempt, status: int) -> None:
    if attempt.status != status:
        raise RuntimeError(f"setting up failed: {attempt}")


def killed_in_round(experiment: str, rounds: int) -> Callable[[Scene], None]:
    """A runner that died after so many rounds: begun, pinned, built twice and tested come before."""

    def set_up(scene: Scene) -> None:
        plan = Plan(at=5 + rounds + 1, act=Act.KILL_RUNNER, by=PairedBy.RUNNER, kinds=Calls.WRITE, only=f"journal/{experiment}")
        _expect(scene.run("run", experiment, plan=plan), -signal.SIGKILL)
        lines = (scene.state / "journal" / f"{experiment}.jsonl").read_bytes().splitlines()
        if len(lines) != 5 + rounds:
            raise RuntimeError(f"the stage has {len(lines)} events")
        _forget(scene)

    return set_up


def _forget(scene: Scene) -> None:
    with contextlib.suppress(OSError):
        shutil.rmtree(scene.root.parent / "tmp")
        (scene.root.parent / "tmp").mkdir()


def _queue_slower(scene: Scene) -> None:
    scene.propose("P2", scene.patch(SLOWER))


def _make_shallow(scene: Scene) -> None:
    """Git keeps the last commit only."""
    scene.propose("P2", scene.patch(SLOWER))
    scene.git("fetch", "-q", "--depth", "1", "--update-head-ok", f"file://{scene.root}", "main:refs/heads/main")
    scene.git("reflog", "expire", "--expire=all", "--all")
    if scene.git("rev-parse", "--is-shallow-repository").strip() != "true":
        raise RuntimeError("the clone is not shallow")


def _conclude_no_op(scene: Scene) -> None:
    """P5 changes a file that no build reads. Its builds are kept, its record is not."""
    scene.propose("P5", scene.patch("a note\n", "src/note"))
    (scene.root / "src" / "note").unlink()
    before = scene.ref("refs/heads/main")
    _expect(scene.run("run", "P5"), 0)
    scene.git("reset", "-q", "--keep", before)
    scene.git("update-ref", "-d", "refs/expctl/P5")


def _name_a_control(scene: Scene) -> None:
    """From here on each day's first run measures HEAD with this patch before the candidate."""
    scene.write("controls/slower.patch", scene.patch("70\n"))
    sizes = "      sizes:"
    protocol = (scene.root / "protocol.yaml").read_text()
    control = "      control: {patch: controls/slower.patch, slower_percent: 40}\n"
    scene.write("protocol.yaml", protocol.replace(sizes, control + sizes))
    scene.git("add", "--", "protocol.yaml", "controls")
    scene.git("commit", "-q", "-m", "Name a control", "--", "protocol.yaml", "controls")


VARIANTS: dict[str, Callable[[Scene], None]] = {
    "controlled": _name_a_control,
    "late-keep": killed_in_round("P1", 8),
    "no-op": _conclude_no_op,
    "shallow": _make_shallow,
    "slower": _queue_slower,
    "late-reject": killed_in_round("P2", 2),
}


def core_busy_s() -> float:
    """How long our core has not been idle since the machine started; 0 where we may use several."""
    cores = os.sched_getaffinity(0)
    if len(cores) > 1:
        return 0.0
    rows = Path("/proc/stat").read_text().splitlines()
    fields = next(row.split() for row in rows if row.startswith(f"cpu{max(cores)} "))
    user, nice, system, _, _, irq, softirq = map(int, fields[1:8])
    return (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")


@contextlib.contextmanager
def pinned() -> Iterator[None]:
    """On one core from here on: trials count calls, and what runs beside them is theirs."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
