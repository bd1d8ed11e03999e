"""Lab: repositories with attempts that an earlier head had judged; heads without devices land them."""
import os, sys, shutil, signal, subprocess, json, time, io
from pathlib import Path
sys.path.insert(0, "/tmp/w/batk47")
LAB = Path("/dev/shm/batk47-lab"); LAB.mkdir(exist_ok=True)
os.environ.update(HOME=str(LAB / "home"), EXPCTL_LOCK_DIR=str(LAB / "locks"), GIT_CONFIG_NOSYSTEM="1", GIT_OPTIONAL_LOCKS="0",
  GIT_AUTHOR_NAME="A", GIT_AUTHOR_EMAIL="a@x", GIT_COMMITTER_NAME="A", GIT_COMMITTER_EMAIL="a@x")
for d in ("home", "locks"): (LAB / d).mkdir(exist_ok=True)
from msgspec.structs import replace
from typing import get_args
from benchmarks.fleet import made_up
from benchmarks.fleet.made_up import context_of
from benchmarks.scale.generate import generate
from expctl import wiring, wiring_fleet
from expctl.adapters.git.reader import locate
from expctl.adapters.journal import EVENTS, FileJournal
from expctl.domain.fleet.events import FleetEvent
from expctl.domain.run.events import Begun, Invalidated, Pinned, Measured
from expctl.flow.repository.ledger_inputs import read_ledger
from expctl.views.console import ConsoleProgress
from expctl.views.ledger.document import render
from tests.fleet.local_engine import LocalEngine
EXPS = 0
KINDS = EVENTS | {k.__name__: k for k in get_args(FleetEvent)}

def git(root, *w, check=True, **k):
    r = subprocess.run(["git", *w], cwd=root, capture_output=True, text=True, **k)
    assert r.returncode == 0 or not check, (w, r.stderr)
    return r.stdout.strip()

def attempts(root, kinds):
    """kinds: list of R(eject) K(eep) C(inconclusive) V(invalid), by queue order"""
    import tempfile
    found = []
    with tempfile.TemporaryDirectory(dir=LAB) as f:
        subprocess.run(["git", "clone", "-q", root, f], check=True)
        c = context_of(Path(f))
        known = c.library.experiments(c.workspace.head())
        names = [n for n, v in known.items() if v is None]
        for n, kind in zip(names, kinds):
            if kind == "-": continue
            a = made_up._attempt(c, n, {"R": 3.0, "K": -3.0, "C": 3.0, "V": 3.0}[kind])
            run = a.run
            if kind == "V":
                run = (*[e for e in run if isinstance(e, (Begun, Pinned))], Invalidated(reason="the driver fell over"))
            if kind == "C":
                run = noisy(c, a)
            kernel = c.workspace.source_identity(a.assigned.base)
            found.append(replace(a, run=run, assigned=replace(a.assigned, kernel=kernel)))
    return found

def noisy(c, a):
    import random
    from expctl.domain.experiment.proposal import Kind, Mode
    from expctl.domain.verdict.plan import Plan
    from expctl.domain.verdict.judge import judge
    from expctl.domain.verdict.sequential_test import MeasureMore
    from expctl.flow.measuring.setup import benchmark_of
    begun = a.run[0]; p = c.library.protocol(begun.base); b = benchmark_of(p, begun.target)
    plan = Plan.of(b, p.keep, Mode.GAIN)
    for seed in range(60):
        d = random.Random(seed); samples, measured = [], []
        while isinstance(ans := judge(samples, plan, Kind.PERF), MeasureMore):
            one = made_up._round(b, len(measured), ans.session, d.uniform(-6, 5.0)); samples += one
            measured.append(Measured(round=len(measured), samples=one))
        if ans.verdict.name == "INCONCLUSIVE":
            return (*[e for e in a.run if not isinstance(e, Measured)], *measured)
    print("no inconclusive", ans); return a.run

def write_down(root, found):
    j = FileJournal(root / ".git/expctl/fleet/attempts", kinds=KINDS, flushes=False)
    for a in found:
        j.extend(f"{a.assigned.id}.{a.assigned.attempt}", (a.assigned, *a.run, a.judged))

def make(name, kinds="RKRCV", extra=0):
    folder = LAB / name
    shutil.rmtree(folder, ignore_errors=True); folder.mkdir()
    root = folder / "repository"
    generate(root, experiments=EXPS, queued=len(kinds) + extra, findings=EXPS and 2, seed=1)
    (root / "notes").write_text("mine\n")
    found = attempts(root, kinds)
    write_down(root, found)
    return root, found

def copy(root, name):
    folder = LAB / name
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(root.parent, folder, symlinks=True)
    return folder / "repository"

def head(root, after=lambda s: None, limit_s=90, hook=None):
    """Run a head without devices in this process; steps, said."""
    said, steps = io.StringIO(), []
    place = locate(root)
    made = wiring.context(place, ConsoleProgress(said))
    engine = LocalEngine(root.parent / "hosts", (), {"HOME": os.environ["HOME"]})
    if hook: hook(made)
    began = time.monotonic()
    def spent(*_):
        assert time.monotonic() - began < limit_s, "head loops: " + said.getvalue()[-800:]
        return ""
    for s in wiring_fleet.head_steps(place, made, engine, target="", silent_s=30, spent=spent):
        steps.append(s); after(s)
    return steps, said.getvalue()

def forked(root, before=lambda: None, limit_s=120):
    """head in a fork; exit code, text"""
    log = root.parent / "said"
    pid = os.fork()
    if not pid:
        code = 1
        try:
            fd = os.open(log, os.O_CREAT | os.O_APPEND | os.O_WRONLY); os.dup2(fd, 1); os.dup2(fd, 2)
            before()
            steps, said = head(root, limit_s=limit_s)
            sys.setprofile(None)
            print(said, [str(s)[:150] for s in steps], flush=True); code = 0
        except BaseException as e:
            sys.setprofile(None)
            import traceback; print("ERR", getattr(e, "code", ""), traceback.format_exc()[-1800:], flush=True); code = 7
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), log.read_text() if log.exists() else ""

def commits(root):
    out = git(root, "log", "--reverse", "--format=%H|%(trailers:key=Expctl-Record,valueonly,separator=%x20)|%(trailers:key=Expctl-Verdict,valueonly,separator=%x20)")
    return [(h, r.split(), v.split()) for h, r, v in (l.split("|") for l in out.splitlines()) if r]

def problems(root, found, status="?? notes", verify=True, expect=None, every=True):
    """All promises; returns list of what doesn't hold."""
    bad = []
    names = [a.assigned.id for a in found] if expect is None else expect
    c = context_of(root); h = c.workspace.head()
    told = [n for _, r, _ in commits(root) for n in r]
    if sorted(told) != sorted(names): bad.append(f"told {told} expected {names}")
    for _, r, v in commits(root):
        if len(r) > 1 and ({"KEEP", "INVALID"} & {*v}): bad.append(f"together {r} {v}")
    for a in found:
        if a.assigned.id not in names: continue
        rec = c.library.record(h, a.assigned.id)
        if rec is None: bad.append(f"{a.assigned.id} lost"); continue
        if rec.base != a.run[0].base and rec.verdict.name != "KEEP": bad.append(f"{rec.id} base {rec.base[:8]} not {a.run[0].base[:8]}")
    if every:
        for x in git(root, "rev-list", "HEAD").split():
            if git(root, "log", "-1", "--format=%s", x) in ("history", "kernel", "baseline"): continue
            if c.workspace.read_file(x, "ledger.md") != render(read_ledger(c.library, x)).encode(): bad.append(f"ledger at {x[:8]} " + git(root, "log", "-1", "--format=%s", x))
    st = git(root, "status", "--porcelain")
    if st != status: bad.append(f"status {st!r}")
    f = subprocess.run(["git", "fsck", "--no-dangling", "--strict"], cwd=root, capture_output=True, text=True)
    if f.returncode or f.stdout: bad.append("fsck " + f.stdout + f.stderr)
    s = root / ".git/expctl"
    left = [*s.glob("journal/*"), *s.glob("publication.*"), *(root / ".git").glob("*.lock"), *root.rglob(".*.new"), *s.glob("fleet/attempts/*")]
    if left and expect is None: bad.append(f"left {[str(x.relative_to(root)) for x in left]}")
    if verify:
        r = subprocess.run(["/tmp/w/batk47/.venv/bin/expctl", "verify"], cwd=root, capture_output=True, text=True)
        if r.returncode: bad.append("verify " + (r.stdout + r.stderr)[-600:])
        r = subprocess.run(["/tmp/w/batk47/.venv/bin/expctl", "ledger", "--check"], cwd=root, capture_output=True, text=True)
        if r.returncode: bad.append("ledger --check " + (r.stdout + r.stderr)[-300:])
    return bad
